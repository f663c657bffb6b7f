"""A spec becomes its trials: every split with every setting of every reducer and evaluator."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from ddr_cli.spec.feasible import Limits, limits_of
from ddr_cli.spec.model import Spec, SplitSpec
from ddr_cli.spec.pieces import ClassifierSpec, ReducerSpec
from ddr_cli.spec.sweeps import Sweep, combinations


@dataclass(frozen=True)
class SplitKey:
    """One split of a spec: its kind, its number from 0, and its name, such as ``resample-7``.

    `train` is the size of its training part where the spec sweeps that, else None.
    """

    kind: str
    index: int
    name: str
    train: int | float | None = None


@dataclass(frozen=True)
class Setting:
    """A reducer, classifier or measure at one point of the sweep, with all its parameters.

    `mode` is None but for reducers; `version` is that of the piece's numbers.
    """

    name: str
    label: str
    params: Mapping[str, JsonValue]
    mode: str | None
    version: int


@dataclass(frozen=True)
class Tuning:
    """How the setting of a tuned trial is chosen inside its training part.

    The `candidates`, a reducer's setting with an evaluator's, the default one first, are compared
    by their mean `metric` over `repeats` stratified divisions into `folds`.
    """

    candidates: tuple[tuple[Setting, Setting], ...]
    folds: int
    repeats: int
    metric: str


@dataclass(frozen=True)
class Cell:
    """One trial of a spec.

    `labels` is the number of labelled training points per class, None for all; `control` is the
    control that the trial is, if that is not said by its reducer and evaluator; a trial with
    `tuning` takes one of its candidates, of which `reducer` and `evaluator` are the first.
    """

    split: SplitKey
    reducer: Setting
    evaluator: Setting
    labels: int | None = None
    control: str = ""
    tuning: Tuning | None = None


def expand(spec: Spec) -> list[Cell]:
    """Return every trial of a spec once, by split, then reducer, then classifier.

    The order is that of the spec; among the values of a sweep, the parameter that the spec names
    last varies fastest. Settings that come out equal (two items that differ only in a swept
    parameter) are one, under the label of the first; widths that a reducer can't offer are left
    out. Raises InputError if a reducer or classifier of the spec is not installed.
    """
    limits = limits_of(spec)
    reducers = _settings(spec.reducers, spec.sweep, limits)
    evaluators = _settings(spec.evaluators, spec.sweep, limits)
    return [
        Cell(split, reducer, evaluator)
        for split in _splits(spec.split)
        for reducer in reducers
        for evaluator in evaluators
    ]


def _splits(split: SplitSpec) -> list[SplitKey]:
    """Return the splits of a spec, the predefined one first."""
    predefined = SplitKey("predefined", 0, "predefined")
    if split.kind == "predefined":
        return [predefined]
    drawn = [SplitKey(split.kind, i, f"{split.kind}-{i}") for i in range(split.repeats)]
    return [predefined, *drawn] if split.predefined else drawn


def _settings(
    items: Sequence[ReducerSpec | ClassifierSpec], sweep: Sweep, limits: Limits
) -> list[Setting]:
    """Return every setting of these items once, but for what can't be fitted."""
    settings: dict[str, Setting] = {}
    for item in items:
        for params, mode in combinations(item, sweep):
            traits = item.traits(params)
            if limits.excludes(traits, params, mode):
                continue
            setting = Setting(item.name, item.label, params, mode, traits.version)
            identity = json.dumps([item.name, mode, params], sort_keys=True)
            settings.setdefault(identity, setting)
    return list(settings.values())
