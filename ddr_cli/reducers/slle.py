"""Supervised locally linear embedding (de Ridder et al., 2003)."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike
from scipy.sparse.linalg import LinearOperator, splu

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs, eigenpairs, top_eigenpairs
from ddr_cli.numerics.neighbor_graphs import class_members, closed_groups, neighbor_matrix
from ddr_cli.numerics.neighbors import CsrArray, blocks, by_distance, equal_below, kneighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding

_BLOCK = 2**20  # numbers in memory at once
_DENSE = 300  # up to this order, a dense decomposition is as fast
_ZERO = 1e-12  # an eigenvalue below this fraction of the largest possible one is 0
_RESIDUAL = 1e-10  # largest accepted residual, relative to the same bound


@registered(
    "reducer",
    "slle",
    "supervised locally linear embedding (de Ridder et al.)",
    label="SLLE",
    look=("vermilion", "^"),
)
class SupervisedLLE(MappedEmbedding):
    r"""Locally linear embedding that prefers neighbours of the same class.

    Neighbours are chosen by :math:`\Delta'_{ij} = \Delta_{ij} + \alpha \max(\Delta)
    [c_i \ne c_j]`, :math:`\Delta` being the distances; then each sample is written as a weighted
    sum of its neighbours, :math:`\min \|x_i - \sum_j w_{ij} x_j\|^2`, :math:`\sum_j w_{ij} = 1`,
    and embedded by :math:`\min \sum_i \|y_i - \sum_j w_{ij} y_j\|^2` under :math:`\sum_i y_i = 0`,
    :math:`\sum_i y_i y_i^T = n I`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in scikit-learn's LLE.
    n_neighbors : int, default=5
        Number of neighbours of each sample. Default: as in scikit-learn's LLE.
    alpha : float, default=0.1
        Supervision, from 0 (plain LLE) to 1. With 1, a sample has neighbours of another class only
        if its own class has too few samples. Default: our choice.
    reg : float, default=1e-3
        Ridge: this fraction of the trace of each sample's Gram matrix of neighbours is added to the
        diagonal of that matrix. Default: as in scikit-learn's LLE.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(I - W)^T (I - W)`, ascending, without the 0 of the constant vector.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.
    map_ : RegressionMap
        The kernel ridge regression behind `transform`; see `ddr_cli.reducers.regression_map`.

    Notes
    -----
    Use it when the data lie on a curved surface and neighbours of other classes should count less;
    `alpha` sets how much less.

    Avoid `alpha` near 1 for new samples: each class then collapses to a few points, and a
    regression embeds new samples, whose labels are unknown, between these points.

    If no sample has a neighbour of another class, 0 is a repeated eigenvalue, and its dimensions,
    which come first, only separate the classes. They have no preferred axes; here they are the
    principal axes of the input along them, by decreasing variance.

    The eigenvectors are those of a sparse matrix, by the Lanczos iteration on its factorised
    inverse; up to 300 samples, and if the iteration does not converge, the matrix is decomposed
    whole. Each group of samples that no neighbour leads out of adds a 0, whose vector is known.

    For n samples, d features and k neighbours: :math:`O(n^2 d + n k^3)` and a sparse factorisation.
    The regression behind `transform` takes :math:`O(n^3)`.

    References
    ----------
    .. [1] D. de Ridder et al., "Supervised Locally Linear Embedding", ICANN 2003, Eq. 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SupervisedLLE(n_components=2, n_neighbors=12).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 5
    alpha: Annotated[float, Ge(0), Le(1)] = 0.1
    reg: Annotated[float, Gt(0)] = 1e-3

    @one_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> SupervisedLLE:
        given, code = self._points_and_classes(X, y)
        points = np.asarray(given, dtype=np.float64)
        n = len(points)
        self._check_dimensions(n)
        neighbors = supervised_neighbors(points, code, self.n_neighbors, self.alpha)
        weights = _reconstruction(points, neighbors, self.reg)
        rest = sp.csr_array(sp.eye_array(n) - weights)
        known = _null_vectors(rest, closed_groups(neighbors))
        self.eigenvalues_, vectors = _bottom(rest, known, points, self.n_components)
        self._keep(deterministic_signs(vectors) * np.sqrt(n), given)
        return self

    _traits = Traits(
        version=3,
        nested=True,
        grids={
            "alpha": (0.0, 0.05, 0.1, 0.2, 0.5, 1.0),
            "n_neighbors": (4, 5, 8, 12, 16),
            "n_components": (2, 5, 10, 20, 35, 60),
        },
        max_components=one_less_than_points,
    )


def supervised_neighbors(points: Floats, code: Codes, k: int, alpha: float) -> Codes:
    """Return the `k` nearest other samples of each, with raised distances between classes.

    Distances between classes are raised by `alpha` times the largest distance. Ties go to the
    sample with the smaller index.
    """
    nearest = kneighbors(points, k)
    if not alpha:
        return nearest.indices
    # The result consists of some of these neighbours and of the k nearest in a sample's own class.
    shape = (len(points), 2 * k)
    indices, distances = np.zeros(shape, dtype=np.intp), np.full(shape, np.inf)
    indices[:, :k] = nearest.indices
    raised = nearest.distances + alpha * _diameter(points)
    distances[:, :k] = np.where(code[nearest.indices] == code[:, None], np.inf, raised)
    for rows in class_members(code):
        count = min(k, len(rows) - 1)
        if count:
            own = kneighbors(points[rows], count)
            indices[rows, k : k + count] = rows[own.indices]
            distances[rows, k : k + count] = own.distances
    row = np.repeat(np.arange(len(points)), 2 * k)
    order, _ = by_distance(distances.ravel(), indices.ravel(), equal_below(points), row)
    return np.asarray(indices.ravel()[order.reshape(-1, 2 * k)[:, :k]])


def _diameter(points: Floats) -> float:
    """Return the largest distance between two samples."""
    centred = points - points.mean(axis=0)
    square = np.einsum("ij,ij->i", centred, centred)
    doubled, widest = 2 * centred.T, 0.0
    for rows in blocks(len(points), _BLOCK // len(points)):
        squared = square - centred[rows] @ doubled
        widest = max(widest, float((squared.max(axis=1) + square[rows]).max()))
    return math.sqrt(widest)


def _reconstruction(points: Floats, neighbors: Codes, reg: float) -> CsrArray:
    """Return the weights W; row i has the weights that reconstruct sample i from its neighbours."""
    n, k = neighbors.shape
    weights = np.empty((n, k))
    for rows in blocks(n, _BLOCK // (k * (k + points.shape[1]))):
        offsets = points[neighbors[rows]] - points[rows, None]
        gram = offsets @ offsets.transpose(0, 2, 1)
        size = np.trace(gram, axis1=1, axis2=2)
        gram[:, range(k), range(k)] += reg * np.where(size > 0, size, 1.0)[:, None]
        weights[rows] = np.linalg.solve(gram, np.ones((k, 1)))[..., 0]
    weights /= weights.sum(axis=1, keepdims=True)
    return neighbor_matrix(neighbors, weights, n)


def _null_vectors(rest: Any, group: Codes) -> Floats:
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
