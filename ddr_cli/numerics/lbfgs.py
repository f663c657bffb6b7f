"""L-BFGS with bounds whose path is the same on every processor.

Sums differ in their last bits between processors. An iteration carries the difference on and
enlarges it, until it ends at another optimum or stops a step earlier. SciPy's L-BFGS-B does so
because it uses BLAS; this one does not, and its objectives lose their last bits by `steady`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ddr_cli.numerics.neighbors import Floats

Objective = Callable[[Floats], tuple[float, Floats]]

_ENOUGH = 1e-4  # fraction of the decrease that the slope promises
_SHORTEST = 1e-12  # a step below this fraction of the direction can't decrease the objective


@dataclass(frozen=True, eq=False)
class Minimum:
    """The last point, its value and gradient, and whether a tolerance ended the search."""

    x: Floats
    value: float
    gradient: Floats
    converged: bool = False


def minimize(
    objective: Objective,
    x: Floats,
    *,
    bounds: tuple[float, float] = (-np.inf, np.inf),
    least_gain: float = 0.0,
    least_slope: float = 0.0,
    max_iter: int,
    memory: int = 10,
    after_iteration: Callable[[Minimum], object] | None = None,
) -> Minimum:
    """Return the minimum that L-BFGS finds from `x`, all of whose entries have the same bounds.

    The search ends when an iteration gains at most `least_gain` of the value's size (1 if that is
    smaller), when no entry of the gradient that the bounds leave free exceeds `least_slope`, or
    when `after_iteration` raises StopIteration. A direction has no component along entries that the
    gradient pushes beyond their bound (Bertsekas' two-metric projection).
    """
    found = Minimum(x, *objective(x))
    steps: deque[tuple[Floats, Floats]] = deque(maxlen=memory)
    for _ in range(max_iter):
        x, gradient = found.x, found.gradient
        free = ~(((x <= bounds[0]) & (gradient > 0)) | ((x >= bounds[1]) & (gradient < 0)))
        along = np.where(free, gradient, 0.0)
        direction = np.where(free, -_times_inverse_hessian(along, steps), 0.0)
        if not steps or _dot(direction, along) >= 0:
            steps.clear()
            direction = -along / max(1.0, _sum(np.abs(along)))
        is_flat = np.abs(along).max(initial=0.0) <= least_slope
        new = None if is_flat else _line_search(objective, found, direction, bounds)
        if new is None:
            return replace(found, converged=True)
        step = new.x - x, new.gradient - gradient
        if _dot(*step) > np.finfo(float).eps * _dot(step[1], step[1]):
            steps.append(step)
        gain, found = found.value - new.value, new
        try:
            if after_iteration is not None:
                after_iteration(found)
        except StopIteration:
            return replace(found, converged=True)
        if gain <= least_gain * max(1.0, abs(found.value)):
            return replace(found, converged=True)
    return found


def _times_inverse_hessian(gradient: Floats, steps: deque[tuple[Floats, Floats]]) -> Floats:
    """Return the two-loop recursion's product with the gradient."""
    q, weights = gradient, []
    for moved, turned in reversed(steps):
        weights.append(_dot(moved, q) / _dot(moved, turned))
        q = q - weights[-1] * turned
    if steps:
        moved, turned = steps[-1]
        q = q * (_dot(moved, turned) / _dot(turned, turned))
    for (moved, turned), weight in zip(steps, reversed(weights), strict=True):
        q = q + (weight - _dot(turned, q) / _dot(moved, turned)) * moved
    return q


def _line_search(
    objective: Objective, found: Minimum, direction: Floats, bounds: tuple[float, float]
) -> Minimum | None:
    """Return a point with enough decrease, None if there is none."""
    length = 1.0
    while length > _SHORTEST:
        x = np.clip(found.x + length * direction, *bounds)
        value, gradient = objective(x)
        promised = _dot(found.gradient, x - found.x)
        if value <= found.value + _ENOUGH * promised:
            return Minimum(x, value, gradient)
        # The minimum of the parabola through both values with the slope at the start, to a
        # sixteenth, so that the last bits of a value change no step.
        curved = 2 * (value - found.value - promised)
        parabola = -promised / curved if curved > 0 else 0.0
        length *= min(8, max(2, round(16 * parabola))) / 16
    return None


def _dot(a: Floats, b: Floats) -> float:
    return _sum(a * b)


def _sum(terms: Floats) -> float:
    # The terms are added one after the other; the order of NumPy's sum depends on its version.
    return float(np.cumsum(terms)[-1]) if len(terms) else 0.0
