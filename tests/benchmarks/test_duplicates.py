"""The duplicate counts are those of a search over all pairs."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist

from ddr_cli.data import load_dataset


@pytest.fixture(autouse=True)
def _benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "benchmarks"))


def by_all_pairs(X, y):
    """Return the four counts by comparing every sample with every other one."""
    equal = (X[:, None] == X[None]).all(axis=2)
    distinct = np.unique(X, axis=0)
    mean, scale = distinct.mean(axis=0), distinct.std(axis=0)
    scale[scale == 0] = 1
    to_others = cdist(*[(distinct - mean) / scale] * 2)
    np.fill_diagonal(to_others, np.inf)
    near = cdist(*[(X - mean) / scale] * 2) <= 0.1 * np.median(to_others.min(axis=1))
    near &= ~equal
    np.fill_diagonal(equal, False)
    other_class = (y[:, None] != y[None]) & (y[:, None] >= 0) & (y[None] >= 0)
    pairs = (equal, equal & other_class, near, near & other_class)
    return tuple(int(each.any(axis=1).sum()) for each in pairs)


def counts(dataset):
    from count_duplicates import count_duplicates

    return tuple(count_duplicates(dataset).model_dump().values())


@pytest.fixture
def repeated():
    """30-dimensional samples in three classes; some occur three times, some have near copies."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.normal(size=(300, 29)) * rng.uniform(0.1, 100, 29), np.ones((300, 1))])
    X[250:280] = X[:30]
    X[280:285] = X[:5]
    X[240:250] = X[20:30] + 1e-3 * rng.normal(size=(10, 30)) * X.std(axis=0)
    y = rng.integers(-1, 3, size=300)
    return replace(load_dataset("iris"), X=X, y=y, target_names=("a", "b", "c"))


def test_counts_are_those_of_all_pairs(repeated):
    found = counts(repeated)
    assert found == by_all_pairs(repeated.X, repeated.y)
    assert found[0] == 65
    assert 0 < found[1] < 65
    # Ten samples, and the ten samples near to them, each of which occurs twice.
    assert found[2] == 30
    assert 0 < found[3] < 30


def test_iris_and_a_single_row():
    iris = load_dataset("iris")
    assert counts(iris) == by_all_pairs(iris.X, iris.y)
    alike = replace(iris, X=np.ones((4, 2)), y=np.array([0, 0, 1, -1]))
    assert counts(alike) == (4, 3, 0, 0)


def test_sparse_and_missing_values_have_exact_duplicates_only(repeated):
    exact = counts(repeated)[:2]
    X = repeated.X.copy()
    X[:, 3] = np.nan
    assert counts(replace(repeated, X=X)) == (*exact, None, None)
    assert counts(replace(repeated, X=csr_array(repeated.X))) == (*exact, None, None)
