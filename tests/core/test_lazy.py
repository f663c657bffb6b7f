"""Packages list their names and import the modules behind them only on first use."""

import subprocess
import sys
from importlib import import_module

import pytest

from ddr_cli.core.lazy import as_if_missing

PACKAGES = ["data", "engine", "reducers"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_listed(package):
    module = import_module(f"ddr_cli.{package}")
    assert dir(module)
    for name in dir(module):
        assert getattr(module, name).__module__.startswith("ddr_cli.")


@pytest.mark.parametrize("package", PACKAGES)
def test_another_name_is_an_attribute_error(package):
    module = import_module(f"ddr_cli.{package}")
    with pytest.raises(AttributeError, match=f"'ddr_cli.{package}' has no attribute 'nothing'"):
        _ = module.nothing


HEAVY = "('numpy', 'scipy', 'sklearn', 'pandas', 'pydantic', 'matplotlib', 'PIL', 'pooch')"


@pytest.mark.parametrize(
    ("code", "allowed"),
    [
        (f"import {', '.join(f'ddr_cli.{package}' for package in PACKAGES)}", set()),
        ("import ddr_cli.cli.app", set()),
        ("from ddr_cli.reducers.registry import REDUCERS; REDUCERS.names()", set()),
        ("import ddr_cli.evaluation.evaluators", set()),
        ("import ddr_cli.data.formats", set()),
        (
            "import ddr_cli.cli.data; from ddr_cli.data import Sources, card_names, load_card;"
            "[load_card(name) for name in card_names()]",
            {"pydantic"},
        ),
        (
            "from ddr_cli.cli.listing import list_names;"
            "list_names('metrics'); list_names('splits')",
            {"pydantic", "numpy", "pandas"},
        ),
    ],
)
def test_what_computes_nothing_loads_no_heavy_library(code, allowed):
    code = f"import sys; {code}; print(*[name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *_, loaded = done.stdout.split("\n")[:-1]
    assert set(loaded.split()) <= allowed


def test_a_deferred_module_is_loaded_when_it_is_used():
    code = (
        "import sys; from ddr_cli.core.lazy import load_when_used; load_when_used('scipy.stats');"
        "import scipy.stats; before = 'scipy.stats._stats_py' in sys.modules;"
        "print(before, scipy.stats.rankdata([3, 1]).tolist())"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "False [2.0, 1.0]"


def test_a_module_can_be_as_if_missing_for_a_while(monkeypatch):
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with as_if_missing("wave"), pytest.raises(ModuleNotFoundError, match="wave"):
        import_module("wave")
    loaded = import_module("wave")
    with as_if_missing("wave"):
        assert import_module("wave") is loaded
