"""What the order of the methods depends on."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ddr_cli.comparison.names import method_name, metric_name
from ddr_cli.suite.benchmark import Benchmark

LEAVING_OUT = "leaving out one data set"


def orders(bench: Benchmark) -> pd.DataFrame:
    """Return each method's rank by several criteria.

    They are the mean score, the mean rank and the median score over data sets; the best and the
    worst rank if one data set is left out; and the rank by the mean score with each other metric,
    with each other classifier, and within each group of data sets that is not made for a track.
    """
    board = bench.board()
    if board is None or len(board.scores) < 2:
        return pd.DataFrame()
    scores = board.scores[list(board.table["method"])]
    without = pd.DataFrame({name: _ranks(scores.drop(index=name).mean()) for name in scores.index})
    found = {
        ("", "mean score"): _ranks(scores.mean()),
        ("", "mean rank"): _ranks(-scores.round(12).rank(axis=1, ascending=False).mean()),
        ("", "median score"): _ranks(scores.median()),
        (LEAVING_OUT, "best"): without.min(axis=1),
        (LEAVING_OUT, "worst"): without.max(axis=1),
    }
    for (track, classifier, metric, tuned, group), other in bench.boards.items():
        if (track, tuned) != (board.track, board.tuned) or group in bench.suite.tracks:
            continue
        changed = (classifier != board.classifier, metric != board.metric, group != "")
        if sum(changed) == 1:
            words = (
                ("classifier", method_name(classifier)),
                ("", metric_name(metric)),
                ("group", group.replace("_", " ")),
            )
            found[words[changed.index(True)]] = other.table.set_index("method")["place"].astype(int)
    return pd.DataFrame(found).reindex(scores.columns)


def _ranks(values: Any) -> pd.Series[int]:
    """Return the ranks of values, the highest first, as a leaderboard has them."""
    ranks: pd.Series[int] = values.round(12).rank(method="min", ascending=False).astype(int)
    return ranks
