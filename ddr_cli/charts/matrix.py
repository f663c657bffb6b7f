"""Coloured cells with their values: pairs of methods, ranks, or two swept parameters."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure

from ddr_cli.charts import style
from ddr_cli.charts.style import Words

# All colours are light enough for dark numbers on them.
_ENDS = LinearSegmentedColormap.from_list("ends", ["#f0a868", "#ffffff", "#74aedc"])
_BEST = LinearSegmentedColormap.from_list("best", ["#d5e4f3", "#74aedc"])
_ENDS.set_bad("#eeeeee")
_EDGE = "#cccccc"
_NAME_WIDTH, _LONG = 18, 60  # letters
_LOW = 0.3  # inches
_LETTER = 0.075  # inches
_TEXT: dict[str, Any] = {"ha": "center", "va": "center", "color": style.ON_CELL, "fontsize": 8}
_ABOVE: dict[str, Any] = {"rotation": 40, "ha": "left", "rotation_mode": "anchor"}


def matrix(
    cells: pd.DataFrame,
    words: Words,
    *,
    cell: tuple[float, float],
    limit: float = 0.0,
    stacked: bool = False,
) -> Figure:
    """Draw a cell, of a size in inches, per row of a table; darker is better.

    The columns are ``row``, ``column``, ``value`` (the higher, the better), ``text``, and
    optionally ``bold`` and ``panel``. With a `limit`, cells are blue above 0 and orange below.
    Panels are next to each other and share their rows and columns; with `stacked`, they are below
    each other and have their own.
    """
    cells = style.with_defaults(cells, {"panel": "", "bold": False})
    parts = dict(iter(cells.groupby("panel", sort=False)))
    around = list(parts.values()) if stacked else [cells] * len(parts)
    rows = [list(each["row"].unique()) for each in around]
    columns = [list(each["column"].unique()) for each in around]
    # Names of low cells have no room for a second line.
    fold = _NAME_WIDTH if cell[1] > _LOW else _LONG
    left = _width_of(rows, fold)
    above = 0.6 if words.x else 0.75 * _width_of(columns, fold) + 0.4
    most = max(map(len, columns))
    down, across = (len(parts), 1) if stacked else (1, len(parts))
    heights = [cell[1] * len(names) + above for names in rows][:down]
    colours: dict[str, Any] = {"cmap": _ENDS if limit else _BEST, "edgecolors": _EDGE, "lw": 0.8}
    ends = (-limit, limit) if limit else (cells["value"].min(), cells["value"].max())
    with style.house_style():
        width = max(left + 0.8 + cell[0] * most * across, 5.2)
        figure = style.new_figure(width, sum(heights) + 1.2)
        shape: dict[str, Any] = {"squeeze": False, "height_ratios": heights, "sharey": not stacked}
        grid = figure.subplots(down, across, **shape).flat
        for axes, (panel, own), names, heads in zip(
            grid, parts.items(), rows, columns, strict=True
        ):
            _fill(axes, own, names, heads, colours | {"norm": Normalize(*ends)})
            shown = [textwrap.fill(name, fold) for name in names]
            _name(axes, shown, [textwrap.fill(head, fold) for head in heads], words)
            axes.set_xlim(-0.5, most - 0.5)
            if stacked:
                axes.set_xlabel(panel, labelpad=4)
            else:
                axes.set_title(panel, loc="left")
        figure.supylabel(words.y, fontsize="medium")
        style.finish(figure, words)
    return figure


def _width_of(names: Sequence[Sequence[str]], fold: int) -> float:
    """Return the width in inches of the longest of folded names."""
    return _LETTER * max(min(len(name), fold) for each in names for name in each)


def _fill(
    axes: Axes, cells: pd.DataFrame, rows: list[str], columns: list[str], colours: dict[str, Any]
) -> None:
    """Draw coloured cells and their texts."""
    table = cells.pivot(index="row", columns="column", values="value")
    filled = table.reindex(index=rows, columns=columns).to_numpy()
    axes.pcolormesh(range(len(columns)), range(len(rows)), filled, **colours)
    for each in cells[cells["text"] != ""].to_dict("records"):
        at = columns.index(each["column"]), rows.index(each["row"])
        axes.text(*at, each["text"], weight="bold" if each["bold"] else "normal", **_TEXT)


def _name(axes: Axes, rows: list[str], columns: list[str], words: Words) -> None:
    """Add the names of rows and columns."""
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    axes.tick_params(length=0)
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    if words.x:
        axes.set_xlabel(words.x)
        axes.set_xticks(range(len(columns)), columns)
    else:
        axes.xaxis.tick_top()
        axes.set_xticks(range(len(columns)), columns, **_ABOVE)
