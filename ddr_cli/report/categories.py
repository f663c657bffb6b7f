"""Dots over a swept parameter without an order, such as the class that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ddr_cli.report.names import plain
from ddr_cli.report.picture import Picture, value_axis
from ddr_cli.report.style import PAPER_COLOUR, PAPER_FILL, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SPREAD = 0.5


def draw_categories(picture: Picture, x: str) -> Figure:
    """Draw a line per value of the parameter, a dot per method, a panel per family of splits."""
    measured = set(picture.rows[x])
    values = [value for value in picture.run.spec.sweep[x] if value in measured]
    families = picture.families
    height = 1.5 + max(0.42, 0.2 * len(picture.methods)) * len(values)
    figure = new_figure(7.4 if len(families) == 1 else 10.0, height)
    grid = figure.subplots(1, len(families), sharey=True, sharex=True, squeeze=False)[0]
    for axes, family in zip(grid, families, strict=True):
        rows = picture.rows[picture.rows["split"] == family]
        for number, method in enumerate(picture.methods):
            shift = _shift(number, len(picture.methods))
            look = picture.look(method)
            for _, row in picture.of(method, rows).iterrows():
                _dot(axes, row, values.index(row[x]) + shift, look.colour, look.marker)
        for mark in picture.marks:
            row = picture.row(mark.row)
            if row["split"] == family:
                _star(axes, mark.value * picture.scale, values.index(row[x]))
        axes.set_title(picture.family_title(family), loc="left")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(picture.axis)
    grid[0].set_yticks(range(len(values)), [plain(value) for value in values])
    grid[0].set_ylim(len(values) - 0.5, -0.5)
    value_axis(grid[0], picture.rows["mean"], "x", picture.metric)
    picture.finish(figure, _handles(picture))
    return figure


def _shift(number: int, total: int) -> float:
    return _SPREAD * ((number + 0.5) / total - 0.5)


def _dot(axes: Axes, row: pd.Series[Any], place: float, colour: str, marker: str) -> None:
    if not np.isnan(row["low"]):
        ends = [row["low"], row["high"]]
        axes.plot(ends, [place] * 2, color=colour, lw=3, alpha=0.4, solid_capstyle="butt")
    axes.plot([row["mean"]], [place], marker=marker, markersize=6, color=colour, zorder=4)


def _star(axes: Axes, value: float, place: float) -> None:
    axes.plot(
        [value],
        [place],
        marker="*",
        markersize=14,
        color=PAPER_FILL,
        markeredgecolor=PAPER_COLOUR,
        markeredgewidth=0.8,
        zorder=3,
    )


def _handles(picture: Picture) -> list[Any]:
    looks = [(picture.look(method), picture.name(method)) for method in picture.methods]
    handles: list[Any] = [
        Line2D([], [], linestyle="", marker=look.marker, color=look.colour, label=name)
        for look, name in looks
    ]
    return [*handles, *picture.mark_handle(), *picture.interval_handle()]
