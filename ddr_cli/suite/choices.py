"""Scores if the method is chosen by its inner score, computed from the rows of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.comparison.across_datasets import EQUIVALENCE, difference, mean_score, scaled_scores
from ddr_cli.suite.leaderboard import Leaderboard, counted_rows

Floats = NDArray[np.float64]

ALL_METHODS = "best of all methods"
THREE = "best of three methods"

_SPLIT = ["dataset", "split", "split_hash"]


def choices(
    rows: pd.DataFrame, board: Leaderboard, families: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Return a row per way of choosing among the methods of a tuned leaderboard.

    On each split, the method with the best score on the inner folds is chosen: of all methods, of
    each family, and of three. The three are those that do best together on the other data sets.
    The columns are those of a leaderboard; `methods` is how many there are to choose from, and
    `seconds` is the time of all of them.
    """
    kept = counted_rows(rows, board)
    if not board.tuned or kept["inner_loss"].isna().all():
        return pd.DataFrame()
    cells: Any = kept.set_index([*_SPLIT, "method"])[[board.metric, "inner_loss"]].unstack("method")
    methods = list(board.means)
    values = cells[board.metric][methods].to_numpy(dtype=float)
    inner = cells["inner_loss"][methods].fillna(np.inf).to_numpy(dtype=float)
    datasets = cells.index.get_level_values("dataset")
    sets: dict[str, list[int]] = {ALL_METHODS: list(range(len(methods)))}
    for name, members in families.items():
        found = [methods.index(each) for each in members if each in methods]
        if len(found) > 1:
            sets[f"best of {name}"] = found
    chosen = {name: _taken(values, inner, members) for name, members in sets.items()}
    counts = {name: len(members) for name, members in sets.items()}
    spent = board.seconds.to_numpy()
    seconds = {name: spent[:, members].sum(axis=1) for name, members in sets.items()}
    if len(methods) > 3 and datasets.nunique() > 1:
        chosen[THREE], threes = _best_three(values, inner, datasets, board)
        counts[THREE] = 3
        seconds[THREE] = np.take_along_axis(spent, threes, axis=1).sum(axis=1)
    records = []
    for name, column in chosen.items():
        means = pd.Series(column, datasets).groupby(level=0).mean()[list(board.means.index)]
        extra = {"methods": counts[name], "seconds": float(seconds[name].mean())}
        records.append(entry(name, means, board) | extra)
    return pd.DataFrame(records)


def entry(name: str, means: pd.Series[float], board: Leaderboard) -> dict[str, Any]:
    """Return what a leaderboard says of a method, of means by data set."""
    floors = [board.floors[each] for each in means.index]
    scores = scaled_scores(means, floors, board.metric)
    found = {"method": name, "mean": float(means.mean())} | mean_score(scores)
    for title, reference in (("best", board.best), ("baseline", board.baseline)):
        against = difference(means, board.means[reference], board.metric, EQUIVALENCE)
        found |= {f"{title}_{key}": value for key, value in against.items()}
    return found


def _taken(values: Floats, inner: Floats, members: Sequence[int]) -> Floats:
    """Return the value of the member with the best inner score on each split, ties: the first."""
    best = np.asarray(members)[inner[:, members].argmin(axis=1)]
    taken: Floats = values[np.arange(len(values)), best]
    return taken


def _best_three(
    values: Floats, inner: Floats, datasets: Any, board: Leaderboard
) -> tuple[Floats, NDArray[np.intp]]:
    """Return the choice of three methods, and the three by data set.

    They are those with the best mean score on the other data sets.
    """
    known = list(board.means.index)
    code = pd.Categorical(datasets, categories=known).codes
    triples = list(combinations(range(values.shape[1]), 3))
    picked = np.stack([_taken(values, inner, triple) for triple in triples])
    means = np.stack([picked[:, code == i].mean(axis=1) for i in range(len(known))], axis=1)
    scores = scaled_scores(means, [board.floors[name] for name in known], board.metric)
    others = scores.sum(axis=1, keepdims=True) - scores
    best = others.argmax(axis=0)
    taken: Floats = picked[best[code], np.arange(values.shape[0])]
    return taken, np.asarray(triples)[best]
