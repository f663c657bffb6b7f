"""The items of a spec's lists: estimators by name, with all parameters and labels that differ."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from annotated_types import MinLen
from pydantic import (
    ConfigDict,
    Field,
    JsonValue,
    SerializerFunctionWrapHandler,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_serializer,
    field_validator,
    model_serializer,
    model_validator,
)

from ddr_cli.core.own_code import class_name, located, shown
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.places import value_text
from ddr_cli.core.validation import Frozen, as_problem, field_problems, problem_at, refuse
from ddr_cli.data.card import Card, Expect
from ddr_cli.spec.estimators import (
    MODES,
    Factory,
    Mode,
    complete,
    is_annotated,
    load_factory,
    make,
    own_keys,
    registry_of,
    settable_names,
    traits_of,
)

Text = Annotated[str, MinLen(1)]
Label = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Params = dict[str, JsonValue]


@dataclass
class Context:
    """What the validators of a document know beyond its values.

    `base` is the folder that a card's path is relative to, and `swept` the names of the swept
    parameters. The data set's card and the sizes of the split's parts are added as they are read.
    """

    base: Path | None = None
    swept: frozenset[str] = frozenset()
    card: Card | None = None
    expect: Expect | None = None
    n_train: int | None = None


def context_of(info: ValidationInfo) -> Context | None:
    """Return what is known of the document being read; None when a resolved spec is."""
    return info.context if isinstance(info.context, Context) else None


def nested(value: Any, what: str, own: Collection[str], rest: str) -> Any:
    """Return what a document gives as a name or a flat mapping; all but `own` goes below `rest`."""
    if isinstance(value, str):
        return {"name": value, rest: {}}
    if not isinstance(value, dict):
        raise ValueError(f"{what} or a mapping with a name, but this is {value_text(value)}")
    known = {key: item for key, item in value.items() if key in own}
    return {**known, rest: {key: item for key, item in value.items() if key not in own}}


class StrictFrozen(Frozen):
    """A record that also takes no text for a number.

    Its `newer` fields are left out of what it resolves to while they have their defaults: a spec
    that doesn't use them resolves to what it did before there were any.
    """

    model_config = ConfigDict(strict=True)
    newer: ClassVar[tuple[str, ...]] = ()

    @model_serializer(mode="wrap")
    def _without_unused(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        dumped: dict[str, Any] = handler(self)
        for name in self.newer:
            if getattr(self, name) == fields[name].get_default(call_default_factory=True):
                dumped.pop(name, None)
        return dumped


class Piece(StrictFrozen):
    """An item of one of a spec's lists: an estimator by its name, and all its parameters."""

    section: ClassVar[str]
    prefix: ClassVar[str]
    name: Text
    if TYPE_CHECKING:
        params: Params  # a field of each kind, so that it comes last in JSON

    @property
    def factory(self) -> Factory:
        """The estimator's class."""
        return load_factory(self.section, self.name)

    @property
    def settable(self) -> list[str]:
        """What ``--set`` and ``sweep`` may change: the parameters, and a reducer's mode."""
        return settable_names(self.section, self.name)

    def traits(self, params: Mapping[str, Any] | None = None) -> Any:
        """Return the traits that the estimator has with other parameters, or with its own."""
        return traits_of(self.section, self.factory, self.params if params is None else params)

    @model_validator(mode="before")
    @classmethod
    def _name_and_params(cls, value: Any, info: ValidationInfo) -> Any:
        what, own = f"a {registry_of(cls.section).kind} is a name", own_keys(cls.section)
        return nested(value, what, ("name", *own), "params") if context_of(info) else value

    @field_validator("name")
    @classmethod
    def _known(cls, name: str, info: ValidationInfo) -> str:
        if context := context_of(info):
            name = located(name, context.base)
            with as_problem():
                load_factory(cls.section, name)
        return name

    @field_serializer("name")
    def _without_folder(self, name: str) -> str:
        return shown(name)

    @field_validator("params", check_fields=False)
    @classmethod
    def _complete(cls, params: Params, info: ValidationInfo) -> Params:
        if context_of(info) is None or "name" not in info.data:
            return params
        name = info.data["name"]
        factory = load_factory(cls.section, name)
        try:
            params = complete(factory, params)
        except ValidationError as error:
            known = [*parameter_model(factory).model_fields, *own_keys(cls.section)]
            found = field_problems(error, name, known)
            refuse(problem_at(path, text, key=is_key) for path, text, is_key in found)
        return params

    @model_validator(mode="after")
    def _can_be_made(self, info: ValidationInfo) -> Self:
        """Make a third party's estimator whose signature doesn't say what it takes."""
        if context_of(info) and not is_annotated(self.factory):
            with as_problem():
                made = make(self.factory, self.params)
            if hasattr(made, "_parameter_constraints"):
                # As scikit-learn's own estimators check theirs, which is otherwise not before fit.
                made._validate_params()
        return self


class StepSpec(Piece):
    """A preprocessing step, fitted on the training part, with all its parameters."""

    section, prefix = "preprocess", "preprocess"
    params: Params = Field(default_factory=dict)


class ReducerSpec(Piece):
    """A reducer with all its parameters, the label shown, and how it embeds test points.

    ``transductive``: with the training points and unlabelled. ``out_of_sample``: by the fitted map.
    """

    section, prefix = "reducers", "reducer"
    mode: Mode = "out_of_sample"
    label: Label = ""
    params: Params = Field(default_factory=dict)

    @model_validator(mode="after")
    def _possible_mode(self, info: ValidationInfo) -> Self:
        if context_of(info) is None:
            return self
        with as_problem():
            traits = self.traits()
        if "mode" not in self.model_fields_set and not traits.out_of_sample:
            return self.model_copy(update={"mode": "transductive"})
        if not getattr(traits, self.mode):
            refuse([problem_at(("mode",), unsupported_mode(self.name, self.mode))])
        return self


class ClassifierSpec(Piece):
    """A classifier with all its parameters, and the label shown."""

    section, prefix = "classifiers", "classifier"
    label: Label = ""
    params: Params = Field(default_factory=dict)


class MeasureSpec(ClassifierSpec):
    """A measure with all its parameters; it stands in the classifier's place of a trial."""

    section = "measures"


Labelled = TypeVar("Labelled", ReducerSpec, ClassifierSpec, MeasureSpec)


def labelled(
    items: Sequence[Labelled], taken: Sequence[str], swept: Collection[str]
) -> tuple[Labelled, ...]:
    """Return the items of a list, each with a label that tells it from the others and `taken`.

    Raises pydantic.ValidationError if one is listed twice, or a label is given twice.
    """
    problems = []
    labels = list(taken)
    for i, item in enumerate(items):
        if any(_identity(item) == _identity(other) for other in items[:i]):
            message = f"{item.name} is listed twice with the same parameters; drop one."
            problems.append(problem_at((i,), message))
        if item.label and item.label in labels:
            problems.append(problem_at((i, "label"), f"the label '{item.label}' is used twice."))
        labels.append(item.label or _default_label(item, items, swept))
    refuse(problems)
    for i in range(len(taken), len(labels)):
        if labels[i] in labels[:i]:
            numbered = (f"{labels[i]} #{n}" for n in range(2, len(labels) + 2))
            labels[i] = next(label for label in numbered if label not in labels)
    named = zip(items, labels[len(taken) :], strict=True)
    return tuple(item.model_copy(update={"label": label}) for item, label in named)


def unsupported_mode(name: str, mode: str) -> str:
    """Say that a reducer can't embed test points in this way, and in which it can."""
    other = next(known for known in MODES if known != mode)
    return f"{name} can't be used with mode: {mode}; use mode: {other}."


def too_many_neighbors(
    context: Context, item: Piece, name: str, values: Sequence[JsonValue]
) -> str:
    """Say that an estimator is to look for more neighbours than there are points, if it is.

    A point is not a neighbour of itself in a reducer's graph; a transductive one has the test
    points too.
    """
    mode = getattr(item, "mode", None)
    samples = context.expect.samples if context.expect else None
    points = samples if mode == "transductive" else context.n_train
    numbers = [value for value in values if isinstance(value, int)]
    if context.n_train is None or points is None or not name.startswith("n_neighbors"):
        return ""
    if max(numbers, default=0) <= points - (item.section == "reducers"):
        return ""
    return f"{name} is {max(numbers)}, but {item.name} has only {points} points to look among."


def _identity(item: Labelled) -> tuple[Any, ...]:
    return item.name, getattr(item, "mode", None), item.params


def _default_label(item: Labelled, items: Sequence[Labelled], swept: Collection[str]) -> str:
    """Return the name with the parameters that tell the item from its namesakes: ``ccdr (heat)``.

    Swept parameters tell none apart.
    """

    def facts(piece: Labelled) -> dict[str, Any]:
        return {**piece.params, "mode": getattr(piece, "mode", None)}

    own = facts(item)
    others = [facts(other) for other in items if other.name == item.name]
    telling = [
        _fact(name, own[name])
        for name in own
        if f"{item.prefix}.{name}" not in swept
        and any(other.get(name) != own[name] for other in others)
    ]
    name = class_name(item.name)
    return f"{name} ({', '.join(telling)})" if telling else name


def _fact(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name}={value:g}" if isinstance(value, int | float) else f"{name}={value}"
