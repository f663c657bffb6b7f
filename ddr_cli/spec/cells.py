"""A spec becomes its trials: every split with every setting of every reducer and classifier."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

from pydantic import JsonValue

from ddr_cli.spec.estimators import (
    PREFIXES,
    complete,
    parameter_names,
    reducer_traits,
    registry_of,
    version_of,
)
from ddr_cli.spec.model import ClassifierSpec, MeasureSpec, ReducerSpec, Spec, SplitSpec

Sweep = Mapping[str, Sequence[JsonValue]]
Item = ReducerSpec | ClassifierSpec | MeasureSpec


@dataclass(frozen=True)
class SplitKey:
    """One split of a spec: its kind, its number from 0, and its name, such as ``resample-7``."""

    kind: str
    index: int
    name: str


@dataclass(frozen=True)
class Setting:
    """A reducer, classifier or measure at one point of the sweep.

    Parameters
    ----------
    name : str
        Its name in the registry.
    label : str
        The name shown.
    params : mapping
        All parameters of the estimator, as JSON has them.
    mode : str or None
        How a reducer embeds test points; None for others.
    version : int
        The version of its numbers.
    """

    name: str
    label: str
    params: Mapping[str, JsonValue]
    mode: str | None
    version: int


@dataclass(frozen=True)
class Cell:
    """One trial of a spec; a measure stands in the classifier's place."""

    split: SplitKey
    reducer: Setting
    classifier: Setting


def expand(spec: Spec) -> list[Cell]:
    """Return every trial of a spec once, by split, then reducer, then classifier.

    The order is that of the spec; among the values of a sweep, the parameter that the spec names
    last varies fastest. Settings that come out equal (two items that differ only in a swept
    parameter) are one, under the label of the first.

    Raises
    ------
    InputError
        If a reducer or classifier of the spec is not installed.
    """
    reducers = settings_of(spec.reducers, spec.sweep)
    evaluators = settings_of(spec.evaluators, spec.sweep)
    return [
        Cell(split, reducer, evaluator)
        for split in split_keys(spec.split)
        for reducer in reducers
        for evaluator in evaluators
    ]


def split_keys(split: SplitSpec) -> list[SplitKey]:
    """Return the splits of a spec, the predefined one first."""
    predefined = SplitKey("predefined", 0, "predefined")
    if split.kind == "predefined":
        return [predefined]
    drawn = [SplitKey(split.kind, i, f"{split.kind}-{i}") for i in range(split.repeats)]
    return [predefined, *drawn] if split.predefined else drawn


def settings_of(items: Sequence[Item], sweep: Sweep) -> list[Setting]:
    """Return every setting of these items once."""
    settings: dict[str, Setting] = {}
    for item in items:
        for params, mode in combinations(item, sweep):
            factory = registry_of(section_of(item)).load(item.name)
            version = version_of(section_of(item), factory, params)
            setting = Setting(item.name, item.label, params, mode, version)
            identity = json.dumps([item.name, mode, params], sort_keys=True)
            settings.setdefault(identity, setting)
    return list(settings.values())


def combinations(item: Item, sweep: Sweep) -> Iterator[tuple[dict[str, JsonValue], str | None]]:
    """Yield the parameters and the mode of an item at every point of the sweep."""
    section = section_of(item)
    factory = registry_of(section).load(item.name)
    own = swept_of(section, parameter_names(factory), sweep)
    own_mode = item.mode if isinstance(item, ReducerSpec) else None
    modes = sweep.get("reducer.mode", ()) if own_mode else ()
    for values in product(*own.values()):
        params = complete(factory, {**item.params, **dict(zip(own, values, strict=True))})
        traits = reducer_traits(factory, params) if modes else None
        # A reducer that can't do what is swept runs as it can, once.
        possible: list[Any] = [mode for mode in modes if getattr(traits, str(mode))]
        for mode in possible or [own_mode]:
            yield params, mode


def swept_of(section: str, names: Sequence[str], sweep: Sweep) -> dict[str, Sequence[JsonValue]]:
    """Return the grids of those parameters called `names` that are swept."""
    keys = {f"{PREFIXES[section]}.{name}": name for name in names}
    return {keys[key]: values for key, values in sweep.items() if key in keys}


def count_trials(spec: Spec) -> int:
    """Return how many trials there would be if none came out equal, without making any."""

    def settings(items: Sequence[Item]) -> int:
        total = 0
        for item in items:
            section = section_of(item)
            names = parameter_names(registry_of(section).load(item.name))
            names += ["mode"] if section == "reducers" else []
            total += prod(len(values) for values in swept_of(section, names, spec.sweep).values())
        return total

    splits = spec.split.repeats + spec.split.predefined
    return splits * settings(spec.reducers) * settings(spec.evaluators)


def section_of(item: Item) -> str:
    """Return the list of the spec that an item is of."""
    if isinstance(item, ReducerSpec):
        return "reducers"
    return "measures" if isinstance(item, MeasureSpec) else "classifiers"
