"""Smallest quotients where the right-hand matrix is regular, and where it is not."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from ddr_cli.numerics.quotients import smallest_quotients

RNG = np.random.default_rng(0)


def semidefinite(d, rank):
    root = RNG.standard_normal((d, rank))
    return root @ root.T


def test_a_regular_problem_is_scipys():
    A, B = semidefinite(6, 4), semidefinite(6, 6)
    values, X = smallest_quotients(A, B, 3, units=np.ones(6))
    expected, Y = scipy.linalg.eigh(A, B, subset_by_index=(0, 2))
    np.testing.assert_allclose(values, expected, atol=1e-10)
    assert scipy.linalg.subspace_angles(X, Y).max() < 1e-6
    np.testing.assert_allclose(X.T @ B @ X, np.eye(3), atol=1e-10)


def test_a_common_null_vector_is_no_solution_and_no_part_of_one():
    null = np.array([1.0, 1.0, 0.0, -1.0, 0.0])
    basis = scipy.linalg.null_space(null[None])
    A, B = (basis @ semidefinite(4, 4) @ basis.T for _ in range(2))
    values, X = smallest_quotients(A, B, 4, units=np.ones(5))
    expected = scipy.linalg.eigh(basis.T @ A @ basis, basis.T @ B @ basis, eigvals_only=True)
    np.testing.assert_allclose(values, expected)
    np.testing.assert_allclose(null @ X, 0, atol=1e-10)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)


@pytest.mark.parametrize("units", [np.ones(5), np.array([1.0, 10.0, 0.1, 3.0, 1.0])], ids=str)
def test_solutions_have_the_smallest_length_in_the_units_asked_for(units):
    null = np.array([1.0, 1.0, 0.0, -1.0, 0.0])
    basis = scipy.linalg.null_space(null[None])
    A, B = (basis @ semidefinite(4, 4) @ basis.T for _ in range(2))
    values, X = smallest_quotients(A, B, 2, units=units)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)
    np.testing.assert_allclose((units * null) @ (units[:, None] * X), 0, atol=1e-9)


def test_a_null_vector_of_the_right_side_alone_is_used_to_lower_the_left_side():
    A, B = semidefinite(5, 5), np.diag([1.0, 1.0, 1.0, 0.0, 0.0])
    values, X = smallest_quotients(A, B, 2, units=np.ones(5))
    # As B's last two eigenvalues shrink, the two smallest quotients tend to these.
    expected = scipy.linalg.eigh(A, B + 1e-9 * np.eye(5), eigvals_only=True, subset_by_index=(0, 1))
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    np.testing.assert_allclose(A @ X, B @ X * values, atol=1e-9)
    np.testing.assert_allclose(X.T @ B @ X, np.eye(2), atol=1e-10)


def test_no_more_directions_than_the_right_side_has():
    with pytest.raises(ValueError, match=r"n_components=4, but points and labels .* offer 3"):
        smallest_quotients(np.eye(5), semidefinite(5, 3), 4, units=np.ones(5))
