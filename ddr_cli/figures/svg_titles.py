"""Tooltips of a drawing: the name of each labelled series, and the values of its points.

Matplotlib writes neither into an SVG. Each labelled line or area becomes a group, ``series-N``,
with the label as its title; each point of a line has its values as title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape

import numpy as np
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_POINT = re.compile(r"<use [^>]*/>")


def name_series(figure: Figure) -> dict[str, Any]:
    """Give every labelled series of a figure an id, and return the series by their ids."""
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for artist in (*axes.lines, *axes.collections):
            if not str(artist.get_label()).startswith("_"):
                found[f"series-{len(found)}"] = artist
                artist.set_gid(f"series-{len(found) - 1}")
    return found


def with_titles(svg: str, series: dict[str, Any]) -> str:
    """Return the SVG of a figure with the titles of its series and of their points."""
    for name, artist in series.items():
        start = f'<g id="{name}">'
        before, found, rest = svg.partition(start)
        if not found:
            continue
        own, after = _group(rest)
        if isinstance(artist, Line2D):
            texts, points = list(_texts(artist)), _POINT.findall(own)
            if len(texts) == len(points):
                first = own.partition("<use ")[0]
                told = zip(points, texts, strict=True)
                uses = "".join(f"{use[:-2]}>{_title(text)}</use>" for use, text in told)
                own = f"{first}{uses}</g>" if uses else own
        svg = f"{before}{start}{_title(str(artist.get_label()))}{own}{after}"
    return svg


def _group(text: str) -> tuple[str, str]:
    """Return the content of a group, whose start tag precedes the text, and what follows it."""
    depth = 1
    for tag in re.finditer(r"<(/?)g\b[^>]*>", text):
        depth += -1 if tag[1] else 1
        if not depth:
            return text[: tag.start()], text[tag.start() :]
    return text, ""


def _title(text: str) -> str:
    return f"<title>{escape(text)}</title>"


def _texts(line: Line2D) -> Iterator[str]:
    """Yield the values of the points of a line that lie inside the picture, as drawn."""
    axes: Any = line.axes
    figure = line.get_figure(root=True)
    if axes is None or figure is None:
        return
    data = np.column_stack([np.asarray(each, dtype=float) for each in line.get_data(orig=False)])
    width, height = figure.bbox.size
    with np.errstate(invalid="ignore"):
        at = axes.transData.transform(data)
    inside = ((at >= 0) & (at <= (width, height))).all(axis=1)
    ticks = np.asarray(axes.get_yticks())
    words = axes.yaxis.get_major_formatter().format_ticks(ticks.tolist())
    has_words = isinstance(axes.yaxis.get_major_locator(), FixedLocator)
    for x, y in data[inside]:
        across = _said(axes, "x", x)
        if has_words:
            yield f"{words[int(np.abs(ticks - y).argmin())]}: {line.get_label()}, {across}"
        else:
            yield f"{line.get_label()}: {_said(axes, 'y', y)} at {across}"


def _said(axes: Axes, which: str, value: float) -> str:
    """Return a value with the name of its axis."""
    shared = axes.get_shared_y_axes() if which == "y" else axes.get_shared_x_axes()
    names = [getattr(each, f"get_{which}label")() for each in shared.get_siblings(axes)]
    figure = axes.get_figure(root=True)
    names += [getattr(figure, f"get_sup{which}label")() if figure else ""]
    name = next((each for each in names if each), which)
    return f"{' '.join(name.split())} {value:.4g}"
