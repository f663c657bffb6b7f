r"""Affinity by local scaling: :math:`a_{ij} = \exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))`.

:math:`\sigma_i` is the distance from a point to its k-th nearest, so that the affinity adapts to
the density and leaves nothing to tune: L. Zelnik-Manor and P. Perona, "Self-Tuning Spectral
Clustering", NIPS 2004.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from ddr_cli.numerics.graph_embedding import symmetric
from ddr_cli.numerics.neighbors import kneighbors

Floats = NDArray[np.float64]

_BLOCK = 2**21  # entries of one block of the affinity matrix: 16 MiB
_SAME = 1e-12  # distances below this share of the data's spread are rounding: equal points


def local_scales(X: Floats, k: int) -> Floats:
    r"""Return :math:`\sigma_i`, the distance of each point to its `k`-th nearest.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    k : int
        Which neighbour.

    Returns
    -------
    ndarray of shape (n,)
        Positive. A point with k or more duplicates, whose scale would be 0, has the distance to
        the nearest point that is not its duplicate; if all points are equal, 1.

    Raises
    ------
    ValueError
        If there are no more than `k` points.
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
    r"""Return :math:`X^T (D - A) X` and :math:`X^T D X` for the affinity A of all pairs.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    scales : ndarray of shape (n,)
        :math:`\sigma_i`, positive.

    Returns
    -------
    laplacian_form, degree_form : ndarray of shape (d, d)
        For ``D = diag(A 1)``.

    Notes
    -----
    A is dense, but only a block of its rows exists at a time.
    """
    # The Laplacian form is the same wherever the origin is, and most accurate with it inside.
    moved = X - X.mean(axis=0)
    difference = np.zeros_like(moved)
    degree = np.zeros(len(X))
    for rows in _blocks(np.arange(len(X)), len(X)):
        affinity = np.exp(
            -cdist(moved[rows], moved, "sqeuclidean") / np.outer(scales[rows], scales)
        )
        degree[rows] = affinity.sum(axis=1)
        difference[rows] = degree[rows, None] * moved[rows] - affinity @ moved
    return symmetric(moved.T @ difference), symmetric(X.T @ (degree[:, None] * X))


def _blocks(rows: NDArray[np.intp], width: int) -> Iterator[NDArray[np.intp]]:
    size = max(1, _BLOCK // width)
    for start in range(0, len(rows), size):
        yield rows[start : start + size]
