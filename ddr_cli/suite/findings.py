"""The findings of a suite: a test on the rows for each.

The findings themselves are in findings.yaml; each names its test here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import yaml
from scipy import stats

from ddr_cli.comparison.across_datasets import EQUIVALENCE, difference, gains
from ddr_cli.comparison.names import (
    amount_text,
    difference_text,
    lower_is_better,
    method_name,
    metric_name,
    p_text,
)
from ddr_cli.suite.benchmark import Benchmark
from ddr_cli.suite.choices import ALL_METHODS
from ddr_cli.suite.leaderboard import ALPHA, Leaderboard, rank_text

CHOSEN_SENTENCE = (
    "We chose the findings and their tests on 2026-11-24. At that time, version 2 of the suite "
    "lite had no rows, but we knew the rows of version 1."
)

LARGE = 3000
"""The number of training samples from which a training set counts as large."""

CHANCE = 0.05
"""How far the accuracy on permuted labels may be above the majority-class baseline."""


class Told(NamedTuple):
    """Whether a finding `holds`, None if the rows support neither it nor its opposite; numbers."""

    holds: bool | None
    evidence: str


_NO_ROWS = Told(None, "There are no rows for this test yet.")


@dataclass(frozen=True)
class Finding:
    """The `sentence` shown if it holds by the test `asked`, and its opposite, `otherwise`."""

    name: str
    sentence: str
    otherwise: str
    asked: str

    def told(self, bench: Benchmark) -> Told:
        """Return the result of the test on a suite's rows."""
        board = bench.board()
        return _NO_ROWS if board is None else _TESTS[self.name](bench, board)


@cache
def findings() -> tuple[Finding, ...]:
    """Return the findings, in the order of the page."""
    text = files("ddr_cli.suite").joinpath("findings.yaml").read_text(encoding="utf-8")
    return tuple(Finding(**entry) for entry in yaml.safe_load(text))


def _compared(words: str, board: Leaderboard, of: Any, over: Any) -> Told:
    """Return whether `of` is significantly better than `over`; `words` name the two."""
    both = pd.concat([of, over], axis=1, keys=["of", "over"]).dropna()
    found = difference(both["of"], both["over"], board.metric, equivalence=0.0)
    p = found["p"]
    median = -found["difference"] if lower_is_better(board.metric) else found["difference"]
    size = amount_text(round(abs(median), 4), board.metric)
    return Told(
        _sign(p, median),
        f"{words}: better on {found['wins']} and worse on {found['losses']} of {len(both)} data "
        f"sets; {size} {'better' if median >= 0 else 'worse'} by the median difference (Wilcoxon's "
        f"p {p_text(p) or 'not defined'}).",
    )


def _correlated(words: str, first: pd.Series[float], second: pd.Series[float], sign: int) -> Told:
    """Return whether the correlation of two columns, one row per method, has the given sign."""
    if len(first) < 4:
        return Told(None, "There are too few methods for this test.")
    found: Any = stats.spearmanr(first, second)
    p = float(found.pvalue)
    return Told(
        _sign(p, sign * found.statistic),
        f"Spearman's rank correlation of {words} over {len(first)} methods: "
        f"{found.statistic:.2f} (p {p_text(p) or 'not defined'}).",
    )


def _paired(row: Any, title: str, p: float, metric: str) -> str:
    """Return how a row of a leaderboard compares with `best` or `baseline`, with p."""
    counts = " / ".join(f"{row[f'{title}_{each}']:g}" for each in ("wins", "equal", "losses"))
    median = difference_text(float(row[f"{title}_difference"]), metric)
    return (
        f"wins / equal / losses {counts}, median difference in {metric_name(metric)}: {median} "
        f"(Wilcoxon's p {p_text(p) or 'not defined'}"
    )


def _sign(p: float, effect: float) -> bool | None:
    """Return whether an effect is positive, None if it is not significant."""
    return effect > 0 if p < ALPHA else None


def _labels_help(bench: Benchmark, board: Leaderboard) -> Told:
    using = [name for name in board.means if name in bench.users]
    rest = [name for name in board.means if name not in bench.users]
    if not using or not rest:
        return _NO_ROWS
    means = board.means
    words = f"Mean of the {len(using)} methods that use labels, against the {len(rest)} others"
    return _compared(words, board, means[using].mean(axis=1), means[rest].mean(axis=1))


def _first_against_nothing(_: Benchmark, board: Leaderboard) -> Told:
    if board.best == board.baseline:
        return Told(False, f"{method_name(board.baseline)} itself ranks first.")
    row = board.row(board.best)
    p = float(row["baseline_p_holm"])
    both = f"{method_name(board.best)} against {method_name(board.baseline)}"
    found = _paired(row, "baseline", p, board.metric)
    return Told(True if p < ALPHA else None, f"{both}: {found} with Holm's correction).")


def _tuning_pays(bench: Benchmark, board: Leaderboard) -> Told:
    default = bench.board(tuned=False)
    if default is None or not board.tuned:
        return _NO_ROWS
    names: Any = [name for name in board.means if name in default.means]
    scores, before = (each.table.set_index("method")["score"] for each in (board, default))
    more = int((scores[names] > before[names]).sum())
    means = (each.means[names].mean(axis=1) for each in (board, default))
    words = f"{more} of {len(names)} methods score higher when tuned. Mean when tuned, compared "
    found = _compared(f"{words}with the mean at the defaults", board, *means)
    return found._replace(holds=None) if found.holds and 2 * more <= len(names) else found


def _ceiling(bench: Benchmark, board: Leaderboard) -> Told:
    if bench.ceiling.empty:
        return _NO_ROWS
    best = board.means[board.best].reindex(bench.ceiling.index)
    words = f"Strong classifier on all features, compared with {method_name(board.best)}"
    return _compared(words, board, bench.ceiling, best)


def _permuted(bench: Benchmark, _: Leaderboard) -> Told:
    if bench.permuted.empty:
        return _NO_ROWS
    means: Any = bench.permuted.groupby("method").mean()
    over = means["held_out"] - means["largest"]
    name = str(over.idxmax())
    return Told(
        bool(over.max() <= CHANCE),
        f"{method_name(name)} has the highest held-out accuracy: {100 * over.max():+.1f} "
        "percentage points relative to the majority-class baseline (training accuracy "
        f"{100 * means.at[name, 'seen']:.0f} %). Mean of {len(means)} methods that use labels: "
        f"{100 * over.mean():+.1f} percentage points relative to the baseline.",
    )


def _time(_: Benchmark, board: Leaderboard) -> Told:
    table = board.table
    return _correlated("CPU seconds and score", table["seconds"], table["score"], 1)


def _first_places(_: Benchmark, board: Leaderboard) -> Told:
    others = board.table[board.table["method"] != board.best]
    open_ones = board.level()[others.index].to_numpy()
    first = int(np.argmin(open_ones)) if not open_ones.all() else len(open_ones)
    told = len(others) - int(open_ones.sum())
    best = method_name(board.best)
    differ = f"{told} of the other {len(others)} methods differ significantly from {best}."
    if not first:
        return Told(False, differ)
    last = board.row(str(others["method"].iloc[first - 1]))
    return Told(
        True,
        f"From rank 2 down to {method_name(last['method'])} ({rank_text(last)}), no method differs "
        f"significantly from {best}. {differ}",
    )


def _no_winner(_: Benchmark, board: Leaderboard) -> Told:
    best = board.means.min(axis=1) if lower_is_better(board.metric) else board.means.max(axis=1)
    behind = gains(best, board.means[board.best], board.metric)
    near = int((behind <= EQUIVALENCE).sum())
    near_text = amount_text(EQUIVALENCE, board.metric)
    furthest = amount_text(round(float(behind.max()), 4), board.metric)
    return Told(
        2 * near < len(behind),
        f"{method_name(board.best)}, which ranks first, is within {near_text} of the lowest "
        f"{metric_name(board.metric)} on {near} of {len(behind)} data sets. The largest difference "
        f"is {furthest}, on {behind.idxmax()}.",
    )


def _other_classifier(bench: Benchmark, board: Leaderboard) -> Told:
    other = bench.board(tuned=board.tuned, classifier=1)
    if other is None:
        return _NO_ROWS
    places = [each.table.set_index("method")["place"].astype(float) for each in (board, other)]
    names = [name for name in places[0].index if name in places[1].index]
    rank: Any = stats.spearmanr(places[0][names], places[1][names])
    there = rank_text(other.row(board.best)) if board.best in names else "no rank"
    first, ranks = method_name(board.best), [rank_text(b.row(b.best)) for b in (board, other)]
    return Told(
        board.best != other.best,
        f"With {method_name(board.classifier)}, {first} has {ranks[0]}. With "
        f"{method_name(other.classifier)}, {method_name(other.best)} has {ranks[1]}, and {first} "
        f"has {there}. Spearman's correlation of the ranks: {float(rank.statistic):.2f}.",
    )


def _choosing(bench: Benchmark, board: Leaderboard) -> Told:
    rows = bench.choices
    if rows.empty or ALL_METHODS not in set(rows["method"]):
        return _NO_ROWS
    row: Any = rows.set_index("method").loc[ALL_METHODS].to_dict()
    gain = row["best_difference"] * (-1 if lower_is_better(board.metric) else 1)
    return Told(
        _sign(row["best_p"], gain),
        f"Selecting among {row['methods']:g} methods gives the score {row['score']:.3f}; "
        f"{method_name(board.best)} has the score {float(board.row(board.best)['score']):.3f}; "
        f"{_paired(row, 'best', float(row['best_p']), board.metric)}).",
    )


def _kernel_forms(_: Benchmark, board: Leaderboard) -> Told:
    pairs = [(name, f"kernel_{name}") for name in board.means if f"kernel_{name}" in board.means]
    if not pairs:
        return _NO_ROWS
    linear, kernel = (board.means[list(names)].mean(axis=1) for names in zip(*pairs, strict=True))
    names = ", ".join(method_name(str(linear)) for linear, _ in pairs)
    words = f"Mean of the kernel forms of {names}, compared with the mean of the linear forms"
    return _compared(words, board, kernel, linear)


def _whitening(_: Benchmark, board: Leaderboard) -> Told:
    if not {"pca", "whitened_pca"} <= set(board.means):
        return _NO_ROWS
    words = "Whitened PCA, compared with PCA"
    return _compared(words, board, board.means["whitened_pca"], board.means["pca"])


def _transductive(bench: Benchmark, board: Leaderboard) -> Told:
    seeing = [
        other
        for key, other in bench.boards.items()
        if bench.suite.tracks[key[0]].mode == "transductive"
        and key[1:] == (board.classifier, board.metric, board.tuned, "")
    ]
    if not seeing:
        return _NO_ROWS
    names = [name for name in seeing[0].means if name in board.means]
    means = (each.means[names].mean(axis=1) for each in (seeing[0], board))
    words = f"Mean of {len(names)} transductive methods, compared with their inductive forms"
    return _compared(words, board, *means)


def _no_gain_on_many(bench: Benchmark, board: Leaderboard) -> Told:
    table = bench.by_size
    if table.empty:
        return _NO_ROWS
    # At each size, take the mean over the data sets that have this size.
    means = table[bench.suite.metrics[0]].unstack("method").groupby(level="train").mean()
    if board.baseline not in means or not (means.index >= LARGE).any():
        return _NO_ROWS
    gain = means.apply(lambda column: gains(column, means[board.baseline], bench.suite.metrics[0]))
    gain = gain.drop(columns=board.baseline)
    ahead = (gain > EQUIVALENCE).sum(axis=1)
    largest = int(means.index.max())
    first = str(gain.loc[largest].idxmax())
    counts = ", ".join(f"{n} with {size:,} samples" for size, n in ahead.items())
    return Told(
        bool((ahead[ahead.index >= LARGE] == 0).all()),
        f"Number of methods (of {gain.shape[1]}) with a lower error than "
        f"{method_name(board.baseline)}, by more than {amount_text(EQUIVALENCE, board.metric)}: "
        f"{counts}. With {largest:,} samples, {method_name(first)} has the lowest error: "
        f"{amount_text(round(abs(float(gain.at[largest, first])), 4), board.metric)} "
        f"{'lower' if gain.at[largest, first] > 0 else 'higher'} than without reduction.",
    )


def _faithful(bench: Benchmark, _: Leaderboard) -> Told:
    table, metric = bench.faithfulness, bench.suite.metrics[0]
    if table.empty or "trustworthiness" not in table:
        return _NO_ROWS
    table = table[[name in bench.users for name in table.index]]
    words = f"{metric_name(metric)} and trustworthiness"
    sign = 1 if lower_is_better(metric) else -1
    return _correlated(words, table[metric], table["trustworthiness"], sign)


_TESTS: dict[str, Callable[[Benchmark, Leaderboard], Told]] = {
    "labels": _labels_help,
    "first": _first_against_nothing,
    "tuning": _tuning_pays,
    "ceiling": _ceiling,
    "permuted": _permuted,
    "places": _first_places,
    "everywhere": _no_winner,
    "classifier": _other_classifier,
    "time": _time,
    "choice": _choosing,
    "kernel": _kernel_forms,
    "whitening": _whitening,
    "transductive": _transductive,
    "size": _no_gain_on_many,
    "faithfulness": _faithful,
}
