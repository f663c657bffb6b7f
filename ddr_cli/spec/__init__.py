"""Experiments as YAML: read with positions, checked against the estimators, expanded to trials."""

from ddr_cli.spec.cells import Cell as Cell
from ddr_cli.spec.cells import SplitKey as SplitKey
from ddr_cli.spec.cells import expand as expand
from ddr_cli.spec.feasible import left_out as left_out
from ddr_cli.spec.load import load_spec as load_spec
from ddr_cli.spec.load import make_spec as make_spec
from ddr_cli.spec.load import with_sweep as with_sweep
from ddr_cli.spec.model import Spec as Spec
from ddr_cli.spec.sweeps import Setting as Setting
from ddr_cli.spec.sweeps import parse_values as parse_values
from ddr_cli.spec.tune import Tuning as Tuning
