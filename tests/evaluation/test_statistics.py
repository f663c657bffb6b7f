"""Intervals and tests over re-splits, against hand-worked values and a simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import (
    corrected_p_value,
    mean_interval,
    paired_differences,
    split_interval,
)

SPLITS = ("s0", "s1", "s2")


def paired(first, second, splits=SPLITS):
    return paired_differences(first, second, splits_first=splits, splits_second=splits)


def test_hand_worked_corrected_test():
    # Differences 1, 2, 3: mean 2, s = 1, standard error sqrt(1/3 + 10/90) = 2/3, t = 3; with two
    # degrees of freedom P(|T| > t) = 1 - t / sqrt(t^2 + 2).
    p_value = corrected_p_value(paired([5, 7, 9], [4, 5, 6]), n_train=90, n_test=10)
    assert p_value == pytest.approx(1 - 3 / math.sqrt(11))


@pytest.mark.parametrize(
    ("level", "quantile"), [(0.8, 1.8856180831641267), (0.95, 4.302652729911275)]
)
def test_hand_worked_corrected_interval(level, quantile):
    interval = mean_interval([1, 2, 3], level, n_train=90, n_test=10)
    assert interval == pytest.approx((2 - quantile * 2 / 3, 2 + quantile * 2 / 3))


def test_test_and_interval_agree_on_what_is_significant():
    generator = np.random.default_rng(0)
    for shift in np.linspace(0, 0.05, 20):
        scores = generator.normal(0.1 + shift, 0.02, size=30)
        differences = paired(scores, np.full(30, 0.1), [f"s{i}" for i in range(30)])
        p_value = corrected_p_value(differences, n_train=70, n_test=30)
        low, high = mean_interval(differences.values, 0.95, n_train=70, n_test=30)
        assert (p_value < 0.05) == (low > 0 or high < 0)


def test_interval_of_mean_does_not_shrink_to_nothing():
    values = np.tile([0.1, 0.2], 5000)
    low, high = mean_interval(values, 0.95, n_train=80, n_test=20)
    half = (high - low) / 2
    assert half == pytest.approx(1.96 * 0.05 * math.sqrt(20 / 80), rel=1e-3)


def test_split_interval_holds_its_share_of_the_values_and_keeps_its_width():
    values = np.random.default_rng(0).normal(size=10_000)
    low, high = split_interval(values, 0.8)
    assert np.mean((low <= values) & (values <= high)) == pytest.approx(0.8)
    assert high - low == pytest.approx(2 * 1.2816, rel=0.05)


def test_hand_worked_split_interval():
    assert split_interval(np.arange(11.0), 0.8) == pytest.approx((1, 9))


def coverage(interval_of, n_datasets=500):
    """Return how often the interval of a mean over 50 re-splits of 60 points holds the truth, 0."""
    generator = np.random.default_rng(12)
    held = 0
    for _ in range(n_datasets):
        points = generator.standard_normal(60)
        drawn = generator.random((50, 60)).argsort(axis=1)[:, :20]
        low, high = interval_of(points[drawn].mean(axis=1))
        held += low <= 0 <= high
    return held / n_datasets


def test_naive_interval_undercovers_and_the_corrected_one_does_not():
    def naive(scores):
        return stats.t.interval(0.9, 49, scores.mean(), stats.sem(scores))

    def corrected(scores):
        return mean_interval(scores, 0.9, n_train=40, n_test=20)

    assert coverage(naive) < 0.5
    assert 0.85 < coverage(corrected) < 0.96


def test_one_split_has_no_spread():
    assert np.isnan(mean_interval([0.1], 0.8, n_train=90, n_test=10)).all()
    with pytest.raises(InputError, match="at least two splits"):
        corrected_p_value(paired([0.1], [0.2], ["s0"]), n_train=90, n_test=10)


@pytest.mark.parametrize(("gap", "p_value"), [(0.0, 1.0), (0.25, 0.0)])
def test_constant_difference(gap, p_value):
    first = np.array([0.5, 0.75, 1.0])
    differences = paired(first, first - gap)
    assert corrected_p_value(differences, n_train=90, n_test=10) == p_value


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (SPLITS, ("s0", "s1", "other"), "row 2 comes from split s2 for one method and other"),
        (SPLITS, ("s1", "s0", "s2"), "not paired"),
        (SPLITS, ("s0", "s1"), "one score of each method per split"),
        (("s0", "s0", "s1"), ("s0", "s0", "s1"), "one is there twice"),
    ],
)
def test_unpaired_scores_are_refused(first, second, message):
    with pytest.raises(InputError, match=message):
        paired_differences([1, 2, 3], [1, 2, 3], splits_first=first, splits_second=second)


@pytest.mark.parametrize("values", [[], [0.1, float("nan")], [[0.1], [0.2]]])
def test_scores_must_be_numbers(values):
    with pytest.raises(InputError, match="finite numbers"):
        mean_interval(values, 0.8, n_train=9, n_test=1)


@pytest.mark.parametrize("level", [0, 1, 80])
def test_level_is_a_share(level):
    with pytest.raises(InputError, match="between 0 and 1"):
        split_interval([0.1, 0.2], level)


def test_sizes_are_needed():
    with pytest.raises(InputError, match="n_test=0"):
        mean_interval([0.1, 0.2], 0.8, n_train=9, n_test=0)
