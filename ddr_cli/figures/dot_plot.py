"""Dot plots: a dot per method, for runs without a sweep or with more swept parameters than axes.

Alternatively, for a swept parameter without an order (such as the class of a measure), a line for
each of its values and a dot per method. Shuffled labels have a separate dot plot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from ddr_cli.comparison.against_controls import AgainstControls
from ddr_cli.comparison.names import lower_is_better, parameter_name, plain
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import best_index, swept_columns
from ddr_cli.figures.picture import Method, Picture
from ddr_cli.figures.style import (
    LARGEST,
    NEUTRAL,
    PAPER_FILL,
    STAR,
    Look,
    house_style,
    legend_below,
    legend_entry,
    look,
    name_lines,
    new_figure,
    set_title,
    value_axis,
    with_progress,
)

_DEFAULT_MARKER = "|"
_SHIFT = 0.17  # offset of each of two families of splits from the line
_SPREAD = 0.5  # height over which the methods of one line are spread
_FEW = 4  # largest number of methods that are named in the title's second line


def draw_dot_plot(picture: Picture, every: str = "") -> Figure:
    """Draw one line per method: its best setting's mean, interval and quoted number.

    There is a panel per classifier, so that reducers are compared line by line. Panels share an
    axis unless this would leave most of a panel empty. If a run tunes, a line also shows the
    default setting as a stroke. A parameter without an order, such as a random state, has all its
    values on one line, because no best value is selected; `every` names it.
    """
    group = 1 if picture.run.spec.plot.x != "classifier" else 0
    lines = list(dict.fromkeys(picture.untuned(method) for method in picture.methods))
    groups = {
        name: [method for method in lines if method[group] == name]
        for name in dict.fromkeys(method[group] for method in lines)
    }
    tunes = len(lines) < len(picture.methods)
    together = len(groups) == 1
    apart = 0.0 if together else 0.34
    best = ["Best setting of each method"] * bool(swept_columns(picture.run))
    if every:
        best = [f"One marker per value of {parameter_name(every)}"]
    figure = new_figure(7.4, 1.6 + 0.36 * len(lines) + apart * len(groups))
    ratios = [len(own) + apart for own in groups.values()]
    grid = figure.subplots(len(groups), 1, squeeze=False, height_ratios=ratios)[:, 0]
    for axes, (name, own) in zip(grid, groups.items(), strict=True):
        for family in picture.families:
            _draw_family(axes, picture, family, own, lines if tunes else [], 1 - group, every)
        # With several panels, each title names the component that its methods share, and each line
        # names the other component.
        names = [picture.name(method) if together else method[1 - group] for method in own]
        name_lines(axes, names)
        axes.set_title(" · ".join(best if together else [name, *best]), loc="left")
    grid[-1].set_xlabel(picture.axis)
    _value_axes(picture, list(grid))
    for axes in grid if picture.shows_largest else ():
        low, high = axes.get_xlim()
        if low < picture.largest < high:
            axes.axvline(picture.largest, **LARGEST)
    finding = _spread(picture) if every else ""
    picture.finish(figure, [*_dot_handles(picture, tunes), *picture.handles()], finding=finding)
    return figure


def _value_axes(picture: Picture, grid: Sequence[Axes]) -> None:
    """Scale the panels' axes: the narrow ones share one range, the others another."""
    ends = []
    for axes in grid:
        drawn = np.concatenate([np.asarray(line.get_xdata(), dtype=float) for line in axes.lines])
        ends.append((drawn.min(), drawn.max()))
    lows, highs = np.array(ends).T
    means = picture.rows["mean"]
    spans = np.log if lows.min() > 0 and lower_is_better(picture.metric) else np.positive
    widths, whole = spans(highs) - spans(lows), spans(highs.max()) - spans(lows.min())
    # A panel with a single line does not get its own range.
    narrow = (widths < whole / 3) & np.array([len(axes.get_yticks()) > 1 for axes in grid])
    if not narrow.any() or spans(highs[narrow].max()) - spans(lows[narrow].min()) > whole / 2:
        narrow[:] = False
    for members in (narrow, ~narrow):
        shown = [axes for axes, member in zip(grid, members, strict=True) if member]
        for axes in shown:
            limits = pd.Series([lows[members].min(), highs[members].max()])
            value_axis(axes, means[means.between(*limits)], "x", picture.metric)
            axes.update_datalim([(limit, 0) for limit in limits])
            axes.autoscale_view(scaley=False)
            axes.tick_params(labelbottom=narrow.any() or axes is grid[-1])


def _spread(picture: Picture) -> str:
    """Return the range of each method's means, for a few methods."""
    parts = []
    for method, rows in picture.by_method(picture.of_family(picture.families[-1])).items():
        if len(means := rows["mean"].dropna()):
            ends = dict.fromkeys(picture.value_of(end) for end in (means.min(), means.max()))
            parts.append(f"{picture.name(method)}: {' to '.join(ends)}")
    return "; ".join(parts) if len(parts) <= _FEW else ""


def _dot_handles(picture: Picture, tunes: bool) -> list[Line2D]:
    handles = []
    for family in picture.families:
        dot = {"marker": "o", "color": NEUTRAL}
        dot["markerfacecolor"] = "white" if family == "predefined" else NEUTRAL
        handles.append(legend_entry(picture.family_title(family), **dot))
    if tunes:
        handles.append(legend_entry("default setting", marker=_DEFAULT_MARKER, color=NEUTRAL))
    return handles


def _draw_family(
    axes: Axes,
    picture: Picture,
    family: str,
    own: list[Method],
    defaults: list[Method],
    place_of_look: int,
    every: str,
) -> None:
    """Draw the dots and the paper's numbers of one family of splits on the lines of a panel."""
    title = picture.family_title(family)
    several, first = len(picture.families) > 1, picture.families[0]
    shift = 0.0 if not several else -_SHIFT if family == first else _SHIFT
    for method, rows in picture.by_method(picture.of_family(family)).items():
        line, means = picture.untuned(method), rows["mean"]
        if line not in own:
            continue
        style = picture.look(line, place=place_of_look, alone=True)
        label = title
        if method in defaults:
            style, label = replace(style, marker=_DEFAULT_MARKER), "default setting"
        for index in means.index if every else [best_index(means, picture.metric)]:
            row, place = picture.row(index), own.index(line) + shift
            _dot(axes, row, place, style, label, hollow=family == "predefined")
    for quoted in picture.quoted:
        line = picture.untuned(picture.method_at(quoted.row))
        if line in own and picture.row(quoted.row)["split"] == family:
            _star(axes, quoted.value * picture.scale, own.index(line) + shift)


def draw_category_plot(picture: Picture, x: str) -> Figure:
    """Draw a line per value of the parameter, a dot per method, a panel per family of splits."""
    measured = set(picture.rows[x])
    values = [value for value in picture.run.spec.axes[x] if value in measured]
    methods, families = picture.methods, picture.families
    height = 1.5 + max(0.42, 0.2 * len(methods)) * len(values)
    figure = new_figure(7.4 if len(families) == 1 else 10.0, height + 0.2)
    grid = figure.subplots(1, len(families), sharey=True, sharex=True, squeeze=False)[0]
    for axes, family in zip(grid, families, strict=True):
        for method, rows in picture.by_method(picture.of_family(family)).items():
            shift = _SPREAD * ((methods.index(method) + 0.5) / len(methods) - 0.5)
            style = picture.look(method)
            for _, row in rows.iterrows():
                _dot(axes, row, values.index(row[x]) + shift, style, picture.name(method))
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
    picture.finish(figure, [*handles, *picture.handles(largest=False)])
    return figure


def draw_shuffled_labels(run: Run, found: AgainstControls) -> Figure:
    """Draw a line per method from its accuracy on held-out samples to that on its training samples.

    The labels are shuffled, so the distance shows how far the method fits random labels.
    """
    rows = found.rows.dropna(subset=["seen", "held_out"])
    with house_style():
        figure = new_figure(7.4, 1.7 + 0.42 * len(rows))
        axes = figure.subplots()
        seen, held_out = look(0), look(1)
        for place, row in enumerate(rows.to_dict("records")):
            ends = [100 * row["held_out"], 100 * row["seen"]]
            axes.plot(ends, [place, place], color=NEUTRAL, linewidth=1.2, zorder=1.5)
            for value, style in zip(ends, (held_out, seen), strict=True):
                axes.plot([value], [place], color=style.colour, marker=style.marker, linestyle="")
        names = rows[["reducer", "classifier", "setting"]].itertuples(index=False)
        name_lines(axes, [", ".join(filter(None, parts)) for parts in names])
        axes.set_xlim(0, 102)
        axes.set_xlabel("accuracy on shuffled labels (%)")
        handles = [
            legend_entry(text, marker=style.marker, color=style.colour, linestyle="")
            for text, style in (
                ("on the training samples", seen),
                ("on the test samples", held_out),
            )
        ]
        share = run.majority("accuracy")
        if share is not None:
            axes.axvline(100 * share, color=NEUTRAL, linestyle="--", linewidth=0.9)
            handles.append(legend_entry("majority class", color=NEUTRAL, linestyle="--"))
        set_title(figure, f"{run.title}: shuffled labels", with_progress(run, ""))
        legend_below(figure, handles)
        return figure


def _dot(
    axes: Axes, row: pd.Series[Any], place: float, style: Look, label: str, *, hollow: bool = False
) -> None:
    drawn: dict[str, Any] = {"color": style.colour, "label": label}
    if not np.isnan(row["low"]):
        bar: dict[str, Any] = {"lw": 3, "alpha": 0.4, "solid_capstyle": "butt"}
        axes.plot([row["low"], row["high"]], [place] * 2, **drawn, **bar)
    size = 11 if style.marker == _DEFAULT_MARKER else 6
    drawn |= {"marker": style.marker, "markersize": size, "zorder": 4}
    drawn["markerfacecolor"] = "white" if hollow or row["failed"] else style.colour
    axes.plot([row["mean"]], [place], **drawn)


def _star(axes: Axes, value: float, place: float) -> None:
    axes.plot([value], [place], label="number in the paper", color=PAPER_FILL, zorder=3, **STAR)
