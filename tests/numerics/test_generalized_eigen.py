"""Generalised eigenproblems with a regular and with a singular right-hand matrix."""

import numpy as np
import pytest
import scipy.linalg

from ddr_cli.numerics.generalized_eigen import (
    generalized_eigenpairs,
    null_space,
    regular_eigenpairs,
    smallest_generalized_eigenpairs,
    well_conditioned_order,
)

RNG = np.random.default_rng(0)


def semidefinite(d, rank):
    root = RNG.standard_normal((d, rank))
    return root @ root.T


def test_a_regular_problem_is_scipys():
    A, B = semidefinite(6, 4), semidefinite(6, 6)
    values, X = smallest_generalized_eigenpairs(A, B, 3, units=np.ones(6))
    expected, Y = scipy.linalg.eigh(A, B, subset_by_index=(0, 2))
    np.testing.assert_allclose(values, expected, atol=1e-10)
    assert scipy.linalg.subspace_angles(X, Y).max() < 1e-6
    np.testing.assert_allclose(X.T @ B @ X, np.eye(3), atol=1e-10)


def test_a_common_null_vector_is_no_solution_and_no_part_of_one():
    null = np.array([1.0, 1.0, 0.0, -1.0, 0.0])
    basis = scipy.linalg.null_space(null[None])
    A, B = (basis @ semidefinite(4, 4) @ basis.T for _ in range(2))
    values, X = smallest_generalized_eigenpairs(A, B, 4, units=np.ones(5))
    expected = scipy.linalg.eigh(basis.T @ A @ basis, basis.T @ B @ basis, eigvals_only=True)
    np.testing.assert_allclose(values, expected)
    np.testing.assert_allclose(null @ X, 0, atol=1e-10)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)


@pytest.mark.parametrize("units", [np.ones(5), np.array([1.0, 10.0, 0.1, 3.0, 1.0])], ids=str)
def test_solutions_have_the_smallest_length_in_the_units_asked_for(units):
    null = np.array([1.0, 1.0, 0.0, -1.0, 0.0])
    basis = scipy.linalg.null_space(null[None])
    A, B = (basis @ semidefinite(4, 4) @ basis.T for _ in range(2))
    values, X = smallest_generalized_eigenpairs(A, B, 2, units=units)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)
    np.testing.assert_allclose((units * null) @ (units[:, None] * X), 0, atol=1e-9)


def test_a_null_vector_of_the_right_side_alone_is_used_to_lower_the_left_side():
    A, B = semidefinite(5, 5), np.diag([1.0, 1.0, 1.0, 0.0, 0.0])
    values, X = smallest_generalized_eigenpairs(A, B, 2, units=np.ones(5))
    # As B's last two eigenvalues tend to 0, the two smallest quotients tend to these values.
    expected = scipy.linalg.eigh(A, B + 1e-9 * np.eye(5), eigvals_only=True, subset_by_index=(0, 1))
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)
    np.testing.assert_allclose(X.T @ B @ X, np.eye(2), atol=1e-10)


def test_no_more_directions_than_the_right_side_has():
    with pytest.raises(ValueError, match=r"n_components=4, but samples and labels span only 3"):
        smallest_generalized_eigenpairs(np.eye(5), semidefinite(5, 3), 4, units=np.ones(5))


def condition_in_equal_units(S):
    unit = np.sqrt(np.diag(S))
    return np.linalg.cond(S / unit / unit[:, None])


@pytest.mark.parametrize("limit", [1.5, 1e2, 1e3, 1e9])
def test_it_is_the_largest_block_within_the_limit(limit):
    factor = RNG.normal(size=(14, 20)) * np.geomspace(100, 0.01, 20)
    S = factor.T @ factor
    within = [r for r in range(1, 15) if condition_in_equal_units(S[:r, :r]) <= limit]
    assert well_conditioned_order(S, max_condition=limit) == max(within)


def test_a_regular_matrix_is_used_whole_whatever_its_units():
    factor = RNG.normal(size=(30, 4)) * [1e-6, 1.0, 1e3, 1e6]
    assert well_conditioned_order(factor.T @ factor) == 4


def test_the_block_ends_before_a_zero():
    assert well_conditioned_order(np.diag([0.0, 1.0])) == 0
    assert well_conditioned_order(np.diag([2.0, 0.0, 1.0])) == 1


def random_pair(d, rank, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((d, d))
    root = rng.standard_normal((d, rank))
    return A + A.T, root @ root.T


@pytest.mark.parametrize("largest", [True, False])
def test_generalized_equals_scipy_where_the_right_side_is_definite(largest):
    A, B = random_pair(12, 20)
    values, X = generalized_eigenpairs(A, B, 5, largest=largest)
    every = scipy.linalg.eigh(A, B, eigvals_only=True)
    np.testing.assert_allclose(values, every[::-1][:5] if largest else every[:5], rtol=1e-9)
    np.testing.assert_allclose(X.T @ B @ X, np.eye(5), atol=1e-9)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-8)


def test_generalized_stays_in_the_range_of_a_singular_right_side():
    A, B = random_pair(12, 7)
    values, X = generalized_eigenpairs(A, B, 7)
    span = scipy.linalg.orth(B, rcond=1e-10)
    expected = scipy.linalg.eigh(span.T @ A @ span, span.T @ B @ span, eigvals_only=True)[::-1]
    np.testing.assert_allclose(values, expected, rtol=1e-9)
    np.testing.assert_allclose(X, span @ (span.T @ X), atol=1e-9)


def test_generalized_refuses_more_dimensions_than_the_rank():
    with pytest.raises(ValueError, match="at most 7"):
        generalized_eigenpairs(*random_pair(12, 7), 8)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("ratio", [1e2, 1e4, 1e8])
def test_neither_the_rank_nor_the_quotients_depend_on_the_units(ratio, largest):
    A, B = semidefinite(8, 8), semidefinite(8, 8)
    units = np.where(np.arange(8) % 2, 1.0, ratio)
    values, X = generalized_eigenpairs(A, B, 8, largest=largest)
    found, Y = generalized_eigenpairs(
        A * np.outer(units, units), B * np.outer(units, units), 8, largest=largest
    )
    np.testing.assert_allclose(found, values, rtol=1e-8)
    np.testing.assert_allclose(np.abs(Y * units[:, None]), np.abs(X), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ratio", [1.0, 1e4, 1e8])
def test_a_null_space_is_found_in_any_units(ratio):
    B, units = semidefinite(8, 6), np.where(np.arange(8) % 2, 1.0, ratio)
    null = null_space(B * np.outer(units, units))
    expected = scipy.linalg.null_space(B, rcond=1e-10) / units[:, None]
    assert null.shape == (8, 2)
    assert scipy.linalg.subspace_angles(null, expected).max() < 1e-6


def test_a_regular_pencil_by_a_factor_is_that_by_eigenvectors():
    rng = np.random.default_rng(5)
    A, B = rng.standard_normal((2, 30, 30))
    A, B = A + A.T, B @ B.T + np.eye(30)
    units = np.geomspace(1e-3, 1e3, 30)
    B *= np.outer(units, units)
    A *= np.outer(units, units)
    values, vectors = regular_eigenpairs(A, B, 4)
    expected = generalized_eigenpairs(A, B, 4)
    np.testing.assert_allclose(values, expected[0], rtol=1e-8)
    sides = vectors * units[:, None], expected[1] * units[:, None]
    np.testing.assert_allclose(*sides, atol=1e-8)
    B[:, 7] = B[7] = B[:, 3]
    B[7, 7] = B[3, 3]
    assert regular_eigenpairs(A, B, 4) is None
    assert regular_eigenpairs(A, np.zeros((30, 30)), 4) is None
