"""A dot per method: for runs without a sweep, or with more swept parameters than axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ddr_cli.report.picture import Method, Picture, value_axis
from ddr_cli.report.select import best_place
from ddr_cli.report.style import NEUTRAL, PAPER_COLOUR, PAPER_FILL, look, new_figure
from ddr_cli.report.summary import swept_columns

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SHIFT = 0.17
Best = dict[Method, "pd.Series[Any]"]


def draw_dots(picture: Picture) -> Figure:
    """Draw one line per method: its best setting's mean, interval and quoted number.

    Returns
    -------
    Figure
        Grouped by classifier, so that reducers are compared line by line; a colour and a marker
        per classifier.
    """
    by_classifier = picture.run.spec.plot.x != "classifier"
    group = 1 if by_classifier else 0
    groups = list(dict.fromkeys(method[group] for method in picture.methods))
    methods = sorted(picture.methods, key=lambda method: groups.index(method[group]))
    figure = new_figure(7.4, 1.5 + 0.42 * len(methods))
    axes = figure.subplots()
    several = len(picture.families) > 1
    for family in picture.families:
        shift = 0.0 if not several else -_SHIFT if family == picture.families[0] else _SHIFT
        best = _best_rows(picture, family)
        for place, method in enumerate(methods):
            if method in best:
                style = look(groups.index(method[group]))
                _dot(axes, best[method], place + shift, style.colour, style.marker)
        if family == picture.families[0]:
            _marks(picture, axes, methods, shift)
    axes.set_yticks(range(len(methods)), [picture.name(method) for method in methods])
    axes.set_ylim(len(methods) - 0.4, -0.6)
    for place in range(1, len(methods)):
        if methods[place][group] != methods[place - 1][group]:
            axes.axhline(place - 0.5, color=NEUTRAL, linewidth=0.6)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(picture.axis)
    value_axis(axes, picture.rows["mean"], "x", picture.metric)
    if swept_columns(picture.run):
        axes.set_title("Best setting of each method", loc="left")
    picture.finish(figure, _handles(picture))
    return figure


def _best_rows(picture: Picture, family: str) -> Best:
    rows = picture.rows[picture.rows["split"] == family]
    best: Best = {}
    for method in picture.methods:
        means = picture.of(method, rows)["mean"]
        if len(means):
            best[method] = picture.row(best_place(means, picture.metric))
    return best


def _dot(axes: Axes, row: pd.Series[Any], place: float, colour: str, marker: str) -> None:
    if not np.isnan(row["low"]):
        axes.plot(
            [row["low"], row["high"]],
            [place] * 2,
            color=colour,
            linewidth=3,
            alpha=0.4,
            solid_capstyle="butt",
        )
    axes.plot(
        [row["mean"]],
        [place],
        marker=marker,
        markersize=6,
        color=colour,
        markerfacecolor="white" if row["split"] == "predefined" else colour,
        zorder=4,
    )


def _marks(picture: Picture, axes: Axes, methods: list[Method], shift: float) -> None:
    for mark in picture.marks:
        place = methods.index(picture.method_of(mark)) + shift
        axes.plot(
            [mark.value * picture.scale],
            [place],
            marker="*",
            markersize=14,
            color=PAPER_FILL,
            markeredgecolor=PAPER_COLOUR,
            markeredgewidth=0.8,
            zorder=3,
        )


def _handles(picture: Picture) -> list[Any]:
    handles: list[Any] = [
        Line2D(
            [],
            [],
            linestyle="",
            marker="o",
            color=NEUTRAL,
            markerfacecolor="white" if family == "predefined" else NEUTRAL,
            label=picture.family_title(family),
        )
        for family in picture.families
    ]
    return [*handles, *picture.mark_handle(), *picture.interval_handle()]
