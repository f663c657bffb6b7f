r"""Scatter matrices and the span of the data, for graph-embedding methods.

The sum over all pairs :math:`\frac12 \sum_{ij} g_{ij} (x_i - x_j)(x_i - x_j)^T` is :math:`X^T (D -
G) X` with :math:`D = \mathrm{diag}(G 1)`: two products instead of one outer product per pair.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import LinearOperator

from ddr_cli.numerics.eigen import all_eigenpairs, canonical, top_eigenpairs
from ddr_cli.numerics.neighbors import Floats, Points, is_sparse
from ddr_cli.numerics.threads import one_thread

_ROUNDED = 1e-7  # relative size at which a singular value counts as zero
_SQUARE_TOL = 1e-11  # the same for a squared one
_FAR = 1e-6  # deviations below this fraction of the mean have lost digits when it was subtracted
_ULPS = 8  # rounding error that a feature's values may have, relative to eps times its mean
_CERTAIN = 1e-3  # above this relative size, neither a singular value nor its square is rounding
_COLUMNS = 256  # columns in a block of `symmetric_product`
_COMPLETE = 1000  # up to this order a complete decomposition takes about a second


def symmetric(S: Floats) -> Floats:
    """Return a matrix made exactly symmetric."""
    return np.asarray((S + S.T) / 2)


def symmetric_product(A: Floats, B: Floats) -> Floats:
    """Return ``A.T @ B``, which is symmetric, from the block columns of its upper half."""
    d = A.shape[1]
    S = np.empty((d, d))
    for start in range(0, d, _COLUMNS):
        columns = slice(start, start + _COLUMNS)
        S[:start, columns] = A[:, :start].T @ B[:, columns]
        S[columns, :start] = S[:start, columns].T
        S[columns, columns] = symmetric(A[:, columns].T @ B[:, columns])
    return S


def laplacian_form(X: Floats, graph: Any) -> Floats:
    r"""Return :math:`X^T L X`, exactly symmetric, for the Laplacian L of a symmetric graph.

    The result does not change if a connected component of the graph is translated. Therefore each
    component is first moved to the origin, so that a large distance between components costs no
    digits.
    """
    moved, difference = _moved_and_multiplied(X, graph)
    return symmetric(moved.T @ difference)


def laplacian_form_of_parts(X: Floats, parts: Iterable[tuple[Any, Any]]) -> Floats:
    """Return the `laplacian_form` of a graph given in parts: the rows of each, and its graph.

    No edge connects two parts. Only one part has to exist at a time.
    """
    moved, difference = np.zeros(X.shape), np.zeros(X.shape)
    for rows, graph in parts:
        moved[rows], difference[rows] = _moved_and_multiplied(X[rows], graph)
    return symmetric(moved.T @ difference)


def _moved_and_multiplied(X: Floats, graph: Any) -> tuple[Floats, Floats]:
    """Return the points with each component at the origin, and the Laplacian times them."""
    weights = sp.csr_array(graph)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    parts, part = connected_components(weights, directed=False)
    sums: Any = sp.csr_array(
        (np.ones(len(part)), (part, np.arange(len(part)))), shape=(parts, len(part))
    )
    centre = (sums @ X) / np.bincount(part, minlength=parts)[:, None]
    moved = X - centre[part]
    return moved, degree[:, None] * moved - weights @ moved


def scatter_matrices(X: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the within-class and the between-class scatter, which add up to the total scatter."""
    _, code, count = np.unique(y, return_inverse=True, return_counts=True)
    means = np.zeros((len(count), X.shape[1]))
    np.add.at(means, code, X)
    means /= count[:, None]
    inside = X - means[code]
    outside = (means - X.mean(axis=0)) * np.sqrt(count)[:, None]
    return inside.T @ inside, outside.T @ outside


@dataclass(frozen=True, eq=False)
class Span:
    """An orthonormal basis of the space that points span: points = mean + coordinates @ basis.T.

    For points of shape (n, d) the basis is (d, r) and the coordinates are (n, r).
    """

    mean: Floats
    basis: Floats
    coordinates: Floats

    @property
    def rank(self) -> int:
        """The dimension r."""
        return int(self.basis.shape[1])


def data_span(X: Points, *, centre: bool = True) -> Span:
    """Return the span of the points, by decreasing singular value, without their null space.

    A direction in which all points are equal can't be distinguished from other such directions by a
    graph on the points, and makes both sides of every eigenproblem of this family singular. It is
    therefore removed first, without loss (Nie et al., Eq. 10); with more features than points this
    also makes the problem smaller. If not centred, it is the span of the points instead of their
    deviations from the mean.

    For dense points, singular values below 1e-7 of the largest count as 0. In such a direction
    samples differ by the rounding of data that were written with some eight digits; whitening would
    make it as important as any other. Sparse points are never made dense: the result comes from the
    eigenvectors of the smaller of ``X X'`` and ``X' X``, with the mean subtracted in the product,
    and singular values below 3e-6 of the largest count as 0.

    If the sizes of the features differ by more than 1e6 (sparse: 1e3), the rank is determined with
    each feature in units of its own size. A feature is constant if its deviations are rounding of
    its own mean, or below ``sqrt(max(n, d))`` roundings of the largest feature.
    """
    n, d = X.shape
    points: Any = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
    points = points.astype(np.float64)
    mean = np.asarray(points.mean(axis=0)).ravel() if centre else np.zeros(d)
    if is_sparse(X):
        return _sparse_span(points, mean)
    points -= mean
    size = np.linalg.norm(points, axis=0)
    far = size < _FAR * np.sqrt(n) * np.abs(mean)
    if far.any():
        rest = points[:, far].mean(axis=0)
        points[:, far] -= rest
        mean[far] += rest
        size[far] = np.linalg.norm(points[:, far], axis=0)
    rounding, unit = _rounding_and_unit(size, mean, n, graded=1e6)
    points[:, size <= rounding] = 0
    points /= unit
    left, length, right = scipy.linalg.svd(points, full_matrices=False, check_finite=False)
    kept = length > np.maximum(
        _ROUNDED * length[0], np.linalg.norm(right * (rounding / unit), axis=1)
    )
    return _span_in_units(mean, left[:, kept], length[kept], right[kept].T, unit)


def _rounding_and_unit(
    size: Floats, mean: Floats, n: int, *, graded: float
) -> tuple[Floats, Floats]:
    """Return the size below which each feature is rounding, and the units that determine ranks.

    The units are 1 unless the sizes of the features differ by more than the factor `graded`.
    """
    eps = np.finfo(np.float64).eps
    largest = size.max(initial=0.0)
    rounding = eps * (_ULPS * np.sqrt(n) * np.abs(mean) + np.sqrt(max(n, len(size))) * largest)
    varying = size > rounding
    if not varying.any() or size[varying].min() * graded >= largest:
        return rounding, np.ones(len(size))
    return rounding, np.where(varying, size, 1.0)


def _span_in_units(mean: Floats, left: Floats, length: Floats, right: Floats, unit: Floats) -> Span:
    """Return the span of points whose singular value decomposition is in other units."""
    if (unit == 1).all():
        basis, coordinates = canonical(length, right, left * length)
        return Span(mean, basis, coordinates)
    # Pivoting orders the rows by size, which keeps the small singular values accurate.
    Q, R, pivots = scipy.linalg.qr((length * right).T * unit, mode="economic", pivoting=True)
    turned, sizes, axes = scipy.linalg.svd(R, full_matrices=False, lapack_driver="gesvd")
    basis = np.empty_like(axes.T)
    basis[pivots] = axes.T
    coordinates = left @ (Q @ turned) * sizes
    return Span(mean, *canonical(sizes, basis, coordinates))


def quick_span(X: Points) -> Span:
    """Return `data_span` from the eigenvectors of ``X' X``, if these determine the rank reliably.

    For many dense points with few features, this takes a fifth of the time. It rounds differently.
    """
    n, d = X.shape
    if is_sparse(X) or n <= d:
        return data_span(X)
    mean = X.mean(axis=0, dtype=np.float64)
    centred = np.asarray(X, dtype=np.float64) - mean
    squares, vectors = all_eigenpairs(centred.T @ centred)
    floor = _CERTAIN * max(squares[-1], float(mean @ mean)) ** 0.5
    if squares[0] <= floor**2:
        return data_span(X)
    basis = vectors[:, ::-1]
    return Span(mean, basis, centred @ basis)


def _sparse_span(X: Any, mean: Floats) -> Span:
    n, d = X.shape
    centred = np.zeros(d)
    X.sum_duplicates()
    full = (np.bincount(X.indices, minlength=d) == n) & (mean != 0)
    # Features without zeros are centred, which keeps the data sparse and all digits of the
    # deviations.
    for _ in range(2 * bool(full.any())):
        rest = np.where(full, X.mean(axis=0), 0.0)
        X.data -= rest[X.indices]
        centred += rest
    left_out = np.where(full, 0.0, mean)
    mean = np.where(full, centred, mean)
    squared = np.asarray((X * X).sum(axis=0)) - n * left_out**2
    size = np.sqrt(np.maximum(squared, 0.0))
    rounding, unit = _rounding_and_unit(size, np.where(full, mean, 0.0), n, graded=1e3)
    X.data *= np.where(size > rounding, 1 / unit, 0.0)[X.indices]
    shift = left_out / unit
    if d <= n:
        gram = (X.T @ X).toarray() - n * np.outer(shift, shift)
    else:
        along = X @ shift
        gram = (X @ X.T).toarray() - along[:, None] - along[None, :] + shift @ shift
    squares, vectors = scipy.linalg.eigh(symmetric(gram))
    squares, vectors = squares[::-1], vectors[:, ::-1]
    least = max(n, d) * np.finfo(np.float64).eps * n * float(shift @ shift)
    kept = squares > max(_SQUARE_TOL * float(squares[0]), least)
    length, vectors = np.sqrt(squares[kept]), vectors[:, kept]
    if d > n:
        left = vectors
        right = (X.T @ vectors - np.outer(shift, vectors.sum(axis=0))) / length
    else:
        left = (X @ vectors - shift @ vectors) / length
        right = vectors
    kept = length > np.linalg.norm((rounding / unit)[:, None] * right, axis=0)
    return _span_in_units(mean, left[:, kept], length[kept], right[:, kept], unit)


def leading_span(X: Points, rank: int | None = None) -> Span:
    """Return the span of the points as they are, not centred, at most `rank` dimensions of it.

    If both n and d are large, Lanczos' iteration computes the eigenvectors of the smaller of ``X
    X'`` and ``X' X``, which is never formed: besides X, only the basis is stored, with n x `rank`
    and d x `rank` numbers.
    """
    small = min(X.shape)
    if rank is None or small <= max(_COMPLETE, 4 * rank):
        span = data_span(X, centre=False)
        return Span(span.mean, span.basis[:, :rank], span.coordinates[:, :rank])
    points: Any = sp.csr_array(X) if is_sparse(X) else np.asarray(X)
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
    # The iteration makes thousands of products that are too short for threads, which on a busy
    # machine mostly wait for each other.
    with one_thread():
        values, vectors = top_eigenpairs(gram, rank, floor=0.0)
    return np.maximum(values, 0.0), vectors, total
