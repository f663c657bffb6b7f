"""Nearest neighbours with a stated tie rule, and the graphs made of them.

Integer-valued data are full of equal distances, and a graph that depends on
how a search tree happens to break them can't be reproduced. Here neighbours
are ordered by distance, then by index, and the distances are exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.numerics.nearest import CsrArray, Points, nearest

__all__ = [
    "CsrArray",
    "Neighbors",
    "kneighbors",
    "knn_affinity",
    "knn_graph",
    "knn_kernel",
    "mean_squared_distance",
]


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The K nearest neighbours of each of n points.

    Parameters
    ----------
    indices : ndarray of shape (n, K)
        Neighbours, nearest first; among equally near ones the smaller index first.
    distances : ndarray of shape (n, K)
        Their Euclidean distances, ascending.
    """

    indices: NDArray[np.intp]
    distances: NDArray[np.float64]

    @property
    def k(self) -> int:
        """How many neighbours each point has."""
        return int(self.indices.shape[1])

    def __len__(self) -> int:
        return int(self.indices.shape[0])

    def first(self, k: int) -> Neighbors:
        """Return the `k` nearest: what a search for `k` would have given.

        Raises
        ------
        ValueError
            If fewer than `k` neighbours are known.
        """
        if k > self.k:
            raise ValueError(f"{k} neighbours are asked for, but only {self.k} were searched for.")
        return Neighbors(self.indices[:, :k], self.distances[:, :k])


def kneighbors(X: Points, k: int, *, queries: Points | None = None) -> Neighbors:
    """Return the exact `k` nearest neighbours among the rows of `X`.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points among which to search.
    k : int
        Number of neighbours.
    queries : array or sparse of shape (q, d), optional
        The points whose neighbours are wanted. Without it each row of `X` is asked for and is
        never its own neighbour, not even among exact duplicates (those are neighbours of one
        another, at distance 0).

    Returns
    -------
    Neighbors
        Of n (or q) points.

    Raises
    ------
    ValueError
        If there are fewer than `k` (other) points, or a squared distance overflows.

    Examples
    --------
    >>> kneighbors(np.array([[0.0], [1.0], [2.0], [1.0]]), 2).indices.tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    if k < 1:
        raise ValueError(f"The number of neighbours must be at least 1, not {k}.")
    most = X.shape[0] - (queries is None)
    if k > most:
        raise ValueError(
            f"{k} nearest neighbours are asked for, but n_samples = {X.shape[0]}: "
            f"there can be at most {most}."
        )
    indices, distances = nearest(X, k, queries)
    indices.flags.writeable = False  # shared between fits
    distances.flags.writeable = False
    return Neighbors(indices, distances)


def knn_affinity(
    neighbors: Neighbors,
    k: int,
    n_points: int,
    *,
    weights: Literal["binary", "heat"] = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    r"""Return the kernel :math:`K(x_i, x_j)`, non-zero where x_j is among the k nearest of x_i.

    Parameters
    ----------
    neighbors : Neighbors
        Of q points among `n_points`.
    k : int
        How many of the neighbours to use.
    n_points : int
        Number of points that were searched.
    weights : {"binary", "heat"}
        1, or :math:`\exp(-d^2 / \epsilon)`.
    epsilon : float
        Width of the heat kernel, in squared units of the data. With 0 only duplicates are
        connected, with weight 1.

    Returns
    -------
    csr_array of shape (q, n_points)
        Weights that underflow to 0 are no edges and are left out.
    """
    nearest_k = neighbors.first(k)
    squared = nearest_k.distances**2
    if weights == "binary":
        values = np.ones_like(squared)
    elif epsilon == 0:
        values = (squared == 0).astype(float)
    else:
        values = np.exp(-squared / epsilon)
    ends = np.arange(0, values.size + 1, k)
    affinity = sp.csr_array(
        (values.ravel(), nearest_k.indices.flatten(), ends), shape=(len(neighbors), n_points)
    )
    affinity.eliminate_zeros()
    affinity.sort_indices()
    return affinity


def knn_kernel(
    neighbors: Neighbors,
    k: int,
    n_points: int,
    *,
    weights: Literal["binary", "heat"] = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    """Return `knn_affinity` for new points, none of whose rows is empty.

    A point so far away that all its heat underflows keeps an infinitesimal weight on its nearest
    neighbour: averages under the kernel then take their limit.

    Parameters
    ----------
    neighbors, k, n_points, weights, epsilon
        As for `knn_affinity`.

    Returns
    -------
    csr_array of shape (q, n_points)
    """
    kernel = knn_affinity(neighbors, k, n_points, weights=weights, epsilon=epsilon)
    tiny = float(np.finfo(float).tiny)
    lost = np.asarray(kernel.sum(axis=1)).ravel() < tiny
    if not lost.any():
        return kernel
    closest = knn_affinity(neighbors, 1, n_points) * tiny
    keep, replace = sp.diags_array(1.0 * ~lost), sp.diags_array(1.0 * lost)
    return sp.csr_array(keep @ kernel + replace @ closest)


def knn_graph(
    neighbors: Neighbors,
    k: int,
    *,
    kind: Literal["union", "mutual"] = "union",
    weights: Literal["binary", "heat"] = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    """Return the symmetric graph of the `k` nearest neighbours of n points.

    Parameters
    ----------
    neighbors : Neighbors
        Of the n points among themselves.
    k : int
        How many of the neighbours to use.
    kind : {"union", "mutual"}
        Two points are connected if either, or if each, is among the other's `k` nearest.
    weights, epsilon
        As for `knn_affinity`.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric, with an empty diagonal.
    """
    directed = knn_affinity(neighbors, k, len(neighbors), weights=weights, epsilon=epsilon)
    combine = directed.maximum if kind == "union" else directed.minimum
    graph = sp.csr_array(combine(directed.T))
    graph.eliminate_zeros()
    graph.sort_indices()
    return graph


def mean_squared_distance(neighbors: Neighbors, k: int) -> float:
    """Return the mean of the squared distances from the points to their `k` nearest."""
    return float(np.mean(neighbors.first(k).distances ** 2))
