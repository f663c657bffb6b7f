"""The trace ratio meets certificates of optimality, brute force and the paper's statements."""

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose

from ddr_cli.numerics.trace_ratio import trace_ratio


def random_symmetric(rng, d, *, psd=False):
    G = rng.standard_normal((d, d))
    return G @ G.T if psd else G + G.T


def random_psd(rng, d, rank, spread=1.0):
    G = rng.standard_normal((d, rank)) * 10.0 ** rng.uniform(-spread, 0, rank)
    return G @ G.T


def random_orthonormal(rng, d, m):
    return np.linalg.qr(rng.standard_normal((d, m)))[0]


def ratio(A, B, W):
    return np.trace(W.T @ A @ W) / np.trace(W.T @ B @ W)


def problems():
    rng = np.random.default_rng(7)
    for number in range(60):
        d = int(rng.integers(2, 11))
        m = int(rng.integers(1, d + 1))
        rank = int(rng.integers(max(1, d - m + 1), d + 1))
        A = random_symmetric(rng, d, psd=number % 3 == 0)
        scale_a, scale_b = 10.0 ** rng.uniform(-9, 9, 2)
        yield scale_a * A, scale_b * random_psd(rng, d, rank, spread=2.0), m


@pytest.mark.parametrize("solver", ["newton", "bisection"])
def test_the_value_is_the_root_and_w_attains_it(solver):
    for A, B, m in problems():
        W, value = trace_ratio(A, B, m, solver)
        assert_allclose(W.T @ W, np.eye(m), atol=1e-12)
        assert_allclose(ratio(A, B, W), value, rtol=1e-9)
        # f(value) = 0 proves that no other W is better.
        top = np.linalg.eigvalsh(A - value * B)[-m:].sum()
        assert abs(top) <= 1e-9 * (np.abs(A).max() + abs(value) * np.abs(B).max())


def test_both_solvers_agree():
    for A, B, m in problems():
        newton, bisection = trace_ratio(A, B, m)[1], trace_ratio(A, B, m, "bisection")[1]
        assert_allclose(newton, bisection, rtol=1e-10)


@pytest.mark.parametrize("condition", [1e3, 1e6, 1e9])
def test_both_solvers_agree_where_b_is_nearly_singular(condition):
    rng = np.random.default_rng(1)
    Q = random_orthonormal(rng, 8, 8)
    B = Q @ np.diag(np.geomspace(1 / condition, 1, 8)) @ Q.T
    A = random_symmetric(rng, 8)
    for m in (1, 2, 5):
        W, value = trace_ratio(A, B, m)
        V, other = trace_ratio(A, B, m, "bisection")
        assert_allclose(value, other, rtol=1e-10)
        assert scipy.linalg.subspace_angles(W, V).max() < 1e-6


def test_no_random_w_does_better():
    rng = np.random.default_rng(3)
    for A, B, m in problems():
        _, value = trace_ratio(A, B, m)
        best = max(ratio(A, B, random_orthonormal(rng, len(A), m)) for _ in range(100))
        assert best <= value + 1e-9 * abs(value)


def test_two_dimensions_against_a_fine_grid_of_directions():
    rng = np.random.default_rng(5)
    A, B = random_symmetric(rng, 2), random_psd(rng, 2, 2)
    angle = np.linspace(0, np.pi, 200_001)
    w = np.stack([np.cos(angle), np.sin(angle)])
    grid = np.einsum("ia,ij,ja->a", w, A, w) / np.einsum("ia,ij,ja->a", w, B, w)
    W, value = trace_ratio(A, B, 1)
    assert_allclose(value, grid.max(), rtol=1e-8)
    assert abs(W[:, 0] @ w[:, grid.argmax()]) > 1 - 1e-8


def test_one_direction_is_the_generalised_eigenvector():
    rng = np.random.default_rng(11)
    A, B = random_symmetric(rng, 6), random_psd(rng, 6, 6) + np.eye(6)
    values, vectors = scipy.linalg.eigh(A, B)
    W, value = trace_ratio(A, B, 1)
    assert_allclose(value, values[-1], rtol=1e-10)
    assert scipy.linalg.subspace_angles(W, vectors[:, -1:]).max() < 1e-7


def test_with_the_identity_it_is_the_mean_of_the_largest_eigenvalues():
    A = random_symmetric(np.random.default_rng(2), 7)
    W, value = trace_ratio(A, np.eye(7), 3)
    assert_allclose(value, np.linalg.eigvalsh(A)[-3:].mean(), rtol=1e-12)
    assert scipy.linalg.subspace_angles(W, np.linalg.eigh(A)[1][:, -3:]).max() < 1e-7


@pytest.mark.parametrize("solver", ["newton", "bisection"])
def test_all_directions_give_the_ratio_of_the_traces(solver):
    rng = np.random.default_rng(4)
    A, B = random_symmetric(rng, 5, psd=True), random_psd(rng, 5, 3)
    W, value = trace_ratio(A, B, 5, solver)
    assert_allclose(value, np.trace(A) / np.trace(B), rtol=1e-12)
    assert_allclose(W @ W.T, np.eye(5), atol=1e-12)


def test_the_optimum_falls_as_dimensions_are_added():
    rng = np.random.default_rng(8)
    A, B = random_symmetric(rng, 9, psd=True), random_psd(rng, 9, 6)
    values = [trace_ratio(A, B, m)[1] for m in range(4, 10)]
    assert np.all(np.diff(values) <= 1e-12)


@pytest.mark.parametrize("solver", ["newton", "bisection"])
@pytest.mark.parametrize("psd", [True, False])
def test_enough_null_space_makes_the_value_infinite(solver, psd):
    rng = np.random.default_rng(9)
    A, B = random_symmetric(rng, 8, psd=psd), random_psd(rng, 8, 4)
    Z = scipy.linalg.null_space(B)
    for m in (1, 3, 4):
        W, value = trace_ratio(A, B, m, solver)
        assert value == np.inf
        assert_allclose(B @ W, 0, atol=1e-9)
        assert_allclose(W.T @ W, np.eye(m), atol=1e-12)
        best = np.linalg.eigvalsh(Z.T @ A @ Z)[-m:].sum()
        assert_allclose(np.trace(W.T @ A @ W), best, rtol=1e-9)
    assert np.isfinite(trace_ratio(A, B, 5, solver)[1])


def test_b_zero_leaves_the_leading_eigenvectors_of_a():
    A = random_symmetric(np.random.default_rng(0), 4)
    W, value = trace_ratio(A, np.zeros((4, 4)), 2)
    assert value == np.inf
    assert_allclose(np.trace(W.T @ A @ W), np.linalg.eigvalsh(A)[-2:].sum(), rtol=1e-10)


@pytest.mark.parametrize("solver", ["newton", "bisection"])
def test_a_zero_gives_zero_and_the_narrowest_directions(solver):
    B = np.diag([3.0, 1.0, 2.0])
    W, value = trace_ratio(np.zeros((3, 3)), B, 2, solver)
    assert value == 0
    assert_allclose(np.trace(W.T @ B @ W), 3)


@pytest.mark.parametrize("solver", ["newton", "bisection"])
def test_a_negative_definite_is_bounded_by_the_largest_eigenvalues_of_b(solver):
    # The paper's upper bound uses the smallest eigenvalues of B and is below the optimum here.
    rng = np.random.default_rng(6)
    A, B = -random_psd(rng, 5, 5), random_psd(rng, 5, 5)
    for m in range(1, 6):
        _, value = trace_ratio(A, B, m, solver)
        assert_allclose(np.linalg.eigvalsh(A - value * B)[-m:].sum(), 0, atol=1e-9)


def test_units_don_t_matter():
    rng = np.random.default_rng(10)
    A, B = random_symmetric(rng, 6), random_psd(rng, 6, 5)
    W, value = trace_ratio(A, B, 3)
    V, scaled = trace_ratio(1e-150 * A, 1e120 * B, 3)
    assert_allclose(scaled * 1e270, value, rtol=1e-10)
    assert_allclose(V, W, atol=1e-9)


def test_inputs_are_left_alone():
    A, B = np.diag([1.0, 2.0, 3.0]), np.diag([1.0, 1.0, 2.0])
    before = A.copy(), B.copy()
    trace_ratio(A, B, 2)
    assert np.array_equal(A, before[0])
    assert np.array_equal(B, before[1])


@pytest.mark.parametrize("units", [1e-8, 1e-4, 1.0])
def test_a_regular_right_side_is_regular_in_any_units(units):
    rng = np.random.default_rng(2)
    A, B = random_psd(rng, 6, 6), random_psd(rng, 6, 6) + np.eye(6)
    scale = np.where(np.arange(6) % 2, 1.0, units)
    A, B = A * np.outer(scale, scale), B * np.outer(scale, scale)
    _, value = trace_ratio(A, B, 1)
    # With one column, the trace ratio is a quotient, which is the same in all units.
    unscaled = scipy.linalg.eigh(
        A / np.outer(scale, scale), B / np.outer(scale, scale), eigvals_only=True
    )
    assert_allclose(value, unscaled[-1], rtol=1e-6)


def test_directions_that_nothing_tells_apart_are_chosen_by_the_coordinates_with_a_warning():
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((9, 9)))[0]
    between, within = basis[:, :2], basis[:, 6:]
    A, B = between @ between.T, within @ within.T
    with pytest.warns(UserWarning, match="eigenvalues 4 and 5 are equal"):
        W, value = trace_ratio(A, B, 4)
    assert value == np.inf
    assert_allclose(W.T @ W, np.eye(4), atol=1e-12)
    assert_allclose(B @ W, 0, atol=1e-12)
    noise = np.random.default_rng(4).standard_normal((9, 9)) * 1e-14
    with pytest.warns(UserWarning, match="eigenvalues 4 and 5 are equal"):
        again, _ = trace_ratio(A + noise @ noise.T, B + (noise + noise.T), 4)
    assert scipy.linalg.subspace_angles(W, again).max() < 1e-6
