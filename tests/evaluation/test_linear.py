"""The linear classifier equals the normal equations and scikit-learn's ridge, also if sparse."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.evaluation.linear import LinearClassifier


@parametrize_with_checks(
    [LinearClassifier(), LinearClassifier(fit_intercept=False), LinearClassifier(alpha=0.1)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def problem(n=90, d=7, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((n, d)) + 3
    return X, np.array(["b", "a", "c"])[generator.integers(0, 3, size=n)]


def test_equals_the_papers_normal_equations():
    X, y = problem()
    extended = np.column_stack([X, np.ones(len(X))])
    indicators = (y[:, None] == np.array(["a", "b", "c"])).astype(float)
    solution = np.linalg.solve(extended.T @ extended, extended.T @ indicators)
    classifier = LinearClassifier().fit(X, y)
    np.testing.assert_allclose(classifier.coef_, solution[:-1].T, atol=1e-12)
    np.testing.assert_allclose(classifier.intercept_, solution[-1], atol=1e-12)
    expected = np.array(["a", "b", "c"])[(extended @ solution).argmax(axis=1)]
    np.testing.assert_array_equal(classifier.predict(X), expected)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.01, 5.0])
def test_penalty_is_ridge(alpha, fit_intercept):
    X, y = problem()
    indicators = (y[:, None] == np.unique(y)).astype(float)
    ridge = Ridge(alpha=alpha, fit_intercept=fit_intercept).fit(X, indicators)
    classifier = LinearClassifier(fit_intercept, alpha).fit(X, y)
    np.testing.assert_allclose(classifier.coef_, ridge.coef_, atol=1e-10)
    np.testing.assert_allclose(classifier.decision_function(X), ridge.predict(X), atol=1e-10)


@pytest.mark.parametrize("shape", [(90, 7), (15, 60)])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_sparse_equals_dense(shape, alpha, fit_intercept):
    X, y = problem(*shape)
    X = X * (np.random.default_rng(1).random(X.shape) < 0.3)
    dense = LinearClassifier(fit_intercept, alpha).fit(X, y)
    sparse = LinearClassifier(fit_intercept, alpha).fit(sp.csr_array(X), y)
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-8)
    np.testing.assert_allclose(sparse.intercept_, dense.intercept_, atol=1e-8)


def test_collinear_features_change_no_prediction_and_blow_up_no_coefficient():
    X, y = problem()
    doubled = np.column_stack([X, X @ np.ones((7, 4)), np.full(len(X), 2.0)])
    plain, redundant = LinearClassifier().fit(X, y), LinearClassifier().fit(doubled, y)
    np.testing.assert_allclose(
        plain.decision_function(X), redundant.decision_function(doubled), atol=1e-9
    )
    assert np.abs(redundant.coef_).max() <= np.abs(plain.coef_).max()


def test_no_variance_at_all_gives_the_largest_class():
    y = np.array([0, 1, 1])
    assert LinearClassifier().fit(np.ones((3, 2)), y).predict([[5.0, 5.0]]) == [1]


def test_two_classes_decide_by_sign():
    X, y = problem()
    y = np.where(y == "a", "x", "z")
    classifier = LinearClassifier().fit(X, y)
    value = classifier.decision_function(X)
    assert value.shape == (len(X),)
    np.testing.assert_array_equal(np.where(value > 0, "z", "x"), classifier.predict(X))


def test_wrong_parameter_is_named():
    with pytest.raises(ValueError, match=r"alpha=-1.0 is not valid"):
        LinearClassifier(alpha=-1.0).fit(*problem())


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_one_factorisation_serves_all_maps_of_the_points(alpha, fit_intercept):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 60)) + 10, rng.integers(0, 4, 40)
    X[:, 3] = X[:, 1]
    new, maps = rng.standard_normal((200, 60)) + 10, [np.eye(60)[:, :m] for m in (1, 4, 39, 60)]
    maps.append(rng.standard_normal((60, 5)))
    classifier = LinearClassifier(fit_intercept, alpha)
    for A, found in zip(maps, classifier.predict_mapped(X, y, new, maps), strict=True):
        one = LinearClassifier(fit_intercept, alpha).fit(X @ A, y)
        np.testing.assert_array_equal(found, one.predict(new @ A))
