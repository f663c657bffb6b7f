"""Data sets: cards, where their files are, and the arrays they become.

Each name is imported when it is first used, so that reading cards does not import NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.data.arrays import make_dataset
    from ddr_cli.data.card import Card
    from ddr_cli.data.cards import card_names, load_card
    from ddr_cli.data.dataset import Dataset, PredefinedSplit
    from ddr_cli.data.load import load_dataset
    from ddr_cli.data.store.sources import Sources
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "arrays": ["make_dataset"],
            "card": ["Card"],
            "cards": ["card_names", "load_card"],
            "dataset": ["Dataset", "PredefinedSplit"],
            "load": ["load_dataset"],
            "store.sources": ["Sources"],
        },
    )

__all__ = [
    "Card",
    "Dataset",
    "PredefinedSplit",
    "Sources",
    "card_names",
    "load_card",
    "load_dataset",
    "make_dataset",
]
