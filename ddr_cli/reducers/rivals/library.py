"""Libraries that are extras: imported when an adapter is fitted, named where they are missing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

# What is imported of each distribution, and the extra of ours that installs it.
_LIBRARIES = {
    "faiss-cpu": ("faiss", "approximate"),
    "umap-learn": ("umap", "umap"),
    "openTSNE": ("openTSNE", "opentsne"),
    "pacmap": ("pacmap", "pacmap"),
    "torch": ("torch", "torch"),
}
_needed = ContextVar("_needed", default=True)
_SEEDS = 2**30  # PaCMAP adds row numbers to a seed, in 32 bits


def load_library(distribution: str) -> Any:
    """Import what a distribution provides; ImportError says how to install it."""
    module, _ = _LIBRARIES[distribution]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        how = missing_library(distribution)
        raise ImportError(f"This {how}" if how else str(error), name=module) from error


@contextmanager
def nothing_fitted() -> Iterator[None]:
    """Have no library count as missing within the block: a plan needs none."""
    before = _needed.set(False)
    try:
        yield
    finally:
        _needed.reset(before)


def missing_library(distribution: str) -> str:
    """Return how to install a distribution that isn't, and an empty text for one that is."""
    if not _needed.get():
        return ""
    try:
        version(distribution)
    except PackageNotFoundError:
        _, extra = _LIBRARIES.get(distribution, ("", ""))
        what = f"'ddr[{extra}]'" if extra else distribution
        return f"needs {distribution}, which is not installed; pip install {what} does it."
    return ""


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed that every library takes: a small integer as it is, else one that is drawn."""
    if isinstance(random_state, int | np.integer) and 0 <= random_state < _SEEDS:
        return int(random_state)
    return int(check_random_state(random_state).randint(_SEEDS))


@contextmanager
def one_thread() -> Iterator[None]:
    """Have numba's functions, and those of BLAS and OpenMP, use one thread within the block."""
    numba = sys.modules["numba"]  # which the libraries that need this have imported
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        numba.set_num_threads(before)
