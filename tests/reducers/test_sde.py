"""Semidefinite embedding."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.numerics.neighbor_graphs import knn_graph
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import SDE

IRIS, _ = load_iris(return_X_y=True)
ROLL = np.asarray(swiss_roll(n_samples=120, random_state=0).X)


def kept_distances(X, k):
    upper = sp.triu(knn_graph(kneighbors(X, k), k)).tocoo()
    return upper.row, upper.col, np.linalg.norm(X[upper.row] - X[upper.col], axis=1)


def test_local_distances_are_kept_and_the_gap_is_proven():
    model = SDE(n_components=100).fit(ROLL)
    i, j, kept = kept_distances(ROLL, 4)
    placed = np.linalg.norm(model.embedding_[i] - model.embedding_[j], axis=1)
    errors = np.abs(placed / kept - 1)
    assert errors.max() < 1e-3
    assert model.constraint_error_ == pytest.approx(errors.max(), rel=1e-6)
    assert model.optimality_gap_ < 1e-3
    assert model.solver_ == "interior"
    assert np.sum(model.embedding_**2) == pytest.approx(model.trace_)
    # The input is feasible too, and has a smaller trace.
    assert model.trace_ > np.sum((ROLL - ROLL.mean(axis=0)) ** 2)


def test_columns_are_uncorrelated_with_the_eigenvalues_as_their_squares():
    model = SDE(n_components=5).fit(ROLL)
    square = model.embedding_.T @ model.embedding_
    np.testing.assert_allclose(square, np.diag(model.eigenvalues_), atol=1e-8 * model.trace_)
    assert np.all(np.diff(model.eigenvalues_) < 0)
    largest = np.abs(model.embedding_).argmax(axis=0)
    assert np.all(model.embedding_[largest, np.arange(5)] > 0)


def test_columns_beyond_the_rank_are_zero():
    model = SDE(n_components=60).fit(ROLL)
    assert 2 < model.rank_ < 60
    assert np.all(model.embedding_[:, model.rank_ :] == 0)
    assert np.all(model.eigenvalues_[model.rank_ :] == 0)
    np.testing.assert_array_equal(model.transform(ROLL[:3])[:, model.rank_ :], 0)


def test_new_points_land_near_their_neighbours():
    X = np.asarray(swiss_roll(n_samples=300, random_state=1).X)
    model = SDE(n_components=2, n_neighbors=5).fit(X[::2])
    placed = model.transform(X[1::2])
    nearest = kneighbors(X[::2], 1, queries=X[1::2]).indices[:, 0]
    gaps = np.linalg.norm(placed - model.embedding_[nearest], axis=1)
    assert np.median(gaps) < 0.15 * np.sqrt(model.trace_ / 150)


def test_a_graph_in_parts_is_connected_with_one_warning():
    X = np.vstack([IRIS[:20], IRIS[60:80] + 10, IRIS[110:130] + 30])
    with pytest.warns(UserWarning, match="has 3 components.*shortest edges") as caught:
        model = SDE(n_components=3).fit(X)
    assert len(caught) == 1
    assert model.optimality_gap_ < 1e-3
    i, j = model.bridges_.T
    placed = np.linalg.norm(model.embedding_[i] - model.embedding_[j], axis=1)
    assert np.all(placed <= 1.001 * np.linalg.norm(X[i] - X[j], axis=1))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SDE(tol=0.0), "SDE: tol=0.0"),
        (SDE(n_components=120), "below n_samples = 120"),
        (SDE(n_neighbors=120), "n_neighbors=120"),
        (SDE(solver="cvxpy"), "at most 100 distinct samples, not 120"),
    ],
    ids=repr,
)
def test_what_cannot_be_done_is_said(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(ROLL)
