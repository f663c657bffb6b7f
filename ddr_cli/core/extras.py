"""Optional libraries: imported where they are used, with a message on how to install them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

# For each distribution: the module to import, and our extra that installs it.
_LIBRARIES = {
    "faiss-cpu": ("faiss", "approximate"),
    "umap-learn": ("umap", "umap"),
    "openTSNE": ("openTSNE", "opentsne"),
    "pacmap": ("pacmap", "pacmap"),
    "torch": ("torch", "torch"),
}
_needed = ContextVar("_needed", default=True)


def load_library(distribution: str) -> Any:
    """Import the module of a distribution; the ImportError states how to install it."""
    module, _ = _LIBRARIES[distribution]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        how = missing_library(distribution)
        raise ImportError(f"This {how}" if how else str(error), name=module) from error


@contextmanager
def nothing_fitted() -> Iterator[None]:
    """Treat all libraries as installed within the block, because a plan needs none."""
    before = _needed.set(False)
    try:
        yield
    finally:
        _needed.reset(before)


def missing_library(distribution: str) -> str:
    """Return how to install a distribution, or an empty string if it is installed."""
    if not _needed.get():
        return ""
    try:
        version(distribution)
    except PackageNotFoundError:
        _, extra = _LIBRARIES.get(distribution, ("", ""))
        what = f"'ddr[{extra}]'" if extra else distribution
        return f"needs {distribution}, which is not installed; pip install {what} does it."
    return ""
