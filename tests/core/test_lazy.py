"""Packages give their names, and import the modules behind them only when asked."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from ddr_cli.core.lazy import as_if_missing

PACKAGES = ["data", "engine", "reducers", "report"]


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_there_and_listed(package: str) -> None:
    module = import_module(f"ddr_cli.{package}")
    assert dir(module)
    for name in dir(module):
        assert getattr(module, name).__module__.startswith("ddr_cli.")


@pytest.mark.parametrize("package", PACKAGES)
def test_another_name_is_an_attribute_error(package: str) -> None:
    module = import_module(f"ddr_cli.{package}")
    with pytest.raises(AttributeError, match=f"'ddr_cli.{package}' has no attribute 'nothing'"):
        _ = module.nothing


def test_importing_the_packages_loads_no_heavy_library() -> None:
    imports = ", ".join(f"ddr_cli.{package}" for package in PACKAGES)
    heavy = "('numpy', 'scipy', 'sklearn', 'pandas', 'pydantic', 'matplotlib')"
    code = f"import sys, {imports}; print([name for name in {heavy} if name in sys.modules])"
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "[]"


def test_a_deferred_module_is_loaded_when_it_is_used() -> None:
    code = (
        "import sys; from ddr_cli.core.lazy import load_when_used; load_when_used('scipy.stats');"
        "import scipy.stats; before = 'scipy.stats._stats_py' in sys.modules;"
        "print(before, scipy.stats.rankdata([3, 1]).tolist())"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout.strip() == "False [2.0, 1.0]"


def test_a_module_can_be_as_if_missing_for_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "wave", raising=False)
    with as_if_missing("wave"), pytest.raises(ModuleNotFoundError, match="wave"):
        import_module("wave")
    loaded = import_module("wave")
    with as_if_missing("wave"):
        assert import_module("wave") is loaded
