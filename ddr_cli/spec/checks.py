"""Problems that prevent a whole spec from running, as far as they are known without the data."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import InitErrorDetails

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import as_clause
from ddr_cli.core.validation import problem_at
from ddr_cli.spec.budgets import ALL
from ddr_cli.spec.components import Context
from ddr_cli.spec.controls import FULL_FEATURES, SHUFFLED_LABELS
from ddr_cli.spec.feasible import (
    WIDTH,
    impossible,
    known_limits,
    needs_labels,
    takes_no_sparse,
    unprepared,
)
from ddr_cli.spec.model import Spec
from ddr_cli.spec.read_components import unsupported_mode
from ddr_cli.spec.sweeps import TRAIN, combinations, count_settings

MAX_TRIALS = 300_000

Problems = Iterator[InitErrorDetails]


def too_many_trials(spec: Spec) -> str:
    """Return the problem if a spec has more trials than allowed, else an empty text."""
    tuned = spec.tune is not None
    count = spec.split.drawn * len(spec.sweep.get(TRAIN, "1")) + spec.split.predefined
    count *= max(len(spec.labels), 1) * (1 + tuned)
    for items in (spec.reducers, spec.evaluators):
        count *= count_settings(items, spec.sweep, tuned=tuned)
    if count <= MAX_TRIALS:
        return ""
    return f"the spec has {count} trials, above the limit of {MAX_TRIALS}; use fewer splits."


def problems_of(spec: Spec, context: Context) -> Problems:
    """Yield all problems between values of a spec that are valid individually."""
    yield from _of_classifiers(spec)
    yield from _of_the_data_set(spec, context)
    yield from _of_labels(spec)
    yield from _of_reducers(spec, context)
    yield from _of_grids(spec)


def _of_classifiers(spec: Spec) -> Problems:
    for control in (FULL_FEATURES, SHUFFLED_LABELS):
        if control in spec.controls and not spec.classifiers:
            message = f"'{control}' needs a classifier; add one to 'classifiers'."
            yield problem_at(("controls", spec.controls.index(control)), message)
    reducers = {item.name for item in spec.reducers}
    for i, classifier in enumerate(spec.classifiers):
        if classifier.only_on and classifier.only_on not in reducers:
            hint = did_you_mean(classifier.only_on, reducers)
            message = f"the spec has no reducer '{classifier.only_on}'.{hint}"
            yield problem_at(("classifiers", i, "only_on"), message)


def _of_the_data_set(spec: Spec, context: Context) -> Problems:
    card = context.card
    if card is None:
        return
    for section, i, message in takes_no_sparse(spec, card):
        yield problem_at((section, i), message)
    for path, message in unprepared(card.name, card.has_missing, card.coded, spec.preprocess):
        yield problem_at(path, message)
    looks = {"measures": bool(spec.measures), "embeddings": spec.embeddings is not None}
    for key, is_used in looks.items():
        if is_used and card.unlabelled:
            message = f"remove '{key}', because {card.name} has unlabelled samples."
            yield problem_at((key,), message)


def _of_labels(spec: Spec) -> Problems:
    has_budgets = spec.labels not in ((), (ALL,))
    for i, step in enumerate(spec.preprocess):
        if (has_budgets or SHUFFLED_LABELS in spec.controls) and needs_labels(step):
            message = (
                f"{step.name} sees labels that 'labels' or 'shuffled_labels' hide; remove the step."
            )
            yield problem_at(("preprocess", i), message)
    if has_budgets and spec.embeddings is not None:
        # The samples that have an embedding would differ from budget to budget.
        message = "'embeddings' can't be combined with 'labels'; remove one of these keys."
        yield problem_at(("embeddings",), message)


def _of_reducers(spec: Spec, context: Context) -> Problems:
    """Yield impossible values of n_components, and modes that a reducer does not have."""
    tuned, limits = spec.tune is not None, known_limits(context, spec.preprocess)
    for i, item in enumerate(spec.reducers):
        try:
            if message := impossible(item, spec.sweep, limits, tuned=tuned):
                is_swept = f"reducer.{WIDTH}" in spec.sweep and WIDTH not in item.grids
                path = ("sweep", f"reducer.{WIDTH}") if is_swept else ("reducers", i, WIDTH)
                yield problem_at(path, message)
            for params, mode in combinations(item, spec.sweep, tuned=tuned):
                if not getattr(item.traits(params), str(mode)):
                    message = unsupported_mode(item.name, str(mode))
                    yield problem_at(("reducers", i, "mode"), message)
                    break
        except InputError as error:
            yield problem_at(("reducers", i), as_clause(error))


def _of_grids(spec: Spec) -> Problems:
    lists = {"reducers": spec.reducers, "classifiers": spec.classifiers}
    for section, items in lists.items() if spec.tune is not None else ():
        for i, item in enumerate(items):
            for name in item.grids:
                if f"{item.prefix}.{name}" in spec.sweep:
                    message = (
                        f"'{name}' has a grid for tuning and is also swept; remove one of the two."
                    )
                    yield problem_at((section, i, name), message)
    for i, mode in enumerate(spec.sweep.get("reducer.mode", ())):
        if not any(getattr(item.traits(), str(mode)) for item in spec.reducers):
            message = f"no reducer of the spec supports mode: {mode}."
            yield problem_at(("sweep", "reducer.mode", i), message)
