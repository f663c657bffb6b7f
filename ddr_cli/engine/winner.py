"""Selects the method of a spec to keep: by name, or the best of its run."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import display_name, is_code, located
from ddr_cli.evaluation.evaluators import MEASURES
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.rows.log import OK, TRIAL_FILE, parameter_text, read_rows
from ddr_cli.spec.sweeps import COMPONENTS

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.spec import Cell, Setting
    from ddr_cli.spec.components import Item

_PREDEFINED = "predefined"

_Rows = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Winner:
    """The settings of a reducer and a classifier, and how they were selected."""

    reducer: Setting
    classifier: Setting
    chosen: str

    @property
    def title(self) -> str:
        """The labels of both, with their parameters."""
        titles = []
        for one in (self.reducer, self.classifier):
            params = ", ".join(f"{name}={value}" for name, value in one.params.items())
            titles.append(f"{one.label}({params})" if params else one.label)
        return " with ".join(titles)


def choose_winner(
    plan: Plan, folder: Path, *, reducer: str | None = None, classifier: str | None = None
) -> Winner:
    """Return the named method of a spec or, if several qualify, the best one of its run.

    If the spec tunes, this is the method with the best inner score, which does not depend on test
    samples, with its most frequent setting; otherwise it is the method with the best mean over the
    test sets. Methods that cannot transform new samples do not qualify.
    """
    methods, tune = _methods(plan, reducer, classifier), plan.spec.tune
    if len(methods) == 1 and tune is None:
        (trials,) = methods.values()
        only = plan.trials[trials[0]]
        return Winner(only.reducer, only.evaluator, "the only requested method")
    rows = _rows(folder, plan, methods)
    metric = plan.spec.metrics[0] if tune is None else str(tune.metric)
    column = metric if tune is None else "inner_score"
    scores = {
        method: math.fsum(float(rows[trial][column]) for trial in trials) / len(trials)
        for method, trials in methods.items()
        if all(rows[trial]["status"] == OK and rows[trial].get(column) for trial in trials)
    }
    if not scores:
        raise InputError(
            f"In {folder}, every method that transforms new samples failed on at least one split."
        )
    scale = get_scale(metric)
    best = (min if scale.better == "lower" else max)(scores, key=scores.__getitem__)
    score, trials = scores[best], methods[best]
    score_text = f"{100 * score:.2f} %" if scale.rate else f"{score:.4g}"
    if tune is None:
        cell = plan.trials[trials[0]]
        return Winner(
            cell.reducer,
            cell.evaluator,
            f"the best of {len(scores)} by the mean {metric} on the test sets of {len(trials)} "
            f"splits ({score_text}, optimistic, because the choice used the same test sets)",
        )
    setting, times = _taken_most_often(plan, trials, rows)
    return Winner(
        *setting,
        f"the best of {len(scores)} by the mean {metric} on the inner folds of {len(trials)} "
        f"splits ({score_text}, without test samples); {times} of the splits chose its setting",
    )


def _methods(plan: Plan, reducer: str | None, classifier: str | None) -> dict[object, list[str]]:
    """Return the trials of each method that qualifies: those with all labels, tuned if any is."""
    spec = plan.spec
    base = spec.path.parent if spec.path is not None else None
    most = max((cell.labels or math.inf for cell in plan.trials.values()), default=math.inf)
    named = {
        trial_id: cell
        for trial_id, cell in plan.trials.items()
        if not cell.control
        and cell.evaluator.name not in MEASURES.names()
        and (cell.split.name == _PREDEFINED) == (spec.split.kind == _PREDEFINED)
        and (cell.tuning is None) == (spec.tune is None)
        and (cell.labels or math.inf) == most
        and _is_called(cell.reducer, reducer, base)
        and _is_called(cell.evaluator, classifier, base)
    }
    if not named:
        raise _unknown(plan, reducer, classifier, base)
    found: dict[object, list[str]] = {}
    for trial_id, cell in named.items():
        if cell.reducer.mode != "transductive":
            found.setdefault((cell.reducer.text, cell.evaluator.text), []).append(trial_id)
    if found:
        return found
    labels = dict.fromkeys(cell.reducer.label for cell in named.values())
    raise InputError(
        f"{', '.join(labels)} can't transform new samples. Use --set reducer.mode=out_of_sample "
        "if the method has this mode."
    )


def _unknown(
    plan: Plan, reducer: str | None, classifier: str | None, base: Path | None
) -> InputError:
    spec = plan.spec
    for asked, items in ((reducer, spec.reducers), (classifier, spec.classifiers)):
        names = [text for item in items for text in (item.label, display_name(item.name))]
        if asked is not None and not any(_is_called(item, asked, base) for item in items):
            hint = did_you_mean(asked, names) or f" Its methods: {', '.join(dict.fromkeys(names))}."
            return InputError(f"{spec.name} has no method called '{asked}'.{hint}")
    return InputError(f"{spec.name} has no reducer with a classifier that could be fitted.")


def _is_called(component: Setting | Item, asked: str | None, base: Path | None) -> bool:
    """Return whether `asked` is a name or label; a path is relative to `base` or this folder."""
    if asked is None:
        return True
    names = {asked, *(located(asked, folder) for folder in (base, None) if is_code(asked))}
    own = component.name.casefold(), component.label.casefold()
    return any(name.casefold() in own for name in names)


def _rows(folder: Path, plan: Plan, methods: Mapping[object, list[str]]) -> _Rows:
    """Return the rows of the methods' trials by id; all of them must exist."""
    asked = f"{plan.spec.name} has {len(methods)} methods and settings to choose from"
    by_hand = "name a method with --reducer, --classifier and --set"
    if plan.spec.tune is not None:
        asked, by_hand = (
            f"{plan.spec.name} tunes its methods",
            f"use --set tune=none and {by_hand}",
        )
    if not (folder / TRIAL_FILE).is_file():
        raise InputError(f"{asked}: run the spec first, or {by_hand}.")
    rows: list[Any] = read_rows(folder).to_dict("records")
    found = {row["trial_id"]: row for row in rows}
    needed = {trial_id for trials in methods.values() for trial_id in trials}
    if missing := len(needed - found.keys()):
        raise InputError(
            f"{asked}, but {folder} lacks {missing} of {len(needed)} trials: finish the run, or "
            f"{by_hand}."
        )
    return found


def _taken_most_often(
    plan: Plan, trials: list[str], rows: _Rows
) -> tuple[tuple[Setting, Setting], int]:
    """Return the setting that a tuned method selected on most splits (ties: the first)."""
    cell: Cell = plan.trials[trials[0]]
    assert cell.tuning is not None
    texts = [
        {
            f"{kind}.{name}": parameter_text(value)
            for kind, setting in zip(COMPONENTS, pair, strict=True)
            for name, value in setting.params.items()
        }
        for pair in cell.tuning.candidates
    ]
    taken = Counter(
        next(
            number
            for number, cells in enumerate(texts)
            if all(rows[trial].get(name, text) == text for name, text in cells.items())
        )
        for trial in trials
    )
    number = min(taken, key=lambda each: (-taken[each], each))
    return cell.tuning.candidates[number], taken[number]
