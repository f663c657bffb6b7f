"""Exact nearest neighbours with a rule for ties that holds on every processor.

Data on a grid have many equal distances, and after a rotation or a rescaling these differ in their
last bits, which depend on the processor. So two distances count as equal if they, or a chain of
distances between them, differ by at most 2^-36 of the data's extent; then the smaller index wins.

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

from ddr_cli.numerics.rounding import EQUAL

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
_REACH = 4  # how far beyond the k-th distance a search looks for equal ones, in `EQUAL`
_NEAR = 1e-6  # below this fraction of the largest square, a product's rounding is not negligible


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The K nearest neighbours of each of n points: two (n, K) arrays, nearest first.

    Equal distances are in the order of the index, and those that count as 0 are 0.
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
        pairs = _candidates(search, rows, width, k)
        found = search.nearest(np.arange(rows.start, rows.stop), *pairs, k)
        indices[rows], distances[rows], undecided = found
        for some in search.parts(undecided):
            indices[some], distances[some], _ = search.nearest(some, *search.all_pairs(some), k)
    indices.flags.writeable = False  # shared between fits
    distances.flags.writeable = False
    return Neighbors(indices, distances)


def by_distance(
    distance: Floats, index: Indices, equal: float, row: Indices | None = None
) -> tuple[Indices, Indices]:
    """Return the order by row, distance and index, and in it the number of each group of ties.

    Distances of one row that are up to `equal` apart tie, and so does a chain of them.
    """
    order = np.lexsort((index, distance) if row is None else (index, distance, row))
    ascending = distance[order]
    is_new = ascending[1:] > ascending[:-1] + equal
    if row is not None:
        is_new |= np.diff(row[order]) != 0
    if is_new.all():
        return order, np.arange(len(order))
    group = np.zeros(len(order), dtype=np.intp)
    np.cumsum(is_new, out=group[1:])
    return order[np.lexsort((index[order], group))], group


def equal_below(X: Points) -> float:
    """Return the difference up to which distances to the points count as equal.

    It is 2^-36 of the mean distance of the points from their mean (sparse: from the origin).
    """
    points = _as_float(X, sparse=is_sparse(X))
    return EQUAL * float(np.sqrt(_squared_sizes(points, _centre_of(points))).mean())


def levels(X: Floats) -> Indices:
    """Return the rank of each value among the distinct values of its column.

    Values up to what counts as an equal distance apart are not distinct.
    """
    rows, equal = np.arange(len(X)), equal_below(X)
    found = np.empty(X.shape, dtype=np.intp)
    for column, values in zip(found.T, X.T, strict=True):
        order, group = by_distance(values, rows, equal)
        column[order] = group
    return found


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
        order, _, is_open = search.ordered(row + rows.start, column)
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        nearer = order[rank < lacking[row]]
        chosen[row[nearer], column[nearer]] = True
        members[rows] = np.flatnonzero(chosen).reshape(-1, k) % gap.shape[1]
        if is_open is not None:
            last = rank == lacking[row] - 1
            for some in search.parts(row[last & is_open] + rows.start):
                members[some] = np.sort(search.nearest(some, *search.all_pairs(some), k)[0])
    return members


def nearest_among(X: Points, rows: Indices, candidates: Indices, k: int) -> Neighbors:
    """Return the `k` nearest of each row's own candidates, in the order of `kneighbors`.

    A row of X is never its own neighbour; -1 marks no candidate, and missing neighbours are
    infinitely far.
    """
    X = _as_float(X, sparse=is_sparse(X))
    pairs = np.repeat(rows, candidates.shape[1]), candidates.ravel()
    distances = np.sqrt(_squared_distances(X, pairs[0], X, pairs[1]))
    distances[(pairs[1] < 0) | (pairs[0] == pairs[1])] = np.inf
    equal = equal_below(X)
    row = np.repeat(np.arange(len(rows)), candidates.shape[1])
    order, _ = by_distance(distances, pairs[1], equal, row)
    best = order.reshape(candidates.shape)[:, :k]
    return Neighbors(pairs[1][best], _without_rounding(distances[best], equal))


def neighbor_ranks(X: Points) -> Iterator[tuple[slice, Indices]]:
    """Yield blocks of rows, and the rank of each point among a row's neighbours: 1 is the nearest.

    The order is that of `kneighbors`; a row's own rank is the number of points.
    """
    n, equal = X.shape[0], equal_below(X)
    points = _as_float(X, sparse=is_sparse(X))
    if not is_sparse(X):
        points = points - points.mean(axis=0)
    square = _squares(points)
    for rows in blocks(n, _CHUNK // n):
        products: Any = points[rows] @ points.T
        products = products.toarray() if is_sparse(products) else products
        squared = square[rows, None] + square - 2 * products
        # The product has rounding errors relative to the lengths, which matter to near points.
        near = np.nonzero(squared < _NEAR * square.max())
        squared[near] = _squared_distances(points, near[0] + rows.start, points, near[1])
        squared.flat[rows.start :: n + 1] = np.inf
        row, index = np.divmod(np.arange(squared.size), n)
        order, _ = by_distance(np.sqrt(squared).ravel(), index, equal, row)
        rank = np.empty(squared.size, dtype=np.intp)
        rank[order] = index + 1
        yield rows, rank.reshape(squared.shape)


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
        self._centre = _centre_of(self._base)
        sizes = _squared_sizes(self._base, self._centre)
        self._largest = float(sizes.max())
        if not np.isfinite(self._largest):
            raise ValueError("The squared distances overflow; rescale the data.")
        self._equal = EQUAL * float(np.sqrt(sizes).mean())
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
        """Return ``|q - x|^2 - |q|^2`` for queries and points, and by how much it may mislead.

        Two values that differ by more than the bound of their row are in the correct order, and
        their distances differ by more than `_REACH` times what counts as equal. The unit is
        internal to the search, and the next call overwrites the same memory.
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
        farthest = np.sqrt(own_square) + self._unit * np.sqrt(self._largest)
        slack = 8 * (self._base.shape[1] + 8) * np.finfo(self._type).eps * farthest**2
        reach = _REACH * self._unit * self._equal
        return gap, (slack + (2 * farthest + reach) * reach).astype(self._type)

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

    def ordered(
        self, query: Indices, point: Indices
    ) -> tuple[Indices, Floats, NDArray[np.bool_] | None]:
        """Return the order of pairs by query and `by_distance`, and the distance of each pair.

        For each pair in this order, also return whether its group of ties may go on beyond the
        pairs that `gaps` could not rule out (None: no group does).
        """
        distance = np.sqrt(_squared_distances(self._asked, query, self._base, point))
        order, group = by_distance(distance, point, self._equal, query)
        if not len(group) or group[-1] == len(group) - 1:  # no ties
            return order, distance, None
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        ends = [part.reduceat(distance[order], starts) for part in (np.minimum, np.maximum)]
        is_open = ends[1] - ends[0] > (_REACH - 1) * self._equal
        return order, distance, is_open[group] if is_open.any() else None

    def nearest(
        self, queries: Indices, query: Indices, point: Indices, k: int
    ) -> tuple[Indices, Floats, Indices]:
        """Return the `k` nearest of some pairs for ascending queries, and their distances.

        Also return the queries for which more pairs may tie with the `k`-th, see `ordered`.
        """
        order, distance, is_open = self.ordered(query, point)
        first = np.searchsorted(query[order], queries)
        best = order[first[:, None] + np.arange(k)]
        undecided = queries[:0] if is_open is None else queries[is_open[first + k - 1]]
        return point[best], _without_rounding(distance[best], self._equal), undecided

    def parts(self, queries: Indices) -> Iterator[Indices]:
        """Yield some queries at a time, few enough for their distances from all points."""
        for part in blocks(len(queries), _CHUNK // self.points):
            yield queries[part]

    def all_pairs(self, queries: Indices) -> tuple[Indices, Indices]:
        """Return the pairs of some queries with all points, but none with itself."""
        query, point = (
            np.repeat(queries, self.points),
            np.tile(np.arange(self.points), len(queries)),
        )
        other = ~(self._own & (query == point))
        return query[other], point[other]


def _candidates(search: _Search, rows: slice, width: int, k: int) -> tuple[Indices, Indices]:
    """Return pairs of queries and points that may be among their `k` nearest."""
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
    return row[near] + rows.start, column[near]


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


def _centre_of(points: Any) -> Floats:
    """Return the mean of the points; of sparse ones, which stay sparse, the origin."""
    return np.zeros(points.shape[1]) if is_sparse(points) else points.mean(axis=0)


def _squared_sizes(points: Any, centre: Floats) -> Floats:
    """Return the squared distance of each point from the centre."""
    if is_sparse(points):
        return _squares(points)
    return np.concatenate([_squares(points[part] - centre) for part in blocks(len(points), _TILE)])


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


def _without_rounding(distances: Floats, equal: float) -> Floats:
    distances[distances <= equal] = 0.0
    return distances


def _squared_distances(A: Any, rows: Indices, B: Any, columns: Indices) -> Floats:
    """Return |A[rows] - B[columns]|^2 from the differences, pair by pair."""
    result = np.empty(len(rows))
    for part in blocks(len(rows), _PAIRS):
        result[part] = _squares(A[rows[part]] - B[columns[part]])
    return result
