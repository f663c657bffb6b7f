"""Supervised locally linear embedding (de Ridder et al., 2003)."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.local_weights import keeping_weights
from ddr_cli.numerics.neighbor_graphs import class_members
from ddr_cli.numerics.neighbors import blocks, by_distance, equal_below, kneighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding

_BLOCK = 2**20  # numbers in memory at once


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
        self.eigenvalues_, vectors = keeping_weights(points, neighbors, self.reg, self.n_components)
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
