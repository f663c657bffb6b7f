"""Selecting among methods by inner scores equals a loop over the rows."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata

from ddr_cli.evaluation.statistics import rank_intervals
from ddr_cli.spec.budgets import ALL
from ddr_cli.suite.choices import ALL_METHODS, THREE, choices
from ddr_cli.suite.leaderboard import leaderboard

METHODS = ("none", "a", "b", "c")
FLOORS = {"one": 0.6, "two": 0.5, "three": 0.7, "four": 0.8}


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    records = [
        {
            "track": "inductive",
            "control": "",
            "tuned": True,
            "labels": ALL,
            "train": None,
            "classifier": "knn",
            "dataset": dataset,
            "split": split,
            "split_hash": f"{dataset}{split}",
            "method": method,
            "status": "ok",
            "error": rng.uniform(0, 0.5),
            "inner_loss": rng.uniform(0, 0.5),
            "fit_seconds": 1.0,
            "tune_seconds": 2.0,
            "floor_error": FLOORS[dataset],
        }
        for dataset in FLOORS
        for split in range(3)
        for method in METHODS
    ]
    return pd.DataFrame(records)


def chosen_errors(rows, members):
    """Return the mean error by data set of the method with the lowest inner score per split."""
    own = rows[rows["method"].isin(members)]
    best = own.loc[own.groupby("split_hash")["inner_loss"].idxmin()]
    return best.groupby("dataset")["error"].mean()


def scores(errors):
    return 1 - errors / pd.Series(FLOORS)[errors.index]


def test_the_chosen_method_is_that_with_the_best_inner_loss(rows):
    board = leaderboard(rows)
    found = choices(rows, board, {"letters": ["a", "b"], "absent": ["a", "z"]})
    found = found.set_index("method")
    assert list(found.index) == [ALL_METHODS, "best of letters", THREE]
    assert found.loc[ALL_METHODS, "mean"] == pytest.approx(chosen_errors(rows, METHODS).mean())
    letters = chosen_errors(rows, ["a", "b"])
    assert found.loc["best of letters", "score"] == pytest.approx(scores(letters).mean())
    assert found.loc["best of letters", "seconds"] == pytest.approx(6)


def test_the_three_are_those_of_the_other_data_sets(rows):
    found = choices(rows, leaderboard(rows), {}).set_index("method")
    by_triple = {t: chosen_errors(rows, t) for t in combinations(METHODS, 3)}
    expected = []
    for dataset in FLOORS:
        best = max(by_triple, key=lambda t: scores(by_triple[t].drop(dataset)).mean())
        expected.append(by_triple[best][dataset])
    assert found.loc[THREE, "mean"] == pytest.approx(np.mean(expected))
    assert found.loc[[THREE, ALL_METHODS], "seconds"].tolist() == pytest.approx([9, 12])


def test_a_method_without_an_inner_loss_is_not_chosen(rows):
    rows.loc[rows["method"] == "a", "inner_loss"] = np.nan
    found = choices(rows, leaderboard(rows), {}).set_index("method")
    rest = chosen_errors(rows, ["none", "b", "c"]).mean()
    assert found.loc[ALL_METHODS, "mean"] == pytest.approx(rest)


def test_intervals_of_ranks_equal_a_loop_over_resamples():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(12, 5)) + np.arange(5) / 2
    values[:, 1] = values[:, 0]
    low, high, first = rank_intervals(values, 0.95)
    draws = np.random.default_rng(0).integers(12, size=(9999, 12))
    ranks = np.array([rankdata(-values[rows].mean(axis=0).round(12), "min") for rows in draws])
    assert first == pytest.approx((ranks == 1).mean(axis=0))
    ends = np.quantile(ranks, [0.025, 0.975], axis=0, method="closest_observation")
    assert (low == ends[0]).all()
    assert (high == ends[1]).all()
    assert first[0] == first[1]
    assert first[4] > 0.5
