"""X' L X equals the sum over pairs; scatter matrices, and the span of the data."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ddr_cli.numerics.scatter import (
    data_span,
    laplacian_form,
    laplacian_form_of_parts,
    leading_span,
    scatter_matrices,
)


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


def test_the_form_is_the_same_part_by_part():
    rng = np.random.default_rng(4)
    X, G = rng.standard_normal((30, 4)), np.zeros((30, 30))
    parts = [np.arange(0, 30, 2), np.arange(1, 30, 2)]
    for rows in parts:
        G[np.ix_(rows, rows)] = random_graph(rng, 15)
    found = laplacian_form_of_parts(X, ((rows, G[np.ix_(rows, rows)]) for rows in parts))
    np.testing.assert_array_equal(found, laplacian_form(X, G))


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


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("shape", [(4000, 5), (5, 8)])
def test_each_feature_s_rounding_is_its_own(make, shape):
    rng = np.random.default_rng(6)
    size = 10.0 ** np.linspace(-5, 6, shape[1])
    offset = np.where(np.arange(shape[1]) % 2, 1e3 * size, 0.0)
    offset[-1] = 1.6e9
    X = rng.standard_normal(shape) * size + offset
    span = data_span(make(X))
    assert span.rank == min(shape[0] - 1, shape[1])
    centred = X - X.mean(axis=0)
    error = span.coordinates @ span.basis.T - (centred - centred.mean(axis=0))
    assert (np.linalg.norm(error, axis=0) < 1e-6 * np.linalg.norm(centred, axis=0)).all()
    assert_allclose(span.basis.T @ span.basis, np.eye(span.rank), atol=1e-12)
    assert np.all(np.diff(np.linalg.norm(span.coordinates, axis=0)) < 0)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_rounding_adds_no_dimension(make):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((200, 2)) * [1.0, 1e-4] + 1e9
    # Linear combinations of features add no dimension, whatever their rounding and units.
    for other in (X.sum(axis=1), 1e7 * X[:, 0], np.full(200, 1e9 / 3), 1e-16 * X[:, 1] - 1e-7):
        assert data_span(make(np.column_stack([X, other]))).rank == 2


def test_scatter_is_the_definition_and_adds_up():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.choice(["a", "b", "c"], 40)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for x, label in zip(X, y, strict=True):
        mean = X[y == label].mean(axis=0)
        within += np.outer(x - mean, x - mean)
        between += np.outer(mean - X.mean(axis=0), mean - X.mean(axis=0))
    found = scatter_matrices(X, y)
    np.testing.assert_allclose(found[0], within, atol=1e-12)
    np.testing.assert_allclose(found[1], between, atol=1e-12)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(sum(found), centred.T @ centred, atol=1e-12)


def points(n, d, rank=None, density=0.05):
    rng = np.random.default_rng(0)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    return X if rank is None else sp.csr_array(X[:, :rank] @ X[:rank])


def complete(X, rank):
    d = X.shape[1]
    return scipy.linalg.eigh((X.T @ X).toarray(), subset_by_index=(d - rank, d - 1))[1]


@pytest.mark.parametrize("shape", [(60, 90), (90, 60), (1100, 1300), (1300, 1100)], ids=str)
@pytest.mark.parametrize("dense", [False, True])
def test_it_is_the_span_of_the_leading_singular_vectors(shape, dense):
    X = points(*shape)
    span = leading_span(X.toarray() if dense else X, 5)
    assert span.rank == 5
    assert scipy.linalg.subspace_angles(span.basis, complete(X, 5)).max() < 1e-8
    np.testing.assert_allclose(span.basis.T @ span.basis, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(span.coordinates, X @ span.basis, atol=1e-12)
    np.testing.assert_array_equal(span.mean, 0)


@pytest.mark.parametrize("shape", [(60, 90), (1100, 1300)], ids=str)
def test_data_of_smaller_rank_have_no_more_dimensions(shape):
    X = points(*shape, rank=8, density=0.3)
    span = leading_span(X, 20)
    assert span.rank == 8
    np.testing.assert_allclose(span.coordinates @ span.basis.T, X.toarray(), atol=1e-9)


def test_without_a_rank_it_is_the_whole_span():
    X = points(30, 40)
    span = leading_span(X)
    np.testing.assert_allclose(span.coordinates @ span.basis.T, X.toarray(), atol=1e-12)


def test_sparse_matrices_of_the_old_kind_are_taken_too():
    X = points(1100, 1200)
    new, old = leading_span(X, 3), leading_span(sp.csr_matrix(X), 3)
    np.testing.assert_array_equal(new.basis, old.basis)


def test_no_dense_matrix_of_the_size_of_the_data_is_made():
    X = points(1500, 30_000, density=0.001)  # 360 MB when dense
    tracemalloc.start()
    try:
        span = leading_span(X, 20)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert span.rank == 20
    assert peak < 60e6
