r"""Similarities of all pairs of points: kernel matrices, and affinity by local scaling.

The latter is :math:`a_{ij} = \exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` with the distance
:math:`\sigma_i` from a point to its k-th nearest, so that it adapts to the density and leaves
nothing to tune: L. Zelnik-Manor and P. Perona, "Self-Tuning Spectral Clustering", NIPS 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import pairwise_kernels

from ddr_cli.numerics.graph_embedding import symmetric
from ddr_cli.numerics.neighbors import Points, kneighbors

Floats = NDArray[np.float64]

_BLOCK = 2**21  # entries of one block of the affinity matrix: 16 MiB
_SAME = 1e-12  # distances below this share of the data's spread are rounding: equal points


def kernel_width(points: Points, gamma: Literal["scale"] | float) -> float:
    """Return `gamma`, or for "scale" the reciprocal of the points' total variance.

    That is ``1 / (d * points.var())``, as for scikit-learn's support vector machines; 1 where all
    values are equal.
    """
    if gamma != "scale":
        return float(gamma)
    exact: Any = points.astype(np.float64)
    sparse: bool = sp.issparse(exact)
    if sparse:
        # In two passes, or data far from 0 would leave no digits.
        mean, size = exact.mean(), np.prod(exact.shape)
        variance = (((exact.data - mean) ** 2).sum() + (size - exact.data.size) * mean**2) / size
    else:
        variance = exact.var()
    spread = float(variance) * points.shape[1]
    return 1 / spread if spread > 0 else 1.0


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
    own = {} if callable(kernel) else {"gamma": gamma, "degree": degree, "coef0": coef0}
    K = pairwise_kernels(
        A.astype(np.float64), B.astype(np.float64), metric=kernel, filter_params=True, **own
    )
    # A linear kernel of sparse points is sparse.
    sparse: bool = sp.issparse(K)
    return np.asarray(K.toarray() if sparse else K, dtype=np.float64)


def local_scales(X: Floats, k: int) -> Floats:
    """Return the distance of each point to its `k`-th nearest, positive.

    A point with k or more duplicates, whose scale would be 0, has the distance to the nearest
    point that is not its duplicate; if all points are equal, 1.
    """
    scales = kneighbors(X, k).distances[:, -1].copy()
    same = _SAME * float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    for rows in _blocks(np.flatnonzero(scales <= same), len(X)):
        distances = cdist(X[rows], X)
        distances[distances <= same] = np.inf
        scales[rows] = distances.min(axis=1)
    scales[np.isinf(scales)] = 1.0
    return scales


def local_scaling_forms(X: Floats, scales: Floats) -> tuple[Floats, Floats]:
    r"""Return :math:`X^T (D - A) X` and :math:`X^T D X` for the affinity A of all pairs."""
    laplacian, degree = local_scaling_form(X, scales)
    return laplacian, symmetric(X.T @ (degree[:, None] * X))


def local_scaling_form(X: Floats, scales: Floats) -> tuple[Floats, Floats]:
    r"""Return :math:`X^T (D - A) X` for the affinity A of all pairs, and the diagonal of D.

    A is dense, but only a block of its rows exists at a time.
    """
    # The Laplacian form is the same wherever the origin is, and most accurate with it inside.
    moved = X - X.mean(axis=0)
    difference = np.zeros_like(moved)
    degree = np.zeros(len(X))
    for rows in _blocks(np.arange(len(X)), len(X)):
        affinity = cdist(moved[rows], moved, "sqeuclidean")
        affinity /= np.outer(-scales[rows], scales)
        np.exp(affinity, out=affinity)
        degree[rows] = affinity.sum(axis=1)
        difference[rows] = degree[rows, None] * moved[rows] - affinity @ moved
    return symmetric(moved.T @ difference), degree


def _blocks(rows: NDArray[np.intp], width: int) -> Iterator[NDArray[np.intp]]:
    size = max(1, _BLOCK // width)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
