"""The weights that reconstruct points from their neighbours, and the embedding that keeps them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, splu

from ddr_cli.numerics.eigen import eigenpairs, top_eigenpairs
from ddr_cli.numerics.neighbor_graphs import closed_groups, neighbor_matrix
from ddr_cli.numerics.neighbors import CsrArray, Floats, Indices, blocks

_BLOCK = 2**20  # numbers in memory at once
_DENSE = 300  # up to this order, a dense decomposition is as fast
_ZERO = 1e-12  # an eigenvalue below this fraction of the largest possible one is 0
_RESIDUAL = 1e-10  # largest accepted residual, relative to the same bound


def keeping_weights(
    points: Floats, neighbors: Indices, reg: float, m: int
) -> tuple[Floats, Floats]:
    """Return the `m` smallest eigenvalues of ``(I - W)' (I - W)``, and unit vectors.

    W has the `reconstruction` weights of the points; the constant vector is left out.
    """
    n = len(points)
    rest = sp.csr_array(sp.eye_array(n) - reconstruction(points, points, neighbors, reg))
    known = _null_vectors(rest, closed_groups(neighbors))
    return _bottom(rest, known, points, m)


def reconstruction(queries: Floats, points: Floats, neighbors: Indices, reg: float) -> CsrArray:
    """Return the weights that reconstruct each query from its neighbours among the points.

    To the Gram matrix of the offsets, `reg` times its trace is added.
    """
    n, k = neighbors.shape
    weights = np.empty((n, k))
    for rows in blocks(n, _BLOCK // (k * (k + points.shape[1]))):
        offsets = points[neighbors[rows]] - queries[rows, None]
        gram = offsets @ offsets.transpose(0, 2, 1)
        size = np.trace(gram, axis1=1, axis2=2)
        gram[:, range(k), range(k)] += reg * np.where(size > 0, size, 1.0)[:, None]
        weights[rows] = np.linalg.solve(gram, np.ones((k, 1)))[..., 0]
    weights /= weights.sum(axis=1, keepdims=True)
    return neighbor_matrix(neighbors, weights, len(points))


def _null_vectors(rest: Any, group: Indices) -> Floats:
    """Return an orthonormal basis of the null space of ``I - W``, the constant vector first.

    Each closed group of samples adds the vector that is 1 on the group, 0 on other groups, and
    reconstructed everywhere else.
    """
    basis = np.asarray(group[:, None] == np.arange(group.max() + 1), dtype=np.float64)
    free = group < 0
    if basis.shape[1] > 1 and free.any():
        inner = sp.csc_array(rest[free][:, free])
        basis[free] = splu(inner).solve(-(rest[free] @ basis))
    basis[:, 0] = 1.0  # the sum of all columns
    return np.asarray(np.linalg.qr(basis)[0])


def _bottom(rest: Any, known: Floats, points: Floats, m: int) -> tuple[Floats, Floats]:
    """Return the `m` smallest eigenpairs of ``rest.T @ rest`` without the constant vector."""
    M = sp.csc_array(rest.T @ rest)
    largest = float(abs(M).sum(axis=1).max())
    most = len(points) - known.shape[1]
    count = min(max(1, m + 1 - known.shape[1]), most)
    # Rounding determines the order of eigenvalues that are nearly 0, so all of their vectors are
    # found and added to the null space.
    while True:
        values, vectors = _smallest(M, count, known, largest)
        zero = values < _ZERO * largest
        if count == most or not zero.all():
            break
        count = min(2 * count, most)
    null = np.hstack([known[:, 1:], vectors[:, zero]])
    spread = null.T @ (points - points.mean(axis=0))
    turn, _, _ = np.linalg.svd(spread @ spread.T)
    values = np.concatenate([np.zeros(null.shape[1]), values[~zero]])
    return values[:m], np.hstack([null @ turn, vectors[:, ~zero]])[:, :m]


def _smallest(M: Any, m: int, known: Floats, largest: float) -> tuple[Floats, Floats]:
    """Return the `m` smallest eigenpairs of M apart from the null vectors that are known."""
    n = M.shape[0]
    if n > max(_DENSE, 4 * m) and M.nnz < n * n / 8:
        # The shift is far below what counts as 0 and makes M positive definite, so that no pivoting
        # is needed.
        shifted = sp.csc_array(M + 0.1 * _ZERO * largest * sp.eye_array(n))
        factor = splu(shifted, "MMD_AT_PLUS_A", 0.0, options={"SymmetricMode": True})

        def inverse(x: Floats) -> Floats:
            x = factor.solve(x - known @ (known.T @ x))
            return np.asarray(x - known @ (known.T @ x))

        operator = LinearOperator((n, n), matvec=inverse, dtype=np.float64)
        # Residuals of the inverse say little, so those of M are checked. If they are too large, M
        # is decomposed completely.
        with suppress(np.linalg.LinAlgError):
            _, vectors = top_eigenpairs(operator, m, known=known, floor=0.0, tol=np.inf)
            product = M @ vectors
            values = np.einsum("ij,ij->j", vectors, product)
            residuals = np.linalg.norm(product - vectors * values, axis=0)
            if residuals.max() <= _RESIDUAL * largest:
                return values, vectors
    return eigenpairs(M.toarray() + (2 * largest * known) @ known.T, m, largest=False)
