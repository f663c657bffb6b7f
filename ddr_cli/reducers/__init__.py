"""Dimensionality reduction methods as scikit-learn estimators.

Each is imported on first use, so that listing the methods loads no scikit-learn.
"""

from __future__ import annotations

from typing import Any

from ddr_cli.reducers.registry import REDUCERS, Traits, get_traits

__all__ = ["REDUCERS", "Traits", "get_traits"]


def __getattr__(name: str) -> Any:
    for entry in REDUCERS.ours.values():
        if entry.target.endswith(f":{name}"):
            return entry.load()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    classes = (entry.target.partition(":")[2] for entry in REDUCERS.ours.values())
    return sorted([*__all__, *classes])
