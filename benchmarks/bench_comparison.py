"""Estimate the false positive rate and the power of the tests of `ddr compare`.

    python benchmarks/bench_comparison.py [--comparisons 1000] [--splits 20] [--quick]

The two methods are the same classifier on two feature sets of generated data, which share half of
their features. If the methods are equal, their own features have the same distribution. If they
differ, the second method's own features separate the classes more, so that its mean error over
fresh training and test sets is 2 percentage points lower.

Within a data set, each comparison draws a data set, splits it at random, and tests the mean
difference at the 5 % level. The splits overlap, as they do in a run. `ddr` is the test of `ddr
compare`; `naive` is the t-test that assumes independent splits. Across data sets, each comparison
draws data sets of several sizes and difficulties, splits each a few times, and applies Wilcoxon's
signed-rank test to their mean differences. The true difference varies between data sets; if the
methods differ, it is 2 points on average. Rates are in percent, with Monte Carlo standard errors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial import cKDTree
from tables import options, write

from ddr_cli.evaluation.statistics import mean_interval, rate_variance, signed_ranks

ALPHA = 0.05
POINTS = 0.02
SIZES = ((4435, 2000), (400, 180), (100, 100), (20, 940))  # The first pair is Landsat's.
LARGE = 2000  # Above this training size, 3-NN has a fifth of the comparisons.
DATA_SETS = (6, 10, 16)
FEW_SPLITS = 3
FRESH = 1000  # Test samples for each training set in `truth`.

Wrong = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Population:
    """Two classes: their distance in a shared and in an own feature, and the rate of wrong labels.

    Each method has two own features and shares two with the other method. One feature of each
    pair is noise.
    """

    shared: float
    own: float
    flipped: float

    def draw(self, n: int, gain: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return n samples; `gain` adds to the class distance in the second method's feature."""
        y = rng.integers(0, 2, n)
        X = rng.normal(size=(n, 6))
        X[:, [0, 2, 4]] += np.outer(y - 0.5, [self.own, self.shared, self.own + gain])
        return X, np.where(rng.random(n) < self.flipped, 1 - y, y)


FIRST, SECOND = slice(0, 4), slice(2, 6)


def lda(X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return which samples of T Fisher's discriminant misclassifies."""
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    within = np.cov((X - np.where(y[:, None], high, low)).T) + 1e-3 * np.eye(X.shape[1])
    return ((T - (low + high) / 2) @ np.linalg.solve(within, high - low) > 0) != t


def three_neighbours(X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return which samples of T 3-NN misclassifies."""
    nearest = cKDTree(X).query(T, 3)[1]
    return (2 * y[nearest].sum(axis=1) > 3) != t


CASES: tuple[tuple[str, Wrong, Population], ...] = (
    ("LDA", lda, Population(shared=1.2, own=1.0, flipped=0.0)),
    ("3-NN, 10 % of labels wrong", three_neighbours, Population(1.8, 1.4, 0.1)),
)


def errors(points: tuple[np.ndarray, np.ndarray], order: np.ndarray, n: int, wrong: Wrong):
    """Return both methods' errors on a split, or 0.5 if the training set has a single class."""
    X, y = points
    train, test = order[:n], order[n:]
    if len(np.unique(y[train])) < 2:
        return 0.5, 0.5
    return tuple(
        wrong(X[train, own], y[train], X[test, own], y[test]).mean() for own in (FIRST, SECOND)
    )


def truth(population: Population, wrong: Wrong, n: int, gain: float, fresh: int) -> float:
    """Return the mean error of the first method minus that of the second."""
    found = []
    for seed in range(fresh):
        # Every gain uses the same seeds, so that the result is smooth in the gain.
        points = population.draw(n + FRESH, gain, np.random.default_rng([7, seed]))
        first, second = errors(points, np.arange(n + FRESH), n, wrong)
        found.append(first - second)
    return float(np.mean(found))


def fresh_sets(n: int) -> int:
    """Return the number of fresh training sets; the errors of large ones vary less."""
    return 200 if n > LARGE else 800


def gain_of(population: Population, wrong: Wrong, n: int, points: float) -> float:
    """Return the gain that lowers the second method's mean error by `points`."""
    gains = np.linspace(0, 0.8, 5)
    known = [truth(population, wrong, n, gain, fresh_sets(n) // 4) for gain in gains]
    return float(np.interp(points, known, gains))


def scores(
    population: Population,
    wrong: Wrong,
    sizes: tuple[int, int],
    gain: float,
    n_splits: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a data set and return both methods' errors on random splits of it."""
    points = population.draw(sum(sizes), gain, rng)
    orders = [rng.permutation(sum(sizes)) for _ in range(n_splits)]
    return np.array([errors(points, order, sizes[0], wrong) for order in orders])


def is_different(found: np.ndarray, sizes: tuple[int, int]) -> tuple[bool, bool]:
    """Return whether ddr's test and the naive test report a difference."""
    difference = found[:, 1] - found[:, 0]
    first, second = found.mean(axis=0)
    ours = mean_interval(
        difference,
        1 - ALPHA,
        n_train=sizes[0],
        n_test=sizes[1],
        point_variance=rate_variance(second, first),
    )
    if not difference.any():
        return False, False
    return ours.p_value < ALPHA, stats.ttest_1samp(difference, 0).pvalue < ALPHA


def within(
    n_comparisons: int, n_splits: int, all_sizes: Sequence[tuple[int, int]]
) -> list[dict[str, object]]:
    """Return a row per classifier, pair of sizes and true difference."""
    rows = []
    for case, (name, wrong, population) in enumerate(CASES):
        for sizes in all_sizes:
            for points in (0.0, POINTS):
                few = wrong is three_neighbours and sizes[0] > LARGE
                gain = gain_of(population, wrong, sizes[0], points) if points else 0.0
                rng = np.random.default_rng([case, *sizes, points > 0])
                found = [
                    is_different(scores(population, wrong, sizes, gain, n_splits, rng), sizes)
                    for _ in range(n_comparisons // 5 if few else n_comparisons)
                ]
                exact = (
                    truth(population, wrong, sizes[0], gain, fresh_sets(sizes[0]))
                    if points
                    else 0.0
                )
                rows.append(
                    {
                        "comparison": "within a data set",
                        "classifier": name,
                        "n_train": sizes[0],
                        "n_test": sizes[1],
                        "splits": n_splits,
                        **rates(exact, np.array(found), ("ddr", "naive")),
                    }
                )
    return rows


def across(n_comparisons: int) -> list[dict[str, object]]:
    """Return a row per number of data sets and true mean difference."""
    rows = []
    most = max(DATA_SETS) * n_comparisons
    name, wrong, population = CASES[1]
    for points in (0.0, POINTS):
        rng = np.random.default_rng([10, points > 0])
        gain = gain_of(population, wrong, 60, points) if points else 0.0
        means = np.empty(most)
        for place in range(most):
            # Size, difficulty and gain vary; the gain lies between 0 and twice its mean.
            shift = rng.uniform(-0.4, 0.4)
            own = Population(population.shared + shift, population.own, population.flipped)
            sizes = (int(rng.integers(40, 80)), 60)
            found = scores(own, wrong, sizes, gain * rng.uniform(0, 2), FEW_SPLITS, rng)
            means[place] = (found[:, 0] - found[:, 1]).mean()
        for n in DATA_SETS:
            drawn = means[: n * n_comparisons].reshape(n_comparisons, n)
            called = (signed_ranks(drawn.T) < ALPHA)[:, None]
            rows.append(
                {
                    "comparison": "across data sets",
                    "classifier": name,
                    "data_sets": n,
                    "splits": FEW_SPLITS,
                    **rates(means.mean() if points else 0.0, called, ("ddr",)),
                }
            )
    return rows


def rates(exact: float, found: np.ndarray, names: tuple[str, ...]) -> dict[str, object]:
    """Return the true difference, and how often each test reports a difference, in percent."""
    row: dict[str, object] = {"points": round(100 * exact, 2), "comparisons": len(found)}
    for name, share in zip(names, found.mean(axis=0), strict=True):
        row[f"{name} called different"] = round(100 * share, 1)
        row[f"{name} standard error"] = round(100 * (share * (1 - share) / len(found)) ** 0.5, 1)
    return row


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--comparisons", type=int, default=1000)
    parser.add_argument("--splits", type=int, default=20)
    given = parser.parse_args()
    comparisons, sizes = (5, SIZES[-1:]) if given.quick else (given.comparisons, SIZES)
    table = pd.DataFrame([*within(comparisons, given.splits, sizes), *across(comparisons)])
    table = table.astype(dict.fromkeys(("n_train", "n_test", "data_sets"), "Int64"))
    columns = ["comparison", "classifier", "n_train", "n_test", "data_sets"]
    table = table[columns + [name for name in table if name not in columns]]
    print(table.to_string(index=False, na_rep=""))
    write(table, given, "comparison_errors")


if __name__ == "__main__":
    main()
