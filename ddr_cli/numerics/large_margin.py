r"""The convex problem of large margin nearest neighbour classification.

K. Q. Weinberger, J. Blitzer and L. K. Saul, "Distance Metric Learning for Large Margin Nearest
Neighbor Classification", NIPS 18, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ddr_cli.numerics import lbfgs
from ddr_cli.numerics.eigen import extreme_eigenvalue
from ddr_cli.numerics.mahalanobis import (
    FAR,
    MetricFit,
    PairForms,
    best_multiple,
    cone_factor,
    limited_gap,
    whitening,
)
from ddr_cli.numerics.neighbors import Floats, Indices, blocks
from ddr_cli.numerics.rounding import steady, steady_value
from ddr_cli.numerics.scatter import symmetric

_BLOCK = 4_000_000  # numbers in memory at once while all triples are checked
_ZERO = 1e-12  # fraction of the largest eigenvalue of a metric up to which others are rounding
_SHORT = 1e-5  # the same for the columns of a factor
_KEPT = 1e-9  # a margin violated by less counts as met, so that rounding creates no impostors


class LargeMargin:
    r"""The pull of the target neighbours and the push of the impostors.

    .. math:: f(M) = (1 - \mu) \sum_{ij} d_M(x_i, x_j)
        + \mu \sum_{ijl} [1 + d_M(x_i, x_j) - d_M(x_i, x_l)]_+

    over the target neighbours j of each point i, the (n, k) array `targets`, and all points l of
    other classes, with the weight :math:`\mu` (`push`) between 0 and 1. It is convex in M, and
    piecewise linear.
    """

    def __init__(
        self, X: Floats, code: NDArray[np.intp], targets: Indices, push: float = 0.5
    ) -> None:
        self.X, self.code, self.targets, self.push = X, code, targets, push

    def value(self, factor: Floats) -> float:
        """Return the objective of the metric ``factor @ factor.T``."""
        pull = missed = 0.0
        for _, own, margins in self._margins(factor):
            pull += float(own.sum())
            missed += float(np.maximum(margins, 0.0).sum())
        return (1 - self.push) * pull + self.push * missed

    def impostors(self, factor: Floats) -> Indices:
        """Return the triples that violate their margin, each as one number.

        Triple (i, j, l), where j is number t of the k targets of i, is ``(i k + t) n + l``.
        """
        k, missed = self.targets.shape[1], [np.empty(0, dtype=np.intp)]
        for start, _, margins in self._margins(factor):
            missed.append(np.flatnonzero(margins > _KEPT) + start * k * len(self.X))
        return np.concatenate(missed)

    def _margins(self, factor: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield blocks of points.

        An entry has the number of its first triple, the distances of the targets, and by how much
        each triple violates its margin, which is minus infinity if l is of the same class.
        """
        mapped = self.X @ factor
        size = np.einsum("ij,ij->i", mapped, mapped)
        n, k = self.targets.shape
        for rows in blocks(n, _BLOCK // (n * k)):
            distances = size[rows, None] + size - 2 * (mapped[rows] @ mapped.T)
            own = np.take_along_axis(distances, self.targets[rows], axis=1)
            distances[self.code[rows, None] == self.code] = np.inf
            yield rows.start, own, 1 + own[:, :, None] - distances[:, None, :]


class Triples:
    """Some of the triples of a problem, and the sums that their multipliers give."""

    def __init__(self, problem: LargeMargin, keys: Indices) -> None:
        n, k = problem.targets.shape
        self.keys, self.push = keys, problem.push
        pair, impostor = np.divmod(keys, n)
        starts = np.concatenate([np.repeat(np.arange(n), k), pair // k])
        ends = np.concatenate([problem.targets.ravel(), impostor])
        edges, number = np.unique(
            np.minimum(starts, ends) * n + np.maximum(starts, ends), return_inverse=True
        )
        self._forms = PairForms(problem.X, *np.divmod(edges, n))
        self._own, self._other = number[: n * k][pair], number[n * k :]
        self._pull = (1 - self.push) * np.bincount(number[: n * k], minlength=len(edges))

    def __len__(self) -> int:
        return len(self.keys)

    def slope(self, multipliers: Floats) -> Floats:
        r"""Return :math:`(1 - \mu) \sum C_{ij} + \sum \alpha_{ijl} (C_{ij} - C_{il})`.

        Where :math:`C_{ij} = (x_i - x_j)(x_i - x_j)^T`. With multipliers from 0 to :math:`\mu`
        the objective of any M is at least :math:`\sum \alpha + \mathrm{tr}(\mathrm{slope} M)`.
        """
        size = len(self._forms)
        own = np.bincount(self._own, multipliers, size)
        other = np.bincount(self._other, multipliers, size)
        return self._forms.scatter(np.asarray(self._pull + own - other))

    def pull_and_margins(self, factor: Floats) -> tuple[float, Floats]:
        """Return the weighted pull, and by how much each triple violates its margin."""
        distances = self._forms.distances(factor)
        return float(self._pull @ distances), 1 + distances[self._own] - distances[self._other]


# Products of samples and a metric's root with this many digits add up exactly, in any order.
_SAMPLE_DIGITS, _MOST_DIGITS, _FEWEST_DIGITS = 2.0**-22, 2.0**-24, 2.0**-18
_SPARE = 2.0**-5  # the root is rounded to this fraction of the accepted relative gap
_LENGTHEN = 3.0  # factor by which t grows after an easy step and shrinks after a hard one
_EASY, _HARD = 50, 200  # a step is easy with fewer evaluations of its dual, and hard with more
_SHARE = 0.1  # accepted gap of a step's own problem, as a fraction of the step's gain
_PRECISE = 0.3  # gap of a step's own problem that is accepted at first, as a fraction of `enough`
# A step is slow if it leaves more than this fraction of the gap; then the accepted gap of a step's
# own problem is multiplied by the second factor.
_SLOW, _TIGHTEN = 0.9, 0.1
_INNER = 500  # largest number of iterations of L-BFGS-B per step


def large_margin_metric(problem: LargeMargin, *, tol: float, max_iter: int) -> MetricFit:
    r"""Minimise `LargeMargin` over all metrics.

    `tol` is the largest gap allowed, relative to the objective at the start, and `max_iter` the
    number of steps. The gradient of the result is :math:`(M_{s} - M_{s+1}) / t` of the last step,
    which is, up to the step's own gap, a subgradient of the objective plus a normal of the cone.

    The steps use coordinates in which the scatter P of the target neighbours is a multiple of I,
    and start from the best multiple of I: the path and its end then do not depend on the units of
    the data, and far fewer steps are needed than from the Euclidean metric. Multipliers
    :math:`\alpha` prove the bound :math:`\sum \alpha` for all metrics if :math:`P + S(\alpha)`,
    their slope, has no negative eigenvalue. If its smallest eigenvalue is -e in units of P,
    :math:`\alpha / (1 + e)` prove their own sum, because S is linear. If P is singular (about as
    many features as points), the coordinates are not changed, the only proven bound is 0, and the
    steps end when no metric of at most `FAR` times the trace is better.

    A step goes from :math:`M_s` to the minimum of
    :math:`f(M) + \|M - M_s\|^2 / 2t` over the cone. Its dual is smooth and has bounds as its only
    constraints:

    .. math:: \max_{0 \le \alpha \le \mu} \sum \alpha + \frac{\|M_s\|^2 - \|M(\alpha)\|^2}{2t},
    \qquad M(\alpha) = \Pi(M_s - t \, \mathrm{slope}(\alpha)),

    with the projection :math:`\Pi` on the cone; L-BFGS-B solves it. Only triples that have violated
    their margin so far have a multiplier: a step is accepted if the objective with all triples
    falls by at least half of the predicted decrease.
    """
    pull = Triples(problem, np.empty(0, dtype=np.intp)).slope(np.empty(0))
    coordinates = whitening(problem.X, pull)
    X = problem.X if coordinates is None else problem.X @ coordinates
    X = _few_digits(X, _SAMPLE_DIGITS)
    problem = LargeMargin(X, problem.code, problem.targets, problem.push)
    if coordinates is not None:
        pulled = float(np.trace(coordinates.T @ pull @ coordinates)) / len(pull)

    bound = 0.0  # largest proven lower bound on the objective of all metrics

    def gaps(step: _Step, objective: float, metric: Floats) -> tuple[float, float]:
        """Return the values that end the steps, and the proven bound."""
        nonlocal bound
        lower = float(step.multipliers.sum())
        if coordinates is None:
            far = FAR * float(np.trace(metric))
            return limited_gap(objective, lower, step.slope, far), objective
        excess = max(0.0, -extreme_eigenvalue(step.slope, largest=False) / pulled)
        bound = max(bound, lower / (1 + excess))
        return (objective - bound,) * 2

    d = problem.X.shape[1]
    scale = best_multiple(lambda s: problem.value(math.sqrt(s) * np.eye(d)))
    factor = math.sqrt(scale) * np.eye(d)
    metric, path = scale * np.eye(d), [problem.value(factor)]
    enough, gradient_norm = tol * path[0], 0.0
    gap = proved = path[0]
    precise = _PRECISE * enough
    keys = problem.impostors(factor)
    multipliers = np.zeros(len(keys))
    length = float(np.sum(metric**2)) / path[0] if path[0] > 0 else 0.0
    while gap > enough and len(path) <= max_iter:
        step, value, effort = _step(problem, keys, multipliers, metric, path[-1], length, precise)
        if value < path[-1]:
            gradient_norm = float(np.linalg.norm(metric - step.metric)) / length
            metric, factor = step.metric, step.factor
        path.append(min(value, path[-1]))
        last, (gap, proved) = gap, gaps(step, path[-1], metric)
        # If a step gains less than the gap of its own problem, it may gain nothing at all. The next
        # step, from the same metric and multipliers, would then gain nothing either.
        if gap > _SLOW * last:
            precise *= _TIGHTEN
        active = step.multipliers > 0
        keys, multipliers = _with_triples(
            step.keys[active], step.multipliers[active], problem.impostors(factor)
        )
        # A step whose own problem was hard to solve was too long.
        if effort < _EASY:
            length *= _LENGTHEN
        elif effort > _HARD:
            length /= _LENGTHEN
    if coordinates is not None:
        metric = symmetric(coordinates @ metric @ coordinates.T)
    values, vectors = np.linalg.eigh(metric)
    return MetricFit(
        metric=metric,
        factor=vectors[:, ::-1] * np.sqrt(np.where(values > _ZERO * values[-1], values, 0.0))[::-1],
        objective_path=np.array(path),
        gradient_norm=gradient_norm,
        gap=proved,
        converged=gap <= enough,
    )


@dataclass(frozen=True, eq=False)
class _Step:
    """The best solution of a step's problem found while its dual was solved."""

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
    precise: float,
) -> tuple[_Step, float, int]:
    """Return a step's solution, its objective, and the number of evaluations of its dual.

    Triples are added until no others are needed.
    """
    while True:
        dual = _Dual(Triples(problem, keys), centre, length, before, precise)
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
    """Return the triples of both sets, with the first set's multipliers and 0 for the others."""
    together = np.union1d(keys, more)
    values = np.zeros(len(together))
    values[np.searchsorted(together, keys)] = multipliers
    return together, values


def _root(factor: Floats) -> Floats:
    """Return the symmetric root of a metric, which unlike a factor's columns is well determined."""
    lengths = np.linalg.norm(factor, axis=0)
    kept = lengths > _SHORT * lengths.max(initial=0.0)
    return np.asarray((factor[:, kept] / lengths[kept]) @ factor[:, kept].T)


def _few_digits(values: Floats, precision: float) -> Floats:
    return np.asarray(steady(values, float(np.abs(values).max(initial=0.0)), precision))


class _Dual:
    """The dual of one step, and the best of the solutions found by its evaluations."""

    best: _Step

    def __init__(
        self, triples: Triples, centre: Floats, length: float, before: float, precise: float
    ) -> None:
        self._triples, self._centre, self._length = triples, centre, length
        self._before, self._precise = before, precise
        self._digits = min(max(_MOST_DIGITS, _SPARE * precise / before), _FEWEST_DIGITS)
        self._highest, self._lowest = -math.inf, math.inf
        self.evaluations = 0

    def maximise(self, start: Floats) -> None:
        """Search for the dual's maximum from `start`; `best` is updated."""
        if not len(start):  # without impostors, the dual has no variables
            self.negative(start)
            return
        lbfgs.minimize(
            self.negative,
            start,
            bounds=(0.0, self._triples.push),
            max_iter=_INNER,
            after_iteration=self.after_iteration,
        )

    def negative(self, multipliers: Floats) -> tuple[float, Floats]:
        """Return the dual's value and gradient, both negated."""
        self.evaluations += 1
        slope = self._triples.slope(multipliers)
        factor = cone_factor(self._centre - self._length * slope)
        metric = factor @ factor.T
        root = _few_digits(_root(factor), self._digits)
        pull, margins = self._triples.pull_and_margins(root)
        twice = 2 * self._length
        value = float(multipliers.sum()) + float(np.sum(self._centre**2) - np.sum(metric**2)) / (
            twice
        )
        missed = self._triples.push * float(np.maximum(margins, 0.0).sum())
        primal = pull + missed + float(np.sum((metric - self._centre) ** 2)) / twice
        self._highest = max(self._highest, value)
        if primal < self._lowest:
            self._lowest = primal
            self.best = _Step(self._triples.keys, multipliers, slope, factor, metric, primal)
        return -steady_value(value), -margins

    def after_iteration(self, _: lbfgs.Minimum) -> None:
        """Stop if the gap is small relative to the step's gain, or small enough."""
        gained = self._before - self._lowest
        if self._lowest - self._highest <= max(_SHARE * gained, self._precise):
            raise StopIteration
