"""A suite's leaderboard and the place of one method in it, and its rows as others read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from ddr_cli.comparison.leaderboard import EQUIVALENCE, Leaderboard, failures, seconds_of
from ddr_cli.comparison.names import (
    difference_text,
    interval_text,
    lower_is_better,
    metric_axis,
    metric_name,
    number,
    p_text,
)
from ddr_cli.engine.rows.journal import OK
from ddr_cli.report.page import short
from ddr_cli.report.table import Table
from ddr_cli.spec.budgets import ALL, LABELS

if TYPE_CHECKING:
    from ddr_cli.spec.model import Spec
    from ddr_cli.spec.suite import Erratum


def leaderboard_table(board: Leaderboard, *, most: int | None = None, own: str = "") -> Table:
    """Return a leaderboard, of which the first so many rows, and that of a method of one's own."""
    shown = board.table
    if most is not None:
        shown = shown[(shown["place"] <= most) | (shown["method"].isin([own, board.baseline]))]
    frame = pd.DataFrame(board_cells(board, shown))
    if not board.table["failed"].any():
        frame = frame.drop(columns="failed")
    heads = {"place": "", "interval": "95 %", "mean": metric_axis(board.metric), "seconds": "CPU s"}
    heads |= {"best": "to the best", "baseline": f"to {board.baseline}"}
    frame = frame.drop(columns=["best_p", "baseline_p"]).rename(columns=heads)
    how = "tuned" if board.tuned else "at their defaults"
    title = f"{board.track}, {board.classifier}, {how}: {len(board.means)} data sets"
    return Table(frame, title, left=("method",), narrow=True)


def board_cells(board: Leaderboard, rows: pd.DataFrame) -> list[dict[str, str]]:
    """Return rows of a leaderboard as texts."""
    found = []
    for row in rows.to_dict("records"):
        cells = {
            "place": str(row["place"]),
            "method": row["method"],
            "score": f"{row['score']:.3f}",
            "interval": interval_text(row["low"], row["high"]),
            "mean": number(row["mean"], board.metric, unit=False),
            "seconds": short(row["seconds"]),
            "failed": f"{row['failed']:.0%}" if row["failed"] else "",
        }
        for title in ("best", "baseline"):
            counts = [row[f"{title}_{each}"] for each in ("wins", "equal", "losses")]
            there = pd.notna(counts[0])
            cells[title] = "/".join(str(int(each)) for each in counts) if there else ""
            cells[f"{title}_p"] = p_text(float(row[f"{title}_p_holm"])) if there else ""
        found.append(cells)
    return found


def leaderboard_notes(board: Leaderboard, methods: Sequence[str]) -> list[str]:
    """Say what the numbers are, and which of the suite's methods are not among them."""
    splits = sorted(set(board.splits.values()))
    ranged = f"{splits[0]}" if len(splits) == 1 else f"{splits[0]} to {splits[-1]}"
    lines = [
        f"score: the mean over data sets of {metric_name(board.metric)} between always naming the "
        "largest class (0) and no mistake (1), and its bootstrap interval over data sets; "
        f"{ranged} splits of each data set, the same for all methods",
        f"to the best ({board.best}), to {board.baseline}: wins/equal/losses over data sets, equal "
        f"within {EQUIVALENCE:g}; CPU s: of a fit with its tuning",
    ]
    if board.left_out:
        lines.append(
            f"left out, as not all methods have ended on a split: {', '.join(board.left_out)}"
        )
    if absent := [name for name in methods if name not in set(board.table["method"])]:
        lines.append(f"not run yet, or stale: {', '.join(absent)}")
    return lines


def trust_notes(
    board: Leaderboard, rows: pd.DataFrame, spec: Spec, errata: Sequence[Erratum]
) -> list[str]:
    """Say what failed and how that was scored, what the authors have checked, and what was wrong.

    `spec` is one of the track's, for its methods.
    """
    chosen = rows[(rows["classifier"] == board.classifier) & (rows["tuned"] == board.tuned)]
    chosen = chosen[(chosen["track"] == board.track) & (chosen["control"] == "")]
    chosen = chosen[(chosen[LABELS] == ALL) & chosen["dataset"].isin(board.means.index)]
    lines = []
    if len(bad := failures(chosen)):
        told = [
            f"{row['method']} on {row['rows']} splits of {row['dataset']} ({row['reason']})"
            for row in bad.to_dict("records")
        ]
        lines.append(
            "failed, and counted as always naming the training part's largest class: "
            + "; ".join(told)
        )
    items = {item.label: item.traits() for item in spec.reducers if item.label in board.means}
    checked = [f"{name} ({each.author_check})" for name, each in items.items() if each.checked]
    lines.append(
        "checked by the methods' authors: "
        + ("; ".join(checked) if checked else f"none of {len(items)}")
    )
    lines += [
        f"erratum of {each.date}: {each.what} ({each.rows}; mended in {each.mended})"
        for each in errata
    ]
    return lines if errata else [*lines, "errata: none known"]


def own_method_lines(board: Leaderboard, rows: pd.DataFrame, method: str) -> list[str]:
    """Say where a method stands: its place, its differences, and where it fails."""
    row = board.row(method)
    how = "tuned" if board.tuned else "at its defaults"
    lines = [
        f"{method}, {how}, {board.classifier}: place {int(row['place'])} of {len(board.table)} on "
        f"{len(board.means)} data sets, score {row['score']:.3f}"
    ]
    for title, reference in (("best", board.best), ("baseline", board.baseline)):
        if reference == method:
            lines.append(f"  it is the {title} itself")
            continue
        p = p_text(float(row[f"{title}_p"]))
        test = f", Wilcoxon's p {p}" if p else ""
        lines.append(
            f"  to {reference} ({title}): median difference "
            f"{difference_text(row[f'{title}_difference'], board.metric)}; wins/equal/losses "
            f"{row[f'{title}_wins']:g}/{row[f'{title}_equal']:g}/{row[f'{title}_losses']:g}{test}"
        )
    means: Any = board.means
    behind = means[method] - means[board.baseline]
    behind = behind if lower_is_better(board.metric) else -behind
    behind = behind[behind > EQUIVALENCE].sort_values(ascending=False)
    if len(behind):
        told = ", ".join(
            f"{name} ({number(means.at[name, method], board.metric)}, {board.baseline} "
            f"{number(means.at[name, board.baseline], board.metric)})"
            for name in behind.index
        )
        lines.append(f"  behind {board.baseline} on {told}")
    own = rows[(rows["method"] == method) & (rows["tuned"] == board.tuned)]
    failed = own[(own["status"] != OK) & (own["classifier"] == board.classifier)]
    for (dataset, reason), found in failed.groupby(["dataset", "reason"], sort=False):
        lines.append(f"  fails on {len(found)} splits of {dataset}: {reason}")
    return lines


def long_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Return a row per trial and metric, under names that need no knowledge of journals."""
    metrics = [name[6:] for name in map(str, rows.columns) if name.startswith("floor_")]
    spent = seconds_of(rows)
    kept = ["suite", "version", "track", "dataset", "fingerprint", "method", "method_version"]
    kept += ["classifier", "tuned", "labels", "control", "setting", "split", "split_hash"]
    table = rows[kept].assign(
        status=rows["status"], fit_seconds=spent.round(6), predict_seconds=rows["eval_seconds"]
    )
    by_metric = [table.assign(metric=name, value=rows[name]) for name in metrics]
    return pd.concat(by_metric).sort_index(kind="stable").reset_index(drop=True)
