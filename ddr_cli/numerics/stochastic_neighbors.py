"""Points that choose one another at random, near ones more often: the basis of NCA and MCML.

J. Goldberger, S. Roweis, G. Hinton and R. Salakhutdinov, "Neighbourhood Components Analysis", NIPS
17, 2004; A. Globerson and S. Roweis, "Metric Learning by Collapsing Classes", NIPS 18, 2005.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, minimize
from scipy.special import entr

from ddr_cli.numerics.eigen import extreme_eigenvalue
from ddr_cli.numerics.graph_embedding import symmetric
from ddr_cli.numerics.metric import FAR, Floats, MetricFit, best_multiple, limited_gap, whitening


def choices(points: Floats) -> tuple[Floats, Floats]:
    r"""Return the squared distances of all pairs, and the logarithms of the softmax's sums.

    Point i chooses j with probability
    :math:`p(j | i) = e^{-d_{ij}} / \sum_{k \ne i} e^{-d_{ik}}`. The diagonal of the distances is
    infinite: no point chooses itself. The logarithms are a column.
    """
    size = np.einsum("ij,ij->i", points, points)
    # In place: the matrices of all pairs are large, and new memory for each costs more than they.
    distances = points @ (-2 * points.T)
    distances += size[:, None]
    distances += size
    np.maximum(distances, 0.0, out=distances)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1, keepdims=True)
    closeness = nearest - distances
    np.exp(closeness, out=closeness)
    return distances, np.log(closeness.sum(axis=1, keepdims=True)) - nearest


def pair_form(X: Floats, weights: Floats) -> Floats:
    r"""Return :math:`\sum_{ij} w_{ij} (x_i - x_j)(x_i - x_j)^T` for dense weights of any sign."""
    both = weights + weights.T
    return symmetric(X.T @ (both.sum(axis=1)[:, None] * X - both @ X))


_MEMORY = 20  # pairs of steps that L-BFGS keeps


class Collapse:
    r"""The divergence of the softmax of distances from the indicator of the classes.

    .. math:: f(M) = \sum_i \mathrm{KL}(p_0(\cdot | i) \,\|\, p_M(\cdot | i)), \qquad
        p_M(j | i) = \frac{e^{-d_M(x_i, x_j)}}{\sum_{k \ne i} e^{-d_M(x_i, x_k)}},

    where :math:`p_0(j | i)` is the same for all other points j of the class of i and else 0. It is
    convex in M. A point that is alone in its class has no term.
    """

    def __init__(self, X: Floats, code: NDArray[np.intp]) -> None:
        self.X = X
        same = code[:, None] == code
        np.fill_diagonal(same, False)
        others = same.sum(axis=1)
        self._counted = others > 0
        self._target = same / np.maximum(others, 1)[:, None]
        self._constant = float(np.log(others[self._counted]).sum())

    def value(self, factor: Floats) -> float:
        """Return the objective of the metric ``factor @ factor.T``."""
        return self._evaluate(factor)[0]

    def value_and_gradient(self, factor: Floats) -> tuple[float, Floats]:
        """Return the objective of the metric ``factor @ factor.T``, and its gradient there."""
        value, chance = self._evaluate(factor)
        np.subtract(self._target, chance, out=chance)
        chance[~self._counted] = 0.0
        return value, pair_form(self.X, chance)

    def attraction(self) -> Floats:
        """Return the scatter of the pairs of one class, with the weights of the objective."""
        return pair_form(self.X, self._target)

    def bound(self, factor: Floats) -> float:
        r"""Return a value that the objective of no metric is below, near the one at an optimum.

        For chances p with :math:`\sum p_{ij} C_{ij} \preceq \sum p_{0,ij} C_{ij}`,
        :math:`C_{ij} = (x_i - x_j)(x_i - x_j)^T`, it is the sum of their entropies less that of
        :math:`p_0`, by the duality of the exponential sum and the entropy. Those of the metric at
        hand nearly are such chances; moved a little towards always choosing the nearest point they
        are. The right-hand side must be a multiple of I.
        """
        _, p = self._evaluate(factor)
        unit = float(np.trace(self.attraction())) / self.X.shape[1]
        near, _ = choices(self.X)
        q = np.zeros_like(p)
        q[np.arange(len(q)), near.argmin(axis=1)] = 1.0
        p[~self._counted] = q[~self._counted] = 0.0
        reach, least = (
            extreme_eigenvalue(pair_form(self.X, chance), largest=True) / unit for chance in (p, q)
        )
        if reach > 1.0:
            if least >= 1.0:
                return 0.0
            share = (reach - 1.0) / (reach - least)
            p = (1 - share) * p + share * q
        return float(entr(p).sum()) - self._constant

    def _evaluate(self, factor: Floats) -> tuple[float, Floats]:
        distances, totals = choices(self.X @ factor)
        diagonal = np.einsum("ii->i", distances)
        diagonal[:] = 0.0
        attained = float(np.vdot(self._target, distances))
        diagonal[:] = np.inf
        distances += totals
        chance = np.exp(np.negative(distances, out=distances), out=distances)
        return attained + float(totals[self._counted].sum()) - self._constant, chance


def collapsing_metric(
    X: Floats, code: NDArray[np.intp], *, tol: float = 1e-5, max_iter: int = 1000
) -> MetricFit:
    r"""Minimise `Collapse` over all metrics; the gradient of the answer is that by the factor.

    The points are in units in which their distances are about 1, `tol` is the largest gap allowed,
    relative to the objective at the start, the best multiple of the identity, and `max_iter` the
    number of iterations of L-BFGS.

    L-BFGS works on a square factor F of :math:`M = F F^T`, of full rank at the start, and so
    needs no projection. The problem in F is not convex, that in M is. The coordinates are those in
    which the scatter within the classes is a multiple of I: whatever the units of the data, the
    way and its end are then the same. Where that scatter is singular (about as many features as
    points) they stay; the descent then ends where no metric of `FAR` times the trace is better, and
    all that is proved is that no objective is below 0.
    """
    problem, d = Collapse(X, code), X.shape[1]
    coordinates = whitening(X, problem.attraction())
    if coordinates is not None:
        problem = Collapse(X @ coordinates, code)
    identity = np.eye(d)
    scale = best_multiple(lambda s: problem.value(math.sqrt(s) * identity))
    state = _Descent(problem, math.sqrt(scale) * identity, tol, regular=coordinates is not None)
    if state.gap > state.enough:
        minimize(
            state.objective,
            state.factor.ravel(),
            jac=True,
            method="L-BFGS-B",
            callback=state.after_iteration,
            options={
                "maxiter": max_iter,
                "maxfun": 20 * max_iter,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": 0.0,
            },
        )
    if coordinates is not None:
        state.prove()
    factor = state.factor if coordinates is None else coordinates @ state.factor
    return MetricFit(
        metric=factor @ factor.T,
        objective_path=np.array(state.path),
        gradient_norm=float(np.linalg.norm(2 * state.gradient @ state.factor)),
        gap=state.gap if coordinates is not None else state.path[-1],
        converged=state.gap <= state.enough,
    )


class _Descent:
    """The accepted iterates of a descent in the factor, and when it is near enough."""

    def __init__(self, problem: Collapse, factor: Floats, tol: float, *, regular: bool) -> None:
        self._problem, self._regular = problem, regular
        self.path: list[float] = []
        value, gradient = problem.value_and_gradient(factor)
        self.enough = tol * value
        self._accept(factor, value, gradient)

    def objective(self, flat: Floats) -> tuple[float, Floats]:
        factor = flat.reshape(self.factor.shape)
        self._last = (flat.copy(), *self._problem.value_and_gradient(factor))
        return self._last[1], 2 * (self._last[2] @ factor).ravel()

    def after_iteration(self, intermediate_result: OptimizeResult) -> None:
        flat = intermediate_result.x
        if not np.array_equal(flat, self._last[0]):
            self.objective(flat)
        self._accept(flat.reshape(self.factor.shape).copy(), *self._last[1:])
        if self.gap <= self.enough:
            raise StopIteration

    def _accept(self, factor: Floats, value: float, gradient: Floats) -> None:
        self.factor, self.gradient = factor, gradient
        self.path.append(value)
        along = float(np.sum(factor * (gradient @ factor)))
        trace = float(np.sum(factor**2)) * (1 if self._regular else FAR)
        self.gap = limited_gap(value, value - along, gradient, trace)
        # What is proved for all metrics costs an evaluation more.
        if self._regular and self.gap <= self.enough:
            self.prove()

    def prove(self) -> None:
        """Set the gap to one that holds for all metrics."""
        value = self.path[-1]
        self.gap = min(value, max(self.gap, value - self._problem.bound(self.factor)))
