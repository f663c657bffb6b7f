"""Named markers in a plane: two values per method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter
from matplotlib.transforms import Bbox

from ddr_cli.charts import style
from ddr_cli.charts.style import Words

# In points: the gap between a marker and its name, the width of a letter, and the height of a step
# by which a name moves up or down.
_GAP, _LETTER, _LINE = 5, 4.5, 4.0
_HEIGHTS = (0, 1, -1, 2, -2, 3, -3, 4, -4)


def points(
    rows: pd.DataFrame,
    words: Words,
    *,
    log: bool = False,
    level: float | None = None,
    room: tuple[float, float] = (0.15, 0.15),
) -> Figure:
    """Draw a named marker per row.

    The columns are ``name``, ``x``, ``y``, ``colour`` and ``marker``, and optionally ``hollow`` and
    ``front`` (a step joins these markers). `level` is a dotted line, `room` the margins left and
    right, in widths of the data.
    """
    rows = style.with_defaults(rows, {"hollow": False, "front": False})
    with style.house_style():
        figure = style.new_figure(9.2, 8.0)
        axes = figure.subplots()
        if rows["front"].any():
            front = rows[rows["front"]].sort_values("x")
            axes.step(front["x"], front["y"], where="post", color=style.OTHERS, linewidth=1.2)
        for row in rows.to_dict("records"):
            face = "white" if row["hollow"] else row["colour"]
            look = {"marker": row["marker"], "color": row["colour"], "markerfacecolor": face}
            axes.plot([row["x"]], [row["y"]], **look)
        if level is not None:
            axes.axhline(level, **style.LARGEST)
        low, high = float(rows["x"].min()), float(rows["x"].max())
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(style.PLAIN)
            axes.xaxis.set_minor_formatter(NullFormatter())
            axes.set_xlim(low * (low / high) ** room[0], high * (high / low) ** room[1])
        else:
            axes.set_xlim(low - room[0] * (high - low), high + room[1] * (high - low))
            axes.xaxis.set_major_locator(MaxNLocator(steps=[1, 2, 5, 10]))
        axes.set(xlabel=words.x, ylabel=words.y)
        style.finish(figure, words)
        # Names are placed in points, so the size of the panel must be final.
        style.lay_out(figure)
        _name_markers(axes, list(rows[["x", "y", "name"]].itertuples(index=False, name=None)))
    return figure


def _name_markers(axes: Axes, markers: Sequence[tuple[float, float, str]]) -> None:
    """Write names next to markers, if possible within the panel and over no marker or name."""
    figure: Any = axes.get_figure(root=True)
    pixel = figure.dpi / 72
    centres = axes.transData.transform([marker[:2] for marker in markers]) / pixel
    taken = [Bbox.from_bounds(x - 3, y - 3, 6, 6) for x, y in centres]
    left_end, right_end = axes.bbox.x0 / pixel, axes.bbox.x1 / pixel
    for (x, y), (left, low, name) in zip(centres, markers, strict=True):
        width = _LETTER * len(name)
        places = [(side, _LINE * up) for up in _HEIGHTS for side in (1, -1)]
        boxes = [
            Bbox.from_bounds(x + (_GAP if side > 0 else -_GAP - width), y + up - 4, width, 8)
            for side, up in places
        ]
        hidden = [
            box.count_overlaps(taken) + (box.x0 < left_end or box.x1 > right_end) for box in boxes
        ]
        best = hidden.index(min(hidden))
        taken.append(boxes[best])
        side, up = places[best]
        axes.annotate(
            name,
            (left, low),
            (side * _GAP, up),
            textcoords="offset points",
            ha="left" if side > 0 else "right",
            va="center",
            fontsize=8,
        )
