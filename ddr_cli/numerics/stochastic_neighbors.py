"""Points that choose one another at random, near ones more often, as in NCA and MCML.

J. Goldberger, S. Roweis, G. Hinton and R. Salakhutdinov, "Neighbourhood Components Analysis", NIPS
17, 2004; A. Globerson and S. Roweis, "Metric Learning by Collapsing Classes", NIPS 18, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from ddr_cli.numerics import lbfgs
from ddr_cli.numerics.eigen import extreme_eigenvalue
from ddr_cli.numerics.mahalanobis import (
    FAR,
    MetricFit,
    best_multiple,
    limited_gap,
    whitening,
)
from ddr_cli.numerics.neighbor_graphs import class_members
from ddr_cli.numerics.neighbors import Floats, blocks, kneighbors
from ddr_cli.numerics.rounding import steady, steady_value
from ddr_cli.numerics.scatter import symmetric

_MEMORY = 20  # number of updates that L-BFGS stores
_BLOCK = 2**16  # pairs of points in memory at once, few enough for a processor's cache


def softmax_blocks(mapped: Floats) -> Iterator[tuple[slice, Floats, Floats, Floats]]:
    r"""Yield blocks of points with :math:`c_i e^{-d_{ij}}` for all j, their sums and logarithms.

    Point i chooses j, another point, with probability :math:`p(j | i) = e^{-d_{ij}} / \sum_{k \ne
    i} e^{-d_{ik}}`. The sums are over the rows; the logarithms are those of the denominators,
    without the factor :math:`c_i`, which prevents underflow of a row.
    """
    n = len(mapped)
    squares = np.einsum("ij,ij->i", mapped, mapped)
    doubled = 2 * mapped.T
    for rows in blocks(n, _BLOCK // n):
        # Computed in place, and without |x_i|^2, on which the probabilities of i do not depend.
        closeness = mapped[rows] @ doubled
        closeness -= squares
        closeness.flat[rows.start :: n + 1] = -np.inf
        nearest = closeness.max(axis=1)
        closeness -= nearest[:, None]
        np.exp(closeness, out=closeness)
        sums = closeness.sum(axis=1)
        yield rows, closeness, sums, np.log(sums) + nearest - squares[rows]


def right_choices(A: Floats, X: Floats, code: NDArray[np.intp]) -> tuple[float, Floats]:
    r"""Return the expected number of points that choose their own class, and its gradient.

    The distances are those of the points mapped by A; the gradient is with respect to A.
    """
    mapped = X @ A.T
    extended = np.column_stack([mapped, np.ones(len(X))])
    right, pulled, pull = 0.0, np.zeros_like(extended), np.empty_like(mapped)
    for rows, closeness, sums, _ in softmax_blocks(mapped):
        # If i chooses its own class with probability p_i, d p_i / d(-d_ij) = p_ij ([same class] -
        # p_i).
        weights = closeness * (code[rows, None] == code)
        chance = weights.sum(axis=1) / sums
        right += float(chance.sum())
        closeness *= chance[:, None]
        weights -= closeness
        per_sum = extended[rows] / sums[:, None]
        pull[rows] = (weights @ mapped) / sums[:, None]
        pulled += weights.T @ per_sum
    pull += pulled[:, :-1] - pulled[:, -1:] * mapped
    return right, 2 * pull.T @ X


@dataclass(frozen=True, eq=False)
class Divergence:
    """`Collapse` at a metric ``factor @ factor.T``."""

    factor: Floats
    value: float
    gradient: Floats  # with respect to the metric
    log_sums: Floats  # logarithm of the softmax denominator of each point


class Collapse:
    r"""The divergence between the softmax of distances and the indicator of the classes.

    .. math:: f(M) = \sum_i \mathrm{KL}(p_0(\cdot | i) \,\|\, p_M(\cdot | i)), \qquad
        p_M(j | i) = \frac{e^{-d_M(x_i, x_j)}}{\sum_{k \ne i} e^{-d_M(x_i, x_k)}},

    where :math:`p_0(j | i)` is the same for all other points j of the class of i, and 0 for the
    others. It is convex in M. A point that is alone in its class contributes no term.
    """

    def __init__(self, X: Floats, code: NDArray[np.intp]) -> None:
        self.X = X
        others = np.bincount(code)[code] - 1
        self._counted = others > 0
        self._constant = float(np.log(others[self._counted]).sum())
        # The scatter of the pairs within classes, weighted as in the objective.
        self.attraction = np.zeros((X.shape[1], X.shape[1]))
        for rows in class_members(code):
            if len(rows) > 1:
                own = X[rows] - X[rows].mean(axis=0)
                self.attraction += 2 * len(rows) / (len(rows) - 1) * (own.T @ own)

    def at(self, factor: Floats) -> Divergence:
        """Return value and gradient at the metric ``factor @ factor.T``."""
        log_sums, repulsion = self._chances(factor)
        attained = float(np.vdot(factor, self.attraction @ factor))
        value = attained + float(log_sums[self._counted].sum()) - self._constant
        return Divergence(factor, value, self.attraction - repulsion, log_sums)

    def _chances(self, factor: Floats) -> tuple[Floats, Floats]:
        r"""Return the logarithms of the sums, and :math:`\sum p_{ij} (x_i - x_j)(x_i - x_j)^T`."""
        X, (n, d) = self.X, self.X.shape
        log_sums, chosen, means = np.empty(n), np.zeros(n), np.empty((n, d))
        for rows, closeness, sums, logarithms in softmax_blocks(X @ factor):
            log_sums[rows] = logarithms
            per_sum = self._counted[rows] / sums
            chosen += per_sum @ closeness
            means[rows] = per_sum[:, None] * (closeness @ X)
        ends = X.T @ ((self._counted + chosen)[:, None] * X)
        return log_sums, symmetric(ends - 2 * (X.T @ means))

    def bound(self, found: Divergence) -> float:
        r"""Return a lower bound on the objective of all metrics, which is sharp at an optimum.

        For probabilities p with :math:`\sum p_{ij} C_{ij} \preceq \sum p_{0,ij} C_{ij}`,
        :math:`C_{ij} = (x_i - x_j)(x_i - x_j)^T`, it is the sum of their entropies minus that of
        :math:`p_0`, by the duality of the exponential sum and the entropy. Those of the current
        metric nearly satisfy this; they do after a small move towards always choosing the nearest
        point. The right-hand side must be a multiple of I.
        """
        counted = self._counted
        near = kneighbors(self.X, 1).indices[:, 0]
        to_near = (self.X - self.X[near])[counted]
        repulsion = self.attraction - found.gradient
        unit = float(np.trace(self.attraction)) / self.X.shape[1]
        reach, least = (
            extreme_eigenvalue(scatter, largest=True) / unit
            for scatter in (repulsion, to_near.T @ to_near)
        )
        if least >= 1.0 < reach:
            return 0.0
        share = (reach - 1.0) / (reach - least) if reach > 1.0 else 0.0
        # The entropy of each point's probabilities follows from -log p = d + log(sum). The move
        # towards the nearest point multiplies all other probabilities by 1 - share.
        log_sums = found.log_sums[counted]
        entropy = float(np.vdot(found.factor, repulsion @ found.factor) + log_sums.sum())
        nearest = np.exp(-np.sum((to_near @ found.factor) ** 2, axis=1) - log_sums)
        kept = (1 - share) * nearest
        moved = float((entr(kept + share) - entr(kept)).sum())
        entropy = (1 - share) * entropy + len(log_sums) * float(entr(1 - share)) + moved
        return entropy - self._constant


def collapsing_metric(
    X: Floats, code: NDArray[np.intp], *, tol: float = 1e-5, max_iter: int = 1000
) -> MetricFit:
    r"""Minimise `Collapse` over all metrics; the result's gradient is with respect to the factor.

    The points are in units in which their distances are about 1; `tol` is the largest accepted gap,
    relative to the objective at the start (the best multiple of the identity); `max_iter` is the
    largest number of iterations of L-BFGS.

    L-BFGS works on a square factor F of :math:`M = F F^T`, of full rank at the start, and so needs
    no projection. The problem is not convex in F, but it is in M. The coordinates are those in
    which the scatter within the classes is a multiple of I, so the path and its end do not depend
    on the units of the data. If that scatter is singular (about as many features as points), they
    are not changed; the iterations then end when no metric of at most `FAR` times the trace is
    better, and the only proven bound is 0.
    """
    problem, d = Collapse(X, code), X.shape[1]
    coordinates = whitening(X, problem.attraction)
    if coordinates is not None:
        problem = Collapse(X @ coordinates, code)
    identity = np.eye(d)
    scale = best_multiple(lambda s: problem.at(math.sqrt(s) * identity).value)
    state = _Descent(problem, math.sqrt(scale) * identity, tol, regular=coordinates is not None)
    if state.gap > state.enough:
        lbfgs.minimize(
            state.objective,
            state.found.factor.ravel(),
            max_iter=max_iter,
            memory=_MEMORY,
            after_iteration=state.after_iteration,
        )
    if coordinates is not None:
        state.prove()
    found = state.found
    factor = found.factor if coordinates is None else coordinates @ found.factor
    # The factor's singular vectors are more accurate than the metric's eigenvectors, because the
    # entries of the metric scale with the squares of the units.
    turned = factor @ np.linalg.svd(factor)[2].T
    return MetricFit(
        metric=factor @ factor.T,
        factor=turned,
        objective_path=np.array(state.path),
        gradient_norm=float(np.linalg.norm(2 * found.gradient @ found.factor)),
        gap=state.gap if coordinates is not None else found.value,
        converged=state.has_converged,
    )


class _Descent:
    """The accepted iterates of a descent in the factor, and its stopping rule."""

    def __init__(self, problem: Collapse, factor: Floats, tol: float, *, regular: bool) -> None:
        self._problem, self._regular = problem, regular
        self.path: list[float] = []
        start = problem.at(factor)
        self._size = 2 * float(np.abs(problem.attraction @ factor).max())
        self.enough = tol * start.value
        self._accept(start)

    def objective(self, flat: Floats) -> tuple[float, Floats]:
        self._last = self._problem.at(flat.reshape(self.found.factor.shape))
        slope = 2 * (self._last.gradient @ self._last.factor).ravel()
        return steady_value(self._last.value), steady(slope, self._size)

    def after_iteration(self, _: lbfgs.Minimum) -> None:
        self._accept(self._last)  # a line search ends at its last evaluation
        if self.gap <= self.enough:
            raise StopIteration

    def _accept(self, found: Divergence) -> None:
        self.found = found
        self.path.append(found.value)
        along = float(np.vdot(found.factor, found.gradient @ found.factor))
        trace = float(np.sum(found.factor**2)) * (1 if self._regular else FAR)
        self._by_gradient = limited_gap(found.value, found.value - along, found.gradient, trace)
        self.gap = self._by_gradient
        # The proof for all metrics is expensive, and worth its cost only near the optimum.
        if self._regular and self.gap <= self.enough:
            self.prove()

    @property
    def has_converged(self) -> bool:
        """Whether the gap is small enough; without a proven gap, the gradient decides."""
        is_proved = self.gap < self.found.value
        return (self.gap if is_proved else self._by_gradient) <= self.enough

    def prove(self) -> None:
        """Set the gap to one that holds for all metrics."""
        value = self.found.value
        self.gap = min(value, max(self.gap, value - self._problem.bound(self.found)))
