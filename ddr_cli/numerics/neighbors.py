"""Exact nearest neighbours with a stated tie rule.

Integer-valued data are full of equal distances, and a graph that depends on how a search tree
happens to break them can't be reproduced. Here neighbours are ordered by distance, then by index,
and the distances are exact.

No more than a block of the distance matrix exists at a time. Within it one matrix product gives
every squared distance to within a rounding bound; each point that may be among the k nearest under
that bound has its distance computed again from the coordinate differences.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

CsrArray = sp.csr_array[Any, tuple[int, int]]
Points = NDArray[Any] | CsrArray
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CHUNK = 2**21  # entries of one block of the distance matrix: 16 MiB
_TILE = 2**13  # points whose distances are computed at a time, where there are more
_PAIRS = 2**16  # pairs whose coordinate differences are held at a time


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The K nearest neighbours of each of n points: two (n, K) arrays, nearest first.

    Among equally near ones the smaller index comes first.
    """

    indices: Indices
    distances: Floats

    @property
    def k(self) -> int:
        """How many neighbours each point has."""
        return int(self.indices.shape[1])

    def __len__(self) -> int:
        return int(self.indices.shape[0])

    def first(self, k: int) -> Neighbors:
        """Return the `k` nearest: what a search for `k` would have given."""
        if k > self.k:
            raise ValueError(f"{k} neighbours are asked for, but only {self.k} were searched for.")
        return Neighbors(self.indices[:, :k], self.distances[:, :k])


def kneighbors(X: Points, k: int, *, queries: Points | None = None) -> Neighbors:
    """Return the exact `k` nearest neighbours among the rows of `X`.

    Without `queries` each row of `X` is asked for and is never its own neighbour, not even among
    exact duplicates (those are neighbours of one another, at distance 0).

    Raises
    ------
    ValueError
        If there are fewer than `k` (other) points, or a squared distance overflows.

    Examples
    --------
    >>> kneighbors(np.array([[0.0], [1.0], [2.0], [1.0]]), 2).indices.tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    search = _Search(X, k, queries)
    indices = np.empty((search.count, k), dtype=np.intp)
    distances = np.empty((search.count, k))
    width = search.tile_width(k)
    for rows in _blocks(search.count, max(1, _CHUNK // width)):
        row, column = _candidates(search, rows, width, k)
        exact = search.squared_distances(row + rows.start, column)
        order = np.lexsort((column, exact, row))
        first = np.searchsorted(row[order], np.arange(rows.stop - rows.start))
        best = order[first[:, None] + np.arange(k)]
        indices[rows] = column[best]
        distances[rows] = np.sqrt(exact[best])
    indices.flags.writeable = False  # shared between fits
    distances.flags.writeable = False
    return Neighbors(indices, distances)


def nearest_members(X: Points, k: int, *, queries: Points | None = None) -> Indices:
    """Return which `k` rows of `X` are nearest, as `kneighbors` does, but by ascending index.

    Only distances that rounding leaves undecided are computed again and ordered, so that a large
    `k`, such as half of the points, costs little more than the matrix product.
    """
    search = _Search(X, k, queries)
    members = np.empty((search.count, k), dtype=np.intp)
    for rows in _blocks(search.count, max(1, _CHUNK // X.shape[0])):
        gap, slack = search.gaps(rows, slice(0, X.shape[0]))
        kth = np.partition(gap, k - 1, axis=1)[:, k - 1]
        chosen = gap < (kth - slack)[:, None]
        lacking = k - np.count_nonzero(chosen, axis=1)
        close = (gap <= (kth + slack)[:, None]) & ~chosen
        row, column = np.divmod(np.flatnonzero(close), gap.shape[1])
        undecided = (np.bincount(row, minlength=len(gap)) > lacking)[row]
        chosen[row[~undecided], column[~undecided]] = True
        row, column = row[undecided], column[undecided]
        order = np.lexsort((column, search.squared_distances(row + rows.start, column), row))
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        nearer = order[rank < lacking[row]]
        chosen[row[nearer], column[nearer]] = True
        members[rows] = np.flatnonzero(chosen).reshape(-1, k) % gap.shape[1]
    return members


class _Search:
    """What there is to search, and how far each query is from every point, to within rounding."""

    def __init__(self, X: Points, k: int, queries: Points | None) -> None:
        if k < 1:
            raise ValueError(f"The number of neighbours must be at least 1, not {k}.")
        most = X.shape[0] - (queries is None)
        if k > most:
            raise ValueError(
                f"{k} nearest neighbours are asked for, but n_samples = {X.shape[0]}: "
                f"there can be at most {most}."
            )
        self._base = _as_float(X, sparse=_is_sparse(X))
        self._own = queries is None
        self._asked = self._base if queries is None else _as_float(queries, sparse=_is_sparse(X))
        self._centre = np.zeros(X.shape[1]) if _is_sparse(self._base) else self._base.mean(axis=0)
        self._table, self._square = _product_table(self._base, self._centre)
        if not np.isfinite(self._square).all():
            raise ValueError("The squared distances overflow; rescale the data.")

    @property
    def count(self) -> int:
        return int(self._asked.shape[0])

    @property
    def points(self) -> int:
        return int(self._base.shape[0])

    def tile_width(self, k: int) -> int:
        """Return of how many points at a time to compute the distances."""
        n = int(self._base.shape[0])
        # With few queries to a block most of the time would go into reading the points.
        return n if _is_sparse(self._base) else min(n, max(_TILE, 16 * k))

    def gaps(self, rows: slice, points: slice) -> tuple[Floats, Floats]:
        """Return ``|q - x|^2 - |q|^2`` for queries and points, and the bound on its rounding.

        Two that differ by more than the bound, each row's own, are in their true order.
        """
        n, d = self._base.shape
        table = self._table if points == slice(0, n) else self._table[:, points]
        gap, own_square = _gaps(self._asked[rows], self._centre, table)
        if self._own:
            both = np.arange(max(rows.start, points.start), min(rows.stop, points.stop))
            gap[both - rows.start, both - points.start] = np.inf
        # Of the product, of the centring and of the distance itself, with room to spare.
        scale = own_square + self._square.max()
        return gap, 8 * (d + 8) * np.finfo(float).eps * scale

    def squared_distances(self, queries: Indices, points: Indices) -> Floats:
        """Return exact squared distances, pair by pair."""
        return _squared_distances(self._asked, queries, self._base, points)


def _candidates(search: _Search, rows: slice, width: int, k: int) -> tuple[Indices, Indices]:
    """Return pairs of queries, numbered from 0, and points: all that may be the `k` nearest."""
    least = np.full((rows.stop - rows.start, k), np.inf)
    found = []
    for points in _blocks(search.points, width):
        gap, slack = search.gaps(rows, points)
        least = _least_of_groups(least, gap)
        flat = np.flatnonzero(gap <= (least[:, -1] + slack)[:, None])
        row, column = np.divmod(flat, gap.shape[1])
        found.append((row, column + points.start, gap.ravel()[flat]))
    row, column, gaps = (np.concatenate(part) for part in zip(*found, strict=True))
    near = gaps <= (least[:, -1] + slack)[row]
    return row[near], column[near]


def _is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


def _as_float(X: Any, *, sparse: bool) -> Any:
    if not sparse:
        return np.ascontiguousarray(X.toarray() if _is_sparse(X) else X, dtype=np.float64)
    rows: Any = sp.csr_array(X).astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def _blocks(n: int, size: int) -> Iterator[slice]:
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _squares(X: Any) -> Floats:
    if _is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _product_table(base: Any, centre: Floats) -> tuple[Any, Floats]:
    """Return T and |x|^2 such that (q, 1) T = |x|^2 - 2 q.x, all in one matrix product."""
    if _is_sparse(base):
        square = _squares(base)
        return sp.vstack([-2 * base.T, sp.csr_array(square[None])]).tocsr(), square
    shifted = base - centre
    square = _squares(shifted)
    return np.vstack([-2 * shifted.T, square]), square


def _gaps(asked: Any, centre: Floats, table: Any) -> tuple[Floats, Floats]:
    """Return |q - x|^2 - |q|^2 for every query and point, and |q|^2."""
    ones = np.ones((asked.shape[0], 1))
    if _is_sparse(asked):
        return (sp.hstack([asked, sp.csr_array(ones)]).tocsr() @ table).toarray(), _squares(asked)
    shifted = asked - centre
    return np.hstack([shifted, ones]) @ table, _squares(shifted)


def _least_of_groups(least: Floats, gap: Floats) -> Floats:
    """Return the k least of k numbers and of the minima of groups of columns, the largest last.

    It is an upper bound on each row's k-th smallest entry so far, and takes a third of the time of
    partitioning whole rows.
    """
    (rows, n), k = gap.shape, least.shape[1]
    width = max(1, n // (8 * k))
    groups = n // width
    minima = gap[:, : groups * width].reshape(rows, groups, width).min(axis=2)
    return np.partition(np.hstack([least, minima]), k - 1, axis=1)[:, :k]


def _squared_distances(A: Any, rows: Indices, B: Any, columns: Indices) -> Floats:
    """Return |A[rows] - B[columns]|^2 from the differences, pair by pair."""
    result = np.empty(len(rows))
    for part in _blocks(len(rows), _PAIRS):
        result[part] = _squares(A[rows[part]] - B[columns[part]])
    return result
