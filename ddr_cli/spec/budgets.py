"""Two axes other than parameters: the number of labelled training samples, and of all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from pydantic_core import InitErrorDetails

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import as_clause, value_text
from ddr_cli.core.validation import problem_at, refuse
from ddr_cli.data.card import Expect
from ddr_cli.evaluation.folds import training_groups
from ddr_cli.evaluation.splits import check_train, make_split
from ddr_cli.spec.components import Context
from ddr_cli.spec.sweeps import GridError, grid_values, place_in

ALL: Literal["all"] = "all"
Budget = Annotated[int, Ge(1)] | Literal["all"]
"""The number of labelled training samples per class."""

LABELS = "labels"
"""The name of the axis in a plot, a journal and a summary."""

Classes = Mapping[str, int]
"""The number of training samples of each class."""

_EXAMPLE = "such as [1, 2, 5, 10, all]"


def read_labels(rule: Any) -> tuple[Budget, ...]:
    """Return the distinct budgets in a spec's ``labels:``."""
    if not isinstance(rule, list | tuple | dict):
        raise ValueError(f"'labels' must be a list {_EXAMPLE}, but is {value_text(rule)}")
    if not rule:
        raise ValueError(f"'labels' must contain at least one number, {_EXAMPLE}")
    try:
        budgets = grid_values(rule)
    except GridError as error:
        raise ValueError(str(error).rstrip(".")) from None
    problems = []
    for budget in budgets:
        if budget == ALL or (type(budget) is int and budget >= 1):
            continue
        hint = did_you_mean(budget, [ALL]) if isinstance(budget, str) else ""
        message = (
            "'labels' must list whole numbers of 1 or more, or 'all', not "
            f"{value_text(budget)}.{hint}"
        )
        problems.append(problem_at(place_in(rule, budget), message))
    refuse(problems)
    return tuple(budgets)


def check_budgets(budgets: Sequence[Budget], classes: Classes | None) -> Iterable[InitErrorDetails]:
    """Yield a problem for every budget larger than the smallest class of the training set."""
    if not classes:
        return
    smallest = min(classes, key=lambda name: classes[name])
    for i, budget in enumerate(budgets):
        if budget != ALL and budget > classes[smallest]:
            message = (
                f"{budget} labelled samples per class are too many: the training set has only "
                f"{classes[smallest]} of class {value_text(smallest)}."
            )
            yield problem_at((i,), message)


def note_train_sizes(context: Context, kind: str, sizes: Sequence[Any]) -> list[tuple[int, str]]:
    """Record the training sets of swept sizes; return the problems with sizes, by index."""
    if context.card is None:
        return []
    found: list[tuple[int, str]] = []
    parts: list[Classes] = []
    for i, size in enumerate(sizes):
        try:
            check_train(kind, size)
            part = training_classes(kind, context.expect, context.card.name, size)
            parts += [part] if part else []
        except InputError as error:
            found.append((i, as_clause(error)))
    if parts:
        totals = [sum(part.values()) for part in parts]
        context.class_sizes = parts[totals.index(min(totals))]
        context.n_train, context.most_train = min(totals), max(totals)
    return found


def training_classes(
    kind: str,
    expect: Expect | None,
    dataset: str,
    train: float | None,
    folds: int | str | None = None,
) -> Classes | None:
    """Return the number of training samples of each class, None if the card does not determine it.

    Folds may differ by one sample: the first, largest one is held out. Raises InputError if the
    classes can't be divided this way.
    """
    if kind == "grouped" and train is not None and expect is not None and expect.groups:
        training_groups(train, expect.groups)
    if expect is None or not expect.classes or kind in ("grouped", "given"):
        return None
    n_train = None
    if kind == "resample":
        n_samples = sum(expect.classes.values())
        # The class counts are known only if the predefined training and test sets hold all samples.
        if expect.split is None or expect.split.train + expect.split.test != n_samples:
            return None
        n_train = expect.split.train
    return _classes_of_split(kind, tuple(expect.classes.items()), dataset, train, folds, n_train)


@lru_cache(maxsize=1024)
def _classes_of_split(
    kind: str,
    classes: tuple[tuple[str, int], ...],
    dataset: str,
    train: float | None,
    folds: int | str | None,
    n_train: int | None,
) -> Classes:
    names = [name for name, _ in classes]
    y = np.repeat(np.arange(len(names)), [size for _, size in classes])
    own = None if n_train is None else (np.arange(n_train), np.arange(n_train, len(y)))
    # The sizes do not depend on the seed of a split, so any split shows them.
    split = make_split(
        kind, y, train=train, folds=folds, dataset=dataset, predefined=own, class_names=names
    )
    counts = np.bincount(y[split.train], minlength=len(names))
    return dict(zip(names, counts.tolist(), strict=True))
