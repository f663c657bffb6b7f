"""Points that choose one another at random, near ones more often: the basis of NCA and MCML."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ddr_cli.numerics.graph_embedding import symmetric

Floats = NDArray[np.float64]


def choices(points: Floats) -> tuple[Floats, Floats]:
    r"""Return the squared distances of all pairs, and the logarithms of the softmax's sums.

    Point i chooses j with probability
    :math:`p(j | i) = e^{-d_{ij}} / \sum_{k \ne i} e^{-d_{ik}}`.

    Parameters
    ----------
    points : ndarray of shape (n, m)

    Returns
    -------
    distances : ndarray of shape (n, n)
        With infinity in the diagonal: no point chooses itself.
    totals : ndarray of shape (n, 1)
        :math:`\log \sum_k e^{-d_{ik}}`.
    """
    size = np.einsum("ij,ij->i", points, points)
    # In place: the matrices of all pairs are large, and new memory for each costs more than they.
    distances = points @ (-2 * points.T)
    distances += size[:, None]
    distances += size
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1, keepdims=True)
    closeness = nearest - distances
    np.exp(closeness, out=closeness)
    return distances, np.log(closeness.sum(axis=1, keepdims=True)) - nearest


def pair_form(X: Floats, weights: Floats) -> Floats:
    r"""Return :math:`\sum_{ij} w_{ij} (x_i - x_j)(x_i - x_j)^T` for dense weights of any sign."""
    both = weights + weights.T
    return symmetric(X.T @ (both.sum(axis=1)[:, None] * X - both @ X))


def expected_errors(points: Floats, same: NDArray[np.bool_]) -> float:
    r"""Return how many points are expected to choose one of another class.

    .. math:: n - \sum_i \sum_{j: y_j = y_i} p(j | i)

    is neighbourhood components analysis' objective, with the sign that makes it a loss.

    Parameters
    ----------
    points : ndarray of shape (n, m)
    same : ndarray of shape (n, n)
        Which pairs are of one class.
    """
    distances, totals = choices(points)
    return float(len(points) - np.exp(-distances - totals)[same].sum())


def expected_errors_gradient(X: Floats, same: NDArray[np.bool_], factor: Floats) -> Floats:
    """Return the gradient of ``expected_errors(X @ factor, same)`` by `factor`.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points before the map.
    same : ndarray of shape (n, n)
        Which pairs are of one class.
    factor : ndarray of shape (d, m)
        The map.

    Returns
    -------
    ndarray of shape (d, m)
    """
    distances, totals = choices(X @ factor)
    chance = np.exp(-distances - totals)
    right = np.where(same, chance, 0.0)
    hits = right.sum(axis=1, keepdims=True)
    return np.asarray(2 * pair_form(X, right - chance * hits) @ factor)
