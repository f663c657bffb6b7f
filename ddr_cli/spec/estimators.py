"""What specs need of estimators: their parameters, complete and canonical, and their traits."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from pydantic import JsonValue, ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.registry import Registry
from ddr_cli.evaluation import registry as classifiers
from ddr_cli.reducers import registry as reducers
from ddr_cli.reducers.registry import Traits, get_traits

Factory = Callable[..., Any]

PREFIXES = {
    "reducers": "reducer",
    "classifiers": "classifier",
    "measures": "classifier",
    "preprocess": "preprocess",
}
"""The lists of a spec and the prefix of their parameters' dotted names.

A measure stands in the classifier's place of a trial.
"""


def registry_of(section: str) -> Registry:
    """Return the registry from which a list of the spec takes its names."""
    return {
        "reducers": reducers.REDUCERS,
        "classifiers": classifiers.CLASSIFIERS,
        "measures": classifiers.MEASURES,
        "preprocess": classifiers.PREPROCESSORS,
    }[section]


def parameter_names(factory: Factory) -> list[str]:
    """Return the names of an estimator's parameters."""
    return list(parameter_model(factory).model_fields)


def complete(factory: Factory, given: Mapping[str, Any]) -> dict[str, JsonValue]:
    """Return all parameters of an estimator, checked, in the one form that identity rests on.

    A parameter that is a number with decimals is a float whether it was written ``1`` or ``1.0``,
    and so is its default. A default that JSON can't hold is left out, so the estimator fills it in.

    Parameters
    ----------
    factory : callable
        The estimator's class.
    given : mapping
        The parameters that were given.

    Raises
    ------
    pydantic.ValidationError
        If one is unknown, missing, of a wrong type or out of range.
    """
    model = parameter_model(factory)
    values = dict(model(**given))
    defaults = {n: f.default for n, f in model.model_fields.items() if not f.is_required()}
    # Only a third party's default can break its own annotation; it is then used as it is.
    with suppress(ValidationError):
        values = dict(model(**{**defaults, **given}))
    plain: dict[str, JsonValue] = {}
    for name, value in values.items():
        if isinstance(defaults.get(name), float) and type(value) is int:
            value = float(value)
        if _is_plain(value):
            plain[name] = list(value) if isinstance(value, tuple) else value
    return plain


def make(factory: Factory, params: Mapping[str, Any]) -> Any:
    """Return an estimator with these parameters.

    Raises
    ------
    InputError
        If its constructor raises anything, as a third party's may where it checks its parameters.
    """
    try:
        return factory(**params)
    except Exception as error:
        name = getattr(factory, "__name__", "it")
        raise InputError(f"{name} can't be made with these parameters: {error}.") from error


def reducer_traits(factory: Factory, params: Mapping[str, Any]) -> Traits:
    """Return the traits of a reducer with these parameters."""
    return get_traits(make(factory, params))


def version_of(section: str, factory: Factory, params: Mapping[str, Any]) -> int:
    """Return the version of the numbers of a reducer, classifier or measure."""
    if section == "reducers":
        return reducer_traits(factory, params).version
    return classifiers.get_evaluator_traits(make(factory, params)).version


def declared_grids(
    section: str, factory: Factory, params: Mapping[str, Any]
) -> Mapping[str, tuple[Any, ...]]:
    """Return the grids that a reducer, classifier or measure offers for its parameters."""
    if section == "reducers":
        return reducer_traits(factory, params).grids
    return classifiers.get_evaluator_traits(make(factory, params)).grids


def _is_plain(value: object) -> bool:
    if isinstance(value, list | tuple):
        return all(_is_plain(item) for item in value)
    if isinstance(value, dict):
        return all(isinstance(key, str) and _is_plain(item) for key, item in value.items())
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, bool | int | str)
