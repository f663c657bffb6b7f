"""LPP equals the paper's formulas, computed pair by pair."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from ddr_cli.reducers import LPP

X = load_iris().data + np.random.default_rng(0).normal(0, 0.01, (150, 4))
WINE = load_wine().data / load_wine().data.std(axis=0)


def weights(X, k, kind, epsilon):
    n = len(X)
    D2 = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    order = [
        np.argsort(np.where(np.arange(n) == i, np.inf, D2[i]), kind="stable") for i in range(n)
    ]
    if kind == "local_scaling":
        sigma = np.array([np.sqrt(D2[i, order[i][k - 1]]) for i in range(n)])
        return np.exp(-D2 / np.outer(sigma, sigma))
    if epsilon == "mean":
        epsilon = np.mean([D2[i, order[i][:k]] for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in order[i][:k]:
            W[i, j] = W[j, i] = 1 if kind == "binary" else np.exp(-D2[i, j] / epsilon)
    return W


@pytest.mark.parametrize("data", [X, X - X.mean(axis=0), WINE], ids=["iris", "centred", "wine"])
@pytest.mark.parametrize(
    ("kind", "k", "epsilon"),
    [("heat", 10, "mean"), ("heat", 4, 0.3), ("binary", 5, "mean"), ("local_scaling", 7, "mean")],
)
def test_it_is_the_paper_s_definition(data, kind, k, epsilon):
    W = weights(data, k, kind, epsilon)
    D = np.diag(W.sum(axis=1))
    smooth, scale = data.T @ (D - W) @ data, data.T @ D @ data
    values, vectors = scipy.linalg.eigh(smooth, scale)
    for m in (1, 2, 3):
        fitted = LPP(m, n_neighbors=k, weights=kind, epsilon=epsilon).fit(data)
        A = fitted.components_.T
        assert_allclose(fitted.eigenvalues_, values[:m], rtol=1e-6)
        total = np.trace(D)
        assert_allclose(A.T @ scale @ A, total * np.eye(m), atol=1e-8 * total)
        assert_allclose(np.trace(A.T @ smooth @ A), total * values[:m].sum(), rtol=1e-6)
        assert scipy.linalg.subspace_angles(A, vectors[:, :m]).max() < 1e-6


def test_features_that_sum_to_a_constant_give_no_constant_direction():
    # One-hot features: a = (1, ..., 1) maps all samples to the same value, with eigenvalue 0.
    rng = np.random.default_rng(0)
    one_hot = np.hstack([np.eye(4)[rng.integers(0, 4, 80)] for _ in range(3)])
    one_hot += 0.05 * (lambda noise: noise - noise.mean(axis=1, keepdims=True))(
        rng.standard_normal(one_hot.shape)
    )
    embedding = LPP(2, n_neighbors=8).fit_transform(one_hot)
    assert np.all(embedding.std(axis=0) > 0.1 * np.abs(embedding).max(axis=0))
    W = weights(one_hot, 8, "heat", "mean")
    # All solutions are orthogonal to the constant in the metric of the constraint.
    assert_allclose(W.sum(axis=1) @ embedding, 0, atol=1e-8)


def test_with_as_many_features_as_points_it_is_laplacian_eigenmaps():
    rng = np.random.default_rng(1)
    wide = rng.standard_normal((25, 60))
    W = weights(wide, 6, "binary", None)
    D = np.diag(W.sum(axis=1))
    values = scipy.linalg.eigh(D - W, D, eigvals_only=True)
    fitted = LPP(3, n_neighbors=6, weights="binary").fit(wide)
    assert_allclose(fitted.eigenvalues_, values[1:4], rtol=1e-6)
