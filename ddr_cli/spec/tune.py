"""Tuning: the settings that are compared for each method inside the training set."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from ddr_cli.core.errors import InputError
from ddr_cli.spec.components import Item
from ddr_cli.spec.estimators import in_form
from ddr_cli.spec.feasible import WIDTH, Limits
from ddr_cli.spec.model import Spec, TuneSpec
from ddr_cli.spec.sweeps import Setting

_LOG_MOST_DRAWN = 10

Point = tuple[int | None, ...]
"""The position of a setting on each axis; None is the item's own value, which may not be on it."""

Axes = Mapping[str, Sequence[JsonValue]]
Pair = tuple[Setting, Setting]


@dataclass(frozen=True)
class Tuning:
    """How the setting of a tuned trial is selected within its training set.

    The `candidates`, each a setting of a reducer and of an evaluator, the default one first, are
    compared by their mean `metric` over `repeats` stratified divisions into `folds`.
    """

    candidates: tuple[tuple[Setting, Setting], ...]
    folds: int
    repeats: int
    metric: str


def tunings_of(
    spec: Spec, pairs: Sequence[tuple[tuple[Item, Setting], tuple[Item, Setting]]], limits: Limits
) -> list[Tuning | None]:
    """Return the tuning of each pair of a reducer's and an evaluator's default setting.

    It is None for a measure, and if the spec doesn't tune.
    """
    if spec.tune is None:
        return [None] * len(pairs)
    search = _Search(spec, spec.tune, limits)
    return [search.of(*reducer, *evaluator) for reducer, evaluator in pairs]


class _Search:
    """Finds candidates; equal settings share one object, so that each is examined once."""

    def __init__(self, spec: Spec, tune: TuneSpec, limits: Limits) -> None:
        self._spec = spec
        self._tune = tune
        self._limits = limits.inner(tune.folds)
        self._settings: dict[str, Setting] = {}
        self._found: dict[tuple[int, int, Point], Setting | None] = {}

    def of(self, item: Item, reducer: Setting, scorer: Item, evaluator: Setting) -> Tuning | None:
        if not scorer.is_tunable or getattr(scorer, "only_on", None):
            return None
        for setting in (reducer, evaluator):
            self._settings.setdefault(setting.text, setting)
        own, other = self._axes(item, reducer), self._axes(scorer, evaluator)
        sizes = [len(values) for values in (*own.values(), *other.values())]
        tune, default = self._tune, (reducer, evaluator)
        found: dict[tuple[str, str], Pair] = {}
        # The default setting counts towards the budget even if it is not on the grid.
        for budget in (tune.budget, tune.budget - 1):
            points: Iterable[Point] = ()
            if budget and (prod(sizes) <= budget or tune.search == "grid"):
                points = thinned(sizes, budget)
            elif budget:
                points = drawn(sizes, self._spec.split.seed)
            found = {(reducer.text, evaluator.text): default}
            for point in points:
                first = self._at(item, reducer, own, point[: len(own)])
                second = self._at(scorer, evaluator, other, point[len(own) :])
                if first is not None and second is not None:
                    found.setdefault((first.text, second.text), (first, second))
                if tune.search == "sobol" and len(found) == tune.budget:
                    break
            if len(found) <= tune.budget:
                break
        return Tuning(tuple(found.values()), tune.folds, tune.repeats, str(tune.metric))

    def _axes(self, item: Item, setting: Setting) -> Axes:
        """Return the possible values of an item's tuned parameters for this method."""
        axes: dict[str, Sequence[JsonValue]] = dict(item.grids if item.is_tunable else {})
        if WIDTH in axes and item.section == "reducers":
            traits = item.traits(setting.params)
            axes[WIDTH] = [
                value
                for value in axes[WIDTH]
                if not self._limits.excludes(traits, {WIDTH: value}, setting.mode)
            ]
        return {name: values for name, values in axes.items() if values}

    def _at(self, item: Item, default: Setting, axes: Axes, point: Point) -> Setting | None:
        """Return a setting, None if it is impossible; candidates that share it share the object."""
        key = id(item), id(default), point
        if key not in self._found:
            self._found[key] = self._made(item, default, axes, point)
        return self._found[key]

    def _made(self, item: Item, default: Setting, axes: Axes, point: Point) -> Setting | None:
        chosen = {
            name: values[at]
            for (name, values), at in zip(axes.items(), point, strict=True)
            if at is not None
        }
        try:
            params = in_form(item.factory, {**default.params, **chosen})
            traits = item.traits(params)
        except InputError:
            return None
        if default.mode is not None and not getattr(traits, default.mode):
            return None
        setting = Setting(item.name, item.label, params, default.mode, traits.version)
        return self._settings.setdefault(setting.text, setting)


def thinned(sizes: Sequence[int], most: int) -> list[Point]:
    """Return points of a grid, with fewer values per axis, such that there are at most `most`.

    The longest axis loses a value until this is so, and any remaining room goes to the first axes.
    An axis is divided into as many equal parts as values are kept, and the middle of each part is
    kept; an axis with one remaining value keeps the item's own.

    >>> thinned([4, 2], 4)
    [(1, 0), (1, 1), (3, 0), (3, 1)]
    """
    kept = list(sizes)
    while prod(kept) > most:
        # Of several longest axes, the last is thinned first.
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


def drawn(sizes: Sequence[int], seed: int) -> Iterator[Point]:
    """Yield points of a grid by Sobol's sequence, which covers it evenly at any length.

    The seed shifts the sequence (R. Cranley, T. N. L. Patterson, 1976).
    """
    for row in (_sobol(len(sizes), seed) * sizes).astype(int):
        yield tuple(row.tolist())


@cache
def _sobol(n_axes: int, seed: int) -> NDArray[np.float64]:
    # scipy.stats loads slowly, so only this search imports it.
    from scipy.stats.qmc import Sobol

    # NumPy guarantees that a bit generator's raw stream never changes.
    shift = np.random.PCG64(seed).random_raw(n_axes) / 2.0**64
    places: NDArray[np.float64] = Sobol(n_axes, scramble=False).random_base2(_LOG_MOST_DRAWN)
    return (places + shift) % 1
