"""Supervised locally linear embedding."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris
from sklearn.manifold import LocallyLinearEmbedding

from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers.slle import SupervisedLLE, supervised_neighbors

IRIS, IRIS_Y = load_iris(return_X_y=True)
CLOUD = np.random.default_rng(0).standard_normal((300, 6))
ROLL = swiss_roll(n_samples=400, random_state=0)
ROLL_X, ROLL_Y = np.asarray(ROLL.X), np.asarray(ROLL.labels)


@pytest.mark.parametrize(
    ("X", "y", "n_components"), [(ROLL_X, ROLL_Y, 2), (CLOUD, ROLL_Y[:300], 5)]
)
def test_without_supervision_it_is_scikit_learns_lle(X, y, n_components):
    ours = SupervisedLLE(n_components, n_neighbors=10, alpha=0.0).fit_transform(X, y)
    theirs = LocallyLinearEmbedding(
        n_components=n_components, n_neighbors=10, reg=1e-3, eigen_solver="dense"
    ).fit_transform(X)
    # The columns are equal, but ddr's have variance 1 and scikit-learn's have length 1.
    signs = np.sign(np.sum(ours * theirs, axis=0))
    assert_allclose(ours / np.sqrt(len(X)), theirs * signs, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.0, 0.02, 1.0])
def test_the_sparse_solver_agrees_with_the_dense_one(monkeypatch, alpha):
    model = SupervisedLLE(6, n_neighbors=6, alpha=alpha)
    sparse = model.fit_transform(ROLL_X, ROLL_Y)
    monkeypatch.setattr("ddr_cli.numerics.local_weights._DENSE", len(ROLL_X))
    dense = model.fit_transform(ROLL_X, ROLL_Y)
    assert_allclose(np.abs(sparse), np.abs(dense), atol=1e-5)


def test_without_convergence_the_matrix_is_decomposed_whole(monkeypatch):
    model = SupervisedLLE(3, n_neighbors=6, alpha=0.02)
    expected = model.fit_transform(ROLL_X, ROLL_Y)

    def fails(*_, **__):
        raise np.linalg.LinAlgError

    monkeypatch.setattr("ddr_cli.numerics.local_weights.top_eigenpairs", fails)
    found = model.fit_transform(ROLL_X, ROLL_Y)
    assert_allclose(np.abs(found), np.abs(expected), atol=1e-5)


def test_a_sample_between_two_closed_groups_lies_between_them():
    # The last sample has neighbours in both groups, but no other sample has a neighbour outside its
    # group.
    left = np.random.default_rng(0).random((12, 2))
    X = np.vstack([left, left + np.array([9, 0]), [[5.0, 0.5]]])
    model = SupervisedLLE(1, n_neighbors=4, alpha=0.0).fit(X, np.arange(25) % 2)
    assert model.eigenvalues_[0] == 0
    first, second, between = np.split(model.embedding_[:, 0], [12, 24])
    assert np.ptp(first) < 1e-9
    assert np.ptp(second) < 1e-9
    assert min(first[0], second[0]) < between[0] < max(first[0], second[0])


def test_no_supervision_takes_the_nearest():
    code = np.arange(400) % 3
    found = supervised_neighbors(ROLL_X, code, 6, 0.0)
    np.testing.assert_array_equal(found, kneighbors(ROLL_X, 6).indices)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 1.0])
def test_distances_between_classes_are_raised_by_a_share_of_the_largest(alpha):
    distances = cdist(IRIS, IRIS)
    raised = distances + alpha * distances.max() * (IRIS_Y[:, None] != IRIS_Y)
    np.fill_diagonal(raised, np.inf)
    found = supervised_neighbors(IRIS, IRIS_Y, 7, alpha)
    expected = np.sort(raised, axis=1)[:, :7]
    assert_allclose(np.take_along_axis(raised, found, axis=1), expected, atol=1e-12)


def test_embedding_solves_its_eigenproblem():
    model = SupervisedLLE(3, n_neighbors=8, alpha=0.02).fit(IRIS, IRIS_Y)
    W = np.zeros((150, 150))
    for i, near in enumerate(supervised_neighbors(IRIS, IRIS_Y, 8, 0.02)):
        offsets = IRIS[near] - IRIS[i]
        gram = offsets @ offsets.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(8), np.ones(8))
        W[i, near] = w / w.sum()
    M = (np.eye(150) - W).T @ (np.eye(150) - W)
    Y = model.embedding_
    assert_allclose(M @ Y, Y * model.eigenvalues_, atol=1e-9)
    assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(M)[1:4], atol=1e-10)
    assert_allclose(Y.T @ Y, 150 * np.eye(3), atol=1e-8)
    assert_allclose(Y.sum(axis=0), 0, atol=1e-5)


def test_full_supervision_puts_each_class_on_a_point_first():
    model = SupervisedLLE(4, n_neighbors=8, alpha=1.0).fit(IRIS, IRIS_Y)
    np.testing.assert_array_equal(model.eigenvalues_[:2], 0)
    assert np.all(model.eigenvalues_[2:] > 0)
    for c in range(3):
        assert np.ptp(model.embedding_[c == IRIS_Y, :2], axis=0).max() < 1e-6
    # The first axis separates the class that is far from the other two in the input.
    centers = np.array([model.embedding_[c == IRIS_Y, :2].mean(axis=0) for c in range(3)])
    first = centers[:, 0]
    assert abs(first[0] - first[1]) > abs(first[1] - first[2])


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SupervisedLLE(alpha=1.5), "SupervisedLLE: alpha=1.5"),
        (SupervisedLLE(reg=0.0), "SupervisedLLE: reg=0.0"),
        (SupervisedLLE(n_neighbors=150), "n_neighbors=150 .*n_samples = 150"),
        (SupervisedLLE(n_components=150), "below n_samples = 150"),
    ],
    ids=repr,
)
def test_what_cannot_be_done_is_said(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(IRIS, IRIS_Y)
