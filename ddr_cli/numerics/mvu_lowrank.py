r"""Maximum variance unfolding over a low-rank factor: K = Z Z', first-order steps only.

The augmented Lagrangian of Burer and Monteiro ("A Nonlinear Programming Algorithm for Solving
Semidefinite Programs via Low-Rank Factorization", Mathematical Programming 95, 2003),

.. math:: -\|Z\|^2 + \sum_e w_e h_e + \tfrac12 \sum_e \sigma_e h_e^2,
          \qquad h_e = \|b_e^T Z\|^2 - 1,

minimised by L-BFGS with a graph Laplacian as its metric, which evens out the slow waves along the
graph. Along a line the function is a quartic, so every line search is exact and costs one product
with B. The multipliers are the weights of the dual: where a negative eigenvalue shows that the
rank is too small, its vectors become new columns.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from ddr_cli.numerics.mvu_framework import Floats, Framework, dual_bound, symmetric_factor

_MEMORY = 20  # pairs that L-BFGS keeps
_ROUND = 1000  # most steps between two updates of the multipliers
_START_RANK = 8
_NEGATIVE = 1e-3  # how far below 1 an eigenvalue has to be to call for a new column


@dataclass(frozen=True, eq=False)
class LowRank:
    """Where the iteration ended.

    Parameters
    ----------
    factor : ndarray of shape (n_nodes, rank)
        Z, in scaled coordinates.
    bound : float
        The smallest upper bound on the trace that was met.
    n_iter : int
        L-BFGS steps taken.
    """

    factor: Floats
    bound: float
    n_iter: int


def solve_lowrank(framework: Framework, *, tol: float = 1e-3, max_iter: int = 10_000) -> LowRank:
    """Return a placement of nearly the largest trace, and a bound that says how nearly.

    Parameters
    ----------
    framework : Framework
    tol : float, default=1e-3
        The relative gap between trace and bound, and the relative error of the squared lengths,
        at which to stop.
    max_iter : int, default=10000
        Most L-BFGS steps in all.

    Returns
    -------
    LowRank

    Notes
    -----
    Memory grows with the number of bars. The start is drawn from a fixed stream.
    """
    m = framework.n_bars
    weights, stiffness = np.zeros(m), 1.0
    widest = int(np.ceil(np.sqrt(2 * m))) + 1
    Z = _start(framework, min(_START_RANK, framework.rank))
    best, best_error = Z, np.inf
    bound, n_iter, last = np.inf, 0, np.inf
    while n_iter < max_iter and best_error > tol:
        # A bar under stress needs a stiffer penalty to find its length.
        firmness = 1.0 + np.abs(weights)
        lagrangian = _Lagrangian(framework, weights, stiffness * firmness)
        Z, steps = _descend(lagrangian, Z, _metric(framework, firmness), max_iter - n_iter)
        n_iter += steps
        excess = lagrangian.excess(framework.incidence @ Z)
        weights = weights + lagrangian.sigma * excess
        proven, values, vectors = dual_bound(framework, weights)
        bound = min(bound, proven)
        error = max(abs(1.0 - float(np.vdot(Z, Z)) / bound), float(np.abs(excess).max()))
        if error < best_error:
            best, best_error = Z, error
        Z = _with_new_columns(Z, vectors[:, values < 1.0 - _NEGATIVE], widest)
        size = float(np.linalg.norm(excess))
        if size > 0.5 * last:
            stiffness *= 2.0
        last = size
    return LowRank(best, bound, n_iter)


def _start(framework: Framework, rank: int) -> Floats:
    """Return smooth random coordinates of about the right size."""
    noise = np.random.default_rng(0).standard_normal((framework.n_nodes, rank))
    Z = _metric(framework, np.ones(framework.n_bars))(framework.project(noise))
    lengths = np.sum((framework.incidence @ Z) ** 2, axis=1)
    return np.asarray(Z / np.sqrt(lengths.mean()))


def _metric(framework: Framework, firmness: Floats) -> Callable[[Floats], Floats]:
    """Return the product with the inverse of a Laplacian, on the range of Pi."""
    # The shift keeps the constant vector, which the projection removes, from dividing by 0.
    L = framework.laplacian(firmness)
    factor = symmetric_factor(L, 1e-6 * float(L.diagonal().mean()))
    return lambda Z: framework.project(factor.solve(framework.project(Z)))


def _with_new_columns(Z: Floats, vectors: Floats, widest: int) -> Floats:
    """Return Z on its principal axes, the weakest columns beyond `widest` dropped."""
    if not vectors.shape[1]:
        return Z
    left, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    kept = sizes > 1e-6 * sizes[0]
    new = vectors * (1e-3 * sizes[0])
    columns = np.hstack([(left * sizes)[:, kept], new])
    return columns[:, : max(widest, int(kept.sum()))]


class _Lagrangian:
    """The function of Z for fixed multipliers, by what it is along a line."""

    def __init__(self, framework: Framework, weights: Floats, sigma: Floats) -> None:
        self.framework = framework
        self.weights = weights
        self.sigma = sigma
        self.transposed = sp.csr_array(framework.incidence.T)

    @staticmethod
    def excess(stretched: Floats) -> Floats:
        return np.asarray(np.einsum("ij,ij->i", stretched, stretched) - 1.0)

    def gradient(self, Z: Floats, stretched: Floats) -> Floats:
        force = self.weights + self.sigma * self.excess(stretched)
        pull = self.transposed @ (force[:, None] * stretched)
        return 2.0 * (self.framework.project(pull) - Z)

    def best_step(self, Z: Floats, D: Floats, U: Floats, V: Floats) -> float:
        """Return the minimiser along Z + t D over t > 0; U = B Z and V = B D."""
        a = self.excess(U)
        b = 2.0 * np.einsum("ij,ij->i", U, V)
        c = np.einsum("ij,ij->i", V, V)
        w, s = self.weights, self.sigma
        quartic = np.array(
            [
                0.5 * (s * c) @ c,
                (s * b) @ c,
                w @ c + 0.5 * (s * b) @ b + (s * a) @ c - np.vdot(D, D),
                w @ b + (s * a) @ b - 2.0 * np.vdot(Z, D),
                0.0,
            ]
        )
        roots = np.roots(np.polyder(quartic))
        steps = roots.real[(np.abs(roots.imag) < 1e-9 * np.abs(roots)) & (roots.real > 0)]
        if not len(steps):
            return 0.0
        values = np.polyval(quartic, steps)
        best = int(np.argmin(values))
        return float(steps[best]) if values[best] < 0 else 0.0


def _descend(
    lagrangian: _Lagrangian, Z: Floats, metric: Callable[[Floats], Floats], most: int
) -> tuple[Floats, int]:
    """Minimise by L-BFGS until the gradient is small; return Z and the steps taken."""
    U = lagrangian.framework.incidence @ Z
    gradient = lagrangian.gradient(Z, U)
    pairs: deque[tuple[Floats, Floats, float]] = deque(maxlen=_MEMORY)
    small = 1e-6 * float(np.linalg.norm(Z)) + 1e-12
    for steps in range(min(most, _ROUND)):
        if float(np.linalg.norm(gradient)) < small:
            return Z, steps
        D = -_two_loops(pairs, gradient, metric)
        V = lagrangian.framework.incidence @ D
        length = lagrangian.best_step(Z, D, U, V)
        if length == 0.0:
            if not pairs:
                return Z, steps
            pairs.clear()
            continue
        Z = Z + length * D
        U = U + length * V
        changed = lagrangian.gradient(Z, U)
        difference = changed - gradient
        curvature = float(np.vdot(difference, D)) * length
        if curvature > 0:
            pairs.append((length * D, difference, 1.0 / curvature))
        gradient = changed
    return Z, min(most, _ROUND)


def _two_loops(
    pairs: deque[tuple[Floats, Floats, float]],
    gradient: Floats,
    metric: Callable[[Floats], Floats],
) -> Floats:
    """Return the inverse Hessian's estimate times the gradient."""
    q = gradient.copy()
    shares = []
    for moved, difference, inverse in reversed(pairs):
        share = inverse * float(np.vdot(moved, q))
        shares.append(share)
        q -= share * difference
    q = metric(q)
    if pairs:
        _, difference, inverse = pairs[-1]
        q /= inverse * float(np.vdot(difference, metric(difference)))
    for (moved, difference, inverse), share in zip(pairs, reversed(shares), strict=True):
        q += (share - inverse * float(np.vdot(difference, q))) * moved
    return q
