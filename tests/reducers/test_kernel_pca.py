"""Isomap, LLE and kernel PCA give scikit-learn's numbers, reproducibly."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.neighbor_graphs import closed_groups
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import LLE, Isomap, KernelPCA

ROLL = np.asarray(swiss_roll(n_samples=500, random_state=0).X)
TRAIN, NEW = ROLL[:400], ROLL[400:]
DIGITS = load_digits().data / 16
TWO = np.vstack([TRAIN[:40], TRAIN[40:70] + 500])


def geodesics(X, k):
    gaps = cdist(X, X)
    graph = np.full_like(gaps, np.inf)
    for i in range(len(X)):
        near = [j for j in np.argsort(gaps[i]) if j != i][:k]
        graph[i, near] = graph[near, i] = gaps[i, near]
    return dijkstra(np.where(np.isinf(graph), 0, graph))


def scaled(B, m):
    values, vectors = np.linalg.eigh(B)
    return deterministic_signs(vectors[:, ::-1][:, :m]) * np.sqrt(values[::-1][:m])


def test_isomap_is_the_definition_and_so_is_its_extension():
    model = Isomap(3, n_neighbors=8).fit(TRAIN)
    squared = geodesics(TRAIN, 8) ** 2
    J = np.eye(400) - 1 / 400
    B = -J @ squared @ J / 2
    assert_allclose(model.embedding_, scaled(B, 3), atol=1e-6 * np.abs(model.embedding_).max())
    gaps = cdist(NEW, TRAIN)
    for x, placed in zip(gaps, model.transform(NEW), strict=True):
        near = np.argsort(x)[:8]
        to_train = np.min(x[near][:, None] + np.sqrt(squared)[near], axis=0) ** 2
        # This is Gower's formula with the geodesics to the new sample.
        expected = model.embedding_.T @ (np.diag(B) - to_train) / model.eigenvalues_ / 2
        assert_allclose(placed, expected, atol=1e-6 * np.abs(model.embedding_).max())


def test_lle_is_the_definition_and_so_is_its_extension():
    model = LLE(3, n_neighbors=10).fit(TRAIN)

    def weights(x, near):
        offsets = TRAIN[near] - x
        gram = offsets @ offsets.T
        w = np.linalg.solve(gram + 1e-3 * np.trace(gram) * np.eye(len(near)), np.ones(len(near)))
        return w / w.sum()

    gaps, W = cdist(TRAIN, TRAIN), np.zeros((400, 400))
    for i in range(400):
        near = [j for j in np.argsort(gaps[i]) if j != i][:10]
        W[i, near] = weights(TRAIN[i], near)
    M = (np.eye(400) - W).T @ (np.eye(400) - W)
    vectors = np.linalg.eigh(M)[1][:, 1:4]
    assert_allclose(model.embedding_, deterministic_signs(vectors), atol=1e-6)
    for x, placed in zip(NEW, model.transform(NEW), strict=True):
        near = np.argsort(np.linalg.norm(TRAIN - x, axis=1))[:10]
        assert_allclose(placed, weights(x, near) @ model.embedding_[near], atol=1e-8)


@pytest.mark.parametrize(
    ("settings", "kernel"),
    [
        ({}, lambda A, B: A @ B.T),
        ({"kernel": "rbf"}, lambda A, B: np.exp(-cdist(A, B, "sqeuclidean") / TRAIN.var(0).sum())),
        ({"kernel": "rbf", "gamma": 0.01}, lambda A, B: np.exp(-cdist(A, B, "sqeuclidean") / 100)),
        ({"kernel": "poly"}, lambda A, B: (A @ B.T / (TRAIN**2).sum(1).mean() + 1) ** 3),
        ({"kernel": "cosine"}, lambda A, B: 1 - cdist(A, B, "cosine")),
    ],
    ids=["linear", "rbf", "narrow rbf", "poly", "cosine"],
)
def test_kernel_pca_is_the_definition_and_so_is_its_extension(settings, kernel):
    model = KernelPCA(3, **settings).fit(TRAIN)
    K = kernel(TRAIN, TRAIN)
    J = np.eye(400) - 1 / 400
    expected = scaled(J @ K @ J, 3)
    assert_allclose(model.embedding_, expected, atol=1e-6 * np.abs(expected).max())
    centred = (kernel(NEW, TRAIN) - K.mean(axis=0)) @ J
    placed = centred @ expected / model.eigenvalues_
    assert_allclose(model.transform(NEW), placed, atol=1e-6 * np.abs(expected).max())
    again = KernelPCA(3, kernel="precomputed").fit(K)
    assert_allclose(again.transform(kernel(NEW, TRAIN)), placed, atol=1e-6 * np.abs(placed).max())


@pytest.mark.parametrize(
    ("model", "module"),
    [
        (LLE(3, n_neighbors=10), "numerics.local_weights"),
        (KernelPCA(4, "rbf"), "numerics.eigen"),
    ],
)
def test_beyond_the_dense_solver_the_numbers_are_the_same(model, module, monkeypatch):
    monkeypatch.setattr(f"ddr_cli.{module}._DENSE", 1000)
    dense = model.fit(TRAIN).transform(NEW)
    monkeypatch.setattr(f"ddr_cli.{module}._DENSE", 100)
    sparse = model.fit(TRAIN).transform(NEW)
    assert (sparse != dense).any()  # another solver
    assert_allclose(sparse, dense, atol=1e-6 * np.abs(dense).max())
    np.random.seed(1)  # noqa: NPY002 (the global state must not matter)
    assert_array_equal(model.fit(TRAIN).transform(NEW), sparse)


def test_the_default_bandwidth_suits_raw_measurements():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(KernelPCA(2, "rbf"), KNeighborsClassifier())
    assert cross_val_score(pipeline, X, y).mean() > 0.6


def test_isomap_connects_parts():
    with pytest.warns(UserWarning, match="graph has 2 components"):
        model = Isomap(2).fit(TWO)
    assert model.n_parts_ == 2
    assert np.isfinite(model.embedding_).all()
    between = cdist(model.embedding_[:40], model.embedding_[40:]).min()
    assert between == pytest.approx(cdist(TWO[:40], TWO[40:]).min(), rel=0.1)


def test_lle_takes_enough_neighbours():
    with pytest.warns(UserWarning, match="2 components"):
        model = LLE(2).fit(TWO)
    k = model.n_neighbors_
    assert closed_groups(kneighbors(TWO, k).indices).max() == 0
    assert closed_groups(kneighbors(TWO, k - 1).indices).max() == 1
    # The samples of a group do not collapse to one point.
    for group in (model.embedding_[:40], model.embedding_[40:]):
        assert np.linalg.matrix_rank(group - group.mean(axis=0), tol=1e-3) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LLE(2, n_neighbors=10).fit(TRAIN).n_neighbors_ == 10


def test_groups_without_neighbours_outside_are_the_null_space():
    # A sample between two groups connects the graph, but no sample of a group has a neighbour
    # outside it.
    left = np.random.default_rng(0).random((12, 2))
    X = np.vstack([left, left + np.array([9, 0]), [[5.0, 0.5]]])
    found = kneighbors(X, 3)
    assert closed_groups(found.indices).max() == 1
    W = np.zeros((25, 25))
    W[np.arange(25)[:, None], found.indices] = np.random.default_rng(1).random((25, 3)) + 0.1
    W /= W.sum(axis=1, keepdims=True)
    assert np.sum(np.linalg.svd(np.eye(25) - W, compute_uv=False) < 1e-12) == 2


def test_duplicates_are_placed_on_one_another():
    X = np.vstack([TRAIN[:120], TRAIN[:6], TRAIN[:6], TRAIN[[3] * 9]])
    model = LLE(2, n_neighbors=8).fit(X)
    assert_array_equal(model.embedding_[120:126], model.embedding_[:6])
    assert_array_equal(model.embedding_[132:], model.embedding_[[3] * 9])
    assert_allclose(model.embedding_[:120], LLE(2, n_neighbors=8).fit_transform(TRAIN[:120]))


def test_sparse_points_where_scikit_learn_takes_them():
    jitter = np.random.default_rng(0).random((300, 64))
    X = np.where(DIGITS[:300] > 0.3, DIGITS[:300] + jitter, 0.0)
    for model in (Isomap(2, n_neighbors=9), KernelPCA(2, "rbf")):
        dense, sparse = model.fit_transform(X), model.fit_transform(sp.csr_array(X))
        assert_allclose(sparse, dense, atol=1e-5 * np.abs(dense).max())


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (Isomap(n_neighbors=40), TRAIN[:40], "n_neighbors=40 .*n_samples = 40"),
        (Isomap(38, n_neighbors=5), TRAIN[:40], r"\d+ dimensions of positive variance"),
        (Isomap(40), TRAIN[:40], "below n_samples = 40"),
        (LLE(n_neighbors=9), np.repeat(TRAIN[:8], 5, axis=0), r"below 8, .*n_samples = 40"),
        (LLE(4), TRAIN, "n_components=4 .* n_features = 3"),
        (LLE(reg=0.0), TRAIN, "LLE: reg=0.0"),
        (KernelPCA(30, "sigmoid"), DIGITS[:31], r"\d+ dimensions of positive variance"),
        (KernelPCA(kernel="precomputed"), TRAIN, r"square, .*\(400, 3\)"),
        (KernelPCA(gamma=-1.0), TRAIN, "KernelPCA: gamma=-1.0"),
    ],
    ids=lambda value: repr(value) if not isinstance(value, np.ndarray) else "",
)
def test_what_cannot_be_done_is_said(model, X, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)
