"""Exact nearest neighbours with a defined rule for ties.

Integer-valued data have many equal distances, and a graph that depends on how a search tree happens
to break ties can't be reproduced. Here neighbours are sorted by distance, then by index, and the
distances are exact.

Only one block of the distance matrix exists at a time, always in the same memory. Within a block,
one matrix product gives every squared distance to within a rounding bound (in single precision, if
this distinguishes most points); for each point that may be among the k nearest under that bound,
the distance is computed again from the coordinate differences.
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

# The matrix product takes two thirds of a search, so other block shapes do not make it faster.
_CHUNK = 2**21  # entries of one block of the distance matrix: 8 MiB, or 16 in double precision
_TILE = 2**13  # points whose distances are computed at once; more for a large k
_GROUPS = 2**7  # groups of points in `_kth_of_groups`; more for a large k
_FEATURES = 2**8  # with more features, the rounding bound of single precision decides too few pairs
_PAIRS = 2**16  # pairs whose coordinate differences are in memory at once


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The K nearest neighbours of each of n points: two (n, K) arrays, nearest first.

    Ties are in the order of the index.
    """

    indices: Indices
    distances: Floats

    @property
    def k(self) -> int:
        """The number of neighbours per point."""
        return int(self.indices.shape[1])

    def __len__(self) -> int:
        return int(self.indices.shape[0])

    def first(self, k: int) -> Neighbors:
        """Return the `k` nearest: the result that a search for `k` would give."""
        if k > self.k:
            raise ValueError(f"n_neighbors={k}, but only {self.k} neighbors per sample are given.")
        return Neighbors(self.indices[:, :k], self.distances[:, :k])


def kneighbors(X: Points, k: int, *, queries: Points | None = None) -> Neighbors:
    """Return the exact `k` nearest neighbours among the rows of `X`.

    Without `queries`, the rows of `X` are the queries, and no row is its own neighbour, not even
    among exact duplicates (which are neighbours of one another, at distance 0).

    Raises
    ------
    ValueError
        If there are fewer than `k` (other) points, or a squared distance overflows.

    Examples
    --------
    >>> kneighbors(np.array([[0.0], [1.0], [2.0], [1.0]]), 2).indices.tolist()
    [[1, 3], [3, 0], [1, 3], [1, 0]]
    """
    search = _Search(X, k, queries, single=True)
    indices = np.empty((search.count, k), dtype=np.intp)
    distances = np.empty((search.count, k))
    width = search.tile_width(k)
    for rows in blocks(search.count, _CHUNK // width):
        row, column = _candidates(search, rows, width, k)
        indices[rows], distances[rows] = search.nearest(rows, row, column, k)
    indices.flags.writeable = False  # shared between fits
    distances.flags.writeable = False
    return Neighbors(indices, distances)


def nearest_members(X: Points, k: int) -> Indices:
    """Return which `k` rows of `X` are nearest, as `kneighbors` does, but by ascending index.

    Only distances that rounding leaves undecided are computed again and sorted, so a large `k`,
    such as half of the points, costs little more than the matrix product.
    """
    search = _Search(X, k, None, single=False)
    members = np.empty((search.count, k), dtype=np.intp)
    for rows in blocks(search.count, _CHUNK // X.shape[0]):
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


def nearest_among(X: Points, rows: Indices, candidates: Indices, k: int) -> Neighbors:
    """Return the `k` nearest of each row's own candidates, in the order of `kneighbors`.

    A row of X is never its own neighbour; -1 marks no candidate, and missing neighbours are
    infinitely far.
    """
    X = _as_float(X, sparse=is_sparse(X))
    pairs = np.repeat(rows, candidates.shape[1]), candidates.ravel()
    exact = _squared_distances(X, pairs[0], X, pairs[1]).reshape(candidates.shape)
    exact[(candidates < 0) | (candidates == rows[:, None])] = np.inf
    best = np.lexsort((candidates, exact), axis=1)[:, :k]
    return Neighbors(
        np.take_along_axis(candidates, best, axis=1),
        np.sqrt(np.take_along_axis(exact, best, axis=1)),
    )


class _Search:
    """The data of a search, and the distances of queries and points, to within rounding."""

    def __init__(self, X: Points, k: int, queries: Points | None, *, single: bool) -> None:
        if k < 1:
            raise ValueError(f"n_neighbors={k} must be at least 1.")
        most = X.shape[0] - (queries is None)
        if k > most:
            raise ValueError(f"n_neighbors={k} must be at most {most} (n_samples = {X.shape[0]}).")
        self._base = _as_float(X, sparse=is_sparse(X))
        self._own = queries is None
        self._asked = self._base if queries is None else _as_float(queries, sparse=is_sparse(X))
        self._is_sparse = is_sparse(self._base)
        self._centre = np.zeros(X.shape[1]) if self._is_sparse else self._base.mean(axis=0)
        self._largest = _largest_square(self._base, self._centre)
        if not np.isfinite(self._largest):
            raise ValueError("The squared distances overflow; rescale the data.")
        self._set_precision(single=single and not self._is_sparse and X.shape[1] <= _FEATURES)

    def _set_precision(self, *, single: bool) -> None:
        self.single = single
        self._type: type[np.floating[Any]] = np.float32 if single else np.float64
        # A power of two, so that scaling is exact: no product overflows, and none that matters
        # underflows.
        self._unit = (
            2.0 ** -np.ceil(np.log2(self._largest) / 2) if single and self._largest else 1.0
        )
        self._memory = np.empty(0, self._type)
        self._table = self._product_table()

    @property
    def count(self) -> int:
        return int(self._asked.shape[0])

    @property
    def points(self) -> int:
        return int(self._base.shape[0])

    def tile_width(self, k: int) -> int:
        """Return the number of points in a block of the distance matrix."""
        # In wider blocks of fewer queries, most of the time would be spent reading the points.
        return self.points if self._is_sparse else min(self.points, max(_TILE, 16 * k))

    def use_double(self) -> None:
        """Compute the gaps in double precision from now on."""
        self._set_precision(single=False)

    def gaps(self, rows: slice, points: slice) -> tuple[Any, Any]:
        """Return ``|q - x|^2 - |q|^2`` for queries and points, and the bound on its rounding.

        Two values that differ by more than the bound of their row are in the correct order. The
        unit is internal to the search, and the next call overwrites the same memory.
        """
        if self._is_sparse:
            own_square = _squares(self._asked[rows])
            ones = np.ones((len(own_square), 1))
            queries: Any = sp.hstack([self._asked[rows], sp.csr_array(ones)]).tocsr()
            table = self._table if points == slice(0, self.points) else self._table[:, points]
            gap = (queries @ table).toarray()
        else:
            queries = self._unit * (self._asked[rows] - self._centre)
            own_square = _squares(queries)
            queries = np.column_stack([queries, np.ones(len(queries))]).astype(self._type)
            gap = np.matmul(queries, self._table[points].T, out=self._block(rows, points))
        if self._own:
            both = np.arange(max(rows.start, points.start), min(rows.stop, points.stop))
            gap[both - rows.start, both - points.start] = np.inf
        # The bound covers the rounding of the product, the centring and the distance, with a
        # margin.
        scale = own_square + self._unit**2 * self._largest
        slack = 8 * (self._base.shape[1] + 8) * np.finfo(self._type).eps * scale
        return gap, slack.astype(self._type)

    def _block(self, rows: slice, points: slice) -> Any:
        """Return memory for a block of gaps; new memory would cost more than the matrix product."""
        shape = rows.stop - rows.start, points.stop - points.start
        if self._memory.size < shape[0] * shape[1]:
            self._memory = np.empty(shape[0] * shape[1], self._type)
        return self._memory[: shape[0] * shape[1]].reshape(shape)

    def _product_table(self) -> Any:
        """Return T such that ``T (q, 1) = |x|^2 - 2 q.x``, all in one matrix product."""
        n, d = self._base.shape
        if self._is_sparse:
            square = sp.csr_array(_squares(self._base)[None])
            return sp.vstack([-2 * self._base.T, square]).tocsr()
        table = np.empty((n, d + 1), self._type)
        for part in blocks(n, _TILE):
            shifted = self._unit * (self._base[part] - self._centre)
            table[part, :d] = -2 * shifted
            table[part, d] = _squares(shifted)
        return table

    def squared_distances(self, queries: Indices, points: Indices) -> Floats:
        """Return exact squared distances, pair by pair."""
        return _squared_distances(self._asked, queries, self._base, points)

    def nearest(self, rows: slice, row: Indices, column: Indices, k: int) -> tuple[Any, Any]:
        """Return the `k` nearest of at least `k` candidates of each query, and their distances.

        The candidates are pairs of a query, numbered from 0 within `rows`, and a point.
        """
        exact = self.squared_distances(row + rows.start, column)
        order = np.lexsort((column, exact, row))
        first = np.searchsorted(row[order], np.arange(rows.stop - rows.start))
        best = order[first[:, None] + np.arange(k)]
        return column[best], np.sqrt(exact[best])


def _candidates(search: _Search, rows: slice, width: int, k: int) -> tuple[Indices, Indices]:
    """Return pairs of queries, numbered from 0, and points that may be among their `k` nearest."""
    count = rows.stop - rows.start
    # If single precision leaves more pairs undecided than this, double precision is faster.
    many = count * (4 * k + search.points // 64)
    least = np.full((count, k), np.inf)
    bound, found, pairs = None, [], 0
    for points in blocks(search.points, width):
        gap, slack = search.gaps(rows, points)
        if bound is None:
            bound = _kth_of_groups(gap, k)
        flat = np.flatnonzero(gap <= (bound + slack)[:, None])
        pairs += len(flat)
        if search.single and pairs > many:
            search.use_double()
            return _candidates(search, rows, width, k)
        row, column = np.divmod(flat, gap.shape[1])
        gaps = gap.ravel()[flat]
        found.append((row, column + points.start, gaps))
        if points.stop < search.points:
            least = _least(least, row, gaps)
            bound = least[:, -1].astype(gap.dtype)
    row, column, gaps = (np.concatenate(part) for part in zip(*found, strict=True))
    near = gaps <= (bound + slack)[row]
    return row[near], column[near]


def is_sparse(X: Any) -> bool:
    """Return whether X is a sparse array or matrix, without changing its type for type checkers."""
    return bool(sp.issparse(X))


def _as_float(X: Any, *, sparse: bool) -> Any:
    if not sparse:
        return np.ascontiguousarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)
    rows: Any = sp.csr_array(X).astype(np.float64)
    if not rows.has_canonical_format:
        rows = rows.copy()
        rows.sum_duplicates()
    return rows


def blocks(n: int, size: int) -> Iterator[slice]:
    """Yield slices of `size` (at least 1) of n rows; the last may be shorter."""
    size = max(1, size)
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def _squares(X: Any) -> Floats:
    if is_sparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def _largest_square(base: Any, centre: Floats) -> float:
    """Return the largest squared distance of a point from the centre."""
    if is_sparse(base):
        return float(_squares(base).max())
    parts = blocks(len(base), _TILE)
    return float(max(_squares(base[part] - centre).max() for part in parts))


def _kth_of_groups(gap: Any, k: int) -> Any:
    """Return the `k`-th smallest of the minima of groups of columns.

    It is an upper bound on each row's k-th smallest entry, and takes a fraction of the time of
    partitioning whole rows.
    """
    rows, n = gap.shape
    size = max(1, n // max(8 * k, _GROUPS))
    minima = gap[:, : n - n % size].reshape(rows, size, -1).min(axis=1)
    return np.partition(minima, k - 1, axis=1)[:, k - 1]


def _least(least: Floats, row: Indices, gaps: Any) -> Floats:
    """Return the k smallest of each row's k numbers and of its new ones, the largest last.

    `row` ascends.
    """
    order = np.lexsort((gaps, row))
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    kept = rank < least.shape[1]
    more = np.full_like(least, np.inf)
    more[row[kept], rank[kept]] = gaps[order][kept]
    k = least.shape[1]
    return np.partition(np.hstack([least, more]), k - 1, axis=1)[:, :k]


def _squared_distances(A: Any, rows: Indices, B: Any, columns: Indices) -> Floats:
    """Return |A[rows] - B[columns]|^2 from the differences, pair by pair."""
    result = np.empty(len(rows))
    for part in blocks(len(rows), _PAIRS):
        result[part] = _squares(A[rows[part]] - B[columns[part]])
    return result
