"""How many principal components a scatter matrix is regular on."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_RANK_TOL = 1e-10  # relative size at which an eigenvalue counts as zero


def largest_regular_block(S: NDArray[np.float64], *, floor: float = 0.0) -> int:
    """Return the largest r found such that the leading r x r block of S is non-singular.

    Parameters
    ----------
    S : ndarray of shape (d, d)
        Symmetric and positive semidefinite.
    floor : float, default=0.0
        Eigenvalues up to this count as zero whatever the others are: the rounding that S carries.

    Returns
    -------
    int
        From 0 to d.

    Notes
    -----
    The rank of a block bounds the order of a regular one inside it from above; the bound is
    lowered to the rank of the block of its own order until the two agree.
    """
    r = len(S)
    while r:
        sizes = np.linalg.eigvalsh(S[:r, :r])
        rank = int(np.sum(sizes > max(_RANK_TOL * sizes[-1], floor)))
        if rank == r:
            break
        r = rank
    return r
