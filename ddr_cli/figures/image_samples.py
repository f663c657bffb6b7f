"""A picture of some samples of a data set of images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.data import Dataset
from ddr_cli.figures.style import house_style, image_bytes, new_figure

_COLUMNS = 10
_MOST_CLASSES = 12
_GAP = 1


def write_samples(dataset: Dataset, path: Path) -> Path:
    """Write ten images of each class, twelve classes at most, to a ``.png`` or ``.svg`` file."""
    if dataset.image_shape is None:
        raise InputError(f"{dataset.name} holds no images, so there is no picture of samples.")
    content = image_bytes(path, lambda: _draw_samples(dataset))
    with clear_messages(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(path, content)
    return path


def _draw_samples(dataset: Dataset) -> Figure:
    shown = _spread(len(dataset.target_names), _MOST_CLASSES)
    rows = [_row(dataset, code) for code in shown]
    height, width = rows[0].shape
    with house_style():
        figure = new_figure(6.4, 0.5 + 6.0 * len(rows) * height / width)
        lines = figure.subplots(len(rows), 1, squeeze=False)[:, 0]
        for axes, code, row in zip(lines, shown, rows, strict=True):
            axes.imshow(row, cmap="gray", interpolation="nearest")
            axes.set(xticks=[], yticks=[])
            axes.spines[:].set_visible(False)
            axes.grid(visible=False)
            name = dataset.target_names[code]
            axes.set_ylabel(name, rotation=0, horizontalalignment="right", va="center")
        figure.suptitle(dataset.title, fontsize=11, weight="bold")
    return figure


def _row(dataset: Dataset, code: int) -> Any:
    """Return images of one class side by side, spread over the class."""
    members = np.flatnonzero(dataset.y == code)
    assert dataset.image_shape is not None
    height, width = dataset.image_shape
    blank = np.full((height, _GAP), np.nan)
    parts = []
    for place in _spread(len(members), _COLUMNS):
        values: Any = dataset.X[members[place]]
        parts += [np.asarray(values, dtype=float).reshape(height, width), blank]
    parts += [np.full((height, width + _GAP), np.nan)] * (_COLUMNS - len(parts) // 2)
    return np.hstack(parts)


def _spread(n: int, most: int) -> list[int]:
    """Return up to `most` of the numbers below n, evenly spread and beginning with 0."""
    return sorted({int(place) for place in np.linspace(0, n - 1, min(n, most))})
