"""Experiments as YAML: read with positions, checked against the estimators, expanded to trials."""

from ddr_cli.spec.cells import Cell, SplitKey, expand
from ddr_cli.spec.feasible import left_out
from ddr_cli.spec.load import load_spec, make_spec, with_sweep
from ddr_cli.spec.model import Spec
from ddr_cli.spec.sweeps import Setting, parse_values
from ddr_cli.spec.tune import Tuning

__all__ = [
    "Cell",
    "Setting",
    "Spec",
    "SplitKey",
    "Tuning",
    "expand",
    "left_out",
    "load_spec",
    "make_spec",
    "parse_values",
    "with_sweep",
]
