"""What repeated random splits say, and what they can't.

Re-splits of one data set share most of their points, so their scores are
correlated: the spread of single splits is honest as it stands, but an
interval for a mean or a test between two methods that takes the splits for
independent is far too sure of itself. Everything here about means and
differences carries the correction of Nadeau and Bengio.

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


@dataclass(frozen=True)
class PairedDifferences:
    """First method's scores minus the second's, and the hash of the split behind each."""

    values: NDArray[np.float64]
    splits: tuple[str, ...]


def split_interval(values: ArrayLike, level: float) -> tuple[float, float]:
    """Return the ends of the interval in which the share `level` of the single scores lies.

    They are the empirical quantiles (1 - level) / 2 and (1 + level) / 2, linear between
    neighbouring scores. It tells where the next single split may land and does not shrink with
    more splits.
    """
    scores = _finite(values)
    _check_level(level)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def mean_interval(
    values: ArrayLike, level: float, *, n_train: int, n_test: int
) -> tuple[float, float]:
    """Return the ends of the corrected t-interval for a mean, or a mean paired difference.

    Its half-width is t_{J-1} s sqrt(1/J + n_test/n_train) for J splits of these sizes with standard
    deviation s; the second term, absent from the naive interval, keeps it from shrinking to nothing
    as the same points are split again and again. With a single split the ends are nan.
    """
    scores = _finite(values)
    _check_level(level)
    error, degrees = _corrected_error(scores, n_train, n_test)
    half = float(stats.t.ppf((1 + level) / 2, degrees)) * error if degrees else float("nan")
    mean = float(scores.mean())
    return mean - half, mean + half


def paired_differences(
    first: ArrayLike,
    second: ArrayLike,
    *,
    splits_first: Sequence[str],
    splits_second: Sequence[str],
) -> PairedDifferences:
    """Return the differences of two methods' scores, split by split.

    An InputError if the hashes of the splits behind them differ anywhere, one stands twice, or
    their number is not that of the scores.
    """
    a, b = _finite(first), _finite(second)
    if not len(a) == len(b) == len(splits_first) == len(splits_second):
        raise InputError(
            f"A paired comparison needs one score of each method per split; there are {len(a)} "
            f"and {len(b)} scores on {len(splits_first)} and {len(splits_second)} splits."
        )
    for place, (mine, theirs) in enumerate(zip(splits_first, splits_second, strict=True)):
        if mine != theirs:
            raise InputError(
                f"The scores are not paired: row {place} comes from split {mine} for one method "
                f"and {theirs} for the other; compare rows of the same splits, in the same order."
            )
    if len(set(splits_first)) < len(splits_first):
        raise InputError("A paired comparison counts each split once, but one is there twice.")
    return PairedDifferences(a - b, tuple(splits_first))


def corrected_p_value(differences: PairedDifferences, *, n_train: int, n_test: int) -> float:
    """Return the two-sided p-value of the corrected resampled t-test of no difference.

    The statistic is the mean difference over s sqrt(1/J + n_test/n_train), with J - 1 degrees of
    freedom; 1 if the methods agree on every split.
    """
    error, degrees = _corrected_error(differences.values, n_train, n_test)
    if degrees == 0:
        raise InputError("A test between methods needs at least two splits.")
    mean = float(differences.values.mean())
    if mean == 0:
        return 1.0
    return float(2 * stats.t.sf(abs(mean) / error if error > 0 else np.inf, degrees))


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


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise InputError(
            "The scores must be a list of finite numbers, at least one; leave out trials that "
            "failed."
        )
    return scores
