"""How many principal components a scatter matrix is regular on."""

from __future__ import annotations

import bisect

import numpy as np
from numpy.typing import NDArray

MAX_CONDITION = 1e3
"""Condition number up to which a block of a singular scatter matrix is used."""

_SINGULAR = 1e10  # condition number from which a matrix counts as singular


def largest_regular_block(
    S: NDArray[np.float64], *, max_condition: float = MAX_CONDITION, floor: float = 0.0
) -> int:
    r"""Return how many leading rows and columns of S make up a usable regular matrix.

    All of them where S is regular. Otherwise the most on which its condition number is at most
    `max_condition`: with n points in C classes the largest block that is regular to the digits of
    a float has the order n - C, and its last directions are those in which the training points of
    a class nearly coincide by chance, which a ratio with S below prefers to all others.

    Parameters
    ----------
    S : ndarray of shape (d, d)
        Symmetric and positive semidefinite.
    max_condition : float, default=1e3
        Limit for the blocks of a singular S.
    floor : float, default=0.0
        Diagonal values up to this count as zero: the rounding that S carries.

    Returns
    -------
    int
        From 0 to d.

    Notes
    -----
    Condition numbers are those of S with its diagonal scaled to 1, so units don't matter.
    """
    size = np.diagonal(S)
    d = len(S) if (size > floor).all() else int(np.argmin(size > floor))
    if d == 0:
        return 0
    correlation = S[:d, :d] / np.sqrt(np.outer(size[:d], size[:d]))

    def irregular(order: int, limit: float) -> bool:
        values = np.linalg.eigvalsh(correlation[:order, :order])
        return bool(values[0] * limit <= values[-1])

    if d == len(S) and not irregular(d, _SINGULAR):
        return d
    # By interlacing, a larger block has a smaller least and a larger greatest eigenvalue.
    limit = min(max_condition, _SINGULAR)
    return bisect.bisect_left(range(1, d + 1), True, key=lambda order: irregular(order, limit))
