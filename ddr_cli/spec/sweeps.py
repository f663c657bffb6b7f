"""The ``sweep:`` of a spec: every value checked as if it were given as the parameter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import JsonValue, ValidationError

from ddr_cli.core.errors import nearest
from ddr_cli.core.problems import KeyPath
from ddr_cli.core.sentences import sentences
from ddr_cli.spec.components import MODES, Component, nobody_has, wrong_mode
from ddr_cli.spec.estimators import PREFIXES, complete
from ddr_cli.spec.grids import GridError, grid_values
from ddr_cli.spec.reading import Reader

SWEPT = {PREFIXES[section]: section for section in ("reducers", "classifiers")}
"""The prefixes of parameters that can be swept, and their lists."""

Lists = Mapping[str, Sequence[Component] | None]


def read_sweep(reader: Reader, raw: Any, lists: Lists) -> dict[str, tuple[JsonValue, ...]]:
    """Return the values of each swept parameter.

    Parameters
    ----------
    reader : Reader
        Collects the problems.
    raw : Any
        The value of ``sweep:``.
    lists : mapping
        The reducers and the classifiers; None for a list that has a problem of its own, whose
        parameters are then not checked.
    """
    sweep: dict[str, tuple[JsonValue, ...]] = {}
    for key, rule in (reader.mapping(("sweep",), raw, "sweep") or {}).items():
        path = ("sweep", key)
        prefix, _, parameter = key.partition(".")
        if prefix not in SWEPT or not parameter:
            reader.problem(path, _not_sweepable(key, lists), key=True)
            continue
        components = lists[SWEPT[prefix]]
        having = [item for item in components or () if parameter in item.settable]
        if components is not None and not having:
            known = [name for item in components for name in item.settable]
            reader.problem(path, nobody_has(prefix, parameter, known), key=True)
            continue
        try:
            values = grid_values(rule)
        except GridError as error:
            reader.problem(path, str(error))
            continue
        before = len(reader.problems)
        checked: list[JsonValue] = []
        for value in values:
            checked.append(_check(reader, path, rule, value, parameter, having))
            # The values of a rule stand in one place: one of them says what is wrong.
            if len(reader.problems) > before and not isinstance(rule, list):
                break
        sweep[key] = tuple(checked)
    return sweep


def _check(
    reader: Reader,
    path: KeyPath,
    rule: Any,
    value: Any,
    parameter: str,
    having: Sequence[Component],
) -> JsonValue:
    place = path
    if isinstance(rule, list):
        place = (
            *path,
            next(i for i, v in enumerate(rule) if v == value and type(v) is type(value)),
        )
    if parameter == "mode":
        if value not in MODES:
            reader.problem(place, wrong_mode(value))
        return value  # type: ignore[no-any-return]
    checked: list[JsonValue] = []
    for item in having:
        try:
            checked.append(complete(item.factory, {**item.params, parameter: value})[parameter])
        except ValidationError as error:
            for sentence in sentences(error, unknown=str, missing=str):
                reader.problem(place, sentence.text)
    return checked[0] if checked else value


def _not_sweepable(key: str, lists: Lists) -> str:
    shape = "a sweep names reducer.<parameter> or classifier.<parameter>"
    known = [
        f"{prefix}.{name}"
        for prefix, section in SWEPT.items()
        for item in lists[section] or ()
        for name in item.settable
    ]
    bare = [name for name in known if name.partition(".")[2] == key]
    meant = bare[0] if bare else nearest(key, known)
    return f"{shape}, not '{key}'." + (f" Did you mean '{meant}'?" if meant else "")
