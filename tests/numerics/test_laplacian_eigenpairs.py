"""Laplacian eigenvectors of graphs with a known spectrum."""

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.numerics.eigen import laplacian_eigenpairs


def weighted_graph(n, seed=0):
    """Return a connected graph with random weights."""
    rng = np.random.default_rng(seed)
    path = sp.diags_array(rng.uniform(0.5, 1, n - 1), offsets=1, shape=(n, n))
    extra = sp.random_array((n, n), density=4 / n, rng=rng)
    W = sp.csr_array(path + extra)
    W.setdiag(0)
    return sp.csr_array(W + W.T)


def check(G, values, U, n_components=1):
    D = np.asarray(G.sum(axis=1)).ravel()
    np.testing.assert_allclose(D[:, None] * U - G @ U, D[:, None] * U * values, atol=1e-9)
    np.testing.assert_allclose(U.T @ (D[:, None] * U), np.eye(U.shape[1]), atol=1e-10)
    np.testing.assert_allclose(U.T @ D, 0, atol=1e-9)
    assert np.sum(values < 1e-12) == n_components - 1


@pytest.mark.parametrize("n", [50, 800])
def test_solutions_satisfy_the_equation_the_constraints_and_a_dense_solver(n):
    G = weighted_graph(n)
    values, U = laplacian_eigenpairs(G, 6)
    check(G, values, U)
    root = np.sqrt(np.asarray(G.sum(axis=1)).ravel())
    dense = 1 - np.linalg.eigvalsh(G.toarray() / root / root[:, None])[::-1]
    np.testing.assert_allclose(values, dense[1:7], atol=1e-12)


def test_cycle_has_its_cosines():
    n = 400
    G = sp.csr_array(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    values, _ = laplacian_eigenpairs(G, 4)
    expected = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n)
    np.testing.assert_allclose(values, expected, atol=1e-12)


def test_a_coarse_tolerance_gives_the_same_to_that_tolerance():
    G = weighted_graph(800)
    sharp, U = laplacian_eigenpairs(G, 6)
    coarse, V = laplacian_eigenpairs(G, 6, tol=1e-4)
    assert not np.array_equal(U, V)
    np.testing.assert_allclose(coarse, sharp, atol=1e-6)
    D = np.asarray(G.sum(axis=1))
    np.testing.assert_allclose(V.T @ (D[:, None] * V), np.eye(6), atol=1e-10)
    np.testing.assert_allclose(V.T @ D, 0, atol=1e-9)
    residual = (D[:, None] * V * (1 - coarse) - G @ V) / np.sqrt(D)[:, None]
    assert np.linalg.norm(residual, axis=0).max() < 1e-4


def test_a_coarse_tolerance_keeps_repeated_eigenvalues():
    n = 400
    G = sp.csr_array(np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1))
    values, _ = laplacian_eigenpairs(G, 4, tol=1e-4)
    expected = 1 - np.cos(2 * np.pi * np.array([1, 1, 2, 2]) / n)
    np.testing.assert_allclose(values, expected, atol=1e-6)


@pytest.mark.parametrize("m", [1, 2, 5])
def test_components_are_told_apart_first_and_the_constant_vector_is_gone(m):
    sizes = [30, 90, 250]
    G = sp.csr_array(sp.block_diag([weighted_graph(n, seed=n) for n in sizes]))
    values, U = laplacian_eigenpairs(G, m)
    check(G, values, U, n_components=min(m, 2) + 1)
    part = np.repeat([0, 1, 2], sizes)
    for j in range(min(m, 2)):
        for c in range(3):
            assert np.ptp(U[part == c, j]) == 0
    # The first vector separates the heaviest component from the others.
    assert U[part == 0, 0][0] == U[part == 1, 0][0] != U[part == 2, 0][0]


def test_the_order_of_the_nodes_changes_nothing_but_signs():
    G = sp.csr_array(sp.block_diag([weighted_graph(200), weighted_graph(150, seed=1)]))
    shuffled = np.random.default_rng(0).permutation(350)
    values, U = laplacian_eigenpairs(G, 5)
    other_values, V = laplacian_eigenpairs(G[shuffled][:, shuffled], 5)
    np.testing.assert_allclose(values, other_values, atol=1e-12)
    np.testing.assert_allclose(np.abs(U[shuffled]), np.abs(V), atol=1e-9)


def test_more_dimensions_than_nodes_are_refused():
    with pytest.raises(ValueError, match="at most 9"):
        laplacian_eigenpairs(weighted_graph(10), 10)
