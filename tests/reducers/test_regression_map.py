"""The regressions that carry new points into an embedding."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.reducers.regression_map import KernelRidgeMap, NadarayaWatsonMap

MAPS = [KernelRidgeMap(), NadarayaWatsonMap()]


def curve(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, rng.standard_normal(n)])
    return X, Y


@parametrize_with_checks(MAPS)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_kernel_ridge_is_scikit_learns_with_the_mean_taken_off():
    X, Y = curve()
    ours = KernelRidgeMap(width=1.5, ridge=0.1).fit(X, Y)
    theirs = KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / 1.5).fit(X, Y - Y.mean(axis=0))
    new, _ = curve(10, seed=1)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new) + Y.mean(axis=0), rtol=1e-8)


def left_out(make, X, Y, i):
    rest = np.arange(len(X)) != i
    return make(X[rest], Y[rest]).predict(X[[i]])[0] - Y[i]


def test_leave_one_out_error_of_kernel_ridge_is_what_leaving_out_gives():
    X, Y = curve(25)
    centred = Y - Y.mean(axis=0)
    model = KernelRidgeMap(width=1.5, ridge=0.1).fit(X, Y)

    def make(points, targets):
        return KernelRidge(alpha=0.1, kernel="rbf", gamma=1 / 1.5).fit(points, targets)

    errors = np.array([left_out(make, X, centred, i) for i in range(25)])
    np.testing.assert_allclose(model.loo_error_, np.mean(errors**2, axis=0), rtol=1e-6)


def test_leave_one_out_error_of_nadaraya_watson_is_what_leaving_out_gives():
    X, Y = curve(25)
    model = NadarayaWatsonMap(width=0.4).fit(X, Y)
    errors = [left_out(NadarayaWatsonMap(width=0.4).fit, X, Y, i) for i in range(25)]
    np.testing.assert_allclose(model.loo_error_, np.mean(np.square(errors), axis=0), rtol=1e-9)


@pytest.mark.parametrize("estimator", MAPS, ids=repr)
def test_the_choice_is_the_best_of_those_offered_for_each_column(estimator):
    X, Y = curve()
    chosen = estimator.fit(X, Y)
    assert len(set(chosen.widths_)) > 1
    for factor in (0.25, 1.0, 4.0):
        fixed = type(estimator)(width=factor * chosen.unit_).fit(X, Y)
        assert np.all(chosen.loo_error_ <= fixed.loo_error_ * (1 + 1e-12))


@pytest.mark.parametrize("estimator", MAPS, ids=repr)
def test_a_column_is_mapped_as_it_is_alone(estimator):
    X, Y = curve()
    new, _ = curve(10, seed=1)
    together = estimator.fit(X, Y).predict(new)
    for a in range(3):
        np.testing.assert_allclose(
            estimator.fit(X, Y[:, a]).predict(new), together[:, a], atol=1e-7
        )


def test_nadaraya_watson_is_the_weighted_mean():
    X, Y = curve()
    new, _ = curve(10, seed=1)
    weights = np.exp(-np.sum((new[:, None] - X[None]) ** 2, axis=2) / 0.5)
    expected = weights @ Y / weights.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(NadarayaWatsonMap(width=0.5).fit(X, Y).predict(new), expected)


def test_far_from_all_points_the_nearest_one_counts():
    X, Y = curve()
    far = np.array([[1e4, 1e4]])
    nearest = np.argmin(np.sum((X - far) ** 2, axis=1))
    np.testing.assert_allclose(NadarayaWatsonMap(width=1.0).fit(X, Y).predict(far)[0], Y[nearest])
    ridge = KernelRidgeMap().fit(X, Y)
    np.testing.assert_allclose(ridge.predict(far)[0], Y.mean(axis=0))


@pytest.mark.parametrize("estimator", MAPS, ids=repr)
def test_equal_points_and_flat_columns_are_no_obstacle(estimator):
    X, Y = curve()
    X[3] = X[4]
    Y[:, 1] = 0.0
    values = estimator.fit(X, Y).predict(X)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values[:, 1], 0.0)
    assert np.isfinite(estimator.fit(np.ones((5, 2)), Y[:5]).predict(np.ones((1, 2)))).all()


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (KernelRidgeMap(width=0.0), "KernelRidgeMap: width=0.0"),
        (KernelRidgeMap(ridge=-1.0), "KernelRidgeMap: ridge=-1.0"),
        (NadarayaWatsonMap(width="wide"), "NadarayaWatsonMap: width='wide'"),
    ],
    ids=repr,
)
def test_parameters_out_of_range_are_named(estimator, message):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*curve())
