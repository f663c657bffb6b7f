"""The search behind `kneighbors`: candidates by matrix product, distances by difference.

No more than a block of the distance matrix exists at a time. Within it one
matrix product gives every squared distance to within a rounding bound; each
point that may be among the k nearest under that bound has its distance
computed again from the coordinate differences, so the answer is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

CsrArray = sp.csr_array[Any, tuple[int, int]]
Points = NDArray[Any] | CsrArray
Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_CHUNK = 2**21  # entries of one block of the distance matrix: 16 MiB
_PAIRS = 2**16  # pairs whose coordinate differences are held at a time


def nearest(X: Points, k: int, queries: Points | None) -> tuple[Indices, Floats]:
    """Return indices and distances of the `k` nearest rows of `X`, ordered by distance, then index.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points among which to search.
    k : int
        At least 1 and at most the number of (other) points.
    queries : array or sparse of shape (q, d) or None
        Without it each row of `X` is asked for, itself excluded.

    Returns
    -------
    indices, distances : ndarray of shape (q or n, k)

    Raises
    ------
    ValueError
        If a squared distance overflows.
    """
    base = _as_float(X, sparse=_is_sparse(X))
    asked = base if queries is None else _as_float(queries, sparse=_is_sparse(X))
    n, d = base.shape
    centre = np.zeros(d) if _is_sparse(base) else base.mean(axis=0)
    table, square = _product_table(base, centre)
    if not np.isfinite(square).all():
        raise ValueError("The squared distances overflow; rescale the data.")

    indices = np.empty((asked.shape[0], k), dtype=np.intp)
    distances = np.empty((asked.shape[0], k))
    for rows in _blocks(asked.shape[0], max(1, _CHUNK // n)):
        gap, own_square = _gaps(asked[rows], centre, table)
        if queries is None:
            gap[np.arange(gap.shape[0]), np.arange(rows.start, rows.stop)] = np.inf
        # Rounding of the product, of the centring and of the distance itself, with room to spare.
        slack = 8 * (d + 8) * np.finfo(float).eps * (own_square + square.max())
        bound = _bound_on_kth(gap, k) + slack
        row, column = np.divmod(np.flatnonzero(gap <= bound[:, None]), n)
        exact = _squared_distances(asked, row + rows.start, base, column)
        order = np.lexsort((column, exact, row))
        first = np.searchsorted(row, np.arange(gap.shape[0]))
        best = order[first[:, None] + np.arange(k)]
        indices[rows] = column[best]
        distances[rows] = np.sqrt(exact[best])
    return indices, distances


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


def _bound_on_kth(gap: Floats, k: int) -> Floats:
    """Return an upper bound on each row's k-th smallest entry.

    The k-th smallest of the minima of disjoint groups of columns is one, and takes a third of the
    time of partitioning whole rows.
    """
    rows, n = gap.shape
    width = max(1, n // (8 * k))
    groups = n // width
    minima = gap[:, : groups * width].reshape(rows, groups, width).min(axis=2)
    return np.asarray(np.partition(minima, k - 1, axis=1)[:, k - 1])


def _squared_distances(A: Any, rows: Indices, B: Any, columns: Indices) -> Floats:
    """Return |A[rows] - B[columns]|^2 from the differences, pair by pair."""
    result = np.empty(len(rows))
    for part in _blocks(len(rows), _PAIRS):
        result[part] = _squares(A[rows[part]] - B[columns[part]])
    return result
