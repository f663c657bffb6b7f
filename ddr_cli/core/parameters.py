"""The parameters of an estimator, read from its `__init__` and checked against its annotations.

The signature is the only place that states a parameter's type, range and default. Specs are
validated against it before a run, `fit` makes the same checks, and `ddr describe` prints it::

    def __init__(self, n_components: Annotated[int, Ge(1)] = 2): ...

or, in a dataclass, a field ``n_components: Annotated[int, Ge(1)] = 2``.

For estimators without annotations (third-party ones), only the names are checked.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, create_model


@cache
def parameter_model(factory: Callable[..., Any]) -> type[BaseModel]:
    """Return a pydantic model of the parameters of a class or function.

    Each parameter has its default; unknown names and wrong types are errors, and text is never
    converted to a number.
    """
    target: Callable[..., Any] = (
        inspect.getattr_static(factory, "__init__") if inspect.isclass(factory) else factory
    )
    # A dataclass can inherit fields from another file, where their annotations must be resolved.
    hints = get_type_hints(factory if is_dataclass(factory) else target, include_extras=True)
    fields: dict[str, Any] = {}
    for name, parameter in inspect.signature(target).parameters.items():
        if name == "self" or parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints.get(name, Any), default)
    with warnings.catch_warnings():
        # A parameter may have the name of a BaseModel method, such as `copy`, that is never called.
        warnings.filterwarnings("ignore", message="Field name .* shadows an attribute")
        return create_model(
            getattr(factory, "__name__", "Parameters"),
            __config__=ConfigDict(
                extra="forbid", strict=True, arbitrary_types_allowed=True, protected_namespaces=()
            ),
            **fields,
        )


def undeclared_texts(factory: Callable[..., Any], name: str, value: Any) -> list[str]:
    """Return the texts in a parameter's value that its class does not declare as choices.

    Such a text may be the path of a file, or an expression that a library evaluates. A class
    declares choices in the annotation of its `__init__`, or in scikit-learn's
    `_parameter_constraints`. The keys of a mapping are names, and the default of a class is
    accepted.
    """
    field = parameter_model(factory).model_fields[name]
    if isinstance(value, str) and value == field.default:
        return []
    declared = {*_literals(field.annotation), *constrained_choices(factory).get(name, ())}
    return [text for text in _texts(value) if text not in declared]


def constrained_choices(factory: Callable[..., Any]) -> dict[str, list[Any]]:
    """Return the choices of each parameter that has scikit-learn's `_parameter_constraints`."""
    return {
        name: [
            choice
            for each in constraints
            # scikit-learn's `Hidden` wraps a constraint; `StrOptions` and `Options` have `options`.
            for choice in getattr(getattr(each, "constraint", each), "options", ())
        ]
        for name, constraints in getattr(factory, "_parameter_constraints", {}).items()
    }


def _literals(annotation: Any) -> Iterator[Any]:
    if get_origin(annotation) is Literal:
        yield from get_args(annotation)
    else:
        for part in get_args(annotation):
            yield from _literals(part)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _texts(each)


def check_parameters(estimator: Any) -> None:
    """Check an estimator's parameters against the annotations of its ``__init__``.

    Raises
    ------
    ValueError
        If one has a wrong type or is out of range; the message names the parameter, the value
        and what is allowed.
    """
    factory: Callable[..., Any] = type(estimator)
    model = parameter_model(factory)
    given = {name: getattr(estimator, name) for name in model.model_fields}
    try:
        # NumPy scalars are checked as Python scalars: np.int64(3) is an integer, too.
        model(**{n: v.item() if isinstance(v, np.generic) else v for n, v in given.items()})
    except ValidationError as error:
        name = error.errors()[0]["loc"][0]
        reasons = "; or ".join(
            dict.fromkeys(item["msg"] for item in error.errors() if item["loc"][0] == name)
        )
        raise ValueError(
            f"{type(estimator).__name__}: {name}={given[str(name)]!r} is not valid: {reasons}."
        ) from None
