"""Experiments as YAML: read with positions, checked against the estimators, made into trials.

Reading a spec loads the estimators that it names, so the names below are imported when asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.spec.cells import Cell, Setting, SplitKey, expand
    from ddr_cli.spec.load import load_spec, make_spec, with_sweep
    from ddr_cli.spec.model import Spec
    from ddr_cli.spec.sweeps import parse_values
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "cells": ["Cell", "Setting", "SplitKey", "expand"],
            "load": ["load_spec", "make_spec", "with_sweep"],
            "model": ["Spec"],
            "sweeps": ["parse_values"],
        },
    )

__all__ = [
    "Cell",
    "Setting",
    "Spec",
    "SplitKey",
    "expand",
    "load_spec",
    "make_spec",
    "parse_values",
    "with_sweep",
]
