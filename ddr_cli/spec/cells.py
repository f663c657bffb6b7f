"""Expands a spec to its trials: every split with every setting of every reducer and evaluator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ddr_cli.spec.budgets import ALL
from ddr_cli.spec.components import Item
from ddr_cli.spec.controls import FULL_FEATURES, SHUFFLED_LABELS
from ddr_cli.spec.feasible import Limits, limits_of
from ddr_cli.spec.model import Spec, SplitSpec
from ddr_cli.spec.sweeps import TRAIN, Setting, Sweep, combinations
from ddr_cli.spec.tune import Tuning, tunings_of


@dataclass(frozen=True, slots=True)
class SplitKey:
    """One split of a spec: its kind, its number from 0, and its name, such as ``resample-7``.

    If the spec sweeps the size of the training set, `train` is that size and part of the name, as
    in ``per_class-20-7``; otherwise it is None.
    """

    kind: str
    index: int
    name: str
    train: int | float | None = None

    @property
    def family(self) -> str:
        """The name without the number, such as ``resample``."""
        return self.kind if self.train is None else f"{self.kind}-{self.train}"


class Cell(NamedTuple):
    """One trial of a spec.

    `labels` is the number of labelled training samples per class, None for all; `control` names the
    control of the trial, unless its reducer and evaluator show it; a trial with `tuning` selects
    one of its candidates, of which `reducer` and `evaluator` are the first. `is_ceiling` marks the
    strong classifier on all features.
    """

    split: SplitKey
    reducer: Setting
    evaluator: Setting
    labels: int | None = None
    control: str = ""
    tuning: Tuning | None = None
    is_ceiling: bool = False

    @property
    def role(self) -> str:
        """The control that the trial is, empty for a method's."""
        return self.control or (FULL_FEATURES if self.is_ceiling else "")


def expand(spec: Spec) -> list[Cell]:
    """Return every trial of a spec once, by split, number of labels, reducer and classifier.

    If the spec tunes, the tuned trial of a reducer and a classifier follows their default one;
    controls with shuffled labels come last in each split.

    The order is that of the spec; among the values of a sweep, the parameter that the spec names
    last varies fastest. Equal settings (of two items that differ only in a swept parameter) occur
    once, with the label of the first. Values of n_components that a reducer cannot have are left
    out. Raises InputError if a reducer or classifier of the spec is not installed.
    """
    limits, tuned = limits_of(spec), spec.tune is not None
    reducers = _settings(spec.reducers, spec.sweep, limits, tuned=tuned)
    evaluators = _settings(spec.evaluators, spec.sweep, limits, tuned=tuned)
    pairs = [
        (reducer, evaluator)
        for reducer in reducers
        for evaluator in evaluators
        if _only_on(evaluator[0]) in ("", reducer[0].name)
    ]
    searches = tunings_of(spec, pairs, limits)
    ways = [(None,) if tuning is None else (None, tuning) for tuning in searches]
    budgets = [None if budget == ALL else budget for budget in spec.labels or (ALL,)]
    most = None if None in budgets else max(budget for budget in budgets if budget is not None)
    shuffled = _shuffled(pairs) if SHUFFLED_LABELS in spec.controls else []
    cells: list[Cell] = []
    for split in _splits(spec.split, spec.sweep):
        cells += [
            Cell(split, reducer, evaluator, labels, tuning=tuning, is_ceiling=bool(_only_on(item)))
            for labels in budgets
            for ((_, reducer), (item, evaluator)), tunings in zip(pairs, ways, strict=True)
            for tuning in tunings
        ]
        cells += [
            Cell(split, reducer, evaluator, most, control=SHUFFLED_LABELS)
            for (_, reducer), (_, evaluator) in shuffled
        ]
    return cells


def _only_on(evaluator: Item) -> str:
    """Return the only reducer that a classifier is run with, empty if it is run with all."""
    return str(getattr(evaluator, "only_on", ""))


def _shuffled(
    pairs: Sequence[tuple[tuple[Item, Setting], tuple[Item, Setting]]],
) -> list[tuple[tuple[Item, Setting], tuple[Item, Setting]]]:
    """Return the pairs of a reducer that uses labels and a classifier."""
    return [
        (reducer, evaluator)
        for reducer, evaluator in pairs
        if evaluator[0].section == "classifiers" and reducer[0].traits(reducer[1].params).supervised
    ]


def _splits(split: SplitSpec, sweep: Sweep) -> list[SplitKey]:
    """Return the splits of a spec: the predefined one first, then by size of the training set."""
    predefined = SplitKey("predefined", 0, "predefined")
    if split.kind == "predefined":
        return [predefined]
    sizes: Sequence[Any] = sweep.get(TRAIN, (None,))
    drawn = []
    for size in sizes:
        family = SplitKey(split.kind, 0, "", size).family
        drawn += [SplitKey(split.kind, i, f"{family}-{i}", size) for i in range(split.drawn)]
    return [predefined, *drawn] if split.predefined else drawn


def _settings(
    items: Sequence[Item], sweep: Sweep, limits: Limits, *, tuned: bool
) -> list[tuple[Item, Setting]]:
    """Return every possible setting of these items once, with its item."""
    settings: dict[str, tuple[Item, Setting]] = {}
    for item in items:
        for params, mode in combinations(item, sweep, tuned=tuned):
            if limits.excludes(item.traits(params), params, mode):
                continue
            setting = Setting.of(item, params, mode)
            settings.setdefault(setting.text, (item, setting))
    return list(settings.values())
