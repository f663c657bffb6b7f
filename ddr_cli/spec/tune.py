"""The ``tune:`` of a spec: how a method's settings are chosen inside the training set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Le

from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.validation import problem_at, refuse
from ddr_cli.evaluation.folds import too_few_for_folds
from ddr_cli.evaluation.metrics import TRAINING_ERROR, get_scale, measured
from ddr_cli.spec.components import Context, StrictFrozen, Text

Point = tuple[int | None, ...]
"""Where on each axis a setting stands; None is the item's own value, which need not be on it."""


class TuneSpec(StrictFrozen):
    """How settings are chosen: by the mean of `metric` over stratified inner folds.

    At most `budget` settings of each method, a reducer with a classifier, are compared, its own
    first. Of a larger grid, ``grid`` keeps every axis but thins it evenly; ``random`` draws.
    """

    folds: Annotated[int, Ge(2), Le(1000)] = 3
    """Stratified inner folds of the training set; by groups if the split is by groups."""
    repeats: Annotated[int, Ge(1), Le(1000)] = 1
    """How often the training set is divided into these folds."""
    budget: Annotated[int, Ge(1), Le(10_000)] = 16
    """The largest number of settings of any method, its own setting included."""
    search: Literal["grid", "random"] = "grid"
    """How a larger grid is thinned: evenly, or drawn by the seed."""
    metric: Text | None = None
    """The metric to choose by; the first that scores classifiers, if not given."""

    def points(self, sizes: Sequence[int], seed: int) -> list[Point]:
        """Return up to `budget` points of a grid of these sizes, in the grid's order."""
        if self.budget == 0:
            return []
        if prod(sizes) <= self.budget or self.search == "grid":
            return thinned(sizes, self.budget)
        return drawn(sizes, self.budget, seed)


def with_metric(tune: TuneSpec, metrics: Sequence[str], context: Context) -> TuneSpec:
    """Return how to tune, complete: by default, by the first metric that scores classifiers.

    Raises pydantic.ValidationError if the metric can't be chosen by, or the training part is known
    to be too small for the folds.
    """
    known = [
        name
        for name in metrics
        if name not in measured() and name != TRAINING_ERROR and get_scale(name).better is not None
    ]
    problems = []
    metric = tune.metric or (known[0] if known else "error")
    # That a metric of the spec is wrong is said where it stands.
    if metrics and metric not in known:
        hint = did_you_mean(metric, known) or f" It has {' or '.join(known) or 'none'}."
        message = (
            f"settings are chosen by a metric by which the spec scores classifiers on test points, "
            f"and '{metric}' is none of them.{hint}"
        )
        problems.append(problem_at(("metric",), message))
    if context.class_sizes and (lack := too_few_for_folds(context.class_sizes, tune.folds)):
        problems.append(problem_at(("folds",), lack))
    refuse(problems)
    return tune.model_copy(update={"metric": metric})


def thinned(sizes: Sequence[int], most: int) -> list[Point]:
    """Return the points of a grid, of every axis so many values that they are `most` or less.

    The longest axis loses a value until they are, and what room is left goes to the first axes
    again. What is kept of an axis lies at its middle if it were cut into so many equal parts; an
    axis of which one value is left stays at the item's own.

    >>> thinned([4, 2], 4)
    [(1, 0), (1, 1), (3, 0), (3, 1)]
    """
    kept = list(sizes)
    while prod(kept) > most:
        # Of equally long ones the last is thinned first.
        longest = max(range(len(kept)), key=lambda axis: (kept[axis], axis))
        kept[longest] -= 1
    for axis in range(len(kept)):
        while kept[axis] < sizes[axis] and prod(kept) // kept[axis] * (kept[axis] + 1) <= most:
            kept[axis] += 1
    return list(product(*map(_spread, sizes, kept)))


def _spread(size: int, kept: int) -> list[int | None]:
    if kept == 1 < size:
        return [None]
    return [int((part + 0.5) * size / kept) for part in range(kept)]


def drawn(sizes: Sequence[int], count: int, seed: int) -> list[Point]:
    """Return `count` different points of a larger grid, drawn by the seed, in the grid's order."""
    total = prod(sizes)
    numbers: set[int] = set()
    for number in _raw(seed):
        numbers.add(number % total)
        if len(numbers) == min(count, total):
            break
    return [tuple(int(i) for i in np.unravel_index(n, sizes)) for n in sorted(numbers)]


def _raw(seed: int) -> Iterator[int]:
    # NumPy promises that a bit generator's raw stream never changes.
    generator = np.random.PCG64(seed)
    while True:
        yield int(generator.random_raw())
