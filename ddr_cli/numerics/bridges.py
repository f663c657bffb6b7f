"""Shortest bridges between the connected components of a graph of points."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from ddr_cli.numerics.nearest import Points, nearest

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


def shortest_bridges(points: Points, part: Indices) -> tuple[Indices, Indices]:
    """Return the pairs of points that connect all components at the least total length.

    Each two components are at the distance of their nearest points; the bridges are the minimum
    spanning tree of these distances, one fewer than there are components.

    Parameters
    ----------
    points : array or sparse of shape (n, d)
        No two of different components equal.
    part : ndarray of shape (n,)
        The component of each point, from 0.

    Returns
    -------
    heads, tails : ndarray of shape (n_parts - 1,)
        The two ends of each bridge. Of equally near pairs the first in the order of the points.
    """
    n_parts = int(part.max()) + 1
    order = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[order], np.arange(n_parts))
    gaps = np.zeros((n_parts, n_parts))
    head = np.zeros((n_parts, n_parts), dtype=np.intp)
    tail = np.zeros((n_parts, n_parts), dtype=np.intp)
    for a in range(n_parts - 1):
        members = np.flatnonzero(part == a)
        closest, shortest = _nearest_member(points, members)
        for b in range(a + 1, n_parts):
            others = order[starts[b] : starts[b + 1] if b + 1 < n_parts else None]
            best = others[int(shortest[others].argmin())]
            gaps[a, b] = shortest[best]
            head[a, b], tail[a, b] = members[closest[best]], best
    tree = sp.coo_array(minimum_spanning_tree(sp.csr_array(gaps)))
    return head[tree.row, tree.col], tail[tree.row, tree.col]


def _nearest_member(points: Points, members: Indices) -> tuple[Indices, Floats]:
    """Return for each point which of the members is nearest, and how far it is."""
    if not isinstance(points, np.ndarray):
        indices, lengths = nearest(points[members], 1, points)
        return indices[:, 0], lengths[:, 0]
    distances = cdist(points[members], points)
    first = distances.argmin(axis=0)
    return first, distances[first, np.arange(len(first))]
