"""LFDA and its kernel form equal the paper's formulas, computed pair by pair."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import silhouette_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

from ddr_cli.reducers import LFDA, KernelLFDA
from ddr_cli.reducers.lfda import local_scatter


def affinity(D2, y, k):
    """Return the local scaling inside each class from squared distances; 0 between classes."""
    n = len(y)
    sigma = np.empty(n)
    for i in range(n):
        own = [D2[i, j] for j in range(n) if j != i and y[j] == y[i]]
        sigma[i] = np.sqrt(sorted(own)[k - 1])
    return np.exp(-D2 / np.outer(sigma, sigma)) * (y[:, None] == y[None])


def pair_weights(D2, y, k):
    n, same = len(y), y[:, None] == y[None]
    n_c = np.array([np.sum(y == label) for label in y])[:, None]
    A = affinity(D2, y, k)
    return np.where(same, A / n_c, 0), np.where(same, A * (1 / n - 1 / n_c), 1 / n)


def squared_distances(X):
    return np.sum((X[:, None] - X[None]) ** 2, axis=2)


def scatters(X, y, k=7):
    difference = X[:, None] - X[None]
    return tuple(
        np.einsum("ij,ijk,ijl->kl", weights, difference, difference) / 2
        for weights in pair_weights(squared_distances(X), y, k)
    )


def objective(T, S_w, S_b):
    return np.trace(np.linalg.solve(T.T @ S_w @ T, T.T @ S_b @ T))


def without_ties(X):
    # Ties do not matter, because a local scale is only the distance to the k-th nearest sample. But
    # eight equal samples would have a scale of 0, which the definition does not allow.
    return X + np.random.default_rng(0).normal(0, 1e-3, X.shape)


@pytest.fixture(params=["iris", "wine", "thyroid"])
def data(request):
    if request.param == "thyroid":
        mirror = request.getfixturevalue("data_mirror")
        table = np.loadtxt(mirror / "thyroid" / "new-thyroid.data", delimiter=",")
        return without_ties(table[:, 1:]), table[:, 0].astype(int)
    X, y = {"iris": load_iris, "wine": load_wine}[request.param](return_X_y=True)
    return without_ties(X), y


@pytest.mark.parametrize("k", [7, 3])
def test_the_scatter_matrices_are_the_paper_s(data, k):
    X, y = data
    codes = np.unique(y, return_inverse=True)[1]
    for found, expected in zip(local_scatter(X, codes, k), scatters(X, y, k), strict=True):
        assert_allclose(found, expected, atol=1e-9 * np.abs(expected).max())


def test_the_objective_is_the_definitional_one(data):
    X, y = data
    S_w, S_b = scatters(X, y)
    values, vectors = scipy.linalg.eigh(S_b, S_w)
    for m in (1, 2, 3):
        fitted = LFDA(m).fit(X, y)
        T = fitted.components_.T
        best = values[-m:].sum()
        assert_allclose(objective(T, S_w, S_b), best, rtol=1e-6)
        assert_allclose(fitted.eigenvalues_, values[::-1][:m], rtol=1e-6)
        assert scipy.linalg.subspace_angles(T, vectors[:, -m:]).max() < 1e-6
        within = T.T @ S_w @ T
        assert_allclose(within, within[0, 0] * np.eye(m), atol=1e-6 * within[0, 0])


def test_no_random_directions_do_better(data):
    X, y = data
    S_w, S_b = scatters(X, y)
    best = objective(LFDA(2).fit(X, y).components_.T, S_w, S_b)
    rng = np.random.default_rng(0)
    tried = [objective(rng.standard_normal((X.shape[1], 2)), S_w, S_b) for _ in range(500)]
    assert max(tried) <= best * (1 + 1e-9)


def test_the_embedding_types_span_the_same_directions(data):
    X, y = data
    plain, weighted, orthonormal = (
        LFDA(2, embedding_type=kind).fit(X, y) for kind in ("plain", "weighted", "orthonormalized")
    )
    expected = plain.components_ * np.sqrt(plain.eigenvalues_)[:, None]
    assert_allclose(weighted.components_, expected, rtol=1e-9)
    Q = orthonormal.components_
    assert_allclose(Q @ Q.T, np.eye(2), atol=1e-12)
    assert scipy.linalg.subspace_angles(Q.T, plain.components_.T).max() < 1e-6


def test_the_ridge_is_the_stated_share_of_the_mean_eigenvalue(data):
    X, y = data
    S_w, S_b = scatters(X, y)
    ridged = S_w + 0.05 * np.trace(S_w) / len(S_w) * np.eye(len(S_w))
    values, vectors = scipy.linalg.eigh(S_b, ridged)
    fitted = LFDA(2, reg=0.05).fit(X, y)
    assert_allclose(fitted.eigenvalues_, values[::-1][:2], rtol=1e-6)
    assert scipy.linalg.subspace_angles(fitted.components_.T, vectors[:, -2:]).max() < 1e-6


def test_thyroid_in_two_dimensions_keeps_hyper_and_hypo_apart(data_mirror):
    table = np.loadtxt(data_mirror / "thyroid" / "new-thyroid.data", delimiter=",")
    X, kind = StandardScaler().fit_transform(table[:, 1:]), table[:, 0].astype(int)
    merged = np.where(kind == 1, 0, 1)  # normal against hyper- and hypofunction
    embedding = LFDA(2).fit_transform(X, merged)
    sick = merged == 1
    assert silhouette_score(embedding[sick], kind[sick]) > 0.4
    knn = KNeighborsClassifier(9)
    assert knn.fit(embedding, merged).score(embedding, merged) > 0.93


def test_more_than_the_classes_less_one_directions():
    X, y = load_wine(return_X_y=True)
    fitted = LFDA(5).fit(X, y == 0)
    assert np.all(fitted.eigenvalues_ > 1e-3)


def test_a_class_of_duplicates_and_others():
    X, y = load_iris(return_X_y=True)
    X[:10] = X[0]
    embedding = LFDA(2).fit_transform(X, y)
    assert np.isfinite(embedding).all()
    assert_allclose(embedding[:10], np.repeat(embedding[:1], 10, axis=0), atol=1e-12)


def test_the_kernel_form_with_the_linear_kernel_is_lfda(data):
    X, y = data
    X = X / X.std(axis=0)
    linear = LFDA(2, reg=0.01).fit(X, y)
    kernel = KernelLFDA(2, kernel="linear", reg=0.01).fit(X, y)
    assert_allclose(kernel.eigenvalues_, linear.eigenvalues_, rtol=1e-8)
    found, expected = kernel.transform(X[:20] + 0.1), linear.transform(X[:20] + 0.1)
    for j in range(2):
        assert_allclose(
            found[:, j] * np.sign(found[0, j] * expected[0, j]), expected[:, j], rtol=1e-5
        )


def test_the_kernel_form_is_the_definitional_problem_in_the_kernel_matrix():
    X, y = load_iris(return_X_y=True)
    X, y = without_ties(X)[::3], y[::3]
    n, gamma, reg = len(y), 0.5, 0.01
    K = rbf_kernel(X, gamma=gamma)
    D2 = np.diag(K)[:, None] + np.diag(K)[None] - 2 * K
    L_w, L_b = (np.diag(A.sum(axis=1)) - A for A in pair_weights(D2, y, 7))
    # For w = sum alpha_i (phi(x_i) - mean): w'S w = alpha' Kc L Kc alpha, |w|^2 = alpha' Kc alpha.
    H = np.eye(n) - 1 / n
    Kc = H @ K @ H
    # The mean eigenvalue of S_w on the span, of dimension n - 1: tr(S_w) = tr(L_w K).
    ridge = reg * np.trace(L_w @ K) / (n - 1)
    fitted = KernelLFDA(2, gamma=gamma, reg=reg).fit(X, y)
    alpha = fitted.dual_components_.T
    between = alpha.T @ Kc @ L_b @ Kc @ alpha
    within = alpha.T @ (Kc @ L_w @ Kc + ridge * Kc) @ alpha
    size = within[0, 0]
    assert_allclose(within, size * np.eye(2), atol=1e-7 * size)
    assert_allclose(between, size * np.diag(fitted.eigenvalues_), atol=1e-6 * between.max())
    # These are the largest ratios without the constant direction, so no alpha is better.
    basis = scipy.linalg.null_space(np.ones((1, n)))
    A, B = Kc @ L_b @ Kc, Kc @ L_w @ Kc + ridge * Kc
    best = scipy.linalg.eigh(basis.T @ A @ basis, basis.T @ B @ basis, eigvals_only=True)[::-1]
    assert_allclose(fitted.eigenvalues_, best[:2], rtol=1e-6)


def test_the_kernel_form_separates_rings():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    angle, radius = rng.uniform(0, 2 * np.pi, 120), 1 + 2 * y + rng.normal(0, 0.1, 120)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    even, odd = slice(0, None, 2), slice(1, None, 2)
    fitted = KernelLFDA(1, gamma=0.5).fit(X[even], y[even])
    knn = KNeighborsClassifier(3).fit(fitted.transform(X[even]), y[even])
    assert knn.score(fitted.transform(X[odd]), y[odd]) == 1
