"""Data sets: cards, where their files are, and the arrays they become.

Each name is imported when it is first used, so that reading cards does not import NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.data.arrays import make_dataset as make_dataset
    from ddr_cli.data.card import Card as Card
    from ddr_cli.data.cards import card_names as card_names
    from ddr_cli.data.cards import load_card as load_card
    from ddr_cli.data.dataset import Dataset as Dataset
    from ddr_cli.data.dataset import PredefinedSplit as PredefinedSplit
    from ddr_cli.data.load import load_dataset as load_dataset
    from ddr_cli.data.store.sources import Sources as Sources
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)
