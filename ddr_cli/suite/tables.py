"""A suite's tables and notes in the terminal: leaderboard, your own method, plan and status."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from ddr_cli.comparison.across_datasets import EQUIVALENCE, gains
from ddr_cli.comparison.names import (
    difference_text,
    interval_text,
    method_name,
    metric_axis,
    metric_name,
    number,
    p_text,
)
from ddr_cli.core.errors import counted, listed
from ddr_cli.engine.plan.growth import too_large
from ddr_cli.engine.progress import duration
from ddr_cli.report.page import short
from ddr_cli.rows.log import OK
from ddr_cli.show.page import Grid
from ddr_cli.suite.benchmark import Benchmark
from ddr_cli.suite.definition import Suite
from ddr_cli.suite.leaderboard import Leaderboard, rank_text, ranks_text
from ddr_cli.suite.remaining import ESTIMATED, MEASURED, SuitePart, cost_table
from ddr_cli.suite.rows import failures

ALIKE = "≈"
"""The mark of a method that cannot be distinguished from the best one or from the baseline."""


def leaderboard_table(
    board: Leaderboard, *, most: int | None = None, own: str = "", wide: bool = False
) -> Grid:
    """Return a leaderboard: its first `most` rows, the baseline, and your `own` method.

    A `wide` table also has how often each method is first, and marks the methods that cannot be
    distinguished from the best one or from the baseline.
    """
    shown = board.table
    if most is not None:
        shown = shown[(shown["place"] <= most) | (shown["method"].isin([own, board.baseline]))]
    frame = pd.DataFrame(board_cells(board, shown))
    for name in ("best", "baseline") if wide else ():
        alike = board.level(name)[shown.index].to_numpy() & (frame[name] != "")
        frame.loc[alike, name] += f" {ALIKE}"
    dropped = ["best_p", "baseline_p", *([] if wide else ["first"])]
    dropped += [name for name in ("ranks", "failed") if not frame[name].any()]
    frame = frame.drop(columns=dropped)
    on = counted(len(board.means), "data set")
    title = f"{board.track}, {board.classifier}, {board.how}: {on}"
    if wide:
        frame = frame.rename(columns={"place": "rank", "ranks": "95 % of the rank"})
    return Grid(_headed(frame, board), title, left=("method",), narrow=True)


def choices_table(choices: pd.DataFrame, board: Leaderboard) -> Grid:
    """Return what a user could do instead of using one method, as `Benchmark.choices_of` has it."""
    records = [
        {
            "method": row["method"],
            "methods": "" if pd.isna(row["methods"]) else f"{row['methods']:g}",
            **_score_cells(row, board.metric),
            "seconds": "" if pd.isna(row["seconds"]) else short(row["seconds"]),
            **{title: _counts(row, title) for title in ("best", "baseline")},
        }
        for row in choices.to_dict("records")
    ]
    frame = _headed(pd.DataFrame(records), board).rename(columns={"method": "choice"})
    return Grid(frame, "Alternatives to one fixed method", narrow=True)


def _headed(frame: pd.DataFrame, board: Leaderboard) -> pd.DataFrame:
    heads = {"place": "", "ranks": "rank", "interval": "95 %", "mean": metric_axis(board.metric)}
    heads |= {"seconds": "CPU s", "best": "vs. best", "baseline": f"vs. {board.baseline}"}
    return frame.rename(columns=heads)


def board_cells(board: Leaderboard, rows: pd.DataFrame | None = None) -> list[dict[str, str]]:
    """Return the rows of a leaderboard, or these of them, as texts."""
    found = []
    for row in (board.table if rows is None else rows).to_dict("records"):
        cells = {
            "place": str(row["place"]),
            "ranks": ranks_text(row),
            "first": "" if pd.isna(row["first"]) else f"{row['first']:.0%}",
            "method": row["method"],
            **_score_cells(row, board.metric),
            "seconds": short(row["seconds"]),
            "failed": f"{row['failed']:.0%}" if row["failed"] else "",
        }
        for title in ("best", "baseline"):
            p = row[f"{title}_p_holm"]
            cells[title] = _counts(row, title)
            cells[f"{title}_p"] = "" if pd.isna(p) else p_text(float(p))
        found.append(cells)
    return found


def _score_cells(row: Mapping[Hashable, Any], metric: str) -> dict[str, str]:
    return {
        "score": f"{row['score']:.3f}",
        "interval": interval_text(row["low"], row["high"]),
        "mean": number(row["mean"], metric, unit=False),
    }


def _counts(row: Mapping[Hashable, Any], title: str) -> str:
    counts = [row[f"{title}_{each}"] for each in ("wins", "equal", "losses")]
    return "" if pd.isna(counts[0]) else "/".join(str(int(each)) for each in counts)


def leaderboard_notes(
    board: Leaderboard, methods: Sequence[str], *, wide: bool = False
) -> list[str]:
    """Explain the numbers, and name the suite's methods that are missing."""
    splits = sorted(set(board.splits.values()))
    few = counted(splits[0], "split")
    ranged = few if len(splits) == 1 else f"{splits[0]} to {splits[-1]} splits"
    lines = [
        f"score: the {metric_name(board.metric)}, rescaled so that 0 is the majority-class "
        "baseline and 1 is no error, averaged over data sets, with a 95 % bootstrap interval over "
        f"data sets. All methods use the same {ranged} of each data set.",
        "rank: the rank by score, with a 95 % interval over resamples of the data sets."
        f"{' first: the fraction of resamples in which the method has rank 1.' if wide else ''}",
        f"vs. best: the numbers of wins, equal results and losses over data sets against the best "
        f"method; vs. {board.baseline}: the same numbers against {method_name(board.baseline)}. "
        f"Results count as equal if they differ by at most {EQUIVALENCE:g}.",
        f"CPU s: mean CPU seconds of a fit{', including the tuning' if board.tuned else ''}.",
    ]
    if wide:
        lines[3:3] = [
            f"{ALIKE}: the two methods do not differ significantly (Wilcoxon's signed-rank test "
            "over data sets, p ≥ 0.05 after Holm's correction). The comparisons favour the best "
            "method, because the compared results also determine its rank."
        ]
    if board.left_out:
        lines.append(
            f"data sets without a split that all methods completed: {', '.join(board.left_out)}"
        )
    if absent := [name for name in methods if name not in set(board.table["method"])]:
        lines.append(f"methods without rows: {', '.join(absent)}")
    return lines


def board_shown(bench: Benchmark, board: Leaderboard) -> tuple[list[Grid], list[str]]:
    """Return the tables and the notes of a leaderboard."""
    tables = [leaderboard_table(board)]
    if len(found := bench.choices_of(board)):
        tables.append(choices_table(found, board))
    notes = leaderboard_notes(board, bench.suite.methods_of(board.track))
    notes += trust_notes(board, bench.rows, bench.suite)
    known = bench.submissions.values()
    notes += [f"submitted: {each.note}" for each in known if each.card.track == board.track]
    return tables, notes


def trust_notes(board: Leaderboard, rows: pd.DataFrame, suite: Suite) -> list[str]:
    """Report a freeze, failures, which methods their authors have checked, and errata."""
    own = board.rows_of(rows)
    lines = freeze_lines(suite)
    if len(bad := failures(own[own["tuned"] == board.tuned])):
        told = [
            f"{row['method']} on {counted(row['rows'], 'split')} of {row['dataset']} "
            f"({row['reason']})"
            for row in bad.to_dict("records")
        ]
        lines.append(
            "failures, each scored as the majority-class baseline of the training set: "
            + "; ".join(told)
        )
    methods = (name for name in suite.methods if name in board.means)
    items = {name: suite.traits_of(name) for name in methods}
    checked = [f"{name} ({each.author_check})" for name, each in items.items() if each.checked]
    lines.append(
        "implementations that the authors of the method have checked: "
        + ("; ".join(checked) if checked else f"none of {len(items)}")
    )
    lines += [
        f"erratum of {each.date}: {each.what} ({each.rows}; fixed in {each.fixed})"
        for each in suite.errata
    ]
    return lines if suite.errata else [*lines, "errata: none known"]


def freeze_lines(suite: Suite) -> list[str]:
    """Return the date of a freeze and its reason; nothing for a suite whose rows are current."""
    return [f"frozen on {suite.frozen.date}: {suite.frozen.why}"] if suite.frozen else []


def own_method_lines(board: Leaderboard, rows: pd.DataFrame, method: str) -> list[str]:
    """Report a method's differences from the best and the baseline, its failures, and its rank."""
    row = board.row(method)
    how = "tuned" if board.tuned else "at its defaults"
    lines = []
    for title, reference in (("best", board.best), ("baseline", board.baseline)):
        if reference == method:
            lines.append(f"{method} itself is the {title} method")
            continue
        p = p_text(float(row[f"{title}_p"]))
        test = f", Wilcoxon's p {p}" if p else ""
        lines.append(
            f"compared with {reference} ({title}): median difference "
            f"{difference_text(row[f'{title}_difference'], board.metric)}; wins/equal/losses "
            f"{row[f'{title}_wins']:g}/{row[f'{title}_equal']:g}/{row[f'{title}_losses']:g}{test}"
        )
    means: Any = board.means
    behind = gains(means[board.baseline], means[method], board.metric)
    behind = behind[behind > EQUIVALENCE].sort_values(ascending=False)
    if len(behind):
        told = [
            f"{name} ({number(means.at[name, method], board.metric)}, {board.baseline}: "
            f"{number(means.at[name, board.baseline], board.metric)})"
            for name in behind.index
        ]
        lines.append(f"{method} is worse than {board.baseline} on: {listed(told, most=5)}")
    own = rows[(rows["method"] == method) & (rows["tuned"] == board.tuned)]
    failed = own[(own["status"] != OK) & (own["classifier"] == board.classifier)]
    for (dataset, reason), found in failed.groupby(["dataset", "reason"], sort=False):
        lines.append(f"{method} fails on {counted(len(found), 'split')} of {dataset}: {reason}")
    return [
        *lines,
        f"{method}, {how}, {board.classifier}: {rank_text(row, len(board.table))} on "
        f"{counted(len(board.means), 'data set')}, score {row['score']:.3f}",
    ]


# -- plan and status -----------------------------------------------------------------------------

_SOURCES = {
    MEASURED: "are means of existing rows",
    ESTIMATED: "are estimated: a factor of the method times a factor of the data set",
}


def plan_tables(table: pd.DataFrame) -> Iterator[Grid]:
    """Yield the CPU time of a plan by method and by data set, the most expensive first."""
    whole = table.assign(whole=table["seconds"] * table["splits"], unknown=table["seconds"].isna())
    for by in (["method"], ["track", "dataset"]):
        sums = whole.groupby(by, sort=False)[["whole", "seconds_left", "unknown"]].sum()
        sums = sums.sort_values("whole", ascending=False, kind="stable")
        totals = [*map(duration, sums[["whole", "seconds_left"]].sum()), str(sums["unknown"].sum())]
        for name in ("whole", "seconds_left"):
            sums[name] = sums[name].map(duration)
        shown = sums.astype({"unknown": str}).replace({"unknown": "0"}, "").reset_index()
        names = [name.replace("dataset", "data set") for name in by]
        shown.columns = pd.Index([*names, "CPU time", "to do", "unknown"])
        total = ("all", *[""] * (len(by) - 1), *totals)
        yield Grid(shown, left=tuple(names), total=total, narrow=True)


def plan_notes(table: pd.DataFrame) -> list[str]:
    """Report the sources of the times, and which are unknown."""
    counts = table["source"].value_counts()
    total = table["seconds"].sum()
    lines = [
        f"{counts[source]} of {len(table)} times {how} "
        f"({table.loc[table['source'] == source, 'seconds'].sum() / total:.0%} of the total)"
        for source, how in _SOURCES.items()
        if source in counts and total
    ]
    if unknown := counts.get("", 0):
        lines.append(
            f"{unknown} of {len(table)} times are unknown until the first split has run; the sums "
            "do not include unknown times"
        )
    return lines


def covered(parts: Sequence[SuitePart], table: pd.DataFrame, hours: float) -> str:
    """Report how much of the remaining work this number of CPU hours covers."""
    left = hours * 3600
    costs = table.set_index(["track", "dataset", "method"])["seconds"].dropna()
    most = max(len(part.plan.fits) for part in parts)
    for n in range(most):
        for ended, part in enumerate(parts):
            for key in list(part.plan.fits)[n : n + 1]:
                left -= sum(costs.get((part.track, part.dataset, m), 0.0) for m in part.to_do(key))
            if left < 0:
                return (
                    f"{hours:g} CPU hours cover {n} of {most} splits of every spec, and one more "
                    f"split of {ended} of {len(parts)} specs; the next spec is {part.spec.name}"
                )
    unknown = (table["seconds"].isna() & (table["to_do"] > 0)).any()
    known = " of known cost" if unknown else ""
    return f"{hours:g} CPU hours cover all remaining work{known}, and leave {duration(left)}"


def status_tables(parts: Sequence[SuitePart]) -> Iterator[Grid]:
    """Yield the progress of a suite by data set and by method."""
    tallies = pd.concat({part.spec.name: part.tallies for part in parts}, names=["data set"])
    for by in ("data set", "method"):
        sums = tallies.groupby(level=by, sort=False).sum()
        totals = (f"{len(sums)} in all", *map(str, sums.sum()))
        yield Grid(sums.astype(str).replace("0", "").reset_index(), total=totals, narrow=True)


def status_shown(
    suite: Suite, parts: Sequence[SuitePart], hours: float | None = None
) -> tuple[list[Grid], list[str]]:
    """Return the tables and notes of the progress, with costs for a budget of CPU hours."""
    tables = [*status_tables(parts)]
    notes = [*size_notes(suite, parts), progress_line(suite, parts)]
    if hours is not None:
        times = cost_table(parts)
        tables += plan_tables(times)
        notes = [*plan_notes(times), *notes, covered(parts, times, hours)]
    return tables, notes


def size_notes(suite: Suite, parts: Sequence[SuitePart]) -> list[str]:
    """Return a line for each method whose remaining fits are expected to exceed a limit."""
    lines: dict[str, list[str]] = {}
    for part in parts:
        left = set(part.tallies.index[part.tallies["missing"] > 0])
        limit = suite.tracks[part.track].timeout or suite.timeout
        for name, line in (too_large(part.spec, limit) if left else {}).items():
            if name in left:
                lines.setdefault(name, []).append(f"{part.spec.name}: {line}")
    return [
        f"{own[0]} (also in {len(own) - 1} more specs)" if len(own) > 1 else own[0]
        for own in lines.values()
    ]


def progress_line(suite: Suite, parts: Sequence[SuitePart]) -> str:
    """Report the progress of a suite in one line."""
    total = pd.concat([part.tallies for part in parts]).sum()
    text = (
        f"{suite.name}, version {suite.version}: {total['done']} of {total['planned']} trials of "
        f"{len(parts)} specs are finished"
    )
    more = {"failed": total["failed"], "stale rows": total["stale"]}
    return ", ".join([text, *(f"{n} {what}" for what, n in more.items() if n)])
