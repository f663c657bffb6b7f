"""X' L X against the sum over pairs, and the span of the data."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ddr_cli.numerics.graph_embedding import data_span, laplacian_form


def pairwise(X, G):
    difference = X[:, None] - X[None]
    return np.einsum("ij,ijk,ijl->kl", G, difference, difference) / 2


def random_graph(rng, n, share=0.2):
    G = rng.random((n, n)) * (rng.random((n, n)) < share)
    return G + G.T


def test_the_form_is_the_sum_over_pairs():
    rng = np.random.default_rng(0)
    X, G = rng.standard_normal((30, 4)), random_graph(rng, 30)
    assert_allclose(laplacian_form(X, sp.csr_array(G)), pairwise(X, G), atol=1e-12)
    assert_allclose(laplacian_form(X, G), pairwise(X, G), atol=1e-12)


def test_the_diagonal_and_the_origin_don_t_matter():
    rng = np.random.default_rng(1)
    X, G = rng.standard_normal((20, 3)), random_graph(rng, 20)
    moved = laplacian_form(X + 100.0, sp.csr_array(G + np.diag(rng.random(20))))
    assert_allclose(moved, pairwise(X, G), rtol=1e-10)


def test_components_far_apart_cost_no_digits():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((20, 3))
    G = np.zeros((20, 20))
    G[:10, :10], G[10:, 10:] = random_graph(rng, 10, 0.9), random_graph(rng, 10, 0.9)
    far = X.copy()
    far[10:] += 2.0**30  # a power of two, so that the differences stay exact
    rounded = far - np.repeat([[0.0], [2.0**30]], 10, axis=0)
    assert_allclose(laplacian_form(far, sp.csr_array(G)), pairwise(rounded, G), rtol=1e-12)


def test_the_form_is_exactly_symmetric():
    rng = np.random.default_rng(3)
    S = laplacian_form(rng.standard_normal((40, 6)), sp.csr_array(random_graph(rng, 40)))
    assert np.array_equal(S, S.T)


def low_rank(rng, n, d, rank):
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return np.where(abs(X) > 0.3, X, 0.0) if rank == min(n, d) else X


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("centre", [False, True])
@pytest.mark.parametrize(("n", "d", "rank"), [(30, 5, 5), (30, 5, 3), (8, 20, 8), (8, 20, 4)])
def test_the_span_holds_the_points(sparse, centre, n, d, rank):
    X = low_rank(np.random.default_rng(4), n, d, rank) + 3.0
    span = data_span(sp.csr_array(X) if sparse else X, centre=centre)
    mean = X.mean(axis=0) if centre else np.zeros(d)
    assert span.rank == np.linalg.matrix_rank(X - mean)
    assert_allclose(span.mean, mean, atol=1e-12)
    assert_allclose(span.basis.T @ span.basis, np.eye(span.rank), atol=1e-7)
    assert_allclose(span.coordinates @ span.basis.T + mean, X, atol=1e-7)
    variance = np.sum(span.coordinates**2, axis=0)
    assert np.all(np.diff(variance) <= 1e-9 * variance[0])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9 + 0.1])
@pytest.mark.parametrize("shape", [(7, 3), (3, 7)])
def test_equal_points_span_nothing(sparse, value, shape):
    X = np.full(shape, value)
    assert data_span(sp.csr_array(X) if sparse else X).rank == 0


def test_a_constant_feature_is_left_out():
    X = np.random.default_rng(5).standard_normal((20, 3))
    X[:, 1] = 1e6 / 3
    span = data_span(X)
    assert span.rank == 2
    assert_allclose(span.basis[1], 0, atol=1e-12)
