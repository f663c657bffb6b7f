"""Samples of embeddings for the page's linked scatter plots, stored compactly in the page."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.summary import Summary
from ddr_cli.figures.embeddings import DrawnEmbedding, drawn_embeddings, point_groups
from ddr_cli.report.chart import on_dark

_GROUPS = 256
_LEVELS = 4095
"""The largest value of the twelve bits of a coordinate, which are finer than a screen's pixels."""


def page_points(summary: Summary) -> list[dict[str, Any]]:
    """Return groups of planes that show the same samples, for the page's script.

    In a group, ``groups`` has the names of classes or sub-classes with their colours, ``y`` a
    sample's index among them, and ``test`` whether it is a test sample; ``at`` of a plane packs two
    coordinates into three bytes. Embeddings with another number of dimensions are left out.
    """
    shared: dict[tuple[Any, ...], list[DrawnEmbedding]] = {}
    for each in drawn_embeddings(summary):
        if each.dimension == 2:
            shared.setdefault((each.kept.split_hash, each.kept.y), []).append(each)
    few = (planes for planes in shared.values() if len(point_groups(planes[0])) <= _GROUPS)
    return [_group(planes) for planes in few]


def _group(planes: Sequence[DrawnEmbedding]) -> dict[str, Any]:
    first = planes[0]
    groups = point_groups(first)
    codes = np.zeros(len(first.y), dtype=np.uint8)
    for place, group in enumerate(groups):
        codes[group.members] = place
    return {
        "groups": [[group.name, group.colour, on_dark(group.colour)] for group in groups],
        "y": _packed(codes),
        "test": _packed(first.is_test),
        "planes": [[each.title, ", ".join(each.scores), _coordinates(each)] for each in planes],
    }


def _coordinates(embedding: DrawnEmbedding) -> str:
    points = embedding.coordinates
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    x, y = np.round(scaled * _LEVELS).astype(np.int64).T
    return _packed(np.column_stack([x >> 4, (x & 15) << 4 | y >> 8, y & 255]))


def _packed(values: NDArray[Any]) -> str:
    return b64encode(values.astype(np.uint8).tobytes()).decode()
