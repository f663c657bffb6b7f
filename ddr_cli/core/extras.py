"""Our distribution, and optional libraries, with a message on how to install them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib import import_module
from importlib.metadata import Distribution, PackageNotFoundError, entry_points, version
from typing import Any
from warnings import catch_warnings

from ddr_cli.core.errors import InputError

# For each distribution: the module to import, and our extra that installs it.
_LIBRARIES = {
    "faiss-cpu": ("faiss", "approximate"),
    "umap-learn": ("umap", "umap"),
    "openTSNE": ("openTSNE", "opentsne"),
    "pacmap": ("pacmap", "pacmap"),
    "torch": ("torch", "torch"),
}
_needed = ContextVar("_needed", default=True)


@cache
def distribution() -> Distribution | None:
    """Return our distribution: the one with the command `ddr`; None if it is not installed."""
    scripts = entry_points(group="console_scripts", name="ddr")
    return next((each.dist for each in scripts if each.value.startswith("ddr_cli.")), None)


def how_to_install(extra: str) -> str:
    """Return the command that installs an extra."""
    found = distribution()
    return f"pip install '{found.name if found else '.'}[{extra}]'"


def load_library(library: str) -> Any:
    """Import the module of a distribution; the ImportError states how to install it."""
    module, _ = _LIBRARIES[library]
    try:
        # Some libraries warn that their own extras are missing.
        with catch_warnings(action="ignore", category=ImportWarning):
            return import_module(module)
    except ModuleNotFoundError as error:
        how = missing_library(library)
        raise ImportError(f"This {how}" if how else str(error), name=module) from error


@contextmanager
def nothing_fitted() -> Iterator[None]:
    """Treat all libraries as installed within the block, because a plan needs none."""
    before = _needed.set(False)
    try:
        yield
    finally:
        _needed.reset(before)


def load_module(module: str, extra: str, need: str, instead: str = "") -> Any:
    """Import a module; the `InputError`, after `need`, states how to install it, or `instead`."""
    try:
        return import_module(module)
    except ModuleNotFoundError:
        raise InputError(f"{need}: {how_to_install(extra)}{instead}.") from None


def missing_library(library: str) -> str:
    """Return how to install a distribution, or an empty string if it is installed."""
    if not _needed.get():
        return ""
    try:
        version(library)
    except PackageNotFoundError:
        _, extra = _LIBRARIES.get(library, ("", ""))
        how = how_to_install(extra) if extra else f"pip install {library}"
        return f"needs {library}, which is not installed; install it by {how}."
    return ""
