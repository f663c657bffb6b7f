"""The matrix of all pairs of methods: their differences, and the wins on data sets."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from ddr_cli.comparison.compare import Comparison
from ddr_cli.comparison.names import (
    amount_text,
    difference_text,
    is_rate,
    lower_is_better,
    metric_axis,
)
from ddr_cli.comparison.selection import TRACKS
from ddr_cli.core.errors import InputError
from ddr_cli.figures.style import NEUTRAL, ON_CELL, house_style, new_figure

# Both ends are light enough for black numbers on them.
_COLOURS = LinearSegmentedColormap.from_list("pairs", ["#f0a868", "#ffffff", "#74aedc"])
_EDGE, _NO_PAIR = "#cccccc", "#eeeeee"
_NAME_WIDTH = 18


def draw_pairs(found: Comparison) -> Figure:
    """Draw the difference of every two methods of a track; at least one pair must share data."""
    if found.pairs.empty:
        raise InputError(
            "The pairwise matrix needs two methods in the same track; add a method or a run."
        )
    tracks = [track for track in TRACKS if (found.pairs["track"] == track).any()]
    parts = {track: found.pairs[found.pairs["track"] == track] for track in tracks}
    names = {
        track: list(dict.fromkeys([*own["first"], *own["second"]])) for track, own in parts.items()
    }
    across = found.pairs["datasets"].max() > 1
    width, height = (0.72 if across else 1.08), 0.46
    labels = {name: textwrap.fill(name, _NAME_WIDTH) for own in names.values() for name in own}
    longest = max(len(line) for label in labels.values() for line in label.split("\n"))
    most = max(len(own) for own in names.values())
    figure_width = max(width * most + 0.075 * longest + 1.2, 5.2)
    heights = [height * len(own) + 0.055 * longest + 0.6 for own in names.values()]
    with house_style():
        figure = new_figure(figure_width, sum(heights) + 1.2)
        rows = figure.subplots(len(tracks), 1, squeeze=False, height_ratios=heights)
        sizes = found.pairs["median_difference"].abs()
        limit = max(float(sizes.quantile(0.9)), found.equivalence) or 1.0
        for track, axes in zip(tracks, rows[:, 0], strict=True):
            _draw_track(axes, found, parts[track], names[track], limit, across)
            # Cells have the same width in every track.
            axes.set_xlim(-0.5, most - 0.5)
            ticks = range(len(names[track])), [labels[name] for name in names[track]]
            axes.set_xticks(*ticks, rotation=40, ha="left", rotation_mode="anchor")
            axes.set_yticks(*ticks)
            if len(tracks) > 1 or track == "transductive":
                axes.set_xlabel(f"{track} methods", labelpad=4)
        title = f"{metric_axis(found.metric)}: row minus column"
        figure.suptitle(title, fontsize=11, weight="bold")
        words = textwrap.wrap(_words(found, across), int(figure_width * 14))
        figure.supxlabel("\n".join(words), fontsize=8, color=NEUTRAL)
    return figure


def _draw_track(
    axes: Axes, found: Comparison, pairs: pd.DataFrame, names: list[str], limit: float, across: bool
) -> None:
    place = {name: index for index, name in enumerate(names)}
    better = np.full((len(names), len(names)), np.nan)
    sign = -1 if lower_is_better(found.metric) else 1
    for _, pair in pairs.iterrows():
        i, j = place[pair["first"]], place[pair["second"]]
        better[i, j] = sign * pair["median_difference"]
        better[j, i] = -better[i, j]
        for x, y, side in ((j, i, 1), (i, j, -1)):
            text = _cell(pair, found.metric, side, across)
            axes.text(x, y, text, ha="center", va="center", fontsize=8, color=ON_CELL)
    for i, j in np.argwhere(np.isnan(better)):
        axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, facecolor=_NO_PAIR, zorder=0))
    axes.imshow(better, cmap=_COLOURS, norm=Normalize(-limit, limit), aspect="auto")
    axes.grid(visible=False)
    axes.spines[:].set_visible(False)
    edges = np.arange(len(names) + 1) - 0.5
    axes.hlines(edges, edges[0], edges[-1], color=_EDGE, linewidth=0.8)
    axes.vlines(edges, edges[0], edges[-1], color=_EDGE, linewidth=0.8)
    axes.tick_params(length=0)
    axes.xaxis.tick_top()


def _cell(pair: pd.Series[Any], metric: str, side: int, across: bool) -> str:
    """Return the text of a cell, from the view of the first (1) or the second method (-1)."""

    def points(name: str) -> str:
        return difference_text(side * pair[name], metric, unit=False)

    if across:
        wins, losses = ("wins", "losses")[::side]
        return f"{points('median_difference')}\n{pair[wins]}-{pair['equal']}-{pair[losses]}"
    if pd.isna(pair["low"]):
        return points("median_difference")
    low, high = ("low", "high")[::side]
    return f"{points('median_difference')}\n{points(low)} to {points(high)}"


def _words(found: Comparison, across: bool) -> str:
    better = "lower" if lower_is_better(found.metric) else "higher"
    unit = " (in percentage points)" if is_rate(found.metric) else ""
    head = f"Blue: the row's method is better; {better} values are better. "
    if not across:
        cell = f"Each cell has the mean difference on the same splits{unit} and the 95 % interval."
        return head + cell
    return (
        f"{head}Each cell has the median difference over data sets{unit}. The second line has the "
        "numbers of data sets on which the row's method wins, is equal (within "
        f"{amount_text(found.equivalence, found.metric)}) and loses. Grey: not compared."
    )
