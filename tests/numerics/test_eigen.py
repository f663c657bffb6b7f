"""Eigensolvers equal dense solvers in the cases in which iterations fail."""

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.numerics.eigen import (
    all_eigenpairs,
    canonical,
    deterministic_signs,
    eigenpairs,
    extreme_eigenvalue,
    top_eigenpairs,
)


def random_symmetric(n, seed=0):
    A = sp.random_array((n, n), density=8 / n, rng=np.random.default_rng(seed), format="csr")
    return sp.csr_array(A + A.T)


def torus(rows, columns):
    """Return a periodic grid over 4 and its eigenvalues, which have multiplicity two to eight."""

    def cycle(n):
        return sp.csr_array(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))

    rings = sp.kron(cycle(rows), sp.eye_array(columns)) + sp.kron(
        sp.eye_array(rows), cycle(columns)
    )
    wave = [np.cos(2 * np.pi * np.arange(n) / n) for n in (rows, columns)]
    return sp.csr_array(rings / 4), np.sort(np.add.outer(*wave).ravel() / 2)[::-1]


@pytest.mark.parametrize("n", [40, 700])
@pytest.mark.parametrize("m", [1, 9])
def test_equals_a_dense_solver(n, m):
    A = random_symmetric(n)
    values, vectors = top_eigenpairs(A, m)
    expected = np.linalg.eigvalsh(A.toarray())[::-1][:m]
    np.testing.assert_allclose(values, expected, atol=1e-12)
    np.testing.assert_allclose(A @ vectors, vectors * values, atol=1e-10)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(m), atol=1e-12)


@pytest.mark.parametrize("m", [2, 3, 5, 9, 20])
def test_no_copy_of_a_repeated_eigenvalue_is_missed(m):
    A, expected = torus(30, 30)
    values, vectors = top_eigenpairs(A, m, known=np.full((900, 1), 1 / 30), floor=-1.0)
    np.testing.assert_allclose(values, expected[1 : m + 1], atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(m), atol=1e-10)


@pytest.mark.parametrize("n", [40, 700])
def test_known_vectors_are_excluded_exactly(n):
    A = random_symmetric(n)
    every, basis = np.linalg.eigh(A.toarray())
    known = basis[:, [-1, -3]]
    values, vectors = top_eigenpairs(A, 4, known=known)
    np.testing.assert_allclose(values, every[[-2, -4, -5, -6]], atol=1e-12)
    np.testing.assert_allclose(known.T @ vectors, 0, atol=1e-13)


def test_the_same_bits_on_every_run_and_the_same_columns_for_every_width():
    A = random_symmetric(900)
    _, once = top_eigenpairs(A, 12)
    _, again = top_eigenpairs(A, 12)
    _, narrow = top_eigenpairs(A, 5)
    np.testing.assert_array_equal(once, again)
    np.testing.assert_allclose(once[:, :5], narrow, atol=1e-9)


@pytest.mark.parametrize("m", [0, 41])
def test_impossible_numbers_of_eigenvectors_are_refused(m):
    with pytest.raises(ValueError, match="only 40"):
        top_eigenpairs(random_symmetric(40), m)


def test_a_residual_above_the_tolerance_is_an_error():
    with pytest.raises(np.linalg.LinAlgError, match="residual"):
        top_eigenpairs(random_symmetric(700), 3, tol=1e-30)


def test_signs_make_the_largest_entry_positive_and_the_first_of_equal_ones_decides():
    columns = np.array([[-3.0, 1.0, -2.0, 0.0], [2.0, -4.0, 2.0 * (1 + 1e-12), 0.0]])
    expected = [[3.0, -1.0, 2.0, 0.0], [-2.0, 4.0, -2.0 * (1 + 1e-12), 0.0]]
    assert deterministic_signs(columns).tolist() == expected


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("n", [20, 43, 120])
def test_no_pair_is_missing_where_eigenvalues_tie(n, largest):
    # LAPACK's search for a subset finds only one eigenpair of some of these matrices.
    centring = np.eye(n) - 1 / n
    for S in (centring, np.eye(n), np.kron(np.eye(n // 2), [[2.0, 1.0], [1.0, 2.0]])):
        for m in (1, 3, n // 2):
            values, vectors = eigenpairs(S, m, largest=largest)
            expected = np.linalg.eigvalsh(S)
            expected = expected[::-1][:m] if largest else expected[:m]
            np.testing.assert_allclose(values, expected, atol=1e-12)
            np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-12)
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(m), atol=1e-12)
        assert extreme_eigenvalue(S, largest=largest) == pytest.approx(expected[0], abs=1e-12)


def spaces(sizes, n=12, seed=0):
    """Return a symmetric matrix with eigenspaces of these dimensions, largest eigenvalue first."""
    basis = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    values = np.repeat(np.arange(len(sizes), 0.0, -1.0), sizes)
    return (basis * values) @ basis.T, values


def noise(n, seed):
    E = np.random.default_rng(seed).standard_normal((n, n)) * 1e-15
    return E + E.T


@pytest.mark.parametrize("sizes", [[1, 3, 8], [4, 1, 7], [12], [1] * 12])
@pytest.mark.parametrize("solve", [lambda S: eigenpairs(S, len(S)), all_eigenpairs])
def test_eigenvectors_do_not_depend_on_rounding(sizes, solve):
    S, _ = spaces(sizes)
    expected = solve(S)[1]
    np.testing.assert_allclose(expected.T @ expected, np.eye(12), atol=1e-12)
    for seed in range(5):
        values, vectors = solve(S + noise(12, seed))
        np.testing.assert_allclose(vectors, expected, atol=1e-10)
        np.testing.assert_allclose(S @ vectors, vectors * values, atol=1e-12)


def test_a_canonical_basis_starts_with_the_axis_nearest_to_the_space():
    S = np.diag([1.0, 3.0, 3.0, 3.0, 0.5])
    np.testing.assert_allclose(eigenpairs(S, 3)[1], np.eye(5)[:, 1:4], atol=1e-15)


def test_columns_along_are_turned_with_the_eigenvectors():
    S, values = spaces([2, 10])
    vectors = np.linalg.eigh(S)[1][:, ::-1]
    turned, along = canonical(values, vectors, S @ vectors)
    np.testing.assert_allclose(along, S @ turned, atol=1e-12)


@pytest.mark.parametrize("largest", [True, False])
def test_a_cut_through_an_eigenspace_is_warned_of_and_nested(largest):
    S, _ = spaces([1, 4, 7])
    S = S if largest else -S
    whole = eigenpairs(S, 5, largest=largest)[1]
    with pytest.warns(UserWarning, match="eigenvalues 3 and 4 are equal"):
        part = eigenpairs(S + noise(12, 1), 3, largest=largest)[1]
    np.testing.assert_allclose(part, whole[:, :3], atol=1e-10)
