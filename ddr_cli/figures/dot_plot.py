"""Dot plots: a dot per method, for runs without a sweep or with more swept parameters than axes.

Or, over a swept parameter without an order (such as the class that is looked at), a dot per method
on a line for each of its values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.names import plain
from ddr_cli.comparison.summary import best_index, swept_columns
from ddr_cli.figures.picture import Picture
from ddr_cli.figures.style import (
    LARGEST,
    NEUTRAL,
    PAPER_FILL,
    STAR,
    legend_entry,
    new_figure,
    value_axis,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DEFAULT_MARKER = "|"
_SHIFT = 0.17  # between two families of splits
_SPREAD = 0.5  # of all methods over one line


def draw_dot_plot(picture: Picture) -> Figure:
    """Draw one line per method: its best setting's mean, interval and quoted number.

    There is a panel per classifier, so that reducers are compared line by line. Of a run that
    tunes, a line shows the default setting as a stroke too.
    """
    group = 1 if picture.run.spec.plot.x != "classifier" else 0
    lines = list(dict.fromkeys(picture.untuned(method) for method in picture.methods))
    groups = {
        name: [method for method in lines if method[group] == name]
        for name in dict.fromkeys(method[group] for method in lines)
    }
    tunes = len(lines) < len(picture.methods)
    several = len(picture.families) > 1
    apart = 0.34 if len(groups) > 1 else 0.0
    figure = new_figure(7.4, 1.6 + 0.36 * len(lines) + apart * len(groups))
    ratios = [len(own) + apart for own in groups.values()]
    grid = figure.subplots(len(groups), 1, sharex=True, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, (name, own) in zip(grid, groups.items(), strict=True):
        for family in picture.families:
            shift = 0.0 if not several else -_SHIFT if family == picture.families[0] else _SHIFT
            rows = picture.rows[picture.rows["split"] == family]
            for method in picture.methods:
                line = picture.untuned(method)
                means = picture.of(method, rows)["mean"]
                if line not in own or means.empty:
                    continue
                row = picture.row(best_index(means, picture.metric))
                style = picture.look(line, place=1 - group, alone=True)
                is_default = tunes and method in lines
                marker = _DEFAULT_MARKER if is_default else style.marker
                hollow = family == "predefined"
                label = "default setting" if is_default else picture.family_title(family)
                place = own.index(line) + shift
                _dot(axes, row, place, style.colour, marker, label, hollow=hollow)
            for quoted in picture.quoted:
                line = picture.untuned(picture.method_of(quoted))
                if line in own and picture.row(quoted.row)["split"] == family:
                    _star(axes, quoted.value * picture.scale, own.index(line) + shift)
        # A panel says what its lines share, and each line the rest.
        names = [picture.name(method) if len(groups) == 1 else method[1 - group] for method in own]
        axes.set_yticks(range(len(own)), names)
        axes.set_ylim(len(own) - 0.4, -0.6)
        axes.grid(visible=False, axis="y")
        best = "Best setting of each method" if swept_columns(picture.run) else ""
        axes.set_title(
            " · ".join(filter(None, [name if len(groups) > 1 else "", best])), loc="left"
        )
        axes.tick_params(labelbottom=axes is grid[-1])
    grid[-1].set_xlabel(picture.axis)
    value_axis(grid[0], picture.rows["mean"], "x", picture.metric)
    low, high = grid[0].get_xlim()
    for axes in grid:
        if picture.largest is not None and low < picture.largest < high:
            axes.axvline(picture.largest, **LARGEST)
    handles = []
    for family in picture.families:
        face = "white" if family == "predefined" else NEUTRAL
        dot = {"marker": "o", "color": NEUTRAL, "markerfacecolor": face}
        handles.append(legend_entry(picture.family_title(family), **dot))
    if tunes:
        handles.append(legend_entry("default setting", marker=_DEFAULT_MARKER, color=NEUTRAL))
    handles += [*picture.quoted_handle(), *picture.interval_handle(), *picture.largest_handle()]
    picture.finish(figure, handles)
    return figure


def draw_category_plot(picture: Picture, x: str) -> Figure:
    """Draw a line per value of the parameter, a dot per method, a panel per family of splits."""
    measured = set(picture.rows[x])
    values = [value for value in picture.run.spec.axes[x] if value in measured]
    methods, families = picture.methods, picture.families
    height = 1.5 + max(0.42, 0.2 * len(methods)) * len(values)
    figure = new_figure(7.4 if len(families) == 1 else 10.0, height + 0.2)
    grid = figure.subplots(1, len(families), sharey=True, sharex=True, squeeze=False)[0]
    for axes, family in zip(grid, families, strict=True):
        rows = picture.rows[picture.rows["split"] == family]
        for number, method in enumerate(methods):
            shift = _SPREAD * ((number + 0.5) / len(methods) - 0.5)
            style = picture.look(method)
            for _, row in picture.of(method, rows).iterrows():
                place, name = values.index(row[x]) + shift, picture.name(method)
                _dot(axes, row, place, style.colour, style.marker, name)
        stars = {
            (quoted.value * picture.scale, values.index(row[x]))
            for quoted in picture.quoted
            if (row := picture.row(quoted.row))["split"] == family
        }
        for value, place in sorted(stars):
            _star(axes, value, place)
        axes.set_title(picture.family_title(family), loc="left")
        axes.grid(visible=False, axis="y")
        axes.set_xlabel(picture.axis)
    grid[0].set_yticks(range(len(values)), [plain(value) for value in values])
    grid[0].set_ylim(len(values) - 0.5, -0.5)
    value_axis(grid[0], picture.rows["mean"], "x", picture.metric)
    looks = [(picture.name(method), picture.look(method)) for method in methods]
    handles = [legend_entry(name, marker=each.marker, color=each.colour) for name, each in looks]
    picture.finish(figure, [*handles, *picture.quoted_handle(), *picture.interval_handle()])
    return figure


def _dot(
    axes: Axes,
    row: pd.Series[Any],
    place: float,
    colour: str,
    marker: str,
    label: str,
    *,
    hollow: bool = False,
) -> None:
    if not np.isnan(row["low"]):
        ends = [row["low"], row["high"]]
        bar: dict[str, Any] = {"color": colour, "lw": 3, "alpha": 0.4, "solid_capstyle": "butt"}
        axes.plot(ends, [place] * 2, label=label, **bar)
    axes.plot(
        [row["mean"]],
        [place],
        label=label,
        marker=marker,
        markersize=11 if marker == _DEFAULT_MARKER else 6,
        color=colour,
        markerfacecolor="white" if hollow else colour,
        zorder=4,
    )


def _star(axes: Axes, value: float, place: float) -> None:
    axes.plot([value], [place], label="number in the paper", color=PAPER_FILL, zorder=3, **STAR)
