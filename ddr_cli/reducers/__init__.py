"""Dimensionality reduction methods as scikit-learn estimators.

Names are imported on first use, so that listing the methods loads no scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.reducers.base import Traits, get_traits
    from ddr_cli.reducers.ccdr import CCDR
    from ddr_cli.reducers.lda import LDA
    from ddr_cli.reducers.none import Identity
    from ddr_cli.reducers.pca import PCA
    from ddr_cli.reducers.registry import REDUCERS

__all__ = ["CCDR", "LDA", "PCA", "REDUCERS", "Identity", "Traits", "get_traits"]

_HOME = {
    "CCDR": "ccdr",
    "LDA": "lda",
    "PCA": "pca",
    "REDUCERS": "registry",
    "Identity": "none",
    "Traits": "base",
    "get_traits": "base",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
