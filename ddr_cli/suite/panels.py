"""A suite's curves as small multiples: a panel for each, over all others in light grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import rcParams
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullLocator

from ddr_cli.comparison.across_datasets import EQUIVALENCE, gains
from ddr_cli.comparison.names import (
    amount_text,
    is_rate,
    lower_is_better,
    method_name,
    metric_axis,
    metric_name,
    number,
)
from ddr_cli.figures.style import (
    NEUTRAL,
    OTHERS,
    house_style,
    legend_entry,
    looks_of,
    new_figure,
    set_title,
    value_axis,
)
from ddr_cli.suite.benchmark import Benchmark

_BASELINE: dict[str, Any] = {"color": NEUTRAL, "linestyle": (0, (4, 2)), "linewidth": 1.0}
# The largest number of panels in a row; the size of a panel and the margins in inches.
_COLUMNS, _WIDTH, _HEIGHT = 6, 1.55, 1.25
_LEFT, _ABOVE, _BELOW = 0.7, 0.75, 0.8


def draw_labels(bench: Benchmark) -> Figure:
    """Draw a panel per method: the mean over data sets against the labels of each class."""
    table, metric = bench.by_labels, bench.suite.metrics[0]
    means = table.groupby(level="method", sort=False).mean()
    first, last = means.columns[[0, -1]]
    ends = [number(float(means[n].mean()), metric) for n in (first, last)]
    return _draw(
        means,
        means.notna(),
        bench,
        "labelled training samples per class",
        f"{metric_name(metric).capitalize()} against number of labels",
        f"{first} labels per class: {ends[0]}; {last} labels per class: {ends[1]} (means over "
        f"{len(means)} methods and {_n_datasets(table)} data sets)",
    )


def draw_sizes(bench: Benchmark, column: str = "") -> Figure:
    """Draw a panel per method: the mean over data sets against the number of training samples.

    It is the mean of the first metric, or of another `column` of `Benchmark.by_size`, over the data
    sets that have all sizes. The curve of a method ends where it fails on one of them.
    """
    table: Any = bench.by_size[[column or bench.suite.metrics[0], "failed"]].unstack("train")
    table = table[table.notna().all(axis=1).groupby(level="dataset").transform("all")]
    by_method = table.groupby(level="method", sort=False)
    failed = by_method.max()["failed"] > 0
    means = by_method.mean().iloc[:, : failed.shape[1]].droplevel(0, axis=1)
    means = means.where(~failed.cummax(axis=1))
    short = [method_name(name) for name in failed.index if failed.loc[name].any()]
    which = short[0] if len(short) == 1 else f"{len(short)} methods"
    return _draw(
        means,
        means.notna(),
        bench,
        "training samples",
        f"{column.capitalize() or metric_name(bench.suite.metrics[0]).capitalize()} against "
        f"training samples, mean over {_n_datasets(table)} data sets",
        f"A cross: the method exceeds the time or memory limit with more samples ({which})"
        if short
        else "",
        axis="CPU seconds of a fit" if column == "seconds" else "",
    )


def draw_memory(bench: Benchmark) -> Figure | None:
    """Draw a panel per measured method: the memory of a fit against training samples."""
    found = {
        name: cost.memory for name in bench.order if (cost := bench.growth_of(name)) is not None
    }
    if not found:
        return None
    # Sizes that were measured for only one of several methods are left out.
    table = pd.DataFrame(found).T.dropna(axis="columns", thresh=min(2, len(found)))
    table = table.sort_index(axis="columns")
    return _draw(
        table,
        table.notna(),
        bench,
        "training samples",
        "Memory of a fit against training samples, simulated data",
        "A cross: a larger fit takes too much time or memory",
        axis="MB",
    )


def draw_dimensions(bench: Benchmark) -> Figure:
    """Draw a panel per method: the mean over data sets against its dimensions."""
    means, whole = bench.dimensions()
    return _draw(
        means,
        whole,
        bench,
        "number of dimensions",
        f"{metric_name(bench.suite.metrics[0]).capitalize()} against dimension, mean over "
        f"{_n_datasets(bench.by_dimension)} data sets",
        _said(means[whole.any(axis=1)], bench),
    )


def _said(means: pd.DataFrame, bench: Benchmark) -> str:
    """Return how many methods are best at the last value, and from which value most are close."""
    metric, last = bench.suite.metrics[0], means.columns[-1]
    behind = _behind(means, metric)
    near = (behind <= EQUIVALENCE).sum()
    their = "their lowest value" if lower_is_better(metric) else "their highest value"
    text = f"{(behind[last] == 0).sum()} of {len(means)} methods have {their} at {last} dimensions"
    most = [n for n in means.columns[:-1] if 2 * near[n] >= len(means)]
    if not most:
        return text
    return (
        f"{text}; at {most[0]} dimensions, {near[most[0]]} of {len(means)} are within "
        f"{amount_text(EQUIVALENCE, metric)} of {their}"
    )


def _behind(means: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Return how far each number is from the best in its row."""
    best = means.min(axis=1) if lower_is_better(metric) else means.max(axis=1)
    behind: pd.DataFrame = means.apply(lambda column: gains(best, column, metric))
    return behind


def _n_datasets(table: pd.DataFrame) -> int:
    return table.index.get_level_values("dataset").nunique()


def _draw(
    curves: pd.DataFrame,
    whole: pd.DataFrame,
    bench: Benchmark,
    words: str,
    title: str,
    finding: str,
    *,
    axis: str = "",
) -> Figure:
    """Draw a panel per row of `curves`, with rings where the method is not `whole`.

    The values are those of the suite's first metric if no `axis` is named.
    """
    metric, board = bench.suite.metrics[0], bench.board()
    scale = 100.0 if is_rate(metric) and not axis else 1.0
    curves = scale * curves
    names = sorted(curves.index, key=lambda name: [*bench.order, name].index(name))
    baseline = board.baseline if board else ""
    columns = _COLUMNS if len(names) > 2 * _COLUMNS else max(-(-len(names) // 2), 3)
    rows = -(-len(names) // columns)
    width, height = _WIDTH * columns + _LEFT, _HEIGHT * rows + _ABOVE + _BELOW
    with house_style():
        figure = new_figure(width, height)
        # All panels have one size; Matplotlib's layout engine would take longer than the drawing.
        figure.set_layout_engine(None)
        figure.subplots_adjust(
            _LEFT / width, _BELOW / height, 1 - 0.1 / width, 1 - _ABOVE / height, 0.12, 0.3
        )
        found = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).ravel()
        for axes, name, look in zip(found, names, looks_of(names), strict=False):
            _draw_panel(axes, name, curves, whole.loc[name].to_numpy(), look.colour, baseline)
        axes = found[0]
        axes.set_xscale("log")
        places = [float(n) for n in curves.columns]
        axes.set_xticks(places, [f"{n / 1000:g}k" if n >= 1000 else f"{n:g}" for n in places])
        # Fixed limits do not depend on whether curves end early.
        margin = (places[-1] / places[0]) ** 0.06
        axes.set_xlim(places[0] / margin, places[-1] * margin)
        axes.xaxis.set_minor_locator(NullLocator())
        if axis:
            axes.set_yscale("log")
            axes.yaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        else:
            value_axis(axes, pd.Series(np.ravel(curves)).dropna(), "y", metric)
        for each in found[len(names) :]:
            each.set_visible(False)
        for each in found[max(len(names) - columns, 0) : len(names)]:
            each.tick_params(labelbottom=True)
        _draw_grids_alone(list(found[: len(names)]), columns)
        logarithmic = ", log scale" if axes.get_yscale() == "log" else ""
        centre = (_LEFT + width) / (2 * width)
        figure.supxlabel(f"{words}, log scale", fontsize=9, x=centre, y=0.36 / height)
        middle = (_BELOW + height - _ABOVE) / (2 * height)
        figure.supylabel(
            (axis or metric_axis(metric)) + logarithmic, fontsize=9, x=0.06 / width, y=middle
        )
        set_title(figure, title, finding, "One panel per curve, with all other curves in grey.")
        figure.legend(handles=_legend(curves, whole, baseline), loc="lower center", ncols=4)
    return figure


def _draw_grids_alone(panels: Sequence[Axes], columns: int) -> None:
    """Replace each axis without labels by its grid: a tick takes longer to draw than a curve."""
    low, high = panels[0].get_ylim()
    upright = [[(x, 0), (x, 1)] for x in panels[0].get_xticks()]
    level = [[(0, y), (1, y)] for y in panels[0].get_yticks() if low <= y <= high]
    style = {
        "color": rcParams["grid.color"],
        "linewidth": rcParams["grid.linewidth"],
        "zorder": 0.5,
    }
    for place, axes in enumerate(panels):
        if place < len(panels) - columns:
            axes.xaxis.set_visible(False)
            to_x = axes.get_xaxis_transform()
            axes.add_artist(LineCollection(upright, transform=to_x, **style))
        if place % columns:
            axes.yaxis.set_visible(False)
            to_y = axes.get_yaxis_transform()
            axes.add_artist(LineCollection(level, transform=to_y, **style))


def _legend(curves: pd.DataFrame, whole: pd.DataFrame, baseline: str) -> list[Any]:
    own: dict[str, Any] = {"marker": "o", "color": "black"}
    handles = [legend_entry("method of the panel", linestyle="-", **own)]
    if curves.iloc[:, -1].isna().any():
        handles.append(legend_entry("no result at larger values", marker="x", color="black"))
    elif (whole.any(axis=1) & ~whole.all(axis=1)).any():
        handles.append(
            legend_entry("mean with a smaller n_components", markerfacecolor="white", **own)
        )
    handles.append(legend_entry("other methods", color=OTHERS, linestyle="-"))
    if baseline in curves.index:
        handles.append(legend_entry(method_name(baseline), **_BASELINE))
    return handles


def _draw_panel(
    axes: Axes, method: str, curves: pd.DataFrame, whole: Any, colour: str, baseline: str
) -> None:
    x = np.array([float(n) for n in curves.columns])
    own, rest = curves.loc[method], curves.drop(index=method)
    # All other curves are a single line with gaps.
    grey = np.column_stack([rest.to_numpy(), np.full(len(rest), np.nan)]).ravel()
    axes.plot([*x, np.nan] * len(rest), grey, color=OTHERS, linewidth=0.6)
    if baseline in rest.index:
        axes.plot(x, rest.loc[baseline], **_BASELINE)
    axes.plot(x, own, color=colour, linewidth=1.6)
    title = method_name(method)
    # A method without n_components is a line without markers.
    for signs, fill in ((whole, colour), (~whole & whole.any(), "white")):
        if signs.any():
            looks: dict[str, Any] = {
                "linestyle": "",
                "marker": "o",
                "markersize": 3.4,
                "markerfacecolor": fill,
            }
            axes.plot(x[signs], own[signs], label=title, color=colour, **looks)
    end: Any = own.last_valid_index()
    if end != own.index[-1]:
        axes.plot([float(end)], [own[end]], "x", color=colour, markersize=7, markeredgewidth=1.8)
    # With a given height, Matplotlib need not search for one, which is slow.
    axes.set_title(title, fontsize=8, loc="left", y=1.0, pad=2)
    axes.tick_params(labelsize=8, length=2)
