"""The span of many, or of sparse, points, without a dense matrix of the size of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from threadpoolctl import threadpool_limits

from ddr_cli.numerics.eigen import top_eigenpairs
from ddr_cli.numerics.graph_embedding import Span, data_span
from ddr_cli.numerics.nearest import Points

Floats = NDArray[np.float64]

_WHOLE = 1000  # up to this order a complete decomposition takes about a second
_SQUARE_TOL = 1e-11  # relative size at which a squared singular value counts as zero


def leading_span(X: Points, rank: int | None = None) -> Span:
    """Return the best fit of `rank` dimensions to the span of the points, as they are.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points, all finite. They are not centred.
    rank : int, optional
        At most so many dimensions, those of the largest singular values (default: all).

    Returns
    -------
    Span
        With `mean` 0, by decreasing singular value. The points' projections on it are
        ``coordinates @ basis.T``.

    Notes
    -----
    Where both n and d are large, Lanczos' iteration for the eigenvectors of the smaller of
    ``X X'`` and ``X' X``, which is never formed: besides X only the basis is held, n x `rank` and
    d x `rank` numbers.
    """
    small = min(X.shape)
    if rank is None or small <= max(_WHOLE, 4 * rank):
        span = data_span(X, centre=False)
        return Span(span.mean, span.basis[:, :rank], span.coordinates[:, :rank])
    points: Any = sp.csr_array(X) if sp.issparse(X) else np.asarray(X)
    points = points.astype(np.float64)
    squares, vectors, total = _leading_squares(points, rank)
    kept = squares > _SQUARE_TOL * squares[0]
    squares, vectors = squares[kept], vectors[:, kept]
    mean = np.zeros(X.shape[1])
    if X.shape[0] > X.shape[1]:
        return Span(mean, vectors, points @ vectors)
    length = np.sqrt(squares * total)
    return Span(mean, points.T @ vectors / length, vectors * length)


def _leading_squares(X: Any, rank: int) -> tuple[Floats, Floats, float]:
    """Return eigenpairs of the smaller Gram matrix in units of its trace, and the trace."""
    wide = X.shape[0] <= X.shape[1]
    first, second = (X, X.T) if wide else (X.T, X)
    total = float((X * X).sum()) or 1.0

    def apply(V: Floats) -> Floats:
        return np.asarray(first @ (second @ V)) / total

    order = min(X.shape)
    gram = LinearOperator((order, order), matvec=apply, matmat=apply, dtype=np.float64)
    # Thousands of products too short for threads: on a busy machine these mostly wait for another.
    with threadpool_limits(1, user_api="blas"):
        values, vectors = top_eigenpairs(gram, rank, floor=0.0)
    return np.maximum(values, 0.0), vectors, total
