"""Data sets: cards, where their files are, and the arrays they become.

The names are imported when they are asked for, so that reading cards stays free of NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.data.card import Card, card_names, load_card
    from ddr_cli.data.dataset import Dataset, PredefinedSplit
    from ddr_cli.data.load import load_dataset
    from ddr_cli.data.locate import Sources

_HOME = {
    "Card": "card",
    "card_names": "card",
    "load_card": "card",
    "Dataset": "dataset",
    "PredefinedSplit": "dataset",
    "load_dataset": "load",
    "Sources": "locate",
}

__all__ = [
    "Card",
    "Dataset",
    "PredefinedSplit",
    "Sources",
    "card_names",
    "load_card",
    "load_dataset",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
