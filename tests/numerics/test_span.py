"""The leading span against a complete decomposition, and within memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp

from ddr_cli.numerics.span import leading_span


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
