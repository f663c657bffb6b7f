"""Stand-ins: classes that forward every call to a sealed process that holds the real class."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from inspect import Parameter, Signature
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Literal, Union

import annotated_types
import numpy as np
from sklearn.base import BaseEstimator

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import display_name
from ddr_cli.core.sealed.messages import Unknown
from ddr_cli.core.sealed.process import RemoteError, Sealed
from ddr_cli.core.sealed.server import BOUNDS, METHODS

_OF_CLASS = ("predict_many", "predict_training", "predict_mapped", "score_many")
_FITTED = ("classes_", "label_components_", "class_centers_")


class StandIn(BaseEstimator):  # type: ignore[misc]
    """An object in a sealed process, which starts at the first call and holds only this object."""

    name: ClassVar[str]
    template: ClassVar[Any]

    def __getattr__(self, attribute: str) -> Any:
        if attribute in _FITTED and "process_" in self.__dict__:
            for value in self.process_.ask("attribute", attribute):
                return value
        raise AttributeError(attribute)

    def _call(self, method: str, *args: Any, number: int = 0, **kwargs: Any) -> Any:
        if "process_" not in self.__dict__:
            self.process_ = Sealed(self.name, template=self.template)
            self.process_.ask("make", self.name, _given(self))
        return self.process_.ask("call", number, method, args, kwargs, object_of=self._object)

    def _object(self, number: int) -> Any:
        return self if number == 0 else _Part(self, number)


class _Part:
    """A fitted transformer that a method of another object returned."""

    def __init__(self, owner: StandIn, number: int) -> None:
        self._owner, self._number = owner, number

    def transform(self, *args: Any, **kwargs: Any) -> Any:
        return self._owner._call("transform", *args, number=self._number, **kwargs)


@lru_cache(maxsize=256)
def stand_in(name: str, source: str) -> type[StandIn]:  # noqa: ARG001 (edited code is another class)
    """Return the stand-in of a class that is named by its code; `source` identifies its version.

    Raises InputError if the class cannot be loaded.
    """
    process = Sealed(name, kept=True)

    # This process answers questions about the class. It never gets data: other processes do fits.
    def template() -> Sealed:
        nonlocal process
        if not process.is_alive:
            process = Sealed(name, kept=True)
        return process

    def asked(verb: str, *arguments: Any) -> Any:
        try:
            return template().ask(verb, name, *arguments)
        except RemoteError as error:
            what = "read" if verb == "describe" else "created with these parameters"
            raise InputError(
                f"{display_name(name)} can't be {what}: {str(error).rstrip('.')}."
            ) from error

    said = asked("describe")
    methods = [each for each in METHODS if each in said["methods"]]
    members: dict[str, Any] = {each: _passed_on(each) for each in methods}
    members |= {each: classmethod(_once(each)) for each in methods if each in _OF_CLASS}
    members |= {"name": name, "__doc__": said["doc"], "version": said["version"]}
    members["template"] = staticmethod(template)
    members["check_made"] = lambda self: asked("construct", _given(self))
    members["__init__"] = _init(said["parameters"])
    members["__sklearn_tags__"] = _tags(asked) if "__sklearn_tags__" in said["has"] else None
    if "__ddr_traits__" in said["has"]:
        members["__ddr_traits__"] = _traits(asked)
    if "_parameter_constraints" in said["has"]:
        members["_parameter_constraints"] = {
            parameter: [SimpleNamespace(options=options)]
            for parameter, options in said["choices"].items()
            if options
        }
        members["_validate_params"] = lambda self: asked(
            "declared", _given(self), "_validate_params"
        )
    if said["scale"] is not None:
        members["scale"] = said["scale"]
    return type(said["name"], (StandIn,), members)


def _given(made: StandIn) -> dict[str, Any]:
    """Return the parameters of an object; a default that cannot be sent is omitted."""
    params: dict[str, Any] = made.get_params(deep=False)
    return {name: value for name, value in params.items() if not isinstance(value, Unknown)}


def _distribution(values: Any) -> Any:
    """Return validated probabilities, because scikit-learn's log loss accepts any numbers."""
    sums = np.asarray(values).sum(axis=1)
    if not (np.min(values, initial=0.0) >= 0 and np.allclose(sums, 1.0, atol=1e-6)):
        raise ValueError("predict_proba does not return a probability distribution")
    return values


def _passed_on(method: str) -> Callable[..., Any]:
    def call(self: StandIn, *args: Any, **kwargs: Any) -> Any:
        found = self._call(method, *args, **kwargs)
        return _distribution(found) if method == "predict_proba" else found

    # scikit-learn's scorers identify a method by its `__name__`.
    call.__name__ = method
    return call


def _once(method: str) -> Callable[..., Any]:
    def call(cls: type[StandIn], *args: Any) -> Any:
        process = Sealed(cls.name, template=cls.template)
        try:
            return process.ask("call_class", cls.name, method, args)
        finally:
            process.end()

    return call


def _init(parameters: list[list[Any]]) -> Callable[..., None]:
    hints, listed = {}, [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for name, hint, *default in parameters:
        kind = Parameter.KEYWORD_ONLY
        listed.append(Parameter(name, kind, default=default[0] if default else Parameter.empty))
        if hint is not None:
            hints[name] = _annotation(hint)
    signature = Signature(listed)

    def init(self: StandIn, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        for name in list(bound.arguments)[1:]:
            setattr(self, name, bound.arguments[name])

    init.__signature__ = signature  # type: ignore[attr-defined]
    init.__annotations__ = hints
    return init


def _annotation(hint: Any) -> Any:
    if isinstance(hint, str):
        plain: dict[str, Any] = {"int": int, "float": float, "bool": bool, "str": str, "...": ...}
        return plain.get(hint)
    kind, *inner = hint
    if kind == "Literal":
        return Literal[tuple(inner[0])]
    if kind == "Annotated":
        known = {name: getattr(annotated_types, name) for name in BOUNDS}
        bounds = [known[name](bound) for name, bound in inner[1].items()]
        return Annotated[(_annotation(inner[0]), *bounds)]
    parts = tuple(_annotation(each) for each in inner)
    kinds: dict[str, Any] = {"Union": Union, "list": list, "tuple": tuple}
    return kinds[kind][parts]


def _tags(asked: Callable[..., Any]) -> Callable[[StandIn], Any]:
    def tags(self: StandIn) -> Any:
        said = asked("tags", _given(self))
        found = BaseEstimator.__sklearn_tags__(self)
        found.estimator_type = said["kind"]
        found.input_tags.sparse, found.input_tags.allow_nan = said["sparse"], said["allow_nan"]
        return found

    return tags


def _traits(asked: Callable[..., Any]) -> Callable[[StandIn], Any]:
    from dataclasses import replace

    @cache
    def declared(text: str) -> Any:
        params: Mapping[str, Any] = json.loads(text)
        traits = asked("declared", params, "__ddr_traits__")
        if getattr(traits, "max_components", None) is None:
            return traits
        return replace(traits, max_components=lambda *n: asked("max_components", params, *n))

    return lambda self: declared(json.dumps(_given(self), sort_keys=True))
