"""Estimate how often confidence intervals over overlapping random splits cover the true mean.

    python benchmarks/bench_intervals.py [--data-sets 500] [--splits 20] [--folds K] [--quick]

The script draws data sets from two known populations, splits each at random as `ddr run` does, and
scores two learners on every split. The true value is the mean error, or difference of errors, of
training sets of that size, over many fresh training and test sets. The intervals are those of each
learner and of the paired difference, at four ratios of test to training samples. The table has the
percentage of the nominal 95 % intervals that cover the true value, and their mean half-width.
`naive` assumes independent splits, `Nadeau-Bengio` applies their correction at every ratio, and
`ddr` is the interval that tables and verdicts use. With `--folds K`, the splits are repeated
stratified K-fold splits instead.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import stats
from scipy.spatial.distance import cdist
from tables import options, write

from ddr_cli.evaluation.splits import make_split
from ddr_cli.evaluation.statistics import mean_interval, rate_variance

SIZES = ((200, 90), (100, 100), (30, 270), (20, 940))
FRESH = 2000  # The number of training sets per true value, and of test samples for each.

Points = tuple[np.ndarray, np.ndarray]
Wrong = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def two_gaussians(n: int, rng: np.random.Generator) -> Points:
    """Return two Gaussian classes that differ in one of six features; another varies more."""
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 6))
    X[:, 0] += 2.4 * (y - 0.5)
    X[:, 1] *= 2.5
    return X, y


def checkerboard(n: int, rng: np.random.Generator) -> Points:
    """Return two classes on alternating fields of a 2 x 2 board with blurred borders."""
    X = rng.uniform(-1, 1, size=(n, 2))
    inside = X + rng.normal(scale=0.15, size=(n, 2))
    return X, (inside[:, 0] * inside[:, 1] > 0).astype(int)


def centroid_and_lda(X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return which samples of T the nearest centroid and Fisher's discriminant misclassify."""
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    within = np.cov((X - np.where(y[:, None], high, low)).T) + 1e-3 * np.eye(X.shape[1])
    directions = np.column_stack([high - low, np.linalg.solve(within, high - low)])
    return ((T - (low + high) / 2) @ directions > 0) != t[:, None]


def neighbours(X: np.ndarray, y: np.ndarray, T: np.ndarray, t: np.ndarray) -> np.ndarray:
    """Return which samples of T 1-NN and 5-NN misclassify."""
    nearest = np.argpartition(cdist(T, X, "sqeuclidean"), (0, 4), axis=1)[:, :5]
    votes = np.column_stack([y[nearest[:, 0]], 2 * y[nearest].sum(axis=1) > 5])
    return votes != t[:, None]


CASES: tuple[tuple[str, str, Callable[[int, np.random.Generator], Points], Wrong], ...] = (
    ("nearest centroid", "LDA", two_gaussians, centroid_and_lda),
    ("1-NN", "5-NN", checkerboard, neighbours),
)


def scores(points: Points, order: np.ndarray, n_train: int, wrong: Wrong) -> np.ndarray:
    """Return both errors on a split, or 0.5 if the training set has a single class."""
    X, y = points
    train, test = order[:n_train], order[n_train:]
    if len(np.unique(y[train])) < 2:
        return np.array([0.5, 0.5])
    return np.asarray(wrong(X[train], y[train], X[test], y[test]).mean(axis=0))


def with_difference(errors: np.ndarray) -> np.ndarray:
    """Return both columns of errors, and their difference as a third column."""
    return np.column_stack([errors, errors[:, 0] - errors[:, 1]])


def intervals(errors: np.ndarray, n_train: int, n_test: int) -> np.ndarray:
    """Return the bounds of every interval: quantity x kind x (low, high)."""
    sizes = {"n_train": n_train, "n_test": n_test}
    first, second = errors.mean(axis=0)
    bounds = (rate_variance(first), rate_variance(second), rate_variance(first, second))
    found = []
    for values, bound in zip(with_difference(errors).T, bounds, strict=True):
        half = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
        kinds = [(values.mean() - half, values.mean() + half)]
        for point_variance in (None, bound):
            each = mean_interval(values, 0.95, point_variance=point_variance, **sizes)
            kinds.append((each.low, each.high))
        found.append(kinds)
    return np.array(found)


def fold_orders(y: np.ndarray, folds: int, n_splits: int, seed: int) -> list[np.ndarray]:
    """Return the order of the samples in each split, training samples first."""
    drawn = [make_split("kfold", y, index=i, folds=folds, seed=seed) for i in range(n_splits)]
    return [np.concatenate([split.train, split.test]) for split in drawn]


def simulate(n_data_sets: int, n_splits: int, folds: int | None, n_fresh: int) -> pd.DataFrame:
    """Return a row per pair of sizes and quantity."""
    rows = []
    sizes = SIZES if folds is None else ((40 * (folds - 1), 40),)
    for case, (first, second, draw, wrong) in enumerate(CASES):
        for n_train, n_test in sizes:
            rng = np.random.default_rng([case, n_train])
            in_order = np.arange(n_train + FRESH)
            fresh = [
                scores(draw(n_train + FRESH, rng), in_order, n_train, wrong) for _ in range(n_fresh)
            ]
            truth = with_difference(np.array(fresh)).mean(axis=0)
            found = []
            for number in range(n_data_sets):
                points = draw(n_train + n_test, rng)
                if folds is None:
                    orders = [rng.permutation(n_train + n_test) for _ in range(n_splits)]
                else:
                    orders = fold_orders(points[1], folds, n_splits, number)
                errors = [scores(points, order, n_train, wrong) for order in orders]
                found.append(intervals(np.array(errors), n_train, n_test))
            low, high = np.moveaxis(np.array(found), -1, 0)
            held = ((low <= truth[:, None]) & (truth[:, None] <= high)).mean(axis=0)
            half = (high - low).mean(axis=0) / 2
            for place, what in enumerate((first, second, f"{first} minus {second}")):
                row: dict[str, object] = {
                    "test/train": round(n_test / n_train, 2),
                    "error of": what,
                }
                row |= {"n_train": n_train, "n_test": n_test, "truth": truth[place]}
                for kind, name in enumerate(("naive", "Nadeau-Bengio", "ddr")):
                    row |= {f"{name} coverage": held[place, kind]}
                    row |= {f"{name} half-width": half[place, kind]}
                rows.append(row)
    return pd.DataFrame(rows).sort_values(["test/train"], kind="stable")


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--data-sets", type=int, default=500)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--folds", type=int)
    given = parser.parse_args()
    data_sets, fresh = (5, 20) if given.quick else (given.data_sets, FRESH)
    found = simulate(data_sets, given.splits, given.folds, fresh)
    table = 100 * found.select_dtypes("float")
    table["test/train"] = found["test/train"]
    table = found[["error of", "n_train", "n_test"]].join(table.round(2))
    columns = ["test/train", "n_train", "n_test", "error of"]
    table = table[columns + [name for name in table if name not in columns]]
    print(f"rates in percent; {data_sets} data sets, {given.splits} splits of each")
    print(table.to_string(index=False))
    write(table, given, "interval_coverage")


if __name__ == "__main__":
    main()
