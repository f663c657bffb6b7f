"""The settings that are compared for each method of a spec that tunes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import JsonValue

from ddr_cli.core.errors import InputError
from ddr_cli.spec.estimators import in_form
from ddr_cli.spec.feasible import WIDTH, Limits
from ddr_cli.spec.settings import Setting, Tuning
from ddr_cli.spec.tune import Point, TuneSpec

if TYPE_CHECKING:
    from ddr_cli.spec.components import Item
    from ddr_cli.spec.model import Spec

Axes = Mapping[str, Sequence[JsonValue]]
Pair = tuple[Setting, Setting]


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
    """Finds candidates; equal settings are one object, so that each is examined once."""

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
        # The default setting counts towards the budget, on the grid or not.
        for budget in (tune.budget, tune.budget - 1):
            points = tune.model_copy(update={"budget": budget}).points(sizes, self._spec.split.seed)
            found = {(reducer.text, evaluator.text): default}
            for point in points:
                first = self._at(item, reducer, own, point[: len(own)])
                second = self._at(scorer, evaluator, other, point[len(own) :])
                if first is not None and second is not None:
                    found.setdefault((first.text, second.text), (first, second))
            if len(found) <= tune.budget:
                break
        return Tuning(tuple(found.values()), tune.folds, tune.repeats, str(tune.metric))

    def _axes(self, item: Item, setting: Setting) -> Axes:
        """Return the values of an item's tuned parameters that the method can be fitted at."""
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
        """Return a setting, or None if it is impossible; each is made once for all partners."""
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
