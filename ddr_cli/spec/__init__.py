"""Experiments as YAML: read with positions, checked against the estimators, made into trials.

Reading a spec loads the estimators that it names, so the names below are imported when asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.spec.cells import Cell, Setting, SplitKey, expand
    from ddr_cli.spec.load import load_spec, make_spec
    from ddr_cli.spec.model import Spec
    from ddr_cli.spec.problems import SpecError
    from ddr_cli.spec.sweeping import parse_values, with_sweep

_HOMES = {
    "Cell": "cells",
    "Setting": "cells",
    "Spec": "model",
    "SpecError": "problems",
    "SplitKey": "cells",
    "expand": "cells",
    "load_spec": "load",
    "make_spec": "load",
    "parse_values": "sweeping",
    "with_sweep": "sweeping",
}

__all__ = [
    "Cell",
    "Setting",
    "Spec",
    "SpecError",
    "SplitKey",
    "expand",
    "load_spec",
    "make_spec",
    "parse_values",
    "with_sweep",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
