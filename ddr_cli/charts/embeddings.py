"""Embeddings: a panel per method, a colour and a marker per class."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke

from ddr_cli.charts import style
from ddr_cli.charts.style import Words

# If a figure has more points than this, they are drawn as a bitmap inside the SVG: as separate
# shapes, they would make the file megabytes large.
_MOST_SHAPES = 3000
_PALE, _SOLID = 0.35, 0.85
_COLUMNS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 3, 6: 3, 7: 4, 8: 4}
_MANY = 60
_NEAR = 0.06  # share of the panel
_SOFT = "#333333"
_CENTRE: dict[str, Any] = {
    "marker": "o",
    "markersize": 13,
    "markerfacecolor": "white",
    "markeredgewidth": 2.4,
}


def embeddings(
    samples: pd.DataFrame, words: Words, *, panels: pd.DataFrame, centres: pd.DataFrame
) -> Figure:
    """Draw a panel per embedding: one dimension as strips, two as a plane, three in perspective.

    `samples` has ``panel``, the coordinates ``x``, ``y`` and ``z`` (missing in fewer dimensions),
    ``code``, ``group``, ``short``, ``colour`` and ``marker`` of a class or sub-class, and ``test``;
    training samples are pale if there are test samples too. `panels` has, in this order, the
    ``title``, the ``scores`` below it, and the direction ``dx``, ``dy`` onto which a plane is
    projected. `centres` has ``panel``, coordinates, ``name`` and ``colour`` of marked classes.
    """
    columns = _COLUMNS.get(len(panels), 4)
    lines = -(-len(panels) // columns)
    width = {1: 6.4, 2: 8.4, 3: 10.6}.get(columns, 12.6)
    by_panel: dict[Any, pd.DataFrame] = dict(iter(samples.groupby("panel")))
    dimensions = {
        panel: int(own[["x", "y", "z"]].notna().all().sum()) for panel, own in by_panel.items()
    }
    # Strips of one-dimensional embeddings need less height than other panels.
    strips = [
        own["code"].nunique() if dimensions[panel] == 1 else np.inf
        for panel, own in by_panel.items()
    ]
    tallest = min(0.2 + 0.16 * max(strips), 0.96)
    with style.house_style():
        figure = style.new_figure(width, 1.3 + tallest * lines * width / columns)
        small = width / columns < 3.4
        look = {"rasterized": len(samples) > _MOST_SHAPES, "markersize": 3.4 if small else 4.2}
        for place, (panel, each) in enumerate(panels.iterrows(), start=1):
            dimension = dimensions[panel]
            flat = {"projection": "3d"} if dimension == 3 else {}
            axes: Any = figure.add_subplot(lines, columns, place, **flat)
            own, marked = by_panel[panel], centres[centres["panel"] == panel]
            _draw_samples(axes, own, dimension, look)
            if dimension == 1:
                _name_strips(axes, own, marked)
            else:
                _frame(axes, dimension)
                if not np.isnan(each["dx"]):
                    _draw_direction(axes, own, (each["dx"], each["dy"]))
                _mark_centres(axes, own, marked, dimension)
            _write_heading(axes, each, dimension, width / columns)
        handles = _legend(samples, panels, centres)
        style.finish(figure, replace(words, legend=[*handles, *words.legend]))
    return figure


def _write_heading(axes: Any, panel: pd.Series[Any], dimension: int, width: float) -> None:
    wrapped = "\n".join(textwrap.wrap(panel["title"], int(width * 11)))
    told = panel["scores"].split("\n")
    scores = "\n".join(line for text in told for line in textwrap.wrap(text, int(width * 13)))
    if dimension == 3:
        # The text is placed above the cube's far corner, where there is room, because the layout
        # reserves none for titles of 3D panels.
        place: dict[str, Any] = {"transform": axes.transAxes, "va": "top"}
        axes.text2D(0.0, 1.0, wrapped, **place, weight="bold", size=9.5)
        drop = 0.06 * (wrapped.count("\n") + 1)
        axes.text2D(0.0, 1.0 - drop, scores, **place, size=8, color=_SOFT)
        return
    # Title and scores are separate texts, because only the title is bold.
    lines = scores.count("\n") + 1 if scores else 0
    axes.set_title(wrapped, loc="left", weight="bold", pad=6 + 10.5 * lines)
    if scores:
        # The offset is in points, because the size of the panel is not known yet.
        where = {"xycoords": "axes fraction", "textcoords": "offset points"}
        look = {"fontsize": 8, "color": _SOFT, "annotation_clip": False}
        axes.annotate(scores, (0, 1), (0, 4), **where, **look)


def _parts(samples: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, float]]:
    """Yield training and test samples with their opacity, the more important ones last."""
    is_test = samples["test"]
    if is_test.any() and not is_test.all():
        yield samples[~is_test], _PALE
        yield samples[is_test], _SOLID
    else:
        yield samples, _SOLID if len(samples) < 800 else 0.65


def _draw_samples(axes: Any, samples: pd.DataFrame, dimension: int, look: dict[str, Any]) -> None:
    if dimension == 1:
        # A low-discrepancy sequence fills a strip evenly and is the same in every run.
        jitter = (np.arange(len(samples)) * 0.6180339887498949) % 1.0 - 0.5
        samples = samples.assign(y=pd.factorize(samples["code"], sort=True)[0] + 0.7 * jitter)
    shown = ["x", "y", "z"][: max(dimension, 2)]
    edge = {"linestyle": "", "markeredgewidth": 0.25, "markeredgecolor": "white"}
    for part, opacity in _parts(samples):
        for _, group in part.groupby("code"):
            own = {"color": group["colour"].iloc[0], "marker": group["marker"].iloc[0]}
            axes.plot(*group[shown].to_numpy().T, **own, **edge, **look, alpha=opacity)


def _frame(axes: Any, dimension: int) -> None:
    """Remove the ticks: coordinates have no unit, and only relative positions matter."""
    axes.grid(visible=False)
    axes.set(xticks=[], yticks=[])
    if dimension == 2:
        axes.spines[:].set_visible(True)
        axes.spines[:].set_color("#bbbbbb")
        return
    axes.set_zticks([])
    axes.set_box_aspect((1, 1, 1), zoom=1.05)
    # If markers were sorted by depth, samples could hide the centres.
    axes.computed_zorder = False
    axes.view_init(elev=22, azim=-60)


def _draw_direction(axes: Axes, samples: pd.DataFrame, direction: tuple[float, float]) -> None:
    """Draw the line that samples are projected onto, without changing the panel's limits."""
    axes.set_aspect("equal", adjustable="datalim")
    axes.apply_aspect()
    middle = samples[["x", "y"]].mean().to_numpy()
    outline = withStroke(linewidth=3.5, foreground="white")
    look: dict[str, Any] = {"color": "black", "linewidth": 1.6, "path_effects": [outline]}
    axes.axline(tuple(middle), tuple(middle + direction), **look, zorder=6)


def _name_strips(axes: Axes, samples: pd.DataFrame, centres: pd.DataFrame) -> None:
    names = samples.sort_values("code").drop_duplicates("code")["short"]
    style.name_lines(axes, [textwrap.fill(name, 18) for name in names])
    axes.grid(visible=False)
    axes.set_xticks([])
    axes.tick_params(axis="y", length=0)
    axes.spines[:].set_visible(True)
    axes.spines[:].set_color("#bbbbbb")
    for centre in centres.to_dict("records"):
        axes.axvline(centre["x"], color=centre["colour"], linewidth=1.2, zorder=1)


def _mark_centres(axes: Any, samples: pd.DataFrame, centres: pd.DataFrame, dimension: int) -> None:
    shown = ["x", "y", "z"][:dimension]
    reach = _NEAR * np.ptp(samples[shown].to_numpy(), axis=0)
    named: list[tuple[Any, list[str]]] = []
    for centre in centres.dropna(subset=shown).to_dict("records"):
        place = np.array([centre[name] for name in shown])
        at = [[value] for value in place]
        axes.plot(*at, **_CENTRE, markeredgecolor=centre["colour"], zorder=10)
        axes.plot(*at, marker="+", markersize=8, color="black", zorder=10.5)
        # Names of classes at almost the same place would cover each other.
        near = (names for other, names in named if (abs(other - place) < reach).all())
        names = next(near, None)
        if names is None:
            named.append((place, [centre["name"]]))
        else:
            names.append(centre["name"])
    for place, names in named:
        label = textwrap.shorten(", ".join(names), 24)
        look: dict[str, Any] = {"fontsize": 9.5, "weight": "bold", "zorder": 11, "color": "black"}
        look["bbox"] = style.UNDER_TEXT
        if dimension == 3:
            axes.text(*place, f"  {label}", **look)
            continue
        # The name is written towards the middle, so that it is not cut off at the panel's edge.
        left = place[0] > np.mean(axes.get_xlim())
        look |= {"ha": "right", "xytext": (-8, 6)} if left else {"xytext": (8, 6)}
        axes.annotate(label, tuple(place), textcoords="offset points", **look)


def _legend(samples: pd.DataFrame, panels: pd.DataFrame, centres: pd.DataFrame) -> list[Any]:
    groups = samples.sort_values(["panel", "code"], kind="stable")[["group", "colour", "marker"]]
    dot: dict[str, Any] = {"marker": "o", "markersize": 6.0, "color": style.NEUTRAL}
    legend = [
        style.legend_entry(name, **dot | {"color": colour, "marker": marker})
        for name, colour, marker in groups.drop_duplicates()[:_MANY].itertuples(index=False)
    ]
    both = samples.groupby("panel")["test"].nunique() > 1
    if both.any():
        legend.append(style.legend_entry("training sample", **dot, alpha=_PALE))
        legend.append(style.legend_entry("test sample", **dot, alpha=_SOLID))
    if panels["dx"].notna().any():
        legend.append(
            style.legend_entry("direction of the embedding", color="black", linestyle="-")
        )
    if centres["y"].notna().any():
        ring = {**_CENTRE, "markersize": 9, "markeredgecolor": style.NEUTRAL}
        legend.append(style.legend_entry("position of a class", **ring))
    return legend
