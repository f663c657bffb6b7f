"""Scatter matrices of labelled points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def scatter_matrices(X: Floats, y: NDArray[Any]) -> tuple[Floats, Floats]:
    """Return the within-class and the between-class scatter matrix.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
        Labels of any type.

    Returns
    -------
    within : ndarray of shape (d, d)
        Sum over the points of the outer product of the deviation from their class mean.
    between : ndarray of shape (d, d)
        Sum over the points of the outer product of their class mean's deviation from the mean;
        the two add up to the total scatter.
    """
    _, code, count = np.unique(y, return_inverse=True, return_counts=True)
    means = np.zeros((len(count), X.shape[1]))
    np.add.at(means, code, X)
    means /= count[:, None]
    inside = X - means[code]
    outside = (means - X.mean(axis=0)) * np.sqrt(count)[:, None]
    return inside.T @ inside, outside.T @ outside
