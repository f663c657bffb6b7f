"""Points of embeddings for the page's linked scatter plots, small enough to stand inside it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.comparison.summary import Summary
from ddr_cli.figures.embeddings import Embedding, read_embeddings
from ddr_cli.figures.style import class_look
from ddr_cli.report.chart import on_dark

_LEVELS = 4095
"""The largest of the twelve bits that a coordinate gets: finer than a screen's pixels."""


def page_points(summary: Summary) -> list[dict[str, Any]]:
    """Return groups of planes that show the same points, for the page's script.

    A group's ``groups`` are the names of classes or sub-classes with their colours, ``y`` a point's
    place among them, ``test`` whether it is a test point; a plane's ``at`` packs two coordinates
    into three bytes. What has another number of dimensions stays out.
    """
    shared: dict[tuple[Any, ...], list[Embedding]] = {}
    for each in read_embeddings(summary):
        if each.dimension == 2:
            shared.setdefault((each.kept.split_hash, each.kept.y), []).append(each)
    return [_group(planes) for planes in shared.values()]


def _group(planes: Sequence[Embedding]) -> dict[str, Any]:
    first = planes[0]
    codes, names = _codes(first)
    return {
        "groups": [
            [name, class_look(place).colour, on_dark(class_look(place).colour)]
            for place, name in enumerate(names)
        ],
        "y": _packed(codes),
        "test": _packed(first.is_test.astype(np.uint8)),
        "planes": [[each.title, ", ".join(each.scores), _coordinates(each)] for each in planes],
    }


def _codes(embedding: Embedding) -> tuple[NDArray[np.uint8], list[str]]:
    """Return each point's class, or sub-class where there are several, and what they are called."""
    classes, names = embedding.kept.classes, embedding.kept.subclass_names
    told = ["unlabelled" if code < 0 else classes[code] for code in embedding.y.tolist()]
    if names is not None and embedding.subclasses is not None:
        told = [
            f"{name}: {names[code]}" if code >= 0 else name
            for name, code in zip(told, embedding.subclasses.tolist(), strict=True)
        ]
    found = sorted(set(told))
    return np.array([found.index(name) for name in told], dtype=np.uint8), found


def _coordinates(embedding: Embedding) -> str:
    points = embedding.coordinates
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    x, y = np.round(scaled * _LEVELS).astype(np.int64).T
    return _packed(np.column_stack([x >> 4, (x & 15) << 4 | y >> 8, y & 255]))


def _packed(values: NDArray[Any]) -> str:
    return b64encode(values.astype(np.uint8).tobytes()).decode()
