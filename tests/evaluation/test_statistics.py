"""Intervals and tests over re-splits equal hand-worked values and hold in a simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import (
    NADEAU_BENGIO,
    SMALL_TRAINING,
    holm,
    mean_interval,
    rate_variance,
    signed_ranks,
    split_interval,
)


def ends(values, level, **given):
    found = mean_interval(values, level, **given)
    return found.low, found.high


def test_hand_worked_corrected_test():
    # Differences 1, 2, 3: mean 2, s = 1, standard error sqrt(1/3 + 10/90) = 2/3, t = 3; with two
    # degrees of freedom P(|T| > t) = 1 - t / sqrt(t^2 + 2).
    found = mean_interval([1, 2, 3], 0.95, n_train=90, n_test=10)
    assert found.p_value == pytest.approx(1 - 3 / math.sqrt(11))


@pytest.mark.parametrize(
    ("level", "quantile"), [(0.8, 1.8856180831641267), (0.95, 4.302652729911275)]
)
def test_hand_worked_corrected_interval(level, quantile):
    low, high = ends([1, 2, 3], level, n_train=90, n_test=10)
    assert (low, high) == pytest.approx((2 - quantile * 2 / 3, 2 + quantile * 2 / 3))


def test_hand_worked_interval_of_a_small_training_part():
    # Three splits have the variance 1, and f = 1/10: 1/3 + 1/9 + (1 - 1/9) 0.09 / 90.
    found = mean_interval([1, 2, 3], 0.95, n_train=10, n_test=90, point_variance=0.09)
    error = math.sqrt(1 / 3 + 1 / 9 + 8 / 9 * 0.001)
    assert (found.mean, found.n, found.name) == (2, 3, SMALL_TRAINING)
    assert found.high == pytest.approx(2 + 4.302652729911275 * error)


@pytest.mark.parametrize("ratio", [0.45, 1, 3, 47])
def test_the_two_corrections_are_one_up_to_equal_parts_and_never_wider_beyond(ratio):
    values, n_test = [0.1, 0.12, 0.15, 0.11], round(1000 * ratio)
    known = mean_interval(values, 0.95, n_train=1000, n_test=n_test)
    ours = mean_interval(values, 0.95, n_train=1000, n_test=n_test, point_variance=0.25)
    assert known.name == NADEAU_BENGIO
    if ratio <= 1:
        assert ours == known
    else:
        assert ours.name == SMALL_TRAINING
        assert known.low < ours.low < ours.high < known.high
        # With a bound so large that it is uninformative, the correction of Nadeau and Bengio
        # applies.
        loose = mean_interval(values, 0.95, n_train=1000, n_test=n_test, point_variance=1e9)
        assert loose.high == pytest.approx(known.high)


def test_a_bounded_mean_has_a_bounded_interval():
    found = mean_interval([0.0, 0.02], 0.95, n_train=10, n_test=10, within=(0, 1))
    assert found.low == 0
    assert 0.02 < found.high < 1


def test_the_bound_of_a_difference_holds_for_all_points_alike():
    generator = np.random.default_rng(0)
    for _ in range(100):
        first, second = generator.random((2, 50)) < generator.random((2, 1))
        difference = first.astype(float) - second
        bound = rate_variance(first.mean(), second.mean())
        assert difference.var() <= bound + 1e-12
        assert bound == pytest.approx(rate_variance(1 - first.mean(), 1 - second.mean()))
    assert rate_variance(0.1) == pytest.approx(0.09)


def test_test_and_interval_agree_on_what_is_significant():
    generator = np.random.default_rng(0)
    for shift in np.linspace(0, 0.05, 20):
        scores = generator.normal(0.1 + shift, 0.02, size=30)
        found = mean_interval(scores - 0.1, 0.95, n_train=70, n_test=30)
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


def test_interval_of_mean_does_not_shrink_to_nothing():
    values = np.tile([0.1, 0.2], 5000)
    low, high = ends(values, 0.95, n_train=80, n_test=20)
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
    """Return how often the interval of a mean over 50 re-splits of 60 samples covers the true 0."""
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
        return ends(scores, 0.9, n_train=40, n_test=20)

    assert coverage(naive) < 0.5
    assert 0.85 < coverage(corrected) < 0.96


def centroid_errors(generator, n_train, n_test, n_splits):
    """Return the nearest-centroid errors over re-splits of new samples in six dimensions."""
    n = n_train + n_test
    y = generator.integers(0, 2, n)
    X = generator.normal(size=(n, 6))
    X[:, 0] += 2.4 * (y - 0.5)
    errors = []
    for _ in range(n_splits):
        order = generator.permutation(n)
        train, test = order[:n_train], order[n_train:]
        high, low = (X[train][y[train] == label].mean(axis=0) for label in (1, 0))
        found = (X[test] - (high + low) / 2) @ (high - low) > 0
        errors.append(np.mean(found != y[test]))
    return np.array(errors)


def test_a_small_training_part_is_covered_by_an_interval_of_use():
    generator = np.random.default_rng(5)
    sizes = {"n_train": 30, "n_test": 270}
    truth = np.mean([centroid_errors(generator, 30, 2000, 1) for _ in range(1000)])
    held, widths = [], []
    for _ in range(200):
        errors = centroid_errors(generator, **sizes, n_splits=20)
        bound = rate_variance(errors.mean())
        low, high = ends(errors, 0.95, **sizes, point_variance=bound)
        held.append(low <= truth <= high)
        widths.append((high - low) / np.diff(ends(errors, 0.95, **sizes)))
    assert np.mean(held) >= 0.93
    assert np.mean(widths) < 0.5


@pytest.mark.parametrize(("gap", "p_value"), [(0.0, 1.0), (0.25, 0.0)])
def test_constant_difference(gap, p_value):
    assert mean_interval([gap] * 3, 0.95, n_train=90, n_test=10).p_value == p_value


@pytest.mark.parametrize("values", [[], [0.1, float("nan")], [[0.1], [0.2]]])
def test_scores_must_be_numbers(values):
    with pytest.raises(InputError, match="finite scores"):
        mean_interval(values, 0.8, n_train=9, n_test=1)


def test_sizes_are_needed():
    with pytest.raises(InputError, match="n_test=0"):
        mean_interval([0.1, 0.2], 0.8, n_train=9, n_test=0)


@pytest.mark.parametrize(("n", "digits"), [(5, 9), (13, 1), (14, 1), (30, 9), (50, 9), (60, 9)])
def test_signed_ranks_are_as_scipy_has_them(n, digits):
    values = np.round(np.random.default_rng(n).normal(0.3, size=n), digits)
    exact = stats.PermutationMethod(n_resamples=2**13) if digits == 1 and n < 14 else "auto"
    assert len(np.unique(np.abs(values))) < n or digits == 9
    expected = stats.wilcoxon(values[values != 0], method=exact).pvalue
    assert signed_ranks(values[:, None]) == pytest.approx(expected, rel=1e-12)


def test_hand_worked_correction_leaves_missing_p_values_out():
    nan = math.nan
    # Of three, the smallest is multiplied by 3, the next by 2; none is below the one before.
    assert holm([0.04, 0.01, 0.03]).tolist() == pytest.approx([0.06, 0.03, 0.06])
    assert holm([nan, 0.01, 0.04]).tolist() == pytest.approx([nan, 0.02, 0.04], nan_ok=True)
    assert holm([0.6, nan, 0.7, nan]).tolist() == pytest.approx([1, nan, 1, nan], nan_ok=True)
