"""``--set name=value``: changes to a spec from the command line, made before it is checked."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from pydantic import ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import Document, Place, Problem
from ddr_cli.core.yaml_loader import parse_value
from ddr_cli.spec.budgets import LABELS
from ddr_cli.spec.estimators import (
    MODES,
    OWN_KEYS,
    PREFIXES,
    complete,
    did_you_mean_setting,
    load_factory,
    nobody_has,
    settable_names,
    traits_of,
)
from ddr_cli.spec.model import KEYS
from ddr_cli.spec.sweeps import TRAIN

_TEXTS = ("title", "description")
_MAPPINGS = ("dataset", "split", "sweep", "plot", "paper", "embeddings")
_LONGEST_TEXT = 80


def apply_overrides(document: Document, overrides: Sequence[str]) -> None:
    """Change a document by a list of ``name=value``, and record problems in the list.

    ``reducer.x`` (``classifier.x``, ``preprocess.x``) sets x of every item of the list that has it,
    and ends a sweep over it; ``split.train`` likewise ends its sweep; ``sweep.reducer.x`` sets a
    sweep; other names are those of the spec's own keys, such as ``split.repeats``. Values are read
    as YAML, titles as plain text. They are applied in order; messages about the new values refer to
    ``--set name=value``.
    """
    was_swept = _axis_is_swept(document)
    for index, text in enumerate(overrides):
        text = text.encode("utf-8", "backslashreplace").decode()
        short = text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
        _Override(document, Place.in_option(index, f"--set {short}")).apply(text)
    if was_swept and not _axis_is_swept(document):
        # The sweep of the figure's axis was replaced, so the axis gets its default.
        for path in (("plot", "x"), ("plot", "log")):
            if path in document.places and not document.place(path).is_option:
                document.remove(path)


def _axis_is_swept(document: Document) -> bool:
    plot, sweep = document.data.get("plot"), document.data.get("sweep")
    x = plot.get("x") if isinstance(plot, dict) else None
    if x == LABELS:
        budgets = document.data.get(LABELS)
        return not isinstance(budgets, list) or len(budgets) > 1
    return isinstance(sweep, dict) and isinstance(x, str) and x in sweep


class _Override:
    """One ``name=value`` and the document that it changes."""

    def __init__(self, document: Document, place: Place) -> None:
        self.document = document
        self.place = place

    def apply(self, text: str) -> None:
        name, equals, raw = text.partition("=")
        name = name.strip()
        if not equals or not name:
            self._problem("", "write name=value, such as reducer.beta=0.1.")
            return
        try:
            value = raw if name in _TEXTS else parse_value(raw)
        except InputError as error:
            self._problem(name, str(error))
            return
        head, _, rest = name.partition(".")
        if head in PREFIXES.values() and rest:
            self._set_parameter(head, rest, value)
        elif head in _MAPPINGS and rest:
            self._set_inside(head, rest, value)
        elif name in KEYS:
            self.document.put((name,), value, self.place)
        else:
            self._problem(name, self._unknown(name))

    def _problem(self, key: str, message: str) -> None:
        self.document.problems.append(Problem(self.place, key, message))

    def _set_inside(self, key: str, inner: str, value: Any) -> None:
        data = self.document.data
        if key == "dataset" and isinstance(data.get(key), str):
            self.document.open_up((key,))
        if data.get(key) is None:
            self.document.put((key,), {}, self.place)
        # If the file has something other than a mapping here, the check reports it later.
        if isinstance(data[key], dict):
            self.document.put((key, inner), value, self.place)
        if f"{key}.{inner}" == TRAIN and isinstance(data.get("sweep"), dict):
            self.document.remove(("sweep", TRAIN))

    def _set_parameter(self, prefix: str, parameter: str, value: Any) -> None:
        items = [item for item in self._items() if PREFIXES[item[0][0]] == prefix]
        having = [(at, item) for at, item, names in items if parameter in (names or ())]
        # An item that can't be read might have the parameter; the check reports the item later.
        if not having and all(names is not None for _, _, names in items):
            known = [name for _, _, names in items for name in names or ()]
            self._problem(f"{prefix}.{parameter}", nobody_has(prefix, parameter, known))
        if parameter == "mode":
            # Reducers without this mode keep their own, unless no reducer has it.
            having = [(at, item) for at, item in having if _can(item, value)] or having
        for at, item in having:
            if isinstance(item, str):
                self.document.open_up(at)
            self.document.put((*at, parameter), value, self.place)
        sweep = self.document.data.get("sweep")
        if isinstance(sweep, dict):
            self.document.remove(("sweep", f"{prefix}.{parameter}"))

    def _unknown(self, name: str) -> str:
        known = [*KEYS]
        for at, _, names in self._items():
            known += [f"{PREFIXES[at[0]]}.{parameter}" for parameter in names or ()]
        hint = did_you_mean_setting(name, known) or " A name is written as reducer.beta."
        return f"there is no setting called '{name}'.{hint}"

    def _items(self) -> list[tuple[tuple[str, int], Any, list[str] | None]]:
        """Return the position of each item of the lists, the item, and its settings.

        The settings are None if the item names no valid estimator.
        """
        found: list[tuple[tuple[str, int], Any, list[str] | None]] = []
        for section in PREFIXES:
            items = self.document.data.get(section)
            for i, item in enumerate(items if isinstance(items, list) else ()):
                names = None
                with suppress(InputError):
                    names = settable_names(section, _name(item))
                found.append(((section, i), item, names))
        return found


def _name(item: Any) -> str:
    return str(item.get("name") if isinstance(item, dict) else item)


def _can(item: Any, mode: Any) -> bool:
    own = ("name", *OWN_KEYS["reducers"])
    given = {k: v for k, v in item.items() if k not in own} if isinstance(item, dict) else {}
    factory = load_factory("reducers", _name(item))
    try:
        traits = traits_of("reducers", factory, complete(factory, given))
    except (ValidationError, InputError):
        # Wrong parameters are reported when the spec is checked.
        return True
    return mode not in MODES or bool(getattr(traits, mode))
