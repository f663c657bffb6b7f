"""Laplacian RLS equals its cost, computed pair by pair, and scikit-learn's ridge."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_digits, load_iris, load_wine, make_moons
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics.pairwise import pairwise_kernels

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import LaplacianRLS

# Noise removes ties between distances, so that the graph does not depend on the sample order.
X = load_iris().data + np.random.default_rng(0).normal(0, 0.01, (150, 4))
Y = load_iris().target
SOME = np.where(np.random.default_rng(1).random(150) < 0.3, Y, -1)
WINE = load_wine().data / load_wine().data.std(axis=0)
TWO = np.minimum(SOME, 1)  # two classes give one function with the targets -1 and 1
VALUES = np.where(TWO == -1, np.nan, 2.0 * TWO - 1)


def weights(X, k, kind="heat"):
    n = len(X)
    squared = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    near = [np.argsort(np.where(np.arange(n) == i, np.inf, squared[i]))[:k] for i in range(n)]
    epsilon = np.mean([squared[i, near[i]] for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            W[i, j] = W[j, i] = 1 if kind == "binary" else np.exp(-squared[i, j] / epsilon)
    return W


def assert_weights(model, K, W, alpha, mu):
    """Check the penalties' factors against the sums in feature space that define their units."""
    n = len(K)
    squared = np.diag(K)[:, None] + np.diag(K) - 2 * K
    scatter = squared.sum() / (2 * n)
    assert_allclose(model.alpha_, alpha * scatter / n, rtol=1e-6)
    expected = (
        np.sum(SOME != -1) / W.sum() if mu == "auto" else 2 * mu * scatter / (W * squared).sum()
    )
    assert_allclose(model.mu_, expected, rtol=1e-6)


def minimiser(features, norm, y, W, alpha, mu, intercept):
    """Return the coefficients and the intercept of least cost, one outer product per term."""
    n, p = features.shape
    rows = np.column_stack([features, np.full(n, float(intercept))])
    squares, image = np.zeros((p + 1, p + 1)), np.zeros(p + 1)
    squares[:p, :p] = alpha * norm
    for i in range(n):
        if not np.isnan(y[i]):
            squares += np.outer(rows[i], rows[i])
            image += y[i] * rows[i]
        for j in range(i):
            if W[i, j]:
                squares += mu * W[i, j] * np.outer(rows[i] - rows[j], rows[i] - rows[j])
    solution = np.linalg.lstsq(squares, image)[0]
    return solution[:p], solution[p]


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("alpha", "mu", "kind"), [(1.0, "auto", "heat"), (0.1, 0.5, "binary"), (0.0, "auto", "heat")]
)
def test_the_linear_function_is_that_of_least_cost(alpha, mu, kind, intercept):
    model = LaplacianRLS(mu, alpha, n_neighbors=6, weights=kind, fit_intercept=intercept)
    model.fit(X, TWO)
    W = weights(X, 6, kind)
    assert_weights(model, X @ X.T, W, alpha, mu)
    a, b = minimiser(X, np.eye(4), VALUES, W, model.alpha_, model.mu_, intercept)
    assert_allclose(model.coef_, [a], rtol=1e-6)
    assert_allclose(model.intercept_, [b], rtol=1e-6)
    assert_allclose(model.decision_function(X), X @ a + b, atol=1e-6)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(
    ("kernel", "own"),
    [("rbf", {"gamma": 0.5}), ("poly", {"gamma": 0.1, "degree": 2, "coef0": 0.5})],
)
def test_the_function_of_a_kernel_is_that_of_least_cost(kernel, own, intercept):
    points, values = X[::2], VALUES[::2]
    model = LaplacianRLS(
        0.3, 0.5, n_neighbors=6, kernel=kernel, fit_intercept=intercept, **own
    ).fit(points, TWO[::2])
    K = pairwise_kernels(points, metric=kernel, **own)
    W = weights(points, 6)
    assert_weights(model, K, W, 0.5, 0.3)
    # By the representer theorem f is a sum of kernels, and its squared norm is a'Ka.
    a, b = minimiser(K, K, values, W, model.alpha_, model.mu_, intercept)
    assert_allclose(model.decision_function(points), K @ a + b, atol=1e-6)
    assert_allclose(model.intercept_, [b], atol=1e-6)
    others = pairwise_kernels(X, points, metric=kernel, **own) @ a + b
    assert_allclose(model.decision_function(X), others, atol=1e-5)


@pytest.mark.parametrize("intercept", [True, False])
def test_without_the_graph_it_is_ridge_regression(intercept):
    y = VALUES[SOME != -1]
    known = X[SOME != -1]
    model = LaplacianRLS(0.0, 2.0, fit_intercept=intercept).fit(X, TWO)
    ridge = Ridge(model.alpha_, fit_intercept=intercept).fit(known, y)
    assert_allclose(model.decision_function(X), ridge.predict(X), atol=1e-10)
    if not intercept:
        model = model.set_params(kernel="rbf", gamma=0.3)
        found = model.fit(X, TWO).decision_function(X)
        kernel_ridge = KernelRidge(alpha=model.alpha_, kernel="rbf", gamma=0.3).fit(known, y)
        assert_allclose(found, kernel_ridge.predict(X), atol=1e-10)


@pytest.mark.parametrize("classes", [2, 3])
def test_without_the_graph_it_is_the_ridge_classifier(classes):
    shown = classes > Y
    model = LaplacianRLS(0.0).fit(X[shown], Y[shown])
    ridge = RidgeClassifier(model.alpha_).fit(X[shown], Y[shown])
    assert_allclose(model.decision_function(X), ridge.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(model.predict(X), ridge.predict(X))
    outputs = model.transform(X)
    assert outputs.shape == (150, 1 if classes == 2 else 3)
    assert len(model.get_feature_names_out()) == outputs.shape[1]
    assert_allclose(outputs.reshape(model.decision_function(X).shape), model.decision_function(X))


def test_the_linear_function_is_the_same_in_features_and_in_kernels():
    def product(a, b):
        return a @ b

    for intercept in (True, False):
        features = LaplacianRLS(alpha=0.1, fit_intercept=intercept).fit(X, SOME)
        kernels = LaplacianRLS(alpha=0.1, kernel=product, fit_intercept=intercept).fit(X, SOME)
        assert_allclose(kernels.transform(X), features.transform(X), atol=1e-8)
    few = np.flatnonzero(SOME != -1)[::4]
    wide = LaplacianRLS(alpha=0.1, n_neighbors=3).fit(WINE[few], Y[few] > 0)
    narrow = LaplacianRLS(alpha=0.1, n_neighbors=3, kernel=product).fit(WINE[few], Y[few] > 0)
    assert wide.coef_.shape == (1, 13)
    assert_allclose(wide.transform(WINE), narrow.transform(WINE), atol=1e-8)


def some_labels(y, count, seed):
    """Return `count` labels of each class, drawn at random, and -1 for the others."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(np.flatnonzero(y == label), count, replace=False) for label in set(y)]
    shown = np.full(len(y), -1)
    shown[np.concatenate(chosen)] = y[np.concatenate(chosen)]
    return shown


AUTHORS = {"kernel": "rbf", "gamma": 1 / (2 * 0.35**2), "n_neighbors": 6, "weights": "binary"}


@pytest.mark.parametrize(("settings", "least"), [(AUTHORS, 0.95), ({"kernel": "rbf"}, 0.82)])
def test_one_label_per_moon_is_enough_with_the_graph_and_not_without(settings, least):
    def mean_score(mu):
        scores = []
        for seed in range(10):
            points, moon = make_moons(200, noise=0.05, random_state=seed)
            model = LaplacianRLS(mu, **settings).fit(points, some_labels(moon, 1, seed))
            scores.append(model.score(points, moon))
        return np.mean(scores)

    assert mean_score(LaplacianRLS().mu) > least
    assert mean_score(0.0) < 0.8


def test_three_labels_per_digit_are_better_with_the_graph():
    points, digit = load_digits(return_X_y=True)
    points, digit = points[::2], digit[::2]
    scores = [
        [
            LaplacianRLS(mu, kernel="rbf")
            .fit(points, some_labels(digit, 3, seed))
            .score(points, digit)
            for seed in range(3)
        ]
        for mu in (LaplacianRLS().mu, 0.0)
    ]
    assert np.mean(scores[0]) > np.mean(scores[1]) + 0.05


@pytest.mark.parametrize("kernel", ["linear", "rbf", "laplacian", "poly"])
def test_a_factor_of_the_data_changes_nothing(kernel):
    expected = LaplacianRLS(kernel=kernel).fit_transform(X, SOME)
    for factor in (1e-3, 1e3):
        found = LaplacianRLS(kernel=kernel).fit_transform(X * factor, SOME)
        assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_order_of_the_points_and_the_names_of_the_classes_change_nothing(kernel):
    model = LaplacianRLS(kernel=kernel)
    expected = model.fit_transform(X, SOME)
    order = np.random.default_rng(2).permutation(150)
    assert_allclose(model.fit_transform(X[order], SOME[order]), expected[order], atol=1e-9)
    named = np.array(["virginica", "setosa", "versicolor", "-1"])[SOME]
    assert_allclose(model.fit_transform(X, named), expected[:, [1, 2, 0]], atol=1e-9)
    assert set(model.predict(X)) == {"setosa", "versicolor", "virginica"}


@pytest.mark.parametrize("shape", [(60, 30), (30, 60)], ids=str)
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_sparse_points_give_what_dense_ones_give(kernel, shape):
    rng = np.random.default_rng(0)
    points = sp.random_array(shape, density=0.2, rng=rng, format="csr")
    y = rng.integers(0, 3, shape[0])
    for intercept in (True, False):
        model = LaplacianRLS(kernel=kernel, n_neighbors=5, fit_intercept=intercept)
        expected = model.fit_transform(points.toarray(), y)
        assert_allclose(model.fit_transform(points, y), expected, atol=1e-8)
        assert_allclose(model.transform(points.toarray()), expected, atol=1e-8)


def test_of_equally_good_linear_functions_it_is_the_smallest():
    doubled = np.hstack([X, X[:, :1]])
    found = kneighbors(X, 10)
    single = LaplacianRLS("auto", alpha=0.0).fit(X, SOME, neighbors=found)
    double = LaplacianRLS("auto", alpha=0.0).fit(doubled, SOME, neighbors=found)
    assert_allclose(double.transform(doubled), single.transform(X), atol=1e-8)
    assert_allclose(double.coef_[:, 0], double.coef_[:, 4], atol=1e-8)


@pytest.mark.parametrize(
    ("model", "points", "y", "message"),
    [
        (LaplacianRLS(alpha=-1.0), X, Y, "LaplacianRLS: alpha=-1.0"),
        (LaplacianRLS(kernel="precomputed"), X, Y, "kernel='precomputed'"),
        (LaplacianRLS(alpha=0.0, kernel="rbf"), X, Y, "alpha=0, the solution is not unique"),
        (LaplacianRLS(alpha=0.0), X.T, [0, 0, 1, 1], "n_neighbors=10"),
        (
            LaplacianRLS(alpha=0.0, n_neighbors=2),
            X.T,
            [0, 0, 1, 1],
            "alpha=0, the solution is not unique",
        ),
        (LaplacianRLS(), X, np.zeros(150, int), "y has only one class"),
        (LaplacianRLS(), X, np.full(150, -1), "All labels are -1"),
        (LaplacianRLS(), X, X[:, 0], "Unknown label type"),
    ],
    ids=lambda value: repr(value)[:40] if isinstance(value, str) else "",
)
def test_what_is_wrong_is_said(model, points, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(points, y)
