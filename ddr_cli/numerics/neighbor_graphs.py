r"""Graphs of points: nearest neighbours, within and between classes, and bridges of components.

A directed graph has a row per point with an entry for each of its neighbours; ties are broken as in
`kneighbors`. Functions that return an undirected
graph say so.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from ddr_cli.numerics.approximate import Search, search_neighbors
from ddr_cli.numerics.neighbors import (
    CsrArray,
    Floats,
    Indices,
    Neighbors,
    Points,
    by_distance,
    equal_below,
    kneighbors,
    nearest_members,
)

Codes = NDArray[np.intp]
Weights = Literal["binary", "heat"]


def knn_affinity(
    neighbors: Neighbors,
    k: int,
    n_points: int,
    *,
    weights: Weights = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    r"""Return the kernel of q queries and `n_points` points, non-zero for a query's `k` nearest.

    It is 1 or :math:`\exp(-d^2 / \epsilon)`; with :math:`\epsilon = 0` only duplicates are
    connected, with weight 1. Weights that underflow to 0 are no edges and are left out.
    """
    nearest = neighbors.first(k)
    squared = nearest.distances**2
    if weights == "binary":
        values = np.ones_like(squared)
    elif epsilon == 0:
        values = (squared == 0).astype(float)
    else:
        values = np.exp(-squared / epsilon)
    affinity = neighbor_matrix(nearest.indices, values, n_points)
    affinity.eliminate_zeros()
    affinity.sort_indices()
    return affinity


def neighbor_matrix(indices: Indices, values: Floats, n_points: int) -> CsrArray:
    """Return the matrix with a value for each neighbour of each row, and `n_points` columns."""
    ends = np.arange(0, indices.size + 1, indices.shape[1])
    shape = (len(indices), n_points)
    return sp.csr_array((values.ravel(), indices.flatten(), ends), shape=shape)


def knn_kernel(
    neighbors: Neighbors,
    k: int,
    n_points: int,
    *,
    weights: Weights = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    """Return `knn_affinity` for new points, none of whose rows is empty.

    If a point is so far away that all its weights underflow, its nearest neighbour keeps an
    infinitesimal weight: averages under the kernel then take their limit.
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
    weights: Weights = "binary",
    epsilon: float = 1.0,
) -> CsrArray:
    """Return the symmetric graph that joins points if either is among the other's `k` nearest."""
    graph = knn_affinity(neighbors, k, len(neighbors), weights=weights, epsilon=epsilon)
    return symmetrized(graph, "union")


def known_neighbors(
    X: Points, k: int, neighbors: Neighbors | None, *, queries: Points | None = None
) -> Neighbors:
    """Return the known neighbours, if they belong to these points; otherwise search."""
    if neighbors is None:
        return kneighbors(X, k, queries=queries)
    asked = X if queries is None else queries
    if len(neighbors) != asked.shape[0]:
        raise ValueError(f"neighbors covers {len(neighbors)} samples, but X has {asked.shape[0]}.")
    return neighbors


def neighbor_affinity(
    X: Points,
    k: int,
    *,
    weights: Weights = "heat",
    epsilon: Literal["mean"] | float = "mean",
    neighbors: Neighbors | None = None,
    search: Search = "exact",
) -> tuple[CsrArray, float, float]:
    """Return `knn_graph` of the points, its bandwidth, and the recall of the search.

    The bandwidth for "mean" is the `mean_squared_distance`. Known neighbours, at least `k` of each
    point, save the search.
    """
    recall = 1.0
    if neighbors is None and search != "exact":
        neighbors, recall = search_neighbors(X, k, search)
    neighbors = known_neighbors(X, k, neighbors)
    width = mean_squared_distance(neighbors, k) if epsilon == "mean" else float(epsilon)
    return knn_graph(neighbors, k, weights=weights, epsilon=width), width, recall


def mean_squared_distance(neighbors: Neighbors, k: int) -> float:
    """Return the mean of the squared distances from the points to their `k` nearest."""
    return float(np.mean(neighbors.first(k).distances ** 2))


def symmetrized(graph: Any, kind: Literal["mutual", "union"]) -> CsrArray:
    """Return the undirected graph of the pairs that are connected both ways, or either way.

    The weight, which is not negative, is the smaller, or the larger, of the two.
    """
    directed = sp.csr_array(graph)
    combine = directed.maximum if kind == "union" else directed.minimum
    result = sp.csr_array(combine(directed.T))
    result.eliminate_zeros()
    result.sort_indices()
    return result


def class_members(code: Codes) -> list[Indices]:
    """Return the row numbers of each class, ascending, for codes 0, 1, ..., L - 1."""
    order = np.argsort(code, kind="stable")
    return np.split(order, np.cumsum(np.bincount(code))[:-1])


def half_of_class(size: int) -> int:
    """Return the NMMP paper's number of within-class neighbours, n_i / 2 + 2.

    It is rounded down, and at most n_i - 1, the number of other samples.
    """
    return min(size // 2 + 2, size - 1)


def warn_of_few(parameter: str, k: int, most: int, where: str) -> None:
    """Warn if the parameter requests more neighbours, `k`, than there are."""
    if k > most:
        warnings.warn(
            f"{parameter}={k}, but there are only {most} {where}; all of them are used.",
            stacklevel=3,
        )


def class_graphs(
    X: Points, code: Codes, k: int | Literal["half"]
) -> Iterator[tuple[Indices, CsrArray]]:
    """Yield the rows of each class, and the directed graph of their `k` nearest in the class.

    For "half", k is `half_of_class`. In a class with fewer points, all others are neighbours, with
    a warning.
    """
    if k != "half":
        most = int(np.bincount(code).min()) - 1
        warn_of_few("n_neighbors_within", k, most, "other samples in the smallest class")
    for rows in class_members(code):
        n = len(rows)
        count = half_of_class(n) if k == "half" else min(k, n - 1)
        yield rows, _members_graph(X[rows], count)


def _members_graph(X: Points, k: int) -> CsrArray:
    """Return the directed graph of the `k` nearest, in little memory, as k may be half a class."""
    n = X.shape[0]
    index = sp.get_index_dtype(maxval=n * k)
    nearest = nearest_members(X, k).astype(index) if k else np.empty((n, 0), dtype=index)
    ends = k * np.arange(n + 1, dtype=index)
    weights = np.ones(nearest.size, dtype=np.int8)
    return sp.csr_array((weights, nearest.ravel(), ends), shape=(n, n))


def within_class_graph(X: Points, code: Codes, k: int | Literal["half"]) -> CsrArray:
    """Return the union of the directed graphs that `class_graphs` yields."""
    starts, ends = [], []
    for rows, graph in class_graphs(X, code, k):
        start, end = graph.nonzero()
        starts.append(rows[start])
        ends.append(rows[end])
    return _graph(np.concatenate(starts), np.concatenate(ends), X.shape[0])


def between_class_graph(X: Points, code: Codes, k: int) -> CsrArray:
    """Return the directed graph of the `k` nearest points of all other classes.

    If there are fewer, all of them are neighbours, with a warning.
    """
    n = X.shape[0]
    outside = n - int(np.bincount(code).max())
    warn_of_few("n_neighbors_between", k, outside, "samples outside the largest class")
    starts, ends = [], []
    for rows in class_members(code):
        others = np.setdiff1d(np.arange(n), rows)
        count = min(k, len(others))
        nearest = kneighbors(X[others], count, queries=X[rows]).indices
        starts.append(np.repeat(rows, count))
        ends.append(others[nearest].ravel())
    return _graph(np.concatenate(starts), np.concatenate(ends), n)


def marginal_pairs(X: Points, code: Codes, k: int) -> CsrArray:
    """Return the symmetric graph of each class's `k` closest pairs with points of other classes.

    A pair may be among the closest of both of its classes; ties go to the pair with the smaller
    indices. The closest pairs of k members are k pairs, so none of the k closest of the class is
    longer, and none of them has a member all of whose pairs are longer.
    """
    n, equal = X.shape[0], equal_below(X)
    firsts, seconds = [], []
    for rows in class_members(code):
        others = np.setdiff1d(np.arange(n), rows)
        pairs = len(rows) * len(others)
        if k > pairs:
            warnings.warn(
                f"n_neighbors_between={k}, but one class has only {pairs} pairs with samples of "
                "other classes; all of them are used.",
                stacklevel=2,
            )
        if k < len(rows):
            shortest = kneighbors(X[others], 1, queries=X[rows]).distances[:, 0]
            order, group = by_distance(shortest, rows, equal)
            rows = rows[order[group <= group[k - 1]]]
        nearest = kneighbors(X[others], min(k, len(others)), queries=X[rows])
        inside = np.repeat(rows, nearest.k)
        outside = others[nearest.indices].ravel()
        pair = np.minimum(inside, outside) * n + np.maximum(inside, outside)
        closest = by_distance(nearest.distances.ravel(), pair, equal)[0][:k]
        firsts.append(inside[closest])
        seconds.append(outside[closest])
    return symmetrized(_graph(np.concatenate(firsts), np.concatenate(seconds), n), "union")


def _graph(starts: Indices, ends: Indices, n: int) -> CsrArray:
    graph = sp.csr_array((np.ones(len(starts)), (starts, ends)), shape=(n, n))
    graph.sort_indices()
    return graph


def closed_groups(neighbors: Indices) -> Indices:
    """Return the number of each sample's closed group, -1 for samples in none.

    A closed group is a set of mutually reachable samples from which no neighbour leads out. Each
    adds a dimension to the null space of ``I - W``, for any weights.
    """
    n, k = neighbors.shape
    graph = neighbor_matrix(neighbors, np.ones((n, k)), n)
    n_parts, part = connected_components(graph, directed=True, connection="strong")
    heads, tails = np.repeat(part, k), part[neighbors.ravel()]
    number = np.zeros(n_parts, dtype=np.intp)
    number[heads[heads != tails]] = -1
    number[number == 0] = np.arange(np.count_nonzero(number == 0))
    return np.asarray(number[part])


def shortest_bridges(points: Points, component: Indices) -> tuple[Indices, Indices]:
    """Return the pairs of points that connect all components with the least total length.

    The distance of two components is that of their closest pair (`closest_pairs`); the bridges are
    the minimum spanning tree of these distances. No two points of different components are equal.
    """
    gaps, head, tail = closest_pairs(points, component)
    pair = np.triu_indices(len(gaps), 1)
    order, _ = by_distance(gaps[pair], np.arange(len(pair[0])), equal_below(points))
    gaps[pair[0][order], pair[1][order]] = 1.0 + np.arange(len(order))
    tree = sp.coo_array(minimum_spanning_tree(sp.csr_array(gaps)))
    return head[tree.row, tree.col], tail[tree.row, tree.col]


def closest_pairs(points: Points, component: Indices) -> tuple[Floats, Indices, Indices]:
    """Return the distance of every two components, numbered from 0, and their nearest points.

    Ties go to the first pair. Only the upper halves of the three matrices are filled.
    """
    count, equal = int(component.max()) + 1, equal_below(points)
    order = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[order], np.arange(count))
    gaps = np.zeros((count, count))
    head = np.zeros((count, count), dtype=np.intp)
    tail = np.zeros((count, count), dtype=np.intp)
    for a in range(count - 1):
        members = np.flatnonzero(component == a)
        nearest = kneighbors(points[members], 1, queries=points)
        closest, shortest = nearest.indices[:, 0], nearest.distances[:, 0]
        for b in range(a + 1, count):
            others = order[starts[b] : starts[b + 1] if b + 1 < count else None]
            best = others[by_distance(shortest[others], others, equal)[0][0]]
            gaps[a, b] = shortest[best]
            head[a, b], tail[a, b] = members[closest[best]], best
    return gaps, head, tail
