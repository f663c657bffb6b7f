"""The regression that extends an embedding to new samples."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from ddr_cli.reducers.regression_map import _chosen, regression_map


def curve(n=40, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    Y = np.column_stack([np.sin(2 * X[:, 0]), X[:, 1] ** 2, rng.standard_normal(n)])
    return X, Y


def reference(model, column):
    return KernelRidge(alpha=model.ridges[column], kernel="rbf", gamma=1 / model.bandwidths[column])


def test_each_column_is_scikit_learns_kernel_ridge_with_the_mean_taken_off():
    X, Y = curve()
    model = regression_map(X, Y)
    new, _ = curve(10, seed=1)
    for column, mean in enumerate(Y.mean(axis=0)):
        theirs = reference(model, column).fit(X, Y[:, column] - mean)
        np.testing.assert_allclose(
            model.predict(new)[:, column], theirs.predict(new) + mean, rtol=1e-6, atol=1e-8
        )


def left_out_error(model, X, y, column):
    residuals = []
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        fitted = reference(model, column).fit(X[rest], y[rest])
        residuals.append(fitted.predict(X[[i]])[0] - y[i])
    return np.mean(np.square(residuals))


def test_the_choice_has_the_least_leave_one_out_error():
    X, Y = curve(25)
    model = regression_map(X, Y)
    assert len(set(model.bandwidths)) > 1
    centred = Y - Y.mean(axis=0)
    for column in range(3):
        error = left_out_error(model, X, centred[:, column], column)
        assert model.errors[column] == pytest.approx(error, rel=1e-5)
        others = (left_out_error(model, X, centred[:, column], other) for other in range(3))
        assert error <= min(others) * (1 + 1e-9)


def test_a_column_is_mapped_as_it_is_alone():
    X, Y = curve()
    new, _ = curve(10, seed=1)
    together = regression_map(X, Y).predict(new)
    for a in range(3):
        alone = regression_map(X, Y[:, [a]]).predict(new)[:, 0]
        np.testing.assert_allclose(alone, together[:, a], atol=1e-7)


def test_far_from_all_points_the_mean_counts():
    X, Y = curve()
    far = regression_map(X, Y).predict(np.array([[1e4, 1e4]]))
    np.testing.assert_allclose(far[0], Y.mean(axis=0))


def test_equal_points_and_flat_columns_are_no_obstacle():
    X, Y = curve()
    X[3] = X[4]
    Y[:, 1] = 0.0
    values = regression_map(X, Y).predict(X)
    assert np.isfinite(values).all()
    np.testing.assert_array_equal(values[:, 1], 0.0)
    assert np.isfinite(regression_map(np.ones((5, 2)), Y[:5]).predict(np.ones((1, 2)))).all()


def test_up_to_500_samples_all_choose(monkeypatch):
    X, Y = curve(500)
    found = regression_map(X, Y)
    monkeypatch.setattr("ddr_cli.reducers.regression_map._MOST", 10**6)
    expected = regression_map(X, Y)
    for name in ("dual", "mean", "bandwidths", "ridges", "errors"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_500_of_more_samples_choose_and_all_are_fitted():
    X, Y = curve(700)
    model = regression_map(X, Y)
    some = np.sort(np.random.RandomState(0).permutation(700)[:500])
    _, bandwidths, ridges, _ = _chosen(X[some], Y[some] - Y.mean(axis=0))
    np.testing.assert_array_equal(model.bandwidths, bandwidths)
    np.testing.assert_array_equal(model.ridges, ridges)
    new, _ = curve(10, seed=1)
    for column, mean in enumerate(Y.mean(axis=0)):
        theirs = reference(model, column).fit(X, Y[:, column] - mean)
        np.testing.assert_allclose(
            model.predict(new)[:, column], theirs.predict(new) + mean, rtol=1e-5, atol=1e-6
        )
