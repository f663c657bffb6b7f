r"""The directions of smallest quotient :math:`x^T A x / x^T B x` where B may be singular."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ddr_cli.numerics.eigen import generalized_eigenpairs
from ddr_cli.numerics.graph_embedding import symmetric

Floats = NDArray[np.float64]


def smallest_quotients(
    A: Floats, B: Floats, m: int, *, units: Floats, rank_tol: float = 1e-10
) -> tuple[Floats, Floats]:
    """Solve ``A x = lambda B x`` for the `m` smallest eigenvalues, apart from B's null space.

    Parameters
    ----------
    A, B : ndarray of shape (d, d)
        Symmetric and positive semidefinite.
    m : int
        Number of directions.
    units : ndarray of shape (d,)
        What 1 means along each axis, positive; see the notes.
    rank_tol : float, default=1e-10
        Relative size at which an eigenvalue of B counts as zero.

    Returns
    -------
    values : ndarray of shape (m,)
        Ascending.
    vectors : ndarray of shape (d, m)
        With ``X' B X = I``. The signs are arbitrary.

    Raises
    ------
    ValueError
        If the rank of B is below `m`.

    Notes
    -----
    Null vectors of B alone have an infinite quotient, those of both matrices 0/0; neither are
    solutions, but both may be added to one without changing ``x'Bx``. Of the first kind just so
    much is added that ``x'Ax`` becomes smallest. The second kind changes neither side: of the
    solutions that differ by it, the one is returned whose entries times `units` have the smallest
    sum of squares.
    """
    sizes, axes = np.linalg.eigh(symmetric(B))
    regular = sizes > rank_tol * max(sizes[-1], 0.0)
    rank = int(regular.sum())
    if m > rank:
        raise ValueError(
            f"n_components={m}, but points and labels together offer {rank} dimensions only."
        )
    inside, null = axes[:, regular], axes[:, ~regular]
    stiffness, turned = np.linalg.eigh(symmetric(null.T @ A @ null))
    stiff = stiffness > rank_tol * float(abs(A).max())
    infinite, free = null @ turned[:, stiff], null @ turned[:, ~stiff]
    inside = inside - infinite @ ((infinite.T @ A @ inside) / stiffness[stiff, None])
    values, combined = generalized_eigenpairs(
        inside.T @ A @ inside, np.diag(sizes[regular]), m, largest=False, rank_tol=0
    )
    scaled = units[:, None] * (inside @ combined)
    basis, _ = np.linalg.qr(units[:, None] * free)
    return values, (scaled - basis @ (basis.T @ scaled)) / units[:, None]
