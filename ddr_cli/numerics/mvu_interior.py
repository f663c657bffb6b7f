r"""Maximum variance unfolding by a primal-dual interior-point method.

The method is Helmberg, Rendl, Vanderbei and Wolkowicz's ("An Interior-Point Method for
Semidefinite Programming", SIAM J. Optimization 6, 1996) with Mehrotra's predictor and corrector.
What general solvers can't know is that every constraint has rank one: the matrix of the equations
for the weights is :math:`(B K B^T) \circ (B S^{-1} B^T)`, two tables of differences, where a
general solver factorises a system of the order of the number of entries of K.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg
from scipy.sparse.linalg import eigsh

from ddr_cli.numerics.mvu_framework import Floats, Framework

_SHORT = 0.95  # share of the way to the boundary that a step goes
_PATIENCE = 8  # iterations without progress before the best one is taken
_DENSE = 150  # below this order all eigenvalues are cheaper than one by iteration


@dataclass(frozen=True, eq=False)
class InteriorPoint:
    """Where the iteration ended.

    Parameters
    ----------
    gram : ndarray of shape (n_nodes, n_nodes)
        K, in scaled coordinates.
    weights : ndarray of shape (n_bars,)
        Feasible for the dual, so their sum bounds the trace.
    n_iter : int
        Iterations taken.
    """

    gram: Floats
    weights: Floats
    n_iter: int


def solve_interior(
    framework: Framework, *, tol: float = 1e-6, max_iter: int = 100
) -> InteriorPoint:
    """Return the Gram matrix of largest trace, and the weights that prove it.

    Parameters
    ----------
    framework : Framework
    tol : float, default=1e-6
        The relative gap between trace and bound, and the relative error of the squared lengths,
        at which to stop.
    max_iter : int, default=100
        Most iterations.

    Returns
    -------
    InteriorPoint
        The best iterate. Where the lengths leave no room at all (they do in many a cluster of
        points in few dimensions) rounding ends the progress before `tol`; the caller judges.

    Notes
    -----
    Time grows with the cube, memory with the square of the number of bars.
    """
    state = _Iteration(framework)
    best, best_error, since = state.point(0), np.inf, 0
    for n_iter in range(max_iter):
        error = state.error()
        if error < best_error:
            best, best_error, since = state.point(n_iter), error, 0
        else:
            since += 1
        if best_error < tol or since == _PATIENCE or not state.advance():
            break
    return best


class _Iteration:
    """The primal K, the dual (w, S = Pi L_w Pi - I) and one step from here to the next."""

    def __init__(self, framework: Framework) -> None:
        self.framework = framework
        N = framework.known
        n, m = framework.n_nodes, framework.n_bars
        # Along `known` both K and S are held at fixed positive values, so that both factorise.
        self.pin = N @ N.T
        self.size = float(framework.rank)
        self.ridge = 1e-14
        uniform = framework.squeeze(framework.laplacian(np.ones(m)).toarray())
        smallest = np.linalg.eigvalsh(uniform + m * self.pin)[0]
        self.weights: Floats = np.full(m, 2.0 / smallest)
        self.slack = self._slack(self.weights)
        self.gram: Floats = (np.eye(n) - self.pin) * (self.weights.sum() / self.size)

    def point(self, n_iter: int) -> InteriorPoint:
        return InteriorPoint(self.gram, self.weights, n_iter)

    def error(self) -> float:
        """Return how far this point is from optimal: gap and lengths, both relative."""
        bound = float(self.weights.sum())
        gap = max(self._inner(self.gram, self.slack), abs(bound - float(np.trace(self.gram))))
        lengths = float(np.abs(self._misfit()).max())
        return max(gap / bound, lengths)

    def advance(self) -> bool:
        """Go one step; False if rounding lets no step be found."""
        fw = self.framework
        try:
            lower_slack = _cholesky(self.slack)
            lower_gram = _cholesky(self.gram + self._hold())
        except np.linalg.LinAlgError:
            return False
        identity = np.eye(fw.n_nodes)
        inverse = scipy.linalg.cho_solve((lower_slack, True), identity, check_finite=False)
        # Rounding must not leak along `known`, where S is not what it stands for.
        inverse = _symmetric(fw.squeeze(inverse))
        equations = _Equations(_differences(fw, self.gram) * _differences(fw, inverse), self.ridge)
        self.ridge = equations.ridge
        misfit = self._misfit()
        mu = self._inner(self.gram, self.slack) / self.size

        def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
            """Solve for the step that takes K S to `target` S, to first order."""
            change = equations.solve(fw.gram_lengths(target) - misfit)
            moved = fw.project(fw.laplacian(change) @ inverse)
            return change, target - _symmetric(self.gram @ moved), moved

        change, towards, moved = direction(-self.gram)
        slope = self._slope(change)
        primal, dual = _reach(lower_gram, towards), _reach(lower_slack, slope)
        predicted = self._inner(self.gram + primal * towards, self.slack + dual * slope)
        centring = float(np.clip(predicted / self.size / mu, 1e-3, 1.0)) ** 2

        target = centring * mu * inverse - self.gram - _symmetric(towards @ moved)
        change, towards, _ = direction(target)
        slope = self._slope(change)
        primal = self._inside(self.gram + self._hold(), towards, _reach(lower_gram, towards))
        dual = self._inside(self.slack, slope, _reach(lower_slack, slope))
        if not max(primal, dual) > 0:
            return False
        self.gram = _symmetric(fw.squeeze(self.gram + primal * towards))
        self.weights = self.weights + dual * change
        self.slack = self._slack(self.weights)
        return True

    def _misfit(self) -> Floats:
        return 1.0 - self.framework.gram_lengths(self.gram)

    def _slope(self, change: Floats) -> Floats:
        return self.framework.squeeze(self.framework.laplacian(change).toarray())

    def _slack(self, weights: Floats) -> Floats:
        return self._slope(weights) - np.eye(self.framework.n_nodes) + 2.0 * self.pin

    def _hold(self) -> Floats:
        return self.pin * float(np.trace(self.gram)) / self.size

    @staticmethod
    def _inner(A: Floats, B: Floats) -> float:
        return float(np.einsum("ij,ij->", A, B))

    @staticmethod
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


def _differences(framework: Framework, T: Floats) -> Floats:
    """Return B T B' by gathering rows, each bar being a difference of two nodes."""
    i, j = framework.heads, framework.tails
    p, q = framework.at_head[:, None], framework.at_tail[:, None]
    half = p * T[i]
    half -= q * T[j]
    half = np.ascontiguousarray(half.T)
    whole: Floats = half[i]
    whole *= p
    half = half[j]
    half *= q
    whole -= half
    return whole


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
