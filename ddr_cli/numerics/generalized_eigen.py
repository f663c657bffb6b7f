"""The generalised eigenproblem ``A x = lambda B x``, also for a singular or nearly singular B."""

from __future__ import annotations

import bisect

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ddr_cli.numerics.eigen import (
    all_eigenpairs,
    canonical,
    deterministic_signs,
    eigenpairs,
    top_eigenpairs,
)
from ddr_cli.numerics.neighbors import Floats
from ddr_cli.numerics.scatter import symmetric

MAX_CONDITION = 1e3
"""Condition number up to which a block of a singular scatter matrix is used."""

_RANK_TOL = 1e-10  # relative size up to which an eigenvalue counts as 0
_SINGULAR = 1e10  # condition number from which a matrix counts as singular


def generalized_eigenpairs(
    A: Floats, B: Floats, m: int, *, largest: bool = True, rank_tol: float = _RANK_TOL
) -> tuple[Floats, Floats]:
    """Return `m` eigenpairs of ``A x = lambda B x``, the largest descending or smallest ascending.

    A is symmetric, B positive semidefinite. If B is singular, the problem is restricted to the
    complement of its `null_space`, so every returned vector has a finite quotient ``x'Ax / x'Bx``.
    The vectors X satisfy ``X' B X = I``, with `deterministic_signs`.
    """
    per_unit, scale, axes = unit_eigenpairs(B)
    zero = _is_zero(scale, rank_tol)
    rank = len(B) - int(zero.sum())
    if not 1 <= m <= rank:
        raise ValueError(f"{m} dimensions are requested, but at most {rank} exist.")
    inside = None
    if rank < len(B):
        null = _orthonormal(per_unit[:, None] * axes[:, zero])
        inside = np.linalg.qr(null, mode="complete")[0][:, -rank:]
        (inside,) = canonical(np.zeros(rank), inside)
        per_unit, scale, axes = unit_eigenpairs(inside.T @ B @ inside)
    whiten = per_unit[:, None] * (axes / np.sqrt(scale))
    whiten = whiten if inside is None else inside @ whiten
    values, rotation = eigenpairs(symmetric(whiten.T @ A @ whiten), m, largest=largest)
    return values, deterministic_signs(whiten @ rotation)


def regular_eigenpairs(A: Floats, B: Floats, m: int) -> tuple[Floats, Floats] | None:
    """Return the largest `generalized_eigenpairs`, or None unless B is far from singular.

    A Cholesky factor replaces all eigenvectors of B, at a tenth of their cost.
    """
    size = np.diagonal(B)
    if not (size > 0).all():
        return None
    per_unit = 1 / np.sqrt(size)
    scaling = per_unit[:, None] * per_unit
    factor = regular_factor(B * scaling)
    if factor is None:
        return None
    reduced, _ = scipy.linalg.lapack.dsygst(A * scaling, factor)
    # `dsygst` writes only the upper triangle.
    reduced = np.triu(reduced)
    reduced += np.triu(reduced, 1).T
    try:
        values, rotation = top_eigenpairs(reduced, m)
    except np.linalg.LinAlgError:
        values, rotation = eigenpairs(reduced, m)
    vectors = scipy.linalg.solve_triangular(factor, rotation, check_finite=False)
    return values, deterministic_signs(per_unit[:, None] * vectors)


def null_space(B: Floats, rank_tol: float = _RANK_TOL) -> Floats:
    """Return an orthonormal basis of a positive semidefinite matrix' null space.

    It contains the directions with an eigenvalue below `rank_tol` times the largest, in units in
    which the diagonal of B is 1, so that the rank does not depend on the units of the data.
    """
    per_unit, sizes, axes = unit_eigenpairs(B)
    return _orthonormal(per_unit[:, None] * axes[:, _is_zero(sizes, rank_tol)])


def _is_zero(sizes: Floats, rank_tol: float) -> NDArray[np.bool_]:
    return np.asarray(sizes <= rank_tol * max(sizes[-1], 0.0))


def _orthonormal(null: Floats) -> Floats:
    basis = np.linalg.qr(null / np.linalg.norm(null, axis=0))[0]
    return canonical(np.zeros(basis.shape[1]), basis)[0]


def unit_eigenpairs(B: Floats) -> tuple[Floats, Floats, Floats]:
    """Return u, and the ascending eigenvalues and eigenvectors of ``B * outer(u, u)``.

    The diagonal of the product is 1 or, where B's is 0, 0, so a rank determined from it is the same
    in all units.
    """
    unit = np.sqrt(np.maximum(np.diagonal(B), 0.0))
    # A feature that is all 0 gets the largest unit of the others: with a very different scale,
    # rounding would mix it with them.
    per_unit = 1 / np.where(unit > 0, unit, unit.max(initial=0.0) or 1.0)
    sizes, axes = all_eigenpairs(symmetric(per_unit[:, None] * B * per_unit))
    return per_unit, sizes, axes


def smallest_generalized_eigenpairs(
    A: Floats, B: Floats, m: int, *, units: Floats
) -> tuple[Floats, Floats]:
    """Return the `m` smallest eigenpairs of positive semidefinite A and B, with arbitrary signs.

    Null vectors of B alone have an infinite quotient, and those of both matrices have 0/0; neither
    are solutions, but both may be added to one without changing ``x'Bx``. Vectors of the first kind
    are added such that ``x'Ax`` is smallest. The second kind changes neither side: among the
    solutions that differ by it, the one is returned whose entries times `units` (what 1 means along
    each axis, positive) have the smallest sum of squares.
    """
    sizes, axes = all_eigenpairs(symmetric(B))
    regular = ~_is_zero(sizes, _RANK_TOL)
    rank = int(regular.sum())
    if m > rank:
        raise ValueError(f"n_components={m}, but samples and labels span only {rank} dimensions.")
    inside, null = axes[:, regular], axes[:, ~regular]
    stiffness, turned = np.linalg.eigh(symmetric(null.T @ A @ null))
    stiff = stiffness > _RANK_TOL * float(abs(A).max())
    infinite, free = null @ turned[:, stiff], null @ turned[:, ~stiff]
    inside = inside - infinite @ ((infinite.T @ A @ inside) / stiffness[stiff, None])
    values, combined = generalized_eigenpairs(
        inside.T @ A @ inside, np.diag(sizes[regular]), m, largest=False, rank_tol=0
    )
    scaled = units[:, None] * (inside @ combined)
    basis, _ = np.linalg.qr(units[:, None] * free)
    return values, (scaled - basis @ (basis.T @ scaled)) / units[:, None]


def well_conditioned_order(S: Floats, *, max_condition: float = MAX_CONDITION) -> int:
    """Return how many leading rows and columns of S form a usable regular matrix.

    These are all of them if the positive semidefinite S is regular. Otherwise they are as many as
    keep its condition number at most `max_condition`: with n points in C classes, the largest block
    that is numerically regular has the order n - C, and its last directions are those in which the
    training points of a class nearly coincide by chance, which a ratio with S in the denominator
    prefers to all others. Condition numbers are those of S with its diagonal scaled to 1, so units
    have no effect; the block ends before a diagonal value of 0.
    """
    size = np.diagonal(S)
    d = len(S) if (size > 0).all() else int(np.argmin(size > 0))
    if d == 0:
        return 0
    correlation = S[:d, :d] / np.sqrt(size[:d, None]) / np.sqrt(size[:d])

    def irregular(order: int, limit: float) -> bool:
        values = np.linalg.eigvalsh(correlation[:order, :order])
        return bool(values[0] * limit <= values[-1])

    if d == len(S) and (regular_factor(correlation) is not None or not irregular(d, _SINGULAR)):
        return d
    # Eigenvalues interlace, so a larger leading block has a larger condition number, and bisection
    # finds the limit.
    limit = min(max_condition, _SINGULAR)
    return bisect.bisect_left(range(1, d + 1), True, key=lambda order: irregular(order, limit))


def regular_factor(S: Floats) -> Floats | None:
    """Return the upper Cholesky factor of S if, by an estimate, S is far from singular.

    The condition number is estimated in the 1-norm, where it is at least the spectral one; the
    estimate is rarely too small by more than a factor of 3.
    """
    try:
        factor = scipy.linalg.cholesky(S, check_finite=False)
    except np.linalg.LinAlgError:
        return None
    reciprocal, _ = scipy.linalg.lapack.dpocon(factor, float(abs(S).sum(axis=0).max()))
    return factor if reciprocal * _SINGULAR > 100 else None
