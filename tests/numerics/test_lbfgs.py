"""L-BFGS reaches the optimum that SciPy reaches, and its path depends on the objective alone."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import optimize

from ddr_cli.numerics.lbfgs import minimize
from ddr_cli.numerics.rounding import first_largest, steady, steady_value


def rosenbrock(x):
    return float(optimize.rosen(x)), optimize.rosen_der(x)


def quadratic(n, seed=0):
    rng = np.random.default_rng(seed)
    root, centre = rng.normal(size=(n, n)), rng.normal(size=n)
    A = root @ root.T + np.eye(n)
    return lambda x: (float((x - centre) @ A @ (x - centre)) / 2, A @ (x - centre))


@pytest.mark.parametrize("n", [2, 10, 60])
def test_a_curved_valley_is_followed_to_its_end(n):
    found = minimize(rosenbrock, np.zeros(n), least_slope=1e-6, max_iter=2000)
    assert found.converged
    assert_allclose(found.x, 1, atol=1e-5)


@pytest.mark.parametrize("bounds", [(-np.inf, np.inf), (0.0, 0.5), (-0.1, np.inf)])
def test_bounds_hold_and_the_optimum_is_scipys(bounds):
    objective = quadratic(30)
    start = np.full(30, 0.2)
    found = minimize(objective, start, bounds=bounds, least_slope=1e-9, max_iter=2000)
    theirs = optimize.minimize(
        objective, start, jac=True, method="L-BFGS-B", bounds=[bounds] * 30,
        options={"ftol": 1e-15, "gtol": 1e-9, "maxiter": 5000},
    )  # fmt: skip
    assert found.x.min() >= bounds[0]
    assert found.x.max() <= bounds[1]
    assert_allclose(found.value, theirs.fun, rtol=1e-9, atol=1e-12)
    assert_allclose(found.x, theirs.x, atol=1e-5)


def test_the_search_ends_where_it_is_told_to():
    seen = []

    def stop(found):
        seen.append(found.value)
        if len(seen) == 3:
            raise StopIteration

    found = minimize(rosenbrock, np.zeros(5), max_iter=100, after_iteration=stop)
    assert found.converged
    assert found.value == seen[-1]
    assert np.all(np.diff(seen) < 0)
    assert not minimize(rosenbrock, np.zeros(5), max_iter=3).converged
    assert minimize(rosenbrock, np.ones(5), least_slope=1e-9, max_iter=3).converged


def test_rounding_errors_of_the_objective_do_not_reach_the_path():
    rng = np.random.default_rng(0)

    def noisy(x):
        value, gradient = rosenbrock(x)
        value *= 1 + 1e-15 * rng.normal()
        gradient = gradient + 1e-14 * rng.normal(size=len(x))
        return steady_value(value), steady(gradient, 100.0)

    one, other = (minimize(noisy, np.zeros(6), max_iter=40) for _ in range(2))
    assert_array_equal(one.x, other.x)


def test_numbers_lose_their_last_bits_only():
    values = np.random.default_rng(0).normal(size=1000)
    kept = steady(values, 4.0)
    assert_allclose(kept, values, atol=4 * 2.0**-28)
    assert_array_equal(steady(values * (1 + 1e-16), 4.0), kept)
    assert_array_equal(steady(kept, 4.0), kept)
    assert steady_value(0.0) == 0.0
    assert steady_value(-np.pi) == pytest.approx(-np.pi, rel=1e-11)


def test_of_values_that_differ_by_rounding_the_first_is_the_largest():
    values = np.array([[0.3, 0.1 + 0.2, 0.0], [1.0, 2.0, 2.0 - 1e-9], [-1.0, -1.0, -2.0]])
    assert first_largest(values).tolist() == [0, 1, 0]
    assert first_largest(np.zeros((2, 3))).tolist() == [0, 0]
