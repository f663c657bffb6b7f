"""The weighted neighbour graph of points, with the usual choices of its weights."""

from __future__ import annotations

from typing import Literal

from ddr_cli.numerics.nearest import Points
from ddr_cli.numerics.neighbors import (
    CsrArray,
    Neighbors,
    kneighbors,
    knn_graph,
    mean_squared_distance,
)


def neighbor_affinity(
    X: Points,
    k: int,
    *,
    weights: Literal["binary", "heat"] = "heat",
    epsilon: Literal["mean"] | float = "mean",
    neighbors: Neighbors | None = None,
) -> CsrArray:
    r"""Return the symmetric weights of the pairs in which either is among the other's `k` nearest.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points.
    k : int
        Number of neighbours.
    weights : {"binary", "heat"}
        1, or :math:`\exp(-\|x_i - x_j\|^2 / \epsilon)`.
    epsilon : "mean" or float
        Width of the heat kernel in squared units of the data; "mean" is the mean squared distance
        to the `k` nearest.
    neighbors : Neighbors, optional
        Of the points among themselves, at least `k` of each; spares the search.

    Returns
    -------
    csr_array of shape (n, n)
        With an empty diagonal.

    Raises
    ------
    ValueError
        If there are no more than `k` points, or `neighbors` is of other points.
    """
    if neighbors is None:
        neighbors = kneighbors(X, k)
    if len(neighbors) != X.shape[0]:
        raise ValueError(
            f"neighbors are given for {len(neighbors)} points, but X has {X.shape[0]}."
        )
    width = mean_squared_distance(neighbors, k) if epsilon == "mean" else float(epsilon)
    return knn_graph(neighbors, k, weights=weights, epsilon=width)
