r"""Similarities of all pairs of points: kernel matrices, and affinities by local scaling.

Local scaling is :math:`a_{ij} = \exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with the distance
:math:`\sigma_i` from a point to its k-th nearest, so it adapts to the density and needs no tuning:
L. Zelnik-Manor and P. Perona, "Self-Tuning Spectral Clustering", NIPS 2004.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, get_args

import numpy as np
from annotated_types import Gt
from scipy import spatial

from ddr_cli.numerics.neighbors import (
    Floats,
    Points,
    blocks,
    equal_below,
    is_sparse,
    kneighbors,
)
from ddr_cli.numerics.scatter import symmetric

_BLOCK = 2**21  # entries of one block of the affinity matrix: 16 MiB
_ROWS = 128  # rows of the affinity matrix that fit into a processor's cache
_ACCURATE = 1e-9  # rounding errors below this fraction of a squared local scale are accepted


Gamma = (
    Literal["scale/100", "scale/30", "scale/10", "scale/3", "scale", "3*scale", "10*scale"]
    | Annotated[float, Gt(0)]
)
"""The parameter of a kernel: a number, or a multiple of what suits the size of the data."""

GAMMAS: tuple[str, ...] = get_args(get_args(Gamma)[0])


def kernel_gamma(points: Points, gamma: Gamma, kernel: object) -> float:
    """Return `gamma`, or a multiple of the reciprocal of the data's size in the kernel's unit.

    Variances are those of the population. A size of 0 counts as 1.
    """
    if not isinstance(gamma, str):
        return float(gamma)
    times = scale_factor(gamma)
    mean, variance = feature_moments(points)
    if kernel == "laplacian":
        size = np.sqrt(variance).sum()
    elif kernel == "chi2":
        size = (variance[mean > 0] / mean[mean > 0]).sum()
    elif kernel in ("poly", "polynomial", "sigmoid"):
        size = (variance + mean**2).sum()
    else:
        size = variance.sum()
    return times / float(size) if size > 0 else times


def scale_factor(text: str) -> float:
    """Return the factor of ``3*scale`` or ``scale/10``, and of a number the number.

    >>> scale_factor("3*scale"), scale_factor("scale/10"), scale_factor("0.5")
    (3.0, 0.1, 0.5)
    """
    factor, _, divisor = text.partition("scale")
    return float(factor.rstrip("*") or 1) / float(divisor.lstrip("/") or 1)


def feature_moments(points: Points) -> tuple[Floats, Floats]:
    """Return the mean and the population variance of each feature, in float64."""
    if not is_sparse(points):
        exact = np.asarray(points, dtype=np.float64)
        return exact.mean(axis=0), exact.var(axis=0)
    # This import takes half a second, and dense points do not need it.
    from sklearn.utils.sparsefuncs import mean_variance_axis

    mean, variance = mean_variance_axis(points.astype(np.float64), axis=0)
    return mean, variance


def kernel_origin(points: Points, kernel: object) -> Any:
    """Return the vector to subtract from all points first: their mean, if the kernel allows it.

    Squared distances are computed from inner products, which lose all digits far from 0.
    """
    movable = kernel in ("rbf", "laplacian") and not is_sparse(points)
    return np.asarray(points.mean(axis=0, dtype=np.float64)) if movable else 0.0


def kernel_matrix(
    A: Points,
    B: Points,
    kernel: str | Callable[[Any, Any], float],
    *,
    gamma: float,
    degree: int,
    coef0: float,
) -> Floats:
    """Return the kernel's values between the rows of `A` and of `B`, in float64 and dense.

    The kernel is one of scikit-learn's ``pairwise_kernels``, or a function of two points.
    """
    # This import takes a second, and planning a run of linear methods does not need it.
    from sklearn.metrics.pairwise import pairwise_kernels

    own = {} if callable(kernel) else {"gamma": gamma, "degree": degree, "coef0": coef0}
    origin = kernel_origin(B, kernel)
    A, B = (points.astype(np.float64) - origin for points in (A, B))
    K = pairwise_kernels(A, B, metric=kernel, filter_params=True, **own)
    # A linear kernel of sparse points is sparse.
    return np.asarray(K.toarray() if is_sparse(K) else K, dtype=np.float64)


def local_scales(X: Floats, k: int) -> Floats:
    """Return the distance of each point to its `k`-th nearest, positive.

    A point with k or more duplicates, whose scale would be 0, has the distance to the nearest
    point that is not its duplicate; if all points are equal, 1.
    """
    scales = kneighbors(X, k).distances[:, -1].copy()
    same = equal_below(X)
    equal = np.flatnonzero(scales <= same)
    for part in blocks(len(equal), _BLOCK // len(X)):
        rows = equal[part]
        distances = spatial.distance.cdist(X[rows], X)
        distances[distances <= same] = np.inf
        scales[rows] = distances.min(axis=1)
    scales[np.isinf(scales)] = 1.0
    return scales


def local_scaling_form(X: Floats, k: int) -> tuple[Floats, Floats]:
    r"""Return :math:`X^T (D - A) X` for the affinity A of all pairs, and the diagonal of D."""
    moved = X - X.mean(axis=0)
    difference, degree = local_scaling_product(moved, k)
    return symmetric(moved.T @ difference), degree


def local_scaling_product(moved: Floats, k: int) -> tuple[Floats, Floats]:
    """Return ``(D - A) @ moved`` for the affinity A of all pairs, and the diagonal of D.

    The samples are centred: the product is the same wherever the origin is, and most accurate with
    it inside. A sample's scale is that of `local_scales`. A is dense, but only some rows of its
    upper half exist at a time.
    """
    pairs = _Pairs(moved, k)
    difference = np.zeros_like(moved)
    degree = np.zeros(len(moved))
    for start in range(0, len(moved), _ROWS):
        rows, after = slice(start, start + _ROWS), slice(start + _ROWS, None)
        affinity = pairs.squared_distances(rows, slice(start, None)) / -pairs.scales[start:]
        affinity /= pairs.scales[rows, None]
        np.exp(affinity, out=affinity)
        degree[rows] += affinity.sum(axis=1)
        difference[rows] -= affinity @ moved[start:]
        mirrored = affinity[:, _ROWS:].T
        degree[after] += mirrored.sum(axis=1)
        difference[after] -= mirrored @ moved[rows]
    difference += degree[:, None] * moved
    return difference, degree


class _Pairs:
    """Squared distances between all points, which are centred, and the points' local scales.

    They come from one matrix product, whose rounding is relative to the largest distance; if that
    is not small relative to every scale, they come from the differences of the coordinates.
    """

    def __init__(self, X: Floats, k: int) -> None:
        n, d = X.shape
        self._X, self._square = X, np.einsum("ij,ij->i", X, X)
        self._doubled = np.sqrt(2) * X  # its inner products are twice those of X
        self._table = self._products(slice(0, n), slice(0, n)) if n * n <= _BLOCK else None
        self._exact = False
        # Each point is its own nearest, at index 0, so its k-th nearest other point is at index k.
        kth = min(k, n - 1)
        nearest = np.empty(n)
        for rows in blocks(n, _ROWS):
            distances = self.squared_distances(rows, slice(0, n))
            nearest[rows] = np.partition(distances, kth, axis=1)[:, kth]
        rounding = (d + 8) * np.finfo(np.float64).eps * float(self._square.max())
        self._exact = k >= n or rounding >= _ACCURATE * float(nearest.min())
        self.scales = local_scales(X, k) if self._exact else np.sqrt(nearest)

    def squared_distances(self, rows: slice, columns: slice) -> Floats:
        """Return the squared distances between some points and others."""
        if self._exact:
            return spatial.distance.cdist(self._X[rows], self._X[columns], "sqeuclidean")
        if self._table is None:
            return self._products(rows, columns)
        return self._table[rows, columns]

    def _products(self, rows: slice, columns: slice) -> Floats:
        products: Floats = self._doubled[rows] @ self._doubled[columns].T
        np.subtract(self._square[columns], products, out=products)
        products += self._square[rows, None]
        return products
