"""The texts and numbers of a suite's pages."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ddr_cli.comparison.across_datasets import gains, wins_and_losses
from ddr_cli.comparison.names import lower_is_better, method_name, metric_axis, number
from ddr_cli.reducers.registry import reference
from ddr_cli.show.html import slug
from ddr_cli.spec.model import SplitSpec
from ddr_cli.suite.audits import audit_line
from ddr_cli.suite.benchmark import Benchmark
from ddr_cli.suite.leaderboard import Leaderboard, ranks_text
from ddr_cli.suite.names import INDUCTIVE
from ddr_cli.suite.tables import board_cells

Rows = list[dict[str, Any]]


def offered(bench: Benchmark) -> dict[str, list[Any]]:
    """Return the choices of the filter."""
    keys = list(bench.boards)
    names = ("track", "classifier", "metric", "tuned")
    return {name: list(dict.fromkeys(key[i] for key in keys)) for i, name in enumerate(names)}


def pair_rows(board: Leaderboard) -> list[tuple[str, list[tuple[int, int, int] | None]]]:
    """Return wins, equal and losses over data sets of each method against each other one."""
    names = list(board.table["method"])
    means = board.means[names].to_numpy()
    gained = gains(means[:, :, None], means[:, None, :], board.metric)
    counts = np.stack(wins_and_losses(gained), axis=-1).tolist()
    return [
        (name, [None if i == j else tuple(each) for j, each in enumerate(row)])
        for i, (name, row) in enumerate(zip(names, counts, strict=True))
    ]


def dimension_rows(
    bench: Benchmark, baseline: str, dataset: str = ""
) -> dict[str, list[tuple[str, int]]]:
    """Return each method's cells by number of dimensions, over all data sets or on one.

    A cell is a text and a percentage, by rank among the methods: 0 for the worst, 100 for the best.
    The last row, without a name, has the number of methods that are better than the baseline.
    """
    known, metric = bench.by_dimension, bench.suite.metrics[0]
    if known.empty or dataset not in {"", *known.index.unique("dataset")}:
        return {}
    means, whole = bench.dimensions(dataset)
    ranks = means.rank(ascending=not lower_is_better(metric))
    shades = (100 * (ranks - 1) / max(len(means) - 1, 1)).round().astype(int)
    texts = means.map(lambda value: number(float(value), metric, unit=False))
    # Parentheses mark an n_components at which a method did not succeed on all splits; a method
    # without n_components gets none.
    texts = texts.where(whole | ~whole.any(axis=1).to_numpy()[:, None], "(" + texts + ")")
    rows = {
        name: list(zip(texts.loc[name], shades.loc[name], strict=True))
        for name in bench.order
        if name in means.index
    }
    if baseline in means.index:
        ahead = gains(means, means.loc[baseline], metric) > 0
        rows[""] = [(str(n), 0) for n in ahead.sum()]
    return rows


def pair_class(wins: int, equal: int, losses: int) -> str:
    """Return the CSS class of a cell of the matrix of pairs: the better method, and how clearly."""
    strong = 2 if 2 * abs(wins - losses) > wins + equal + losses else 1
    return "w0" if wins == losses else f"{'w' if wins > losses else 'l'}{strong}"


# -- leaderboards --------------------------------------------------------------------------------


def page_data(bench: Benchmark) -> dict[str, Any]:
    """Return the leaderboards that the page's script can show, as texts, and the methods' names.

    There is one for each track, classifier, metric, and for tuned methods and defaults; by the
    first metric also one of each group of data sets.
    """
    places = {name: i for i, name in enumerate(bench.methods)}
    boards = []
    for (track, classifier, metric, tuned, group), board in bench.boards.items():
        boards.append(
            {
                "track": track,
                "classifier": classifier,
                "metric": metric,
                "tuned": "1" if tuned else "",
                "group": group,
                "caption": caption(board),
                "heads": heads(board),
                "drawn": drawn_rows(board),
                "rows": [
                    [
                        places[row["method"]],
                        *(text for name, text in row.items() if name != "method"),
                    ]
                    for row in board_cells(board)
                ],
            }
        )
    methods = [[method_name(name), slug(name), name in bench.users] for name in bench.methods]
    return {"methods": methods, "groups": list(bench.groups), "boards": boards}


def heads(board: Leaderboard) -> dict[str, str]:
    """Return the texts of a leaderboard's heading and its summary that depend on its choice."""
    low, high = _scale(board)
    best = method_name(board.best)
    others = board.table[board.level()]["method"]
    level = [method_name(name) for name in others if name != board.best]
    told = f"{len(level)} cannot be distinguished from {best}: {', '.join(level)}"
    told = told if level else f"all differ from {best}"
    own = board.row(board.best)
    ranks = (
        f" (95 % interval {ranks_text(own)}; first in {100 * own['first']:.0f} % of resamples)"
        if ranks_text(own)
        else ""
    )
    return {
        "said": f"{best[:1].upper()}{best[1:]} ranks first{ranks}. Of the other "
        f"{len(board.table) - 1} methods, {told}.",
        "metric": metric_axis(board.metric),
        "best": best,
        "baseline": method_name(board.baseline),
        "from": f"{low:g}",
        "to": f"{high:g}",
    }


def _scale(board: Leaderboard) -> tuple[float, float]:
    """Return the ends of the scale on which all scores of a leaderboard are drawn, in tenths."""
    values = board.table[["score", "low", "high"]].astype(float)
    low, high = float(values.min().min()), float(values.max().max())
    if math.isnan(low):
        return 0.0, 1.0
    first = math.floor(10 * low)
    return first / 10, max(math.ceil(10 * high), first + 1) / 10


def drawn_rows(board: Leaderboard) -> list[tuple[str, str]]:
    """Return for each row of a leaderboard its style, and the references it is level with.

    The style has the places of the score, of its interval and of the baseline's score on the scale.
    """
    low, high = _scale(board)
    base = board.row(board.baseline)["score"]
    level = {name: board.level(name).to_list() for name in ("best", "baseline")}
    found = []
    for i, row in enumerate(board.table.to_dict("records")):
        values = {name: row[name] for name in ("score", "low", "high")} | {"base": base}
        style = ";".join(
            f"--{name}:{(value - low) / (high - low):.4f}"
            for name, value in values.items()
            if not math.isnan(value)
        )
        found.append((style, " ".join(name for name, rows in level.items() if rows[i])))
    return found


def caption(board: Leaderboard) -> str:
    """Return a leaderboard's caption."""
    return (
        f"On {len(board.means)} data sets, all methods of the {board.track} track are {board.how} "
        f"and followed by {method_name(board.classifier)}."
    )


# -- one method, one data set --------------------------------------------------------------------


def method_facts(bench: Benchmark, name: str) -> dict[str, Any]:
    """Return a method's facts, failures, and results of other tracks."""
    is_known = name not in bench.submissions
    traits = bench.suite.traits_of(name) if is_known else None
    failed = bench.failures
    return {
        "estimator": (bench.suite.methods.get(name) or {}).get("name", name),
        "paper": reference(bench.suite.factory_of(name)) if is_known else None,
        "labels": name in bench.users,
        "audit": audit_line([each for each in bench.audits if each.method == name], short=False),
        "version": traits.version if traits else None,
        "cost": bench.growth_of(name),
        "grids": traits.grid_source if traits and traits.grids else "",
        "failures": failed[failed["method"] == name],
        "permuted": bench.permuted.xs(name, level="method").reset_index().to_dict("records")
        if name in bench.permuted.index.get_level_values(0)
        else [],
        "by_labels": bench.by_labels.xs(name, level="method")
        if name in bench.by_labels.index.get_level_values(0)
        else None,
    }


def standings(bench: Benchmark, name: str) -> Iterator[tuple[str, str, str, dict[str, Any], int]]:
    """Yield a method's row of each leaderboard by the suite's first metric."""
    for (track, classifier, metric, tuned, group), board in bench.boards.items():
        if metric != bench.suite.metrics[0] or group or name not in board.means:
            continue
        row = next(row for row in board_cells(board) if row["method"] == name)
        how = "tuned" if tuned else "default"
        yield track, classifier, how, row, len(board.table)


def method_rows(by_set: Mapping[Any, Rows], name: str) -> Rows:
    """Return a method's rows by data set, sorted by its lead over the median."""
    found = [row for rows in by_set.values() for row in rows if row["method"] == name]
    return sorted(found, key=lambda row: float(row["to_median"]))


def set_rows(bench: Benchmark, board: Leaderboard, dataset: str) -> Rows:
    """Return the methods on one data set, ranked; `to_best` and `to_median` are differences."""
    default = bench.board(tuned=False)
    other = bench.board(classifier=1)
    sign = 1 if lower_is_better(board.metric) else -1
    means: Any = board.means.loc[dataset]
    places = (sign * means).round(12).rank(method="min")
    best, median = (sign * means).min(), (sign * means).median()
    ends: dict[str, float] = {}
    if dataset in board.scores.index:
        scores: Any = board.scores.loc[dataset]
        ends = {"low": scores.min(), "median": scores.median(), "high": scores.max()}
    return [
        {
            "method": str(name),
            "dataset": dataset,
            "place": int(places[name]),
            "value": float(means[name]),
            "to_best": sign * float(means[name]) - float(best),
            "to_median": sign * float(means[name]) - float(median),
            "default": _at(default and default.means, dataset, name),
            "other": _at(other and other.means, dataset, name),
            "seconds": _at(board.seconds, dataset, name),
            "failed": _at(board.failures, dataset, name),
            "setting": _chosen(bench, board, dataset, str(name)),
            "score": _at(board.scores, dataset, name),
            "default_score": _at(default and default.scores, dataset, name),
        }
        | ends
        for name in places.sort_values(kind="stable").index
    ]


def _at(table: Any, dataset: str, name: Any) -> float | None:
    """Return a table's value for a data set and a method, or None."""
    there = table is not None and dataset in table.index and name in table
    return float(table.at[dataset, name]) if there else None


def _chosen(bench: Benchmark, board: Leaderboard, dataset: str, name: str) -> str:
    """Return the setting that was chosen most often, and how often if not always."""
    rows = bench.chosen.get((board.classifier, dataset, name))
    if rows is None or not board.tuned:
        return ""
    counts = rows.value_counts()
    first, n = str(counts.index[0]), int(counts.iloc[0])
    return first if n == len(rows) or not first else f"{first} ({n} of {len(rows)})"


def set_facts(bench: Benchmark, board: Leaderboard, name: str) -> dict[str, Any]:
    """Return a data set's card, split, majority-class baseline, ceiling and best method."""
    spec = bench.manifests[name].spec
    card = bench.suite.card_of(spec["dataset"]["name"])
    options: Any = spec["dataset"]["options"]
    usual = SplitSpec(kind="predefined").model_dump(mode="json")
    means: Any = board.means.loc[name] if name in board.means.index else None
    lower = lower_is_better(board.metric)
    own = bench.rows[bench.rows["dataset"] == name]
    first = None if means is None else str(means.idxmin() if lower else means.idxmax())
    return {
        "name": name,
        "card": card,
        "expect": card.expected(card.choose(options)),
        "split": {
            key: value
            for key, value in spec["split"].items()
            if key == "kind" or (value is not None and value != usual[key])
        },
        "preprocess": [
            ", ".join([step["name"], *(f"{k} {v}" for k, v in step["params"].items())])
            for step in spec["preprocess"]
        ],
        "splits": board.splits.get(name, 0),
        "planned": bench.suite.tracks[INDUCTIVE].repeats or bench.suite.repeats,
        "train": bench.n_train.get(name),
        "groups": [group for group, members in bench.groups.items() if name in members],
        "floor": float(own[f"floor_{board.metric}"].iloc[0]) if len(own) else math.nan,
        "ceiling": float(bench.ceiling.get(name, math.nan)),
        "first": first,
        "least": math.nan if means is None or first is None else float(means[first]),
    }
