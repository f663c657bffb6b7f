"""One setting of a reducer, classifier or measure, and how one is chosen among several."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from pydantic import JsonValue

if TYPE_CHECKING:
    from ddr_cli.spec.components import Item


@dataclass(frozen=True)
class Setting:
    """A reducer, classifier or measure at one point of the sweep, with all its parameters.

    `mode` is None except for reducers; `version` is raised whenever the component's numbers change.
    """

    name: str
    label: str
    params: Mapping[str, JsonValue]
    mode: str | None
    version: int

    @classmethod
    def of(cls, item: Item, params: Mapping[str, JsonValue], mode: str | None) -> Setting:
        """Return an item's setting."""
        return cls(item.name, item.label, params, mode, item.traits(params).version)

    @cached_property
    def text(self) -> str:
        """What equal settings of components have in common, labels aside."""
        return json.dumps([self.name, self.mode, self.params], sort_keys=True)


@dataclass(frozen=True)
class Tuning:
    """How the setting of a tuned trial is chosen inside its training part.

    The `candidates`, a reducer's setting with an evaluator's, the default one first, are compared
    by their mean `metric` over `repeats` stratified divisions into `folds`.
    """

    candidates: tuple[tuple[Setting, Setting], ...]
    folds: int
    repeats: int
    metric: str
