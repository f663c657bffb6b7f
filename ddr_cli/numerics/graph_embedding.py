r"""What the graph-embedding family shares: the matrices :math:`X^T L X` and the span of the data.

The sum over all pairs :math:`\frac12 \sum_{ij} g_{ij} (x_i - x_j)(x_i - x_j)^T` is
:math:`X^T (D - G) X` with :math:`D = \mathrm{diag}(G 1)`: two products instead of one outer product
per pair.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ddr_cli.numerics.nearest import Points

Floats = NDArray[np.float64]

_GRAM_RANK_TOL = 1e-11  # relative size at which a squared singular value counts as zero


def laplacian_form(X: Floats, graph: Any) -> Floats:
    r"""Return :math:`X^T L X`, L the Laplacian of a graph, for rows of X as points.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    graph : sparse or array of shape (n, n)
        Symmetric weights, whatever made them; the diagonal doesn't matter.

    Returns
    -------
    ndarray of shape (d, d)
        Exactly symmetric.

    Notes
    -----
    The form doesn't change when a connected component of the graph is moved as a whole. Each is
    moved to the origin first: a distance between components that is large against those inside
    them then costs no digits.
    """
    weights = sp.csr_array(graph)
    degree = np.asarray(weights.sum(axis=1)).ravel()
    parts, part = connected_components(weights, directed=False)
    sums: Any = sp.csr_array(
        (np.ones(len(part)), (part, np.arange(len(part)))), shape=(parts, len(part))
    )
    centre = (sums @ X) / np.bincount(part, minlength=parts)[:, None]
    moved = X - centre[part]
    return symmetric(moved.T @ (degree[:, None] * moved - weights @ moved))


def symmetric(S: Floats) -> Floats:
    """Return a matrix without the rounding in its symmetry."""
    return np.asarray((S + S.T) / 2)


@dataclass(frozen=True, eq=False)
class Span:
    """An orthonormal basis of the space that points span, and their coordinates in it.

    Parameters
    ----------
    mean : ndarray of shape (d,)
        What was subtracted from the points: their mean, or 0.
    basis : ndarray of shape (d, r)
        Orthonormal columns.
    coordinates : ndarray of shape (n, r)
        ``X - mean`` is ``coordinates @ basis.T``.
    """

    mean: Floats
    basis: Floats
    coordinates: Floats

    @property
    def rank(self) -> int:
        """The dimension r."""
        return int(self.basis.shape[1])


def data_span(X: Points, *, centre: bool = True) -> Span:
    """Return the span of the points, without the null space of their scatter.

    A direction in which no two points differ can't be told from any other such direction by a
    graph on the points, and makes both sides of every eigenproblem of this family singular. So
    it is left out beforehand, at no loss (Nie et al., Eq. 10); with more features than points
    this also makes the problem smaller.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points, all finite.
    centre : bool, default=True
        Span the deviations from the mean instead of the points themselves.

    Returns
    -------
    Span
        Of dimension 0 if all points are equal (or, not centred, 0). The basis vectors belong to
        decreasing singular values.

    Notes
    -----
    Dense points: singular values, those below ``max(n, d)`` roundings of the largest count as 0.
    Sparse points are never made dense: the eigenvectors of the smaller of ``X X'`` and ``X' X``,
    the mean subtracted in the product, where singular values below 3e-6 of the largest count as 0.
    """
    n, d = X.shape
    mean = np.asarray(X.mean(axis=0), dtype=np.float64).ravel() if centre else np.zeros(d)
    if sp.issparse(X):
        return _sparse_span(sp.csr_array(X).astype(np.float64), mean)
    left, size, right = scipy.linalg.svd(
        np.asarray(X, dtype=np.float64) - mean, full_matrices=False, check_finite=False
    )
    # Where every row is the mean, what is left of the subtraction is rounding of the mean's size.
    floor = max(n, d) * np.finfo(np.float64).eps * max(size[0], np.sqrt(n) * np.linalg.norm(mean))
    kept = size > floor
    return Span(mean, right[kept].T, left[:, kept] * size[kept])


def _sparse_span(X: Any, mean: Floats) -> Span:
    n, d = X.shape
    if d <= n:
        gram = (X.T @ X).toarray() - n * np.outer(mean, mean)
        squares, vectors = scipy.linalg.eigh(symmetric(gram))
    else:
        along = X @ mean
        gram = (X @ X.T).toarray() - along[:, None] - along[None, :] + mean @ mean
        squares, vectors = scipy.linalg.eigh(symmetric(gram))
    squares, vectors = squares[::-1], vectors[:, ::-1]
    rounding = max(n, d) * np.finfo(np.float64).eps * n * float(mean @ mean)
    kept = squares > max(_GRAM_RANK_TOL * float(squares[0]), rounding)
    squares, vectors = squares[kept], vectors[:, kept]
    if d > n:
        basis = (X.T @ vectors - np.outer(mean, vectors.sum(axis=0))) / np.sqrt(squares)
        return Span(mean, basis, vectors * np.sqrt(squares))
    return Span(mean, vectors, X @ vectors - mean @ vectors)
