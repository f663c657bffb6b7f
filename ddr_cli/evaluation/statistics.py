"""Statistics of repeated random splits, and their limits.

Re-splits of one data set share most of their samples, so their scores are correlated: the spread of
single splits is correct, but an interval of a mean, or a test between two methods, that treats the
splits as independent is far too narrow.

Let f be the fraction of the samples in the training set. The score of a split is, to first order,
mu + a + b: a is the contribution of its training set (variance V_a), b that of its test set (V_b).
Two random splits share the fraction f of their training samples and 1 - f of their test samples, so

- the variance s^2 of the scores has the mean (1 - f) V_a + f V_b,
- the mean of J splits has the variance s^2 / J + f V_a + (1 - f) V_b.

s^2 alone does not distinguish V_a from V_b. If the test set is at most as large as the training
set, all of s^2 counts as V_b, which gives s^2 (1/J + n_test/n_train), the correction of Nadeau and
Bengio. For larger test sets this is still sufficient, but far too wide: a test set of thousands of
samples has almost no V_b. If the score is a fraction of the test samples, V_b is at most v /
n_test, with v a bound of one sample's variance, and the rest of s^2 counts as V_a:

    s^2 (1/J + n_train/n_test) + (1 - n_train/n_test) min(v / n_test, s^2 / f).

Terms of higher order are less correlated than a and b, so they only make the interval more
conservative. As in Nadeau and Bengio, one effect is ignored: a sample may have a similar effect in
the training set and in the test set. In ``benchmarks/bench_intervals.py`` this effect only appears
for 1-NN with mislabelled samples: with 0.45 test samples per training sample, 90 % of the nominal
95 % intervals contain the true value; in all other cases and for all paired differences it is 94 %
or more. Methods that learn from unlabelled test samples use the same samples in every split; their
interval holds for these samples only.

Repeated k-fold: the folds of one division share no test sample, and their training sets share all
but one fold, so that s^2 has the mean V_a / (k - 1) + V_b, and the mean over a whole division has
the variance f V_a + (1 - f) V_b with f = (k - 1) / k, as above but without s^2 / J. The same
intervals are therefore valid, with n_test / n_train = 1 / (k - 1), and slightly wide; this is the
corrected repeated k-fold test of Bouckaert and Frank. In ``bench_intervals.py --folds 5 --splits
10`` they contain the true value for 94 to 99 % of 300 data sets, the uncorrected ones for 74 to 88
%. Leaving out one group at a time is k-fold with groups instead of samples, and its intervals hold
for new groups; n_test / n_train is then the mean, and v / n_test, which is no bound for grouped
samples, is not used. Given splits are treated as random ones, because their overlap is unknown.

References
----------
C. Nadeau, Y. Bengio, "Inference for the generalization error", Machine Learning 52 (2003),
section 5 (the corrected resampled t-test).

R. Bouckaert, E. Frank, "Evaluating the replicability of significance tests for comparing learning
algorithms", PAKDD 2004 (the corrected repeated k-fold cross-validation test).

Q. Wang, B. Lindsay, "Variance estimation of a general U-statistic with application to
cross-validation", Statistica Sinica 24 (2014); M. Fuchs, R. Hornung, R. De Bin, A.-L. Boulesteix,
"A U-statistic estimator for the variance of resampling-based error estimators", arXiv:1310.8203
(2013): the mean over all splits as a U-statistic, from whose first-order terms f and 1 - f come.
Their estimators of its variance need the losses of single samples in splits that share no sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from ddr_cli.core.errors import InputError

NADEAU_BENGIO = "corrected for overlapping splits (Nadeau and Bengio)"
SMALL_TRAINING = "corrected for overlapping splits (small training sets)"
"""The names of the two corrections of `mean_interval`."""

_MOST_TIED, _MOST_UNTIED = 13, 50
_RESAMPLES = 9999


def split_interval(values: ArrayLike, level: float) -> tuple[float, float]:
    """Return the ends of the interval that contains the fraction `level` of the single scores.

    They are the empirical quantiles (1 - level) / 2 and (1 + level) / 2, linear between
    neighbouring scores. It shows where the score of the next single split may lie, and does not
    shrink with more splits.
    """
    scores = _finite(values)
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


@dataclass(frozen=True)
class MeanInterval:
    """A mean over `n` overlapping splits and its interval; `name` states its correction.

    `p_value` is that of the two-sided test that the mean is zero. With a single split `low`, `high`
    and `p_value` are nan.
    """

    mean: float
    low: float
    high: float
    p_value: float
    n: int
    name: str


# scipy.stats has both functions, but loading it takes longer than writing a report.
def t_quantile(level: float, df: int) -> float:
    """Return the quantile of Student's t distribution with `df` degrees of freedom at `level`."""
    return float(special.stdtrit(df, level))


def t_above(value: float, df: int) -> float:
    """Return the probability that Student's t with `df` degrees of freedom exceeds `value`."""
    return float(special.stdtr(df, -value))


def mean_interval(
    values: ArrayLike,
    level: float,
    *,
    n_train: float,
    n_test: float,
    point_variance: float | None = None,
    within: tuple[float, float] = (-np.inf, np.inf),
) -> MeanInterval:
    """Return the corrected t-interval for a mean, or a mean paired difference, over random splits.

    Parameters
    ----------
    values : array-like of shape (n_splits,)
        One score, or difference of scores, per split; at least two.
    level : float
        The interval's level, such as 0.95.
    n_train, n_test : int
        Sizes of the training and the test set of each split.
    point_variance : float, optional
        A bound of the variance of one test sample's score, if `values` are means over the test
        samples (see `rate_variance`). It is used if the test set is larger than the training set.
        Without it, the correction is always Nadeau and Bengio's, which grows with the ratio.
    within : tuple of float
        Limits of the mean, such as 0 and 1 for a rate.
    """
    scores = _finite(values)
    if n_train < 1 or n_test < 1:
        raise InputError(f"n_train={n_train} and n_test={n_test} must be at least 1.")
    n, mean = len(scores), float(scores.mean())
    bounded = n_test > n_train and point_variance is not None
    name = SMALL_TRAINING if bounded else NADEAU_BENGIO
    spread = float(scores.var(ddof=1))
    shared = spread * n_test / n_train
    if bounded and point_variance is not None:
        from_test = min(point_variance / n_test, spread * (n_train + n_test) / n_train)
        shared = n_train / n_test * spread + (1 - n_train / n_test) * from_test
    error = float(np.sqrt(spread / n + shared))
    half = t_quantile((1 + level) / 2, n - 1) * error
    ratio = abs(mean) / error if error > 0 else np.inf
    return MeanInterval(
        mean=mean,
        low=max(mean - half, within[0]),
        high=min(mean + half, within[1]),
        p_value=2 * t_above(ratio, n - 1) if mean else 1.0,
        n=n,
        name=name,
    )


def rate_variance(rate: float, other: float | None = None) -> float:
    """Return the largest variance of one sample's contribution to a rate or to a difference of two.

    A sample counts 0 or 1, hence p (1 - p). A difference is 1 or -1 if exactly one of two methods
    is wrong, on at most e + e' of the samples, with errors or accuracies e and e'.
    """
    if other is None:
        return rate * (1 - rate)
    return min(rate + other, 2 - rate - other) - (rate - other) ** 2


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return Holm's step-down adjustment of p-values; nan stays nan and is not counted."""
    p = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(p, kind="stable")[: int(np.isfinite(p).sum())]
    factors = np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(factors * p[order]), 1.0)
    return adjusted


def signed_ranks(differences: ArrayLike) -> NDArray[np.float64]:
    """Return the two-sided p-values of Wilcoxon's signed-rank test, one for each column.

    The rows of `differences` are data sets. Zeros are left out. It is exact, from all changes of
    sign, up to 13 differences with ties and up to 50 without; nan for fewer than two differences.
    """
    from scipy import stats

    # Differences that differ only by rounding count as ties.
    values = np.round(np.asarray(differences, dtype=np.float64), 12)
    if not np.isfinite(values).all():
        raise InputError("The signed-rank test needs finite differences; omit failed trials.")
    n, m = values.shape
    if n < 2:
        return np.full(m, np.nan)
    # Zeros have the lowest ranks; subtracting their number ranks the other differences from 1.
    ranks = stats.rankdata(np.abs(values), axis=0) - (values == 0).sum(axis=0)
    doubled = (2 * ranks).astype(int)
    p_values = np.ones(m)
    for column in np.flatnonzero(values.any(axis=0)):
        there = values[:, column] != 0
        own, halves = values[there, column], doubled[there, column]
        n, tied = len(own), len(np.unique(halves)) < len(own)
        if n > (_MOST_TIED if tied else _MOST_UNTIED):
            p_values[column] = stats.wilcoxon(own).pvalue
            continue
        counts = _sign_changes(tuple(sorted(halves.tolist())))
        found = halves[own > 0].sum()
        tail = min(counts[: found + 1].sum(), counts[found:].sum())
        p_values[column] = min(1.0, 2 * tail / 2.0**n)
    return p_values


@lru_cache(maxsize=1024)
def _sign_changes(ranks: tuple[int, ...]) -> NDArray[np.float64]:
    """Return how many sign combinations have each sum of ranks; much faster than SciPy."""
    counts = np.zeros(sum(ranks) + 1)
    counts[0] = 1
    for rank in ranks:
        counts[rank:] += counts[:-rank].copy()
    return counts


def fewest_for_signed_ranks(alpha: float, n_tests: int = 1) -> int:
    """Return how many data sets `signed_ranks` needs to reject, with Holm over `n_tests`."""
    return int(np.ceil(1 - np.log2(alpha / n_tests)))


def mean_intervals(
    scores: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile bootstrap interval of each column's mean; nan for fewer than two rows.

    The rows of `scores` are drawn with replacement.
    """
    n, m = scores.shape
    if n < 2:
        return (np.full(m, np.nan),) * 2
    low, high = np.quantile(_means(scores), [(1 - level) / 2, (1 + level) / 2], axis=1)
    return low, high


def rank_intervals(
    scores: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return the percentile bootstrap interval of each column's rank, and how often it is first.

    The rows of `scores` are drawn with replacement; rank 1 has the highest mean, and equal means,
    to twelve digits, share the lowest rank. All are nan for fewer than two rows.
    """
    n, m = scores.shape
    if n < 2:
        return (np.full(m, np.nan),) * 3
    means = np.round(_means(scores), 12)
    ranks = np.stack([1 + (means > one).sum(axis=0, dtype=np.int16) for one in means])
    low, high = np.quantile(
        ranks, [(1 - level) / 2, (1 + level) / 2], axis=1, method="closest_observation"
    )
    return low, high, np.mean(ranks == 1, axis=1)


def _means(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means of each column in all resamples of the rows, next to each other."""
    n = len(scores)
    means: NDArray[np.float64] = (_counts(n) @ scores / n).T.copy()
    return means


@lru_cache(maxsize=8)
def _counts(n: int) -> NDArray[np.float64]:
    """Return how often each resample draws each position."""
    drawn = np.random.default_rng(0).integers(n, size=(_RESAMPLES, n))
    return np.apply_along_axis(np.bincount, 1, drawn, minlength=n).astype(np.float64)


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 1 or len(scores) == 0 or not np.isfinite(scores).all():
        raise InputError("An interval needs one or more finite scores; omit failed trials.")
    return scores
