"""Comparisons of methods across data sets: each statistic is computed here and nowhere else.

Runs and suites both use this module, with their means per data set. A data set counts once, and the
result for two methods depends on no other method; only Holm's correction depends on the number of
comparisons.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from ddr_cli.comparison.against_controls import scaled
from ddr_cli.comparison.names import lower_is_better
from ddr_cli.comparison.selection import TRACKS, ComparedMethod, Selection
from ddr_cli.comparison.summary import MEAN_LEVEL, Row
from ddr_cli.comparison.within_dataset import difference_interval, meetings, paired
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import holm, mean_intervals, signed_ranks

EQUIVALENCE = 0.01
"""The largest difference that counts as equal by default: one percentage point."""

SIGNED_RANKS, T_TEST = "Wilcoxon's signed-rank test", "corrected t-test"
_PAIR_COLUMNS = [
    *("track", "first", "second", "datasets", "wins", "equal", "losses"),
    *("median_difference", "low", "high", "test", "p_value", "p_holm"),
]


def gains(first: Any, second: Any, metric: str) -> Any:
    """Return by how much `first` is better than `second`, in the metric's direction.

    Rounded to twelve digits, so that a difference caused only by rounding counts as none.
    """
    return ((second - first) if lower_is_better(metric) else (first - second)).round(12)


def wins_and_losses(gain: ArrayLike, equivalence: float = EQUIVALENCE) -> Any:
    """Return on how many data sets a gain is a win, a tie, and a loss."""
    values = np.asarray(gain, dtype=float)
    found = values > equivalence, np.abs(values) <= equivalence, values < -equivalence
    return np.sum(found, axis=1)


def difference(first: Any, second: Any, metric: str, equivalence: float) -> dict[str, Any]:
    """Return the median over data sets of first minus second, then wins, equal, losses and p.

    If `first` has a column per method, each value is an array.
    """
    values = np.round(np.asarray(first, dtype=float) - np.asarray(second, dtype=float), 12)
    gain = -values if lower_is_better(metric) else values
    counts = dict(zip(("wins", "equal", "losses"), wins_and_losses(gain, equivalence), strict=True))
    tested = signed_ranks(values.reshape(len(values), -1)).reshape(values.shape[1:])
    return counts | {"difference": np.median(values, axis=0), "p": tested[()]}


def scaled_scores(means: ArrayLike, floors: ArrayLike, metric: str) -> NDArray[np.float64]:
    """Return means scaled so that the majority-class baseline is 0 (`floors`) and no error is 1.

    The scale belongs to the data set, so a score does not depend on the other methods.
    """
    perfect = 0.0 if lower_is_better(metric) else 1.0
    return np.asarray(scaled(np.asarray(means, float), np.asarray(floors, float), perfect))


def mean_score(scores: ArrayLike) -> dict[str, float]:
    """Return the mean of a method's scores by data set, with its bootstrap interval."""
    values = np.asarray(scores, dtype=float)
    low, high = mean_intervals(values[:, None], MEAN_LEVEL)
    return {"score": float(values.mean()), "low": float(low[0]), "high": float(high[0])}


# -- runs -----------------------------------------------------------------------------------------


def table_of_pairs(selection: Selection, equivalence: float) -> pd.DataFrame:
    """Return a row for every two methods of a track that share a data set."""
    records = []
    for track in TRACKS:
        methods: dict[str, list[ComparedMethod]] = {}
        for entry in selection.entries:
            if entry.track == track:
                methods.setdefault(entry.name, []).append(entry)
        for (first, mine), (second, theirs) in combinations(methods.items(), 2):
            met = [[(a.row, b.row) for a, b in pairs] for pairs in meetings(mine, theirs).values()]
            if not met:
                continue
            # For each data set, take the mean difference over the runs that contain both methods.
            means = np.array(
                [np.mean([paired(a, b).values.mean() for a, b in rows]) for rows in met]
            )
            found = difference(means, np.zeros(len(means)), selection.metric, equivalence)
            tested = {"test": SIGNED_RANKS, "p_value": found.pop("p")}
            records.append(
                {
                    "track": track,
                    "first": first,
                    "second": second,
                    "datasets": len(met),
                    "median_difference": found.pop("difference"),
                    **found,
                    **(tested if len(met) > 1 else _within(met[0])),
                }
            )
    table = pd.DataFrame(records).reindex(columns=_PAIR_COLUMNS)
    for test in (SIGNED_RANKS, T_TEST):
        same = table["test"] == test
        table.loc[same, "p_holm"] = holm(table.loc[same, "p_value"].to_numpy(dtype=float))
    return table


def _within(met: Sequence[tuple[Row, Row]]) -> dict[str, object]:
    """Return the interval and test of two methods on one data set, if they can be computed."""
    try:
        found = difference_interval(*met)
    except InputError:
        found = None
    if found is None:
        return {}
    return {"low": found.low, "high": found.high, "test": T_TEST, "p_value": found.p_value}


def table_of_scores(selection: Selection) -> pd.DataFrame:
    """Return each method's mean scaled score with its bootstrap interval over data sets."""
    metric = selection.metric
    rows = pd.DataFrame(
        [(e.track, e.name, e.place.dataset, e.row["mean"]) for e in selection.entries],
        columns=["track", "method", "dataset", "mean"],
    )
    runs = [entry.place.run for entry in selection.entries]
    floors = [run.majority(metric) for run in runs]
    rows["score"] = scaled_scores(rows["mean"], pd.Series(floors, dtype=float), metric)
    records = []
    for track in TRACKS:
        own = rows[rows["track"] == track].dropna(subset="score")
        for name, found in own.groupby("method", sort=False):
            scores = found.groupby("dataset", sort=False)["score"].mean()
            what = {"track": track, "method": name, "datasets": len(scores)}
            records.append(what | mean_score(scores))
    return pd.DataFrame(records, columns=["track", "method", "datasets", "score", "low", "high"])
