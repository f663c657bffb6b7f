"""Finds impossible fits, such as too many dimensions, as far as the card shows them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal

from pydantic import JsonValue, ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import is_code
from ddr_cli.core.positions import KeyPath
from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.spec.budgets import note_train_sizes
from ddr_cli.spec.components import Component, Context, Item, ReducerSpec, StepSpec
from ddr_cli.spec.estimators import make, registry_of
from ddr_cli.spec.model import Spec
from ddr_cli.spec.read_split import ReadSplit
from ddr_cli.spec.sweeps import TRAIN, combinations

WIDTH = "n_components"
TRANSDUCTIVE = "transductive"

NOTHING = "none"
"""The reducer that reduces nothing."""

_SPARSE_FORMATS = ("text", "libsvm")
_KEEP_WIDTH = (
    *("impute", "log1p", "standardize", "rescale", "unit_length", "tfidf"),
    "variance_threshold",  # may also remove features
)
# Stands for a number that the card does not give.
_ANY = sys.maxsize // 4


@dataclass(frozen=True)
class Limits:
    """The largest numbers of samples, features and classes for a reducer, None if unknown."""

    n_train: int | None = None
    n_samples: int | None = None
    n_features: int | None = None
    n_classes: int | None = None

    def inner(self, folds: int) -> Limits:
        """Return the limits for the smallest training set of this many inner folds."""
        if self.n_train is None:
            return replace(self, n_samples=None)
        held_out = -(-self.n_train // folds)
        return replace(self, n_train=self.n_train - held_out, n_samples=self.n_train)

    def most(self, traits: Any, mode: str | None) -> int | None:
        """Return the largest `n_components` of a reducer with these traits, if known."""
        offered = getattr(traits, "max_components", None)
        if offered is None:
            return None
        found: int = offered(*self._sizes(mode))
        return found if found < _ANY - 2 else None

    def excludes(self, traits: Any, params: Mapping[str, Any], mode: str | None) -> bool:
        """Return whether a reducer with these traits has fewer than `n_components` dimensions."""
        asked, most = params.get(WIDTH), self.most(traits, mode)
        return most is not None and isinstance(asked, int) and asked > most

    def reason(self, traits: Any, mode: str | None) -> str:
        """Return how many dimensions a reducer has, and why: ``6 dimensions here (7 classes)``."""
        most, sizes = self.most(traits, mode), self._sizes(mode)
        names = ("samples" if mode == TRANSDUCTIVE else "training samples", "features", "classes")
        binding = []
        for i, name in enumerate(names):
            fewer = [size - (i == j) for j, size in enumerate(sizes)]
            if traits.max_components(*fewer) != most:
                binding.append(f"{sizes[i]} {name}")
        return f"{most} dimension{'' if most == 1 else 's'} here ({', '.join(binding)})"

    def _sizes(self, mode: str | None) -> tuple[int, int, int]:
        points = self.n_samples if mode == TRANSDUCTIVE else self.n_train
        first, second, third = (
            _ANY if size is None else size for size in (points, self.n_features, self.n_classes)
        )
        return first, second, third


def known_limits(context: Context, preprocess: Iterable[StepSpec]) -> Limits:
    """Return the facts that are known when a document is checked."""
    expect, n_train = context.expect, context.most_train or context.n_train
    if expect is None:
        return Limits(n_train=n_train)
    classes = len(expect.classes) if expect.classes else None
    width = expect.features
    for step in preprocess:
        width = _width_after(step, width, n_train)
    return Limits(n_train, expect.samples, width, classes)


def limits_of(spec: Spec) -> Limits:
    """Return the facts that are known of a complete spec."""
    with suppress(InputError, ValidationError):
        card = load_card(spec.card)
        options: Any = spec.dataset.options
        expect = card.expected(card.choose(options))
        base = spec.path.parent if spec.path else None
        context = Context(base=base, card=card, expect=expect, swept=frozenset(spec.sweep))
        # Checking the split records the size of the training set in `context`.
        ReadSplit.model_validate(spec.split.model_dump(), context=context)
        if TRAIN in spec.sweep:
            note_train_sizes(context, spec.split.kind, spec.sweep[TRAIN])
        return known_limits(context, spec.preprocess)
    return Limits()


def left_out(spec: Spec) -> list[str]:
    """Return a line for each reducer that has fewer dimensions than the sweep requests."""
    limits = limits_of(spec)
    lines = []
    for item in spec.reducers:
        for reason, values in _excluded(item, spec, limits).items():
            which = f"{WIDTH} {_listed(values)}"
            lines.append(f"{item.label} supports at most {reason}, so {which} will not run")
    return lines


def impossible(
    item: ReducerSpec,
    sweep: Mapping[str, Sequence[JsonValue]],
    limits: Limits,
    *,
    tuned: bool = False,
) -> str:
    """Return the problem if no value of the sweep, or of a reducer's grid, is possible."""
    traits = item.traits()
    grid = item.grids.get(WIDTH, ())
    own = [v for v in grid if limits.excludes(traits, {WIDTH: v}, item.mode)]
    # A method declares one grid for all data sets, so impossible values in it are skipped and are
    # no error.
    if own and grid != tuple(traits.grids.get(WIDTH, ())):
        reason = limits.reason(traits, item.mode)
        values = _listed([value for value in own if isinstance(value, int)])
        return f"the grid of {WIDTH} has {values}, but {item.name} supports at most {reason}."
    asked: list[Any] = []
    reasons = []
    for params, mode in combinations(item, sweep, tuned=tuned):
        traits = item.traits(params)
        if not limits.excludes(traits, params, mode):
            return ""
        asked.append(params[WIDTH])
        reasons.append(limits.reason(traits, mode))
    lowest = min(asked, default=None)
    least = "" if len(set(asked)) == 1 else "at least "
    return f"{WIDTH} is {least}{lowest}, but {item.name} supports at most {reasons[0]}."


def with_known_width(item: ReducerSpec, limits: Limits) -> dict[str, JsonValue]:
    """Return a reducer's parameters; an `n_components` of None becomes the largest value, if known.

    For foreign methods, None is not changed.
    """
    if item.params.get(WIDTH, "") is not None or registry_of(item.section).is_foreign(item.name):
        return item.params
    return {**item.params, WIDTH: limits.most(item.traits(), item.mode)}


def takes_no_sparse(spec: Spec, card: Card | None) -> Iterator[tuple[str, int, str]]:
    """Yield each item, by list and index, that gets sparse samples but does not support them.

    The embedding of a reducer is dense, except that of ``none``.
    """
    if card is None or not is_sparse(card, spec.preprocess):
        return
    remedy = "make the samples dense with preprocess: [svd], or remove this component"
    items: list[tuple[str, int, Item]] = [
        ("reducers", i, item) for i, item in enumerate(spec.reducers)
    ]
    if any(item.name == NOTHING for item in spec.reducers):
        own = enumerate(spec.classifiers)
        items += [("classifiers", i, item) for i, item in own if item.only_on in ("", NOTHING)]
    for section, i, item in items:
        if not _takes(item, "sparse"):
            where = " without a reduction" if section == "classifiers" else ""
            reason = f"{item.name} does not support sparse samples, which {card.name} has{where}"
            yield section, i, f"{reason}: {remedy}."


def unprepared(
    name: str, missing: bool, coded: Sequence[str], steps: Sequence[StepSpec]
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the steps that a data set with missing values or category codes still needs."""
    codes = f"{name} has categorical columns ({', '.join(coded)})"
    for i, step in enumerate(steps):
        if missing and not _takes(step, "allow_nan"):
            message = f"{name} has missing values; put the step 'impute' before '{step.name}'."
            yield ("preprocess", i), message
            missing = False
        if coded and step.name in ("pca", "svd", "variance_threshold"):
            yield ("preprocess", i), f"{codes}; put the step 'one_hot' before '{step.name}'."
            coded = ()
        # A user's own step may impute or encode.
        own = is_code(step.name)
        missing = missing and not (own or step.name == "impute")
        coded = () if own or step.name == "one_hot" else coded
    if missing:
        yield ("preprocess",), f"{name} has missing values; add 'impute' to 'preprocess'."
    if coded:
        yield ("preprocess",), f"{codes}; add 'one_hot' to 'preprocess'."


def needed_steps(card: Card) -> list[str]:
    """Return the steps that a data set needs, as far as its card shows them."""
    return ["impute"] * card.has_missing + ["one_hot"] * bool(card.coded)


def needs_labels(step: StepSpec) -> bool:
    """Return whether a step is fitted to the labels, such as a feature selection."""
    if step.name.startswith("sklearn.feature_selection:"):
        return True  # whether it uses labels depends on its score function, not on its tags
    tags = _tags(step)
    return tags is not None and bool(tags.target_tags.required)


def is_sparse(card: Card, preprocess: Iterable[StepSpec]) -> bool:
    """Return whether the card shows that a reducer gets sparse samples."""
    form = card.format
    if form is None or form.name not in _SPARSE_FORMATS or form.options.get("dense"):
        return False
    return not any(step.name in ("pca", "svd") for step in preprocess)


def _takes(item: Component, kind: Literal["sparse", "allow_nan"]) -> bool:
    """Return whether an estimator takes samples of a kind; one without tags may take any."""
    tags = _tags(item)
    return tags is None or bool(getattr(tags.input_tags, kind))


def _tags(item: Component) -> Any:
    """Return scikit-learn's tags of an estimator, None if it has none."""
    read = getattr(make(item.factory, item.params), "__sklearn_tags__", None)
    return None if read is None else read()


def _excluded(item: ReducerSpec, spec: Spec, limits: Limits) -> dict[str, list[int]]:
    """Return the impossible values, by the reason."""
    found: dict[str, list[int]] = {}
    for params, mode in combinations(item, spec.sweep, tuned=spec.tune is not None):
        traits = item.traits(params)
        if limits.excludes(traits, params, mode):
            asked: Any = params[WIDTH]
            values = found.setdefault(limits.reason(traits, mode), [])
            values += [asked] if asked not in values else []
    return found


def _listed(values: Sequence[int]) -> str:
    """Return ``7 to 20`` for consecutive values, otherwise all values."""
    if len(values) > 2 and list(values) == list(range(values[0], values[-1] + 1)):
        return f"{values[0]} to {values[-1]}"
    return " and ".join([", ".join(map(str, values[:-1])), str(values[-1])][len(values) == 1 :])


def _width_after(step: StepSpec, width: int | None, n_train: int | None) -> int | None:
    """Return the largest number of features that remain after a step."""
    if step.name in ("pca", "svd"):
        count = step.params.get(WIDTH)
        most = [width, None if n_train is None else n_train - (count == "full")]
        most += [count] if isinstance(count, int) else []
        return min((each for each in most if each is not None), default=None)
    return width if step.name in _KEEP_WIDTH else None
