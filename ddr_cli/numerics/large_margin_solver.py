"""The proximal point method for the large margin metric."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, minimize

from ddr_cli.numerics.large_margin import LargeMargin, Triples
from ddr_cli.numerics.metric_cone import (
    Floats,
    Indices,
    MetricFit,
    best_multiple,
    cone_factor,
    optimality_gap,
)

_LENGTHEN = 3.0  # after an easy step the next may go so much farther
_EASY = 150  # evaluations of the dual in an easy step
_SHARE = 0.1  # a step's own gap, as a share of what it gains
_PRECISE = 0.01  # a step's own gap that always suffices, as a share of the gap asked for
_INNER = 500  # most iterations of L-BFGS for one step


def large_margin_metric(problem: LargeMargin, *, tol: float, max_iter: int) -> MetricFit:
    r"""Minimise `LargeMargin` over all metrics.

    Parameters
    ----------
    problem : LargeMargin
        Its points in units in which their distances are about 1.
    tol : float
        The largest gap allowed, relative to the objective at the start, the best multiple of the
        identity.
    max_iter : int
        Most steps.

    Returns
    -------
    MetricFit
        Its gradient is :math:`(M_{s} - M_{s+1}) / t` of the last step, up to the step's own gap a
        subgradient of the objective plus a normal of the cone at the last metric.

    Notes
    -----
    A step goes from :math:`M_s` to the minimum of
    :math:`f(M) + \|M - M_s\|^2 / 2t` over the cone. Its dual is smooth and has bounds as its only
    constraints:

    .. math:: \max_{0 \le \alpha \le \mu} \sum \alpha
        + \frac{\|M_s\|^2 - \|M(\alpha)\|^2}{2t}, \qquad
        M(\alpha) = \Pi(M_s - t \, \mathrm{slope}(\alpha)),

    with the projection :math:`\Pi` on the cone; L-BFGS-B solves it. Only triples that have missed
    their margin on the way have a multiplier: a step counts when the objective with all triples
    falls, by at least half of what these promised.
    """
    d = problem.X.shape[1]
    scale = best_multiple(lambda s: problem.value(math.sqrt(s) * np.eye(d)))
    factor = math.sqrt(scale) * np.eye(d)
    metric, path = scale * np.eye(d), [problem.value(factor)]
    enough, gap, gradient_norm = tol * path[0], path[0], 0.0
    keys = problem.impostors(factor)
    multipliers = np.zeros(len(keys))
    length = float(np.sum(metric**2)) / path[0] if path[0] > 0 else 0.0
    while gap > enough and len(path) <= max_iter:
        step, value, effort = _step(problem, keys, multipliers, metric, path[-1], length, enough)
        if value < path[-1]:
            gradient_norm = float(np.linalg.norm(metric - step.metric)) / length
            metric, factor = step.metric, step.factor
        path.append(min(value, path[-1]))
        lower = float(step.multipliers.sum())
        # No metric costs less than nothing.
        gap = min(path[-1], optimality_gap(path[-1], lower, step.slope, float(np.trace(metric))))
        active = step.multipliers > 0
        keys, multipliers = _with_triples(
            step.keys[active], step.multipliers[active], problem.impostors(factor)
        )
        # A step whose own problem was hard to solve went too far.
        length *= _LENGTHEN if effort < _EASY else 1 / _LENGTHEN
    return MetricFit(metric, np.array(path), gradient_norm, gap, converged=gap <= enough)


@dataclass(frozen=True, eq=False)
class _Step:
    """The best answer to a step's problem that was met while its dual was solved."""

    keys: Indices
    multipliers: Floats
    slope: Floats
    factor: Floats
    metric: Floats
    primal: float


def _step(
    problem: LargeMargin,
    keys: Indices,
    multipliers: Floats,
    centre: Floats,
    before: float,
    length: float,
    enough: float,
) -> tuple[_Step, float, int]:
    """Return a step's answer, the objective there and how often its dual was evaluated.

    Triples are added until they suffice.
    """
    while True:
        dual = _Dual(Triples(problem, keys), centre, length, before, enough)
        dual.maximise(multipliers)
        step = dual.best
        value = problem.value(step.factor)
        moved = float(np.sum((step.metric - centre) ** 2)) / (2 * length)
        if value + moved <= (before + step.primal) / 2:
            return step, value, dual.evaluations
        more, start = _with_triples(step.keys, step.multipliers, problem.impostors(step.factor))
        if len(more) == len(step.keys):
            return step, value, dual.evaluations
        keys, multipliers = more, start


def _with_triples(keys: Indices, multipliers: Floats, more: Indices) -> tuple[Indices, Floats]:
    """Return the triples of both, with the multipliers of the first and 0 for the others."""
    together = np.union1d(keys, more)
    values = np.zeros(len(together))
    values[np.searchsorted(together, keys)] = multipliers
    return together, values


class _Dual:
    """The dual of one step, and the best of the answers that its evaluations come by."""

    best: _Step

    def __init__(
        self, triples: Triples, centre: Floats, length: float, before: float, enough: float
    ) -> None:
        self._triples, self._centre, self._length = triples, centre, length
        self._before, self._enough = before, enough
        self._highest, self._lowest = -math.inf, math.inf
        self.evaluations = 0

    def maximise(self, start: Floats) -> None:
        """Look for the dual's maximum from `start`; `best` is then what it comes to."""
        if not len(start):  # without impostors there is nothing to choose
            self.negative(start)
            return
        minimize(
            self.negative,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, self._triples.push)] * len(start),
            callback=self.after_iteration,
            options={"maxiter": _INNER, "maxfun": 2 * _INNER, "ftol": 0.0, "gtol": 0.0},
        )

    def negative(self, multipliers: Floats) -> tuple[float, Floats]:
        """Return the dual's value and gradient, both negated."""
        self.evaluations += 1
        slope = self._triples.slope(multipliers)
        factor = cone_factor(self._centre - self._length * slope)
        metric = factor @ factor.T
        pull, margins = self._triples.pull_and_margins(factor)
        twice = 2 * self._length
        value = float(multipliers.sum()) + float(np.sum(self._centre**2) - np.sum(metric**2)) / (
            twice
        )
        missed = self._triples.push * float(np.maximum(margins, 0.0).sum())
        primal = pull + missed + float(np.sum((metric - self._centre) ** 2)) / twice
        self._highest = max(self._highest, value)
        if primal < self._lowest:
            self._lowest = primal
            self.best = _Step(self._triples.keys, multipliers.copy(), slope, factor, metric, primal)
        return -value, -margins

    def after_iteration(self, intermediate_result: OptimizeResult) -> None:  # noqa: ARG002
        """Stop when the rest is small beside what the step gains, or beside what is asked for."""
        gained = self._before - self._lowest
        if self._lowest - self._highest <= max(_SHARE * gained, _PRECISE * self._enough):
            raise StopIteration
