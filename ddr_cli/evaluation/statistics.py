"""What repeated random splits say, and what they can't.

Re-splits of one data set share most of their points, so their scores are
correlated: the spread of single splits is honest as it stands, but an
interval for a mean or a test between two methods that takes the splits for
independent is far too sure of itself. Everything here about means and
differences carries the correction of Nadeau and Bengio, and every interval
says what varies in it.

References
----------
C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
section 5 (the corrected resampled t-test).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ddr_cli.core.errors import InputError

_CORRECTED = "mean over re-splits, Nadeau-Bengio corrected"


@dataclass(frozen=True)
class Interval:
    """An interval and the sentence that must stand beside it.

    Parameters
    ----------
    low, high : float
        Its ends.
    level : float
        The share it is meant to cover, in (0, 1).
    varies : str
        What varies in it, such as ``"80 % of splits"``.
    """

    low: float
    high: float
    level: float
    varies: str


@dataclass(frozen=True)
class Summary:
    """The scores of one setting over its splits.

    Parameters
    ----------
    n : int
        Number of splits.
    mean, sd : float
        Mean and standard deviation (n - 1 in the denominator; nan for one split).
    splits : Interval
        In which the share `level` of the single scores lies.
    of_mean : Interval
        For the mean.
    """

    n: int
    mean: float
    sd: float
    splits: Interval
    of_mean: Interval


@dataclass(frozen=True)
class PairedDifferences:
    """Differences of two methods' scores on the same splits; made by `paired_differences`.

    Parameters
    ----------
    values : ndarray of shape (n_splits,)
        First method's score minus the second's.
    splits : tuple of str
        The hash of each split.
    """

    values: NDArray[np.float64]
    splits: tuple[str, ...]


@dataclass(frozen=True)
class TTest:
    """A two-sided test of a mean difference of 0.

    Parameters
    ----------
    difference : float
        The mean difference.
    statistic, degrees : float, int
        t and its degrees of freedom.
    p_value : float
        Two-sided.
    """

    difference: float
    statistic: float
    degrees: int
    p_value: float


def summarise(values: ArrayLike, level: float, *, n_train: int, n_test: int) -> Summary:
    """Return mean, spread and both intervals of the scores of one setting.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        One score per split.
    level : float
        The share that the intervals cover, in (0, 1).
    n_train, n_test : int
        Sizes of the parts of each split.

    Returns
    -------
    Summary
        With a single split the standard deviation and the interval of the mean are nan.

    Raises
    ------
    InputError
        If there is no score, one is not finite, or a size or the level makes no sense.
    """
    scores = _finite(values, "a summary")
    return Summary(
        n=len(scores),
        mean=float(scores.mean()),
        sd=float(scores.std(ddof=1)) if len(scores) > 1 else float("nan"),
        splits=split_interval(scores, level),
        of_mean=mean_interval(scores, level, n_train=n_train, n_test=n_test),
    )


def split_interval(values: ArrayLike, level: float) -> Interval:
    """Return the interval in which the share `level` of the single scores lies.

    Its ends are the empirical quantiles (1 - level) / 2 and (1 + level) / 2, linear between
    neighbouring scores. It tells where the next single split may land and does not shrink with
    more splits.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        One score per split.
    level : float
        In (0, 1).

    Raises
    ------
    InputError
        If there is no score, one is not finite, or the level is not in (0, 1).
    """
    scores = _finite(values, "an interval")
    _check_level(level)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high), level, f"{level * 100:g} % of splits")


def mean_interval(values: ArrayLike, level: float, *, n_train: int, n_test: int) -> Interval:
    """Return the corrected t-interval for a mean over re-splits.

    Its half-width is t_{J-1} s sqrt(1/J + n_test/n_train) for J splits with standard deviation s;
    the second term, absent from the naive interval, keeps it from shrinking to nothing as the
    same points are split again and again.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        One score per split.
    level : float
        In (0, 1).
    n_train, n_test : int
        Sizes of the parts of each split.

    Returns
    -------
    Interval
        With ends nan if there is one split only.

    Raises
    ------
    InputError
        If there is no score, one is not finite, or a size or the level makes no sense.
    """
    scores = _finite(values, "an interval")
    _check_level(level)
    error, degrees = _corrected_error(scores, n_train, n_test)
    half = float(stats.t.ppf((1 + level) / 2, degrees)) * error if degrees else float("nan")
    mean = float(scores.mean())
    return Interval(mean - half, mean + half, level, _CORRECTED)


def paired_differences(
    first: ArrayLike,
    second: ArrayLike,
    *,
    splits_first: Sequence[str],
    splits_second: Sequence[str],
) -> PairedDifferences:
    """Return the differences of two methods' scores, split by split.

    Parameters
    ----------
    first, second : array-like of shape (n_splits,)
        Scores of the two methods.
    splits_first, splits_second : sequence of str
        The hash of the split behind each score, in the same order.

    Raises
    ------
    InputError
        If the hashes differ anywhere, one stands twice, or their number is not that of the
        scores.
    """
    one, other = _finite(first, "a paired comparison"), _finite(second, "a paired comparison")
    if not len(one) == len(other) == len(splits_first) == len(splits_second):
        raise InputError(
            f"A paired comparison needs one score of each method per split; there are {len(one)} "
            f"and {len(other)} scores on {len(splits_first)} and {len(splits_second)} splits."
        )
    for place, (mine, theirs) in enumerate(zip(splits_first, splits_second, strict=True)):
        if mine != theirs:
            raise InputError(
                f"The scores are not paired: row {place} comes from split {mine} for one method "
                f"and {theirs} for the other; compare rows of the same splits, in the same order."
            )
    if len(set(splits_first)) < len(splits_first):
        raise InputError("A paired comparison counts each split once, but one is there twice.")
    return PairedDifferences(one - other, tuple(splits_first))


def corrected_interval(
    differences: PairedDifferences, level: float, *, n_train: int, n_test: int
) -> Interval:
    """Return the corrected t-interval for a mean paired difference; see `mean_interval`.

    Parameters
    ----------
    differences : PairedDifferences
        From `paired_differences`.
    level, n_train, n_test
        As for `mean_interval`.

    Raises
    ------
    InputError
        As for `mean_interval`.
    """
    return mean_interval(differences.values, level, n_train=n_train, n_test=n_test)


def corrected_ttest(differences: PairedDifferences, *, n_train: int, n_test: int) -> TTest:
    """Return the corrected resampled t-test of no difference between two methods.

    The statistic is the mean difference over s sqrt(1/J + n_test/n_train), with J - 1 degrees of
    freedom.

    Parameters
    ----------
    differences : PairedDifferences
        From `paired_differences`.
    n_train, n_test : int
        Sizes of the parts of each split.

    Returns
    -------
    TTest
        With p_value 1 if the methods agree on every split.

    Raises
    ------
    InputError
        If there are fewer than two splits or a size makes no sense.
    """
    error, degrees = _corrected_error(differences.values, n_train, n_test)
    if degrees == 0:
        raise InputError("A test between methods needs at least two splits.")
    mean = float(differences.values.mean())
    if mean == 0:
        return TTest(0.0, 0.0, degrees, 1.0)
    statistic = mean / error if error > 0 else float(np.copysign(np.inf, mean))
    return TTest(mean, statistic, degrees, float(2 * stats.t.sf(abs(statistic), degrees)))


def _corrected_error(values: NDArray[np.float64], n_train: int, n_test: int) -> tuple[float, int]:
    """Return the corrected standard error of the mean and its degrees of freedom."""
    if n_train < 1 or n_test < 1:
        raise InputError(
            f"The correction for overlapping splits needs the sizes of both parts, 1 or more; "
            f"they are n_train={n_train} and n_test={n_test}."
        )
    repeats = len(values)
    if repeats < 2:
        return float("nan"), 0
    factor = 1 / repeats + n_test / n_train
    return float(values.std(ddof=1) * np.sqrt(factor)), repeats - 1


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"An interval's level is a share between 0 and 1, not {level}.")


def _finite(values: ArrayLike, purpose: str) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise InputError(
            f"For {purpose} the scores must be a list of finite numbers, at least one; leave out "
            "trials that failed."
        )
    return scores
