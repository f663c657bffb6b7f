"""Dots on lines: a value per method, setting or row of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ddr_cli.charts import style
from ddr_cli.charts.style import Words

STROKE = "|"
"""The marker of a default setting: upright, so that it covers no dot."""
_DEFAULTS: dict[str, Any] = {
    "panel": "",
    "series": "",
    "low": np.nan,
    "high": np.nan,
    "band": np.nan,
    "star": np.nan,
    "colour": style.NEUTRAL,
    "marker": "o",
    "hollow": False,
    "shaded": False,
}
_SHADE = "#fff3d1"
_SPREAD = 0.5  # height over which the series of one line are spread
_MANY = 30


def dots(
    rows: pd.DataFrame,
    words: Words,
    *,
    across: int = 1,
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
    joined: bool = False,
) -> Figure:
    """Draw a panel per `panel`, in it a line per `line`, on it a dot per row.

    The columns are ``line`` and ``value``, and optionally ``panel``, ``series`` (offset from each
    other), the interval ``low`` to ``high``, ``colour``, ``marker``, ``hollow``, ``shaded``,
    ``band`` (half the width of a grey band around 0), ``star`` (a number of a paper) and ``note``
    (a text right of the line, in a column that `words.y` names). With `joined`, a stroke joins the
    dots of a line. Up to `across` panels are next to each other and have the same lines. A dot
    outside the `limits` is named at their edge.
    """
    rows = style.with_defaults(rows, _DEFAULTS)
    panels = list(rows["panel"].unique())
    series = [] if joined else list(rows["series"].dropna().unique())
    across = min(across, len(panels))
    down, shared = -(-len(panels) // across), across > 1
    lines = {panel: tuple(own["line"].unique()) for panel, own in rows.groupby("panel", sort=False)}
    if shared:
        lines = dict.fromkeys(panels, tuple(rows["line"].unique()))
    tall = [len(lines[panel]) + (0.34 if len(panels) > 1 else 0.0) for panel in panels[::across]]
    each = max(0.23 if sum(tall) > _MANY else 0.36, 0.2 * len(series))
    with style.house_style():
        width = 7.4 if across < 3 else 2.0 + 2.2 * across
        figure = style.new_figure(width, 1.6 + each * sum(tall) + 0.3 * (down - 1))
        grid = figure.subplots(
            down, across, sharex=shared, sharey=shared, squeeze=False, height_ratios=tall
        )
        for axes, panel in zip(grid.flat, panels, strict=False):
            own = rows[rows["panel"] == panel]
            for row in own.to_dict("records"):
                place = lines[panel].index(row["line"])
                _dot(axes, row, place, _shift(series, row["series"]), limits)
            # Panels that share their lines have the same names.
            style.name_lines(axes, lines[panel])
            axes.grid(visible=False, axis="y")
            axes.set_title(panel, loc="left")
        if joined:
            _join(grid[0, 0], rows)
        if "note" in rows:
            _write_notes(grid[0, 0], rows["note"], words.y)
        style.remove_empty(grid, len(panels))
        shown = list(grid.flat[: len(panels)])
        if shared or limits is not None:
            shown[0].set_xlim(limits)
            style.value_axis(shown[0], rows["value"].dropna(), "x", words)
        else:
            _value_axes(shown, rows, words)
        _draw_reference(shown, reference)
        style.finish(figure, words)
        style.name_axes(figure, grid, replace(words, y=""))
    return figure


def two_ends(
    rows: pd.DataFrame, ends: Mapping[str, str], words: Words, reference: float | None = None
) -> Figure:
    """Draw a stroke per `line` between the values in two columns, each named in the legend.

    The `reference` is the majority class.
    """
    legend: list[Any] = []
    parts = []
    for place, (column, name) in enumerate(reversed(list(ends.items()))):
        own = style.look(place)
        look = {"colour": own.colour, "marker": own.marker}
        parts.append(rows[["line"]].assign(value=rows[column], series=name, **look))
        legend.insert(0, style.legend_entry(name, marker=own.marker, color=own.colour))
    if reference is not None:
        legend.append(style.legend_entry("majority class", **style.LARGEST))
    words = replace(words, legend=legend)
    return dots(pd.concat(parts), words, reference=reference, joined=True)


def _join(axes: Axes, rows: pd.DataFrame) -> None:
    """Draw a stroke between the lowest and the highest value of each line."""
    ends = rows.groupby("line", sort=False)["value"].agg(["min", "max"])
    axes.hlines(range(len(ends)), ends["min"], ends["max"], color=style.NEUTRAL, linewidth=1.2)


def _draw_reference(panels: Sequence[Axes], value: float | None) -> None:
    for axes in panels:
        low, high = axes.get_xlim()
        if value is not None and low <= value <= high:
            axes.axvline(value, **style.LARGEST)


def _write_notes(axes: Axes, notes: pd.Series[str], name: str) -> None:
    for place, note in [(-1, name), *enumerate(notes)]:
        at = (1.01, place)
        axes.annotate(note, at, xycoords=axes.get_yaxis_transform(), va="center", fontsize=8.5)


def _shift(series: Sequence[str], name: str) -> float:
    """Return the offset of a series from the line: the first one is the highest."""
    if name not in series:
        return 0.0
    return _SPREAD * ((series.index(name) + 0.5) / len(series) - 0.5)


def _dot(
    axes: Axes, row: Any, place: int, shift: float, limits: tuple[float, float] | None
) -> None:
    value, at, colour = row["value"], place + shift, row["colour"]
    if row["shaded"]:
        axes.axhspan(place - 0.5, place + 0.5, color=_SHADE, linewidth=0, zorder=0)
    if not np.isnan(row["band"]):
        axes.barh(place, 2 * row["band"], left=-row["band"], height=0.7, color=style.BAND)
    if not np.isnan(row["star"]):
        axes.plot([row["star"]], [at], color=style.PAPER_FILL, zorder=3, **style.STAR)
    if limits is not None and not limits[0] <= value <= limits[1]:
        text = f"{value:+.1f} →" if value > 0 else f"← {value:+.1f}"
        side = "right" if value > 0 else "left"
        edge = limits[int(value > 0)]
        axes.text(edge, at, text, ha=side, va="center", fontsize=8, color=colour)
        return
    if not np.isnan(row["low"]):
        # A pale bar on a grey band would be hard to see.
        is_pale = np.isnan(row["band"])
        bar: dict[str, Any] = {"lw": 3, "alpha": 0.4} if is_pale else {"lw": 1.6}
        bar["solid_capstyle"] = "butt"
        axes.plot([row["low"], row["high"]], [at] * 2, color=colour, **bar)
    face = "white" if row["hollow"] else colour
    size = 11 if row["marker"] == STROKE else 6
    look = {"marker": row["marker"], "markersize": size, "markerfacecolor": face}
    axes.plot([value], [at], color=colour, zorder=4, **look)


def _value_axes(panels: Sequence[Axes], rows: pd.DataFrame, words: Words) -> None:
    """Scale the axes of values: panels with a narrow range share one, the others another."""
    shown = rows.groupby("panel", sort=False)[["value", "low", "high", "star"]]
    lows, highs = shown.min().min(axis=1).to_numpy(), shown.max().max(axis=1).to_numpy()
    spans = np.log if lows.min() > 0 and words.lower else np.positive
    widths, whole = spans(highs) - spans(lows), spans(highs.max()) - spans(lows.min())
    # A panel with a single line does not get its own range.
    narrow = (widths < whole / 3) & np.array([len(axes.get_yticks()) > 1 for axes in panels])
    if not narrow.any() or spans(highs[narrow].max()) - spans(lows[narrow].min()) > whole / 2:
        narrow[:] = False
    for members in (narrow, ~narrow):
        if not members.any():
            continue
        ends = [lows[members].min(), highs[members].max()]
        values = rows["value"][rows["value"].between(*ends)]
        for axes in (each for each, member in zip(panels, members, strict=True) if member):
            style.value_axis(axes, values, "x", words)
            axes.update_datalim([(end, 0) for end in ends])
            axes.autoscale_view(scaley=False)
            axes.tick_params(labelbottom=narrow.any() or axes is panels[-1])
