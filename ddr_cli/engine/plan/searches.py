"""Kinds of neighbour searches; every worker process imports this module, so it imports little."""

from __future__ import annotations

from inspect import signature
from typing import Any

TRANSDUCTIVE = "transductive"
OUT_OF_SAMPLE = "out_of_sample"
QUERIES = "queries"


def transforms_by_neighbors(reducer: Any) -> bool:
    """Return whether a reducer's ``transform`` accepts the neighbours of the new samples."""
    # A reducer without `transform` is not reported here; it fails when it is fitted.
    transform = getattr(reducer, "transform", None)
    return transform is not None and "neighbors" in signature(transform).parameters
