r"""The trace ratio problem: :math:`\max_{W^T W = I} \mathrm{tr}(W^T A W) / \mathrm{tr}(W^T B W)`.

F. Nie, S. Xiang and C. Zhang, "Neighborhood MinMax Projections", IJCAI 2007, section 3, solve it by
bisection. Newton's method finds the root of the same function in a few steps: Y. Jia, F. Nie and C.
Zhang, "Trace Ratio Problem Revisited", IEEE Trans. Neural Networks 20, 2009.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ddr_cli.numerics.eigen import all_eigenpairs, deterministic_signs, eigenpairs
from ddr_cli.numerics.generalized_eigen import generalized_eigenpairs, null_space
from ddr_cli.numerics.neighbors import Floats
from ddr_cli.numerics.scatter import symmetric

_EPS = float(np.finfo(np.float64).eps)
_MOST_STEPS = 2000  # more halvings than any interval of doubles needs


def trace_ratio(
    A: Floats,
    B: Floats,
    m: int,
    solver: Literal["newton", "bisection"] = "newton",
) -> tuple[Floats, float]:
    r"""Maximise ``tr(W'AW) / tr(W'BW)`` over the d x m matrices W with ``W'W = I``.

    Parameters
    ----------
    A : array of shape (d, d)
        Symmetric; it may be indefinite.
    B : array of shape (d, d)
        Symmetric and positive semidefinite; it may be singular.
    m : int
        Number of columns of W, from 1 to d.
    solver : {"newton", "bisection"}, default="newton"
        Both find the global optimum; bisection is the paper's Table 1.

    Returns
    -------
    W : ndarray of shape (d, m)
        Orthonormal. An optimal W is determined up to rotations ``W R`` only; this one's columns
        are eigenvectors, by decreasing eigenvalue, of the matrix that the notes name, with signs
        by `deterministic_signs`.
    value : float
        The ratio at W, the maximum.

    Warns
    -----
    UserWarning
        If `m` separates equal eigenvalues, for example if A and B are both zero along some columns
        of W: which of these directions W contains then depends on the order of the coordinates.

    Notes
    -----
    **m > d - rank(B)**: the ratio is finite. Its maximum :math:`\lambda^*` is the one root of
    the decreasing convex function

    .. math:: f(\lambda) = \max_{W^T W = I} \mathrm{tr}(W^T (A - \lambda B) W),

    the sum of the m largest eigenvalues of :math:`A - \lambda B`, and W contains their eigenvectors
    at the root. Bisection starts from the paper's bounds (Theorem 1 and the text after it); if the
    sum of the m largest eigenvalues of A is negative, the paper's upper bound is not valid, and the
    m largest eigenvalues of B replace the m smallest. Newton's step is :math:`\lambda \leftarrow
    \mathrm{tr}(W^T A W) / \mathrm{tr}(W^T B W)`: it increases monotonically to the root, with
    quadratic convergence.

    **m <= d - rank(B)**: W lies in the null space of B, where the paper defines the value as
    infinite, and maximises ``tr(W'AW)`` there; W contains the leading eigenvectors of ``Z'AZ`` for
    a basis Z of the null space. By this convention the value is also ``inf`` if ``tr(W'AW)`` is not
    positive (for a positive semidefinite A this is only possible as 0/0).

    With m = 1 the ratio is the largest generalised eigenvalue, in any units of the coordinates.
    With m = d it is ``tr(A) / tr(B)`` for every W. With A = 0 and m > d - rank(B) it is 0 for every
    W; the one returned minimises ``tr(W'BW)``.

    Examples
    --------
    >>> W, value = trace_ratio(np.diag([4.0, 3.0, 0.0]), np.diag([2.0, 1.0, 1.0]), 1)
    >>> W.ravel().tolist(), value
    ([0.0, 1.0, 0.0], 3.0)
    """
    null = null_space(B)
    if m <= null.shape[1]:
        inside = symmetric(null.T @ A @ null)
        return deterministic_signs(null @ eigenpairs(inside, m, norm=_norm(A))[1]), np.inf

    if m == 1:
        _, direction = generalized_eigenpairs(A, B, 1)
        W = direction / np.linalg.norm(direction)
        return W, float((W.T @ A @ W / (W.T @ B @ W)).item())

    # A and B are scaled to a size of 1, so that no tolerance depends on the scale of the data, and
    # transformed to the eigenbasis of B: there tr(W'BW) is a sum of squares, which stays accurate
    # where W is close to the null space.
    sizes, axes = all_eigenpairs(B)
    unit_a, unit_b = float(abs(A).max()) or 1.0, float(sizes[-1])
    turned, sizes = axes.T @ (A / unit_a) @ axes, np.maximum(sizes, 0.0) / unit_b
    root, V = _SOLVERS[solver](turned, sizes, m)
    if V is None:
        V = _leading(turned - np.diag(root * sizes), m) if A.any() else np.eye(len(sizes), m)
    return deterministic_signs(axes @ V), _ratio(turned, sizes, V) * (unit_a / unit_b)


def _newton(A: Floats, b: Floats, m: int) -> tuple[float, Floats | None]:
    """Return the root of f for B = diag(b), b ascending, and W there if it is known."""
    best = float(np.trace(A) / b.sum())
    for _ in range(_MOST_STEPS):
        W = _leading(A - np.diag(best * b), m)
        reached = _ratio(A, b, W)
        # In exact arithmetic the ratio increases until it is the root; rounding ends the increase a
        # few ulps from it.
        if reached <= best + 2 * _EPS * abs(best):
            return (best, W) if reached <= best and A.any() else (max(best, reached), None)
        best = reached
    raise np.linalg.LinAlgError("Newton's iteration for the trace ratio did not converge.")


def _bisection(A: Floats, b: Floats, m: int) -> tuple[float, None]:
    """Return the root of f for B = diag(b), b ascending."""
    most = _largest_sum(A, m)
    low = float(np.trace(A) / b.sum())
    high = max(low, most / float(b[:m].sum() if most > 0 else b[-m:].sum()))
    for _ in range(_MOST_STEPS):
        middle = (low + high) / 2
        if high - low <= 2 * _EPS * max(1.0, abs(low), abs(high)):
            return middle, None
        if _largest_sum(A - np.diag(middle * b), m) > 0:
            low = middle
        else:
            high = middle
    raise np.linalg.LinAlgError("The bisection for the trace ratio did not converge.")


_SOLVERS: dict[str, Callable[[Floats, Floats, int], tuple[float, Floats | None]]] = {
    "newton": _newton,
    "bisection": _bisection,
}


def _norm(A: Floats) -> float:
    return float(np.abs(A).sum(axis=0).max())


def _leading(S: Floats, m: int) -> Floats:
    return eigenpairs(S, m)[1]


def _largest_sum(S: Floats, m: int) -> float:
    return float(eigenpairs(S, m)[0].sum())


def _ratio(A: Floats, b: Floats, V: Floats) -> float:
    return float(np.einsum("ij,ij->", V, A @ V) / (b @ V**2).sum())
