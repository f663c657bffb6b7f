"""MFA and its kernel form equal the paper's formulas, computed pair by pair."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel

from ddr_cli.reducers import MFA, KernelMFA


def graphs(D2, y, k_1, k_2):
    """Return the intrinsic graph W and the penalty graph W^p of section 3.1."""
    n = len(y)
    W, P = np.zeros((n, n)), np.zeros((n, n))
    for i in range(n):
        same = [j for j in range(n) if j != i and y[j] == y[i]]
        for j in sorted(same, key=lambda j: (D2[i, j], j))[:k_1]:
            W[i, j] = W[j, i] = 1
    for c in np.unique(y):
        pairs = [(i, j) for i in range(n) for j in range(n) if y[i] == c != y[j]]
        for i, j in sorted(pairs, key=lambda p: D2[p])[:k_2]:
            P[i, j] = P[j, i] = 1
    return W, P


def laplacian(W):
    return np.diag(W.sum(axis=1)) - W


def squared_distances(X):
    return np.sum((X[:, None] - X[None]) ** 2, axis=2)


RNG = np.random.default_rng(0)
DATA = {
    "iris": (load_iris().data + RNG.normal(0, 0.01, (150, 4)), load_iris().target),
    "wine": (load_wine().data / load_wine().data.std(axis=0), load_wine().target),
}


@pytest.mark.parametrize("name", DATA)
def test_it_is_the_paper_s_definition(name):
    X, y = DATA[name]
    W, P = graphs(squared_distances(X), y, 5, 20)
    compact, separate = X.T @ laplacian(W) @ X, X.T @ laplacian(P) @ X
    # The paper minimises w' X L X' w / w' X L^p X' w.
    values, vectors = scipy.linalg.eigh(compact, separate)
    for m in (1, 2, 3):
        fitted = MFA(m).fit(X, y)
        w = fitted.components_.T
        assert_allclose(1 / fitted.eigenvalues_, values[:m], rtol=1e-6)
        within = w.T @ compact @ w
        assert_allclose(within, within[0, 0] * np.eye(m), atol=1e-8 * within[0, 0])
        assert scipy.linalg.subspace_angles(w, vectors[:, :m]).max() < 1e-6


def test_the_kernel_form_with_the_linear_kernel_is_mfa():
    X, y = DATA["wine"]
    linear = MFA(2, reg=0.01).fit(X, y)
    kernel = KernelMFA(2, kernel="linear", reg=0.01).fit(X, y)
    assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-8)
    found, expected = kernel.transform(X[:20] + 0.1), linear.transform(X[:20] + 0.1)
    for j in range(2):
        sign = np.sign(found[0, j] * expected[0, j])
        assert_allclose(sign * found[:, j], expected[:, j], rtol=1e-6)


def test_the_kernel_form_is_the_definitional_problem_in_the_kernel_matrix():
    X, y = DATA["iris"]
    X, y = X[::3], y[::3]
    n, gamma, reg = len(y), 0.5, 0.01
    K = rbf_kernel(X, gamma=gamma)
    W, P = graphs(np.diag(K)[:, None] + np.diag(K)[None] - 2 * K, y, 5, 20)
    H = np.eye(n) - 1 / n
    Kc = H @ K @ H
    ridge = reg * np.trace(laplacian(W) @ K) / (n - 1)
    A, B = Kc @ laplacian(P) @ Kc, Kc @ laplacian(W) @ Kc + ridge * Kc
    basis = scipy.linalg.null_space(np.ones((1, n)))
    best = scipy.linalg.eigh(basis.T @ A @ basis, basis.T @ B @ basis, eigvals_only=True)[::-1]
    fitted = KernelMFA(2, gamma=gamma, reg=reg).fit(X, y)
    alpha = fitted.dual_components_.T
    assert_allclose(fitted.eigenvalues_, best[:2], rtol=1e-6)
    within, between = alpha.T @ B @ alpha, alpha.T @ A @ alpha
    size = within[0, 0]
    assert_allclose(within, size * np.eye(2), atol=1e-7 * size)
    assert_allclose(between, size * np.diag(best[:2]), atol=1e-6 * size * best[0])
