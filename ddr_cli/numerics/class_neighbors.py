"""Neighbour graphs that know the classes: near points of one's own class, and of the others.

Every graph is a sparse matrix of ones. A directed one has a row per point
with a one for each of its neighbours; ties go to the nearer, then to the
smaller index, as in `kneighbors`. `symmetrized` makes the undirected graph
that `laplacian_form` takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.numerics.nearest import CsrArray, Points
from ddr_cli.numerics.neighbors import kneighbors

Codes = NDArray[np.intp]


def class_members(code: Codes) -> list[NDArray[np.intp]]:
    """Return the row numbers of each class, ascending, for codes 0, 1, ..., L - 1."""
    order = np.argsort(code, kind="stable")
    return np.split(order, np.cumsum(np.bincount(code))[:-1])


def half_of_class(size: int) -> int:
    """Return the NMMP paper's number of within-class neighbours, n_i / 2 + 2.

    Rounded down, and at most the n_i - 1 that there are.
    """
    return min(size // 2 + 2, size - 1)


def within_class_graph(X: Points, code: Codes, k: int | Literal["half"]) -> CsrArray:
    """Return the directed graph of the `k` nearest points of one's own class.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.
    k : int or "half"
        How many; "half" is `half_of_class` of each class.

    Returns
    -------
    csr_array of shape (n, n)

    Raises
    ------
    ValueError
        If a class has no more than `k` points.
    """
    n = X.shape[0]
    smallest = int(np.bincount(code).min())
    if k != "half" and k >= smallest:
        raise ValueError(
            f"{k} neighbours inside the class are asked for, but the smallest class has "
            f"n_samples = {smallest}: there can be at most {smallest - 1}."
        )
    starts, ends = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for rows in class_members(code):
        wanted = half_of_class(len(rows)) if k == "half" else k
        if wanted:
            found = kneighbors(X[rows], wanted).indices
            starts.append(np.repeat(rows, wanted))
            ends.append(rows[found].ravel())
    return _graph(np.concatenate(starts), np.concatenate(ends), n)


def between_class_graph(X: Points, code: Codes, k: int) -> CsrArray:
    """Return the directed graph of the `k` nearest points of all other classes.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.
    k : int
        How many.

    Returns
    -------
    csr_array of shape (n, n)

    Raises
    ------
    ValueError
        If fewer than `k` points are outside some class.
    """
    n = X.shape[0]
    outside = n - int(np.bincount(code).max())
    if k > outside:
        raise ValueError(
            f"{k} neighbours of other classes are asked for, but the largest class leaves only "
            f"{outside} points of others (n_samples = {n})."
        )
    starts, ends = [], []
    for rows in class_members(code):
        others = np.setdiff1d(np.arange(n), rows)
        found = kneighbors(X[others], k, queries=X[rows]).indices
        starts.append(np.repeat(rows, k))
        ends.append(others[found].ravel())
    return _graph(np.concatenate(starts), np.concatenate(ends), n)


def marginal_pairs(X: Points, code: Codes, k: int) -> CsrArray:
    """Return the graph of each class's `k` closest pairs of a member and an outsider.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.
    k : int
        How many pairs per class; a pair may be among the closest of both of its classes.

    Returns
    -------
    csr_array of shape (n, n)
        Symmetric. Among equally close pairs the one with the smaller indices comes first.

    Raises
    ------
    ValueError
        If a class has fewer than `k` pairs.

    Notes
    -----
    No pair of a point beyond its k nearest outsiders can be among the k closest of its class, so
    these are all that is searched.
    """
    n = X.shape[0]
    firsts, seconds = [], []
    for rows in class_members(code):
        others = np.setdiff1d(np.arange(n), rows)
        if k > len(rows) * len(others):
            raise ValueError(
                f"{k} closest pairs of a class are asked for, but one class has n_samples = "
                f"{len(rows)} and {len(others)} points outside it: {len(rows) * len(others)} pairs."
            )
        found = kneighbors(X[others], min(k, len(others)), queries=X[rows])
        inside = np.repeat(rows, found.k)
        outside = others[found.indices].ravel()
        pair = (np.maximum(inside, outside), np.minimum(inside, outside))
        closest = np.lexsort((*pair, found.distances.ravel()))[:k]
        firsts.append(inside[closest])
        seconds.append(outside[closest])
    return symmetrized(_graph(np.concatenate(firsts), np.concatenate(seconds), n), "union")


def symmetrized(graph: Any, kind: Literal["mutual", "union"]) -> CsrArray:
    """Return the undirected graph of the pairs that are connected both ways, or either way.

    Parameters
    ----------
    graph : sparse of shape (n, n)
        Directed, with non-negative weights.
    kind : {"mutual", "union"}
        Which pairs to keep; the weight is the smaller, or the larger, of the two.

    Returns
    -------
    csr_array of shape (n, n)
    """
    directed = sp.csr_array(graph)
    combine: Mapping[str, Any] = {"mutual": directed.minimum, "union": directed.maximum}
    result = sp.csr_array(combine[kind](directed.T))
    result.eliminate_zeros()
    result.sort_indices()
    return result


def _graph(starts: Codes, ends: Codes, n: int) -> CsrArray:
    graph = sp.csr_array((np.ones(len(starts)), (starts, ends)), shape=(n, n))
    graph.sort_indices()
    return graph
