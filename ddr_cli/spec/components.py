"""The lists of a spec (preprocess, reducers, ...) against the estimators' signatures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from pydantic import JsonValue, ValidationError

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.problems import KeyPath, as_clause, shown
from ddr_cli.core.sentences import unknown_key
from ddr_cli.reducers.registry import get_traits
from ddr_cli.spec.estimators import (
    Factory,
    complete,
    make,
    parameter_names,
    registry_of,
)
from ddr_cli.spec.model import Mode
from ddr_cli.spec.reading import Reader

MODES: tuple[str, ...] = get_args(Mode)
_OWN_KEYS = {
    "preprocess": ("name",),
    "classifiers": ("name", "label"),
    "measures": ("name", "label"),
    "reducers": ("name", "mode", "label"),
}


@dataclass(frozen=True)
class Component:
    """One item of a list of the spec, with an estimator that is known and parameters that fit it.

    Parameters
    ----------
    section : {"preprocess", "reducers", "classifiers", "measures"}
        The list.
    path : tuple
        Where it stands.
    name : str
        Its name in the registry.
    factory : callable
        The estimator's class.
    params : dict
        All parameters.
    label : str or None
        The name shown, if the spec gives one.
    mode : str or None
        For a reducer, how it embeds test points.
    """

    section: str
    path: KeyPath
    name: str
    factory: Factory
    params: dict[str, JsonValue] = field(default_factory=dict)
    label: str | None = None
    mode: Mode | None = None

    @property
    def settable(self) -> list[str]:
        """What ``--set`` and ``sweep`` may change of it."""
        return settable_names(self.section, self.factory)


def settable_names(section: str, factory: Factory) -> list[str]:
    """Return what ``--set`` and ``sweep`` may change of an item: its parameters, and its mode."""
    names = [name for name in parameter_names(factory) if name not in _OWN_KEYS[section]]
    return [*names, "mode"] if section == "reducers" else names


def nobody_has(prefix: str, parameter: str, known: Iterable[str]) -> str:
    """Say that no item of a list has a parameter, and what there is."""
    names = list(dict.fromkeys(known))
    there = did_you_mean(parameter, names) or f" Known: {', '.join(names) or 'none'}."
    return f"no {prefix} of this spec has a parameter '{parameter}'.{there}"


def read_components(reader: Reader, section: str, raw: Any) -> list[Component] | None:
    """Return the items of one list of the spec.

    Parameters
    ----------
    reader : Reader
        Collects the problems.
    section : {"preprocess", "reducers", "classifiers", "measures"}
        The list.
    raw : Any
        Its value in the document.

    Returns
    -------
    list of Component or None
        None if any item has a problem.
    """
    if not isinstance(raw, list):
        shape = "a list of names and mappings such as [{name: ..., ...}]"
        reader.problem((section,), f"{section} must be {shape}, but is {shown(raw)}.")
        return None
    if not raw and section != "preprocess":
        none = " ('none' is the reducer that reduces nothing)" if section == "reducers" else ""
        reader.problem((section,), f"{section} must have one item or more{none}.")
        return None
    items = [read_component(reader, (section, i), item) for i, item in enumerate(raw)]
    good = [item for item in items if item is not None]
    return good if len(good) == len(items) else None


def find_factory(section: str, item: Any) -> Factory | None:
    """Return the estimator that an item names, if it names one."""
    name = item.get("name") if isinstance(item, dict) else item
    try:
        factory: Factory = registry_of(section).load(str(name))
        parameter_names(factory)
    except (InputError, TypeError, NameError):
        return None
    return factory


def read_component(reader: Reader, path: KeyPath, raw: Any) -> Component | None:
    """Return one item, or None after noting what is wrong with it."""
    section = str(path[0])
    kind = registry_of(section).kind
    own = _OWN_KEYS[section]
    if isinstance(raw, str):
        raw, name_path = {"name": raw}, path
    else:
        name_path = (*path, "name")
    if not isinstance(raw, dict):
        reader.problem(path, f"a {kind} is a name or a mapping with a name, but is {shown(raw)}.")
        return None
    name = raw.get("name")
    if not isinstance(name, str):
        what = f"is {shown(name)}" if "name" in raw else "has none"
        reader.problem(name_path, f"a {kind} needs a name, which is text, but this {what}.")
        return None
    try:
        factory: Factory = registry_of(section).load(name)
        names = parameter_names(factory)
    except InputError as error:
        reader.problem(name_path, as_clause(error))
        return None
    except (TypeError, NameError) as error:
        reader.problem(name_path, f"the signature of {name} can't be read: {error}.")
        return None
    given = {key: value for key, value in raw.items() if key not in own}
    before = len(reader.problems)
    _check_own_keys(reader, path, raw, own)
    try:
        params = complete(factory, given)
    except ValidationError as error:
        known = [*names, *(key for key in own if key != "name")]
        reader.explain(
            error,
            path,
            unknown=lambda key: unknown_key(key, name, known),
            missing=lambda key: f"{name} needs the parameter {key}.",
        )
    if len(reader.problems) > before:
        return None
    component = Component(section, path, name, factory, params, raw.get("label"), raw.get("mode"))
    try:
        estimator = make(factory, params)
    except InputError as error:
        reader.problem(path, as_clause(error))
        return None
    return _with_mode(reader, component, estimator) if section == "reducers" else component


def _check_own_keys(
    reader: Reader, path: KeyPath, raw: Mapping[str, Any], own: tuple[str, ...]
) -> None:
    label, mode = raw.get("label"), raw.get("mode")
    if "label" in own and "label" in raw and (not isinstance(label, str) or not label.strip()):
        reader.problem((*path, "label"), f"label must be text, but is {shown(label)}.")
    if "mode" in own and "mode" in raw and mode not in MODES:
        reader.problem((*path, "mode"), wrong_mode(mode))


def wrong_mode(mode: object) -> str:
    """Say that a mode is none of those there are."""
    hint = did_you_mean(mode, MODES) if isinstance(mode, str) else ""
    return f"mode must be {' or '.join(map(repr, MODES))}, but is {shown(mode)}.{hint}"


def _with_mode(reader: Reader, component: Component, reducer: Any) -> Component | None:
    traits = get_traits(reducer)
    possible: Mode = "out_of_sample" if traits.out_of_sample else "transductive"
    mode = component.mode or possible
    if not getattr(traits, mode):
        reader.problem((*component.path, "mode"), unsupported_mode(component.name, mode))
        return None
    return replace(component, mode=mode)


def unsupported_mode(name: str, mode: str) -> str:
    """Say that a reducer can't embed test points in this way, and in which it can."""
    other = next(known for known in MODES if known != mode)
    return f"{name} can't be used with mode: {mode}; use mode: {other}."
