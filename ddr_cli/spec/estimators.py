"""Estimators for specs: found by name, with complete parameters and traits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any, Literal, get_args

from pydantic import JsonValue, ValidationError

from ddr_cli.core.errors import InputError, did_you_mean, nearest
from ddr_cli.core.own_code import display_name, is_code, is_trusted
from ddr_cli.core.parameters import parameter_model, undeclared_texts
from ddr_cli.core.positions import KeyPath, dotted, value_text
from ddr_cli.core.registry import Registry, load_component
from ddr_cli.core.sklearn_names import is_of_sklearn
from ddr_cli.evaluation import evaluators
from ddr_cli.reducers import registry as reducers

Factory = Callable[..., Any]
Mode = Literal["transductive", "out_of_sample"]
MODES: tuple[str, ...] = get_args(Mode)

PREFIXES = {
    "reducers": "reducer",
    "classifiers": "classifier",
    "measures": "classifier",
    "preprocess": "preprocess",
}
"""The lists of a spec and the prefix of their parameters' dotted names.

A measure takes the place of a trial's classifier.
"""
_METHODS: Mapping[str, tuple[str | tuple[str, ...], ...]] = {
    "reducers": ("fit", ("fit_transform", "transform")),
    "classifiers": ("fit", "predict"),
    "measures": ("score_many",),
    "preprocess": ("fit_transform", "transform"),
}
OWN_KEYS: Mapping[str, tuple[str, ...]] = {
    "reducers": ("label", "mode"),
    "classifiers": ("label", "only_on"),
    "measures": ("label",),
    "preprocess": (),
}
"""The keys that an item of a list has next to its name and parameters."""


def setting(path: KeyPath) -> str:
    """Return the name of a setting for ``--set``.

    >>> setting(("split", "train")), setting(("reducers", 0, "beta")), setting(("reducers", 0))
    ('split.train', 'reducer.beta', 'reducers')
    """
    section, dot, rest = dotted(path).partition(".")
    return f"{PREFIXES.get(section, section)}.{rest}" if dot else section


def registry_of(section: str) -> Registry:
    """Return the registry from which a list of the spec takes its names."""
    return {
        "reducers": reducers.REDUCERS,
        "classifiers": evaluators.CLASSIFIERS,
        "measures": evaluators.MEASURES,
        "preprocess": evaluators.PREPROCESSORS,
    }[section]


def load_factory(section: str, name: str) -> Factory:
    """Return the estimator of that name; InputError states why it can't be used."""
    # Plans load components often, so registered ones are cached; a user's code may change.
    load: Callable[..., Factory] = _factory.__wrapped__ if is_code(name) else _factory
    return load(section, name)


@cache
def _factory(section: str, name: str) -> Factory:
    factory: Factory = registry_of(section).load(name)
    for needed in lacking(factory, section):
        raise InputError(f"{display_name(name)} can't be used in {section}: it has no {needed}.")
    try:
        parameter_model(factory)
    except (TypeError, NameError) as error:
        raise InputError(f"The signature of {name} can't be read: {error}.") from error
    return factory


def lacking(factory: Factory, section: str) -> list[str]:
    """Return the methods that a class lacks for a list of a spec."""
    alternatives = [(each,) if isinstance(each, str) else each for each in _METHODS[section]]
    return [
        " or ".join(names)
        for names in alternatives
        if not any(hasattr(factory, name) for name in names)
    ]


def sections_of(name: str) -> list[str]:
    """Return the lists of a spec that may hold a component; InputError if none may."""
    if not is_code(name):
        names = {section: registry_of(section).names() for section in PREFIXES}
        if found := [section for section in PREFIXES if name in names[section]]:
            return found
        raise InputError(
            f"There is no reducer, classifier, measure or preprocessing step '{name}'."
            f"{did_you_mean(name, chain(*names.values()))} 'ddr list reducers' shows the reducers."
        )
    factory = load_component(name)
    # A user's own transformer counts as a reducer, although it could be a preprocessing step, too.
    found = [
        section
        for section in ("reducers", "classifiers", "measures")
        if not lacking(factory, section)
    ]
    if not found:
        raise InputError(
            f"{display_name(name)} is neither a reducer (fit, transform), a classifier (fit, "
            "predict) nor a measure (score_many)."
        )
    return found


def settable_names(section: str, name: str) -> list[str]:
    """Return an item's settings that ``--set`` and ``sweep`` may change: parameters and mode."""
    known = parameter_model(load_factory(section, name)).model_fields
    names = [key for key in known if key not in ("name", *OWN_KEYS[section])]
    return [*names, "mode"] if section == "reducers" else names


def did_you_mean_setting(name: str, known: Sequence[str]) -> str:
    """Return ``Did you mean 'reducer.x'?`` for ``x`` or a similar name, or an empty string."""
    bare = {each.partition(".")[2]: each for each in reversed(known) if "." in each}
    meant = bare.get(name) or nearest(name, known) or bare.get(nearest(name, bare) or "")
    return f" Did you mean '{meant}'?" if meant else ""


def nobody_has(prefix: str, parameter: str, known: Iterable[str]) -> str:
    """Return the error that no item of a list has a parameter, and the existing parameters."""
    names = list(dict.fromkeys(known))
    there = did_you_mean(parameter, names) or f" The parameters are {', '.join(names) or 'none'}."
    return f"no {prefix} of this spec has a parameter '{parameter}'.{there}"


def has_default(factory: Factory, parameter: str) -> bool:
    """Return whether a parameter is optional; one that does not exist is."""
    field = parameter_model(factory).model_fields.get(parameter)
    return field is None or not field.is_required()


def usual(factory: Factory) -> dict[str, JsonValue]:
    """Return the defaults of an estimator's signature that a spec can express."""
    return {name: value for name, value in _defaults(factory).items() if is_plain(value)}


@cache
def _defaults(factory: Factory) -> dict[str, Any]:
    fields = parameter_model(factory).model_fields.items()
    return {name: field.default for name, field in fields if not field.is_required()}


def complete(factory: Factory, given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return all parameters of an estimator, checked and in canonical form (see `in_form`).

    A floating-point parameter is a float whether it was written ``1`` or ``1.0``, and so is its
    default. A default that JSON can't express is left out; the estimator fills it in. Raises
    pydantic.ValidationError if a parameter is unknown, missing or wrong.
    """
    model = parameter_model(factory)
    defaults = _defaults(factory)
    try:
        values = dict(model(**{**defaults, **given}))
    except ValidationError:
        # A third party's default may violate its own annotation; it is then used unchecked.
        values = dict(model(**given))
    return in_form(factory, {name: each for name, each in values.items() if is_plain(each)})


def completed(factory: Factory, parameter: str, value: Any) -> JsonValue:
    """Return one parameter as `complete` does."""
    made = parameter_model(factory).model_construct()
    made.__pydantic_validator__.validate_assignment(made, parameter, value)
    return in_form(factory, {parameter: vars(made)[parameter]})[parameter]


def in_form(factory: Factory, params: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return checked parameters in canonical form: lists, not tuples; 1.0, not 1, for a float."""
    defaults, formed = _defaults(factory), dict(params)
    for name, value in params.items():
        if isinstance(value, tuple):
            formed[name] = list(value)
        elif type(value) is int and isinstance(defaults.get(name), float):
            formed[name] = float(value)
    return formed


def value_source(name: str, parameter: str, value: Any) -> str:
    """Return the source that a user must trust to use a component with a parameter's value."""
    return f"{name}({parameter}={value!r})"


def untrusted_values(section: str, name: str, params: Mapping[str, Any]) -> dict[str, str]:
    """Return the reasons why parameters, which may be a path or code, need trust, by parameter.

    Parameters of `ddr`'s components are checked by their types; other code needs no check, because
    it is already trusted.
    """
    found = {}
    if name in registry_of(section).ours or (is_code(name) and not is_of_sklearn(name)):
        return {}
    factory = load_factory(section, name)
    for parameter, value in params.items():
        texts = undeclared_texts(factory, parameter, value)
        if texts and not is_trusted(value_source(name, parameter, value)):
            found[parameter] = (
                f"{value_text(texts[0])} is not a declared choice for {parameter} of "
                f"{display_name(name)}; if it is safe, use --trust."
            )
    return found


def make(factory: Factory, params: Mapping[str, Any]) -> Any:
    """Return an estimator; a third-party constructor may fail in any way."""
    try:
        made = factory(**params)
    except Exception as error:
        name = getattr(factory, "__name__", "the component")
        raise InputError(f"{name} can't be created with these parameters: {error}.") from error
    if hasattr(made, "check_made"):
        made.check_made()
    return made


def make_checked(factory: Factory, params: Mapping[str, Any]) -> Any:
    """Return an estimator; if its signature has no types, its constructor checks the parameters.

    scikit-learn's estimators have constraints, which they otherwise check in `fit`.
    """
    made = make(factory, params)
    if hasattr(made, "_parameter_constraints") and not is_annotated(factory):
        try:
            made._validate_params()
        except ValueError as error:
            raise InputError(f"{error}") from None
    return made


@cache
def is_annotated(factory: Factory) -> bool:
    """Return whether the signature states the type of every parameter."""
    return all(
        field.annotation is not Any for field in parameter_model(factory).model_fields.values()
    )


def traits_of(section: str, factory: Factory, params: Mapping[str, Any]) -> Any:
    """Return the traits of a reducer, classifier or measure with these parameters."""
    get = reducers.get_traits if section == "reducers" else evaluators.get_evaluator_traits
    return get(make(factory, params))


def missing_of(section: str, factory: Factory, params: Mapping[str, Any]) -> str:
    """Return how to install the missing library of an estimator with these parameters, if any."""
    from ddr_cli.core.extras import missing_library

    library = getattr(traits_of(section, factory, params), "library", None)
    return missing_library(library) if library else ""


def wrong_mode(mode: object) -> str:
    """Return the error that a mode does not exist."""
    hint = did_you_mean(mode, MODES) if isinstance(mode, str) else ""
    return f"mode must be {' or '.join(map(repr, MODES))}, but is {value_text(mode)}.{hint}"


def is_plain(value: object) -> bool:
    """Return whether JSON can express a value."""
    if isinstance(value, list | tuple):
        return all(is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_plain(item) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)
