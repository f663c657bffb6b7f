r"""Maximum variance unfolding by a primal-dual interior-point method.

The method is Helmberg, Rendl, Vanderbei and Wolkowicz's ("An Interior-Point Method for
Semidefinite Programming", SIAM J. Optimization 6, 1996) with Mehrotra's predictor and corrector.
Two things are made of what is known of this programme. Every constraint has rank one, so the
matrix of the equations for the weights is :math:`(B K B^T) \circ (B S^{-1} B^T)`, where a general
solver factorises a system of the order of the number of entries of K. And K is the Gram matrix of
the bars of a spanning tree in units of their lengths (see `ddr_cli.numerics.mvu_tree`): the nodes'
own coordinates grow with the sheet that is unrolled, and the short bars drown in their rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from ddr_cli.numerics.mvu_framework import Floats, Framework
from ddr_cli.numerics.mvu_tree import TreeProgramme, tree_programme

_SHORT = 0.95  # share of the way to the boundary that a step goes
_GOOD = 1e-3  # an error that is already of use
_PATIENCE = 6  # iterations without a halved error before a good iterate is taken
_MORE_PATIENCE = 30  # before one that is not: narrow places take long to get through
_DENSE = 150  # below this order all eigenvalues are cheaper than one by iteration


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Where the iteration ended.

    Parameters
    ----------
    factor : ndarray of shape (n_nodes, n_nodes - 1)
        Z with K = Z Z', in scaled coordinates.
    weights : ndarray of shape (n_bars,)
        Feasible for the dual, so their sum bounds the trace.
    n_iter : int
        Iterations taken.
    """

    factor: Floats
    weights: Floats
    n_iter: int


def solve_interior(
    framework: Framework, *, give: float = 0.0, tol: float = 1e-6, max_iter: int = 100
) -> InteriorPoint:
    r"""Return the placement of largest trace, and the weights that prove it.

    Parameters
    ----------
    framework : Framework
    give : float, default=0
        By this times its weight a bar's squared length gives way, relative to it: the programme is
        :math:`\max \mathrm{tr} K - \|b^T K b - 1\|^2 / (2 g)`, which has a strictly feasible K
        and weights that stay finite where the lengths leave no room.
    tol : float, default=1e-6
        The relative gap between trace and bound, and the relative error of the squared lengths,
        at which to stop.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    InteriorPoint
        The best iterate. Where the lengths leave next to no room (they do in many a cluster of
        points in few dimensions) rounding ends the progress before `tol`; the caller judges.

    Notes
    -----
    Time grows with the cube, memory with the square of the number of bars.
    """
    programme = tree_programme(framework)
    state = _Iteration(programme, give)
    best, best_error, found = (state.gram, state.weights), np.inf, 0
    mark, halved = np.inf, 0
    for n_iter in range(max_iter):
        error = state.error()
        if error < best_error:
            best, best_error, found = (state.gram, state.weights), error, n_iter
        if error < 0.5 * mark:
            mark, halved = error, n_iter
        patience = _PATIENCE if best_error < _GOOD else _MORE_PATIENCE
        if best_error < tol or n_iter - halved >= patience or not state.advance():
            break
    gram, weights = best
    sizes, axes = np.linalg.eigh(gram)
    positive = sizes > 0
    factor = programme.placement @ (axes[:, positive] * np.sqrt(sizes[positive]))
    return InteriorPoint(factor, weights, found)


class _Iteration:
    """The primal K, the dual (w, S = L_w - C) and one step from here to the next."""

    def __init__(self, programme: TreeProgramme, give: float) -> None:
        self.programme = programme
        self.give = give
        N = programme.known
        r, m = programme.objective.shape[0], programme.bars.shape[0]
        # Along `known` both K and S are held at fixed positive values, so that both factorise.
        self.pin = N @ N.T
        self.size = float(r - N.shape[1])
        self.ridge = 1e-14
        uniform = programme.laplacian(np.ones(m)) + self.pin
        spread = scipy.linalg.eigh(
            programme.objective, uniform, eigvals_only=True, subset_by_index=(r - 1, r - 1)
        )
        self.weights: Floats = np.full(m, 2.0 * float(spread[0]))
        self.slack = self._slack(self.weights)
        level = float(self.weights.sum() / np.trace(programme.objective))
        self.gram: Floats = (np.eye(r) - self.pin) * level

    def error(self) -> float:
        """Return how far this point is from optimal: gap and lengths, both relative."""
        bound = float(self.weights.sum())
        given = self.give * float(self.weights @ self.weights)
        trace = _inner(self.programme.objective, self.gram)
        gap = max(_inner(self.gram, self.slack), abs(bound + given - trace))
        return max(gap / bound, float(np.abs(self._misfit()).max()))

    def advance(self) -> bool:
        """Go one step; False if rounding lets no step be found."""
        programme = self.programme
        hold = self.pin * float(np.trace(self.gram)) / self.size
        try:
            lower_slack = _cholesky(self.slack)
            lower_gram = _cholesky(self.gram + hold)
        except np.linalg.LinAlgError:
            return False
        identity = np.eye(len(self.gram))
        inverse = scipy.linalg.cho_solve((lower_slack, True), identity, check_finite=False)
        # Rounding must not leak along `known`, where S is not what it stands for.
        inverse = programme.squeeze(inverse)
        matrix = programme.between_bars(self.gram)
        matrix *= programme.between_bars(inverse)
        matrix.flat[:: len(matrix) + 1] += self.give
        equations = _Equations(matrix, self.ridge)
        self.ridge = equations.ridge
        misfit = self._misfit()
        mu = _inner(self.gram, self.slack) / self.size

        def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
            """Solve for the step that takes K S to (K + target) S, to first order."""
            change = equations.solve(programme.lengths(target) - misfit)
            moved = programme.apply_laplacian(change, inverse)
            return change, target - _symmetric(self.gram @ moved), moved

        change, towards, moved = direction(-self.gram)
        slope = programme.laplacian(change)
        primal, dual = _reach(lower_gram, towards), _reach(lower_slack, slope)
        predicted = _inner(self.gram + primal * towards, self.slack + dual * slope)
        centring = float(np.clip(predicted / self.size / mu, 1e-3, 1.0)) ** 2

        target = centring * mu * inverse - self.gram - _symmetric(towards @ moved)
        change, towards, _ = direction(target)
        slope = programme.laplacian(change)
        primal = _inside(self.gram + hold, towards, _reach(lower_gram, towards))
        dual = _inside(self.slack, slope, _reach(lower_slack, slope))
        if not max(primal, dual) > 0:
            return False
        self.gram = programme.squeeze(self.gram + primal * towards)
        self.weights = self.weights + dual * change
        self.slack = self._slack(self.weights)
        return True

    def _misfit(self) -> Floats:
        return 1.0 + self.give * self.weights - self.programme.lengths(self.gram)

    def _slack(self, weights: Floats) -> Floats:
        return self.programme.laplacian(weights) - self.programme.objective + self.pin


class _Equations:
    """The equations for the weights: scaled, with a ridge where bars repeat one another."""

    def __init__(self, matrix: Floats, ridge: float) -> None:
        self.scale = 1.0 / np.sqrt(matrix.diagonal())
        matrix *= self.scale[:, None]
        matrix *= self.scale
        self.matrix = matrix
        self.ridge = ridge
        while True:
            ridged = matrix.copy()
            ridged.flat[:: len(matrix) + 1] += self.ridge
            try:
                self.lower = scipy.linalg.cholesky(
                    ridged, lower=True, overwrite_a=True, check_finite=False
                )
                break
            except np.linalg.LinAlgError:
                self.ridge *= 10.0

    def solve(self, right: Floats) -> Floats:
        right = right * self.scale
        x = scipy.linalg.cho_solve((self.lower, True), right, check_finite=False)
        for _ in range(2):  # takes the ridge's effect back where the equations determine x
            rest = right - self.matrix @ x
            x = x + scipy.linalg.cho_solve((self.lower, True), rest, check_finite=False)
        return np.asarray(x * self.scale)


def _inner(A: Floats, B: Floats) -> float:
    return float(np.einsum("ij,ij->", A, B))


def _cholesky(A: Floats) -> Floats:
    return np.asarray(scipy.linalg.cholesky(A, lower=True, check_finite=False))


def _symmetric(A: Floats) -> Floats:
    return np.asarray((A + A.T) / 2)


def _reach(lower: Floats, towards: Floats) -> float:
    """Return the step, at most 1, that stays clear of the boundary of the cone."""
    half = scipy.linalg.solve_triangular(lower, towards, lower=True, check_finite=False)
    ratio = scipy.linalg.solve_triangular(lower, half.T, lower=True, check_finite=False)
    ratio = _symmetric(ratio)
    n = len(ratio)
    if n < _DENSE:
        smallest = float(scipy.linalg.eigvalsh(ratio, subset_by_index=(0, 0))[0])
    else:
        start = np.random.default_rng(0).standard_normal(n)
        found = eigsh(ratio, k=1, which="SA", tol=1e-2, v0=start, return_eigenvectors=False)
        smallest = float(found[0])
    return 1.0 if smallest > -_SHORT else -_SHORT / smallest


def _inside(start: Floats, towards: Floats, length: float) -> float:
    """Return the step, shortened until what it leads to is positive definite."""
    for _ in range(20):
        try:
            _cholesky(start + length * towards)
        except np.linalg.LinAlgError:
            length *= 0.8
        else:
            return length
    return 0.0
