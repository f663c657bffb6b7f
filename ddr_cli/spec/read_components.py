"""Reads the lists of a document: checks and completes parameters, and gives each item a label."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Self, TypeVar

from pydantic import BaseModel, JsonValue, ValidationError, field_validator, model_validator

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import class_name, located
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.positions import value_text
from ddr_cli.core.validation import as_problem, field_problems, problem_at, refuse, unknown_key
from ddr_cli.spec.components import (
    ClassifierSpec,
    Component,
    Context,
    Info,
    Item,
    MeasureSpec,
    Params,
    ReducerSpec,
    StepSpec,
)
from ddr_cli.spec.estimators import (
    MODES,
    OWN_KEYS,
    complete,
    has_default,
    is_annotated,
    load_factory,
    make_checked,
    missing_of,
    registry_of,
    traits_of,
    untrusted_values,
)
from ddr_cli.spec.sweeps import GridError, checked_value, grid_values, is_grid, rounded


def record_of(read: Any) -> Any:
    """Return the plain record, or the tuple of plain records, of the parsed value."""
    if isinstance(read, tuple):
        return tuple(map(record_of, read))
    if not isinstance(read, BaseModel):
        return read
    record: type[BaseModel] = getattr(type(read), "record", type(read))
    fields = {name: record_of(value) for name, value in read}
    return record.model_construct(read.model_fields_set, **fields)


def nested(value: Any, what: str, own: Collection[str], rest: str) -> Any:
    """Return a name or a flat mapping as a mapping with all keys except `own` in `rest`."""
    if isinstance(value, str):
        return {"name": value, rest: {}}
    if not isinstance(value, dict):
        raise ValueError(f"{what}, or a mapping with 'name', not {value_text(value)}")
    known = {key: item for key, item in value.items() if key in own}
    return {**known, rest: {key: item for key, item in value.items() if key not in own}}


class ReadComponent(Component):
    """A name, or a mapping of a name and parameters, of one of a document's lists."""

    record: ClassVar[type[Component]]

    @model_validator(mode="before")
    @classmethod
    def _name_and_params(cls, value: Any, info: Info) -> Any:
        context = info.context
        what, keys = f"a {registry_of(cls.section).kind} is a name", OWN_KEYS[cls.section]
        component = nested(value, what, ("name", *keys), "params")
        if "grids" in cls.model_fields:
            given = component["params"]
            own = {name: rule for name, rule in given.items() if is_grid(rule)}
            component["params"] = {name: given[name] for name in given if name not in own}
            component["grids"] = own or cls._declared_grids(component, context)
        return component

    @classmethod
    def _declared_grids(cls, component: Mapping[str, Any], context: Context) -> dict[str, Any]:
        """Return the grids that the method declares, for tuning if the spec states none.

        Parameters that the spec sets or sweeps are left out.
        """
        name, given = component.get("name"), component["params"]
        if not (context.tuned and getattr(cls, "is_tunable", False) and isinstance(name, str)):
            return {}
        try:
            factory = load_factory(cls.section, located(name, context.base))
            declared = traits_of(cls.section, factory, given).grids
        except InputError:
            # The validators of the name and the parameters report what is wrong.
            return {}
        # Rounded like the values of a grid rule, so that 0.1 equals the 0.1 in a file.
        return {
            parameter: {"grid": [rounded(value) for value in values]}
            for parameter, values in declared.items()
            if parameter not in given and f"{cls.prefix}.{parameter}" not in context.swept
        }

    @field_validator("name")
    @classmethod
    def _known(cls, name: str, info: Info) -> str:
        name = located(name, info.context.base)
        with as_problem():
            load_factory(cls.section, name)
        return name

    @field_validator("params", check_fields=False)
    @classmethod
    def _complete(cls, params: Params, info: Info) -> Params:
        if "name" not in info.data:
            return params
        name = info.data["name"]
        factory = load_factory(cls.section, name)
        try:
            # A parameter without a default, or with a grid of one value, starts at its grid's first
            # value.
            first = {
                parameter: values[0]
                for parameter, values in info.data.get("grids", {}).items()
                if len(values) == 1 or not has_default(factory, parameter)
            }
            params = complete(factory, {**first, **params})
        except ValidationError as error:
            known = [*parameter_model(factory).model_fields, *OWN_KEYS[cls.section]]
            found = field_problems(error, name, known)
            refuse(problem_at(path, text, key=is_key) for path, text, is_key in found)
        return params

    @model_validator(mode="after")
    def _can_be_made(self) -> Self:
        """Create an estimator whose signature has no types; it checks its parameters itself."""
        if not is_annotated(self.factory):
            with as_problem():
                make_checked(self.factory, self.params)
        found = untrusted_values(self.section, self.name, self.params)
        refuse(problem_at((parameter,), message) for parameter, message in found.items())
        return self


class ReadStep(ReadComponent, StepSpec):
    """A preprocessing step of a document."""

    record = StepSpec


class ReadItem(ReadComponent, Item):
    """An item of trials; its grids are checked value by value."""

    @field_validator("grids", mode="before")
    @classmethod
    def _as_values(cls, grids: dict[str, Any]) -> Any:
        values, problems = {}, []
        for name, rule in grids.items():
            try:
                values[name] = tuple(grid_values(rule.get("grid", rule), "grid"))
            except GridError as error:
                problems.append(problem_at((name,), str(error)))
        refuse(problems)
        return values

    @model_validator(mode="after")
    def _checked_grids(self, info: Info) -> Self:
        """Check each value of a grid like a single value of the parameter."""
        if not self.grids:
            return self
        grids: dict[str, tuple[JsonValue, ...]] = {}
        problems = []
        known = parameter_model(self.factory).model_fields
        for name, values in self.grids.items():
            forms = []
            if name not in known:
                message = unknown_key(name, self.name, known)
                problems.append(problem_at((name,), message, key=True))
                continue
            for value in values:
                form, found = checked_value(name, value, [self])
                problems += [problem_at((name,), message) for message in found[:1]]
                if found:
                    break
                forms.append(form)
            grids[name] = tuple(forms)
        refuse(problems)
        if info.context.tuned:
            # A grid with only the item's own value leaves nothing to choose.
            grids = {name: each for name, each in grids.items() if each != (self.params.get(name),)}
        return self.model_copy(update={"grids": grids})


class ReadReducer(ReadItem, ReducerSpec):
    """A reducer of a document."""

    record = ReducerSpec

    @model_validator(mode="after")
    def _possible_mode(self) -> Self:
        with as_problem():
            traits = self.traits()
        if how := missing_of(self.section, self.factory, self.params):
            refuse([problem_at(("name",), f"{self.name} {how}")])
        if "mode" not in self.model_fields_set and not traits.out_of_sample:
            return self.model_copy(update={"mode": "transductive"})
        if not getattr(traits, self.mode):
            refuse([problem_at(("mode",), unsupported_mode(self.name, self.mode))])
        return self


class ReadClassifier(ReadItem, ClassifierSpec):
    """A classifier of a document."""

    record = ClassifierSpec


class ReadMeasure(ReadItem, MeasureSpec):
    """A measure of a document."""

    record = MeasureSpec


Labelled = TypeVar("Labelled", ReducerSpec, ClassifierSpec, MeasureSpec)


def labelled(
    items: Sequence[Labelled], taken: Sequence[str], swept: Collection[str], *, tuned: bool = False
) -> tuple[Labelled, ...]:
    """Return the items of a list, each with a label that is unique and not in `taken`.

    Raises pydantic.ValidationError if an item is listed twice or a label is given twice. If the
    spec tunes, two items must differ in a parameter that is neither swept nor tuned: otherwise the
    values of a tuned trial do not show to which of the two it belongs.
    """
    problems = []
    labels = list(taken)
    open_ones = [_open_parameters(item, swept) for item in items]
    for i, item in enumerate(items):
        before = [(items[j], open_ones[i] | open_ones[j]) for j in range(i)]
        if message := next(filter(None, (_repeats(item, *each, tuned) for each in before)), ""):
            problems.append(problem_at((i,), message))
        if item.label and item.label in labels:
            problems.append(problem_at((i, "label"), f"the label '{item.label}' is not unique."))
        labels.append(item.label or _default_label(item, items, open_ones[i]))
    refuse(problems)
    for i in range(len(taken), len(labels)):
        if labels[i] in labels[:i]:
            numbered = (f"{labels[i]} #{n}" for n in range(2, len(labels) + 2))
            labels[i] = next(label for label in numbered if label not in labels)
    named = zip(items, labels[len(taken) :], strict=True)
    return tuple(item.model_copy(update={"label": label}) for item, label in named)


def _repeats(item: Item, other: Item, unfixed: set[str], tuned: bool) -> str:
    """Return the error that an item equals another, or differs in `unfixed` parameters only."""
    if item.name != other.name:
        return ""
    if _identity(item) == _identity(other):
        return f"{item.name} is listed twice with equal parameters; remove one of the two."
    if tuned and item.is_tunable and _identity(item, unfixed) == _identity(other, unfixed):
        names = ", ".join(sorted(unfixed & item.params.keys())) or "nothing"
        return (
            f"{item.name} is listed twice, with differences only in tuned or swept parameters "
            f"({names}); list it once."
        )
    return ""


def unsupported_mode(name: str, mode: str) -> str:
    """Return the error that a reducer does not have a mode, and the modes that it has."""
    other = next(known for known in MODES if known != mode)
    return f"{name} can't be used with mode: {mode}; use mode: {other}."


def too_many_neighbors(
    context: Context, item: Component, name: str, values: Sequence[JsonValue]
) -> str:
    """Yield a problem if an estimator needs more neighbours than there are samples.

    In a reducer's graph a sample is not its own neighbour; a transductive reducer has the test
    samples too.
    """
    mode = getattr(item, "mode", None)
    samples = context.expect.samples if context.expect else None
    points = samples if mode == "transductive" else context.n_train
    numbers = [value for value in values if isinstance(value, int)]
    if context.n_train is None or points is None or not name.startswith("n_neighbors"):
        return ""
    if max(numbers, default=0) <= points - (item.section == "reducers"):
        return ""
    return f"{name} is {max(numbers)}, but {item.name} can only search among {points} samples."


def _open_parameters(item: Item, swept: Collection[str]) -> set[str]:
    """Return the parameters of an item with several values: swept, with its own grids, or tuned."""
    swept_here = {name for name in item.settable if f"{item.prefix}.{name}" in swept}
    return swept_here | item.grids.keys()


def _identity(item: Item, without: Collection[str] = ()) -> tuple[Any, ...]:
    fixed = {name: value for name, value in _facts(item).items() if name not in without}
    return item.name, fixed, None if without else item.grids


def _facts(item: Item) -> dict[str, Any]:
    return {**item.params, "mode": getattr(item, "mode", None)}


def _default_label(item: Labelled, items: Sequence[Labelled], unfixed: Collection[str]) -> str:
    """Return the name, with parameters that differ between its items: ``ccdr (heat)``.

    Parameters with several values (`unfixed`) are left out.
    """
    own = _facts(item)
    others = [_facts(other) for other in items if other.name == item.name]
    telling = [
        _fact(name, own[name])
        for name in own
        if name not in unfixed and any(other.get(name) != own[name] for other in others)
    ]
    name = class_name(item.name)
    return f"{name} ({', '.join(telling)})" if telling else name


def _fact(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name}={value:g}" if isinstance(value, int | float) else f"{name}={value}"
