"""A metric over swept parameters: curves, and heat maps where a second one has many values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from ddr_cli.comparison.names import plain
from ddr_cli.comparison.summary import AXES
from ddr_cli.figures.picture import Method, Picture
from ddr_cli.figures.style import (
    NEUTRAL,
    OTHERS,
    PAPER_COLOUR,
    Look,
    in_lines,
    is_steep,
    legend_entry,
    new_figure,
    value_axis,
)
from ddr_cli.spec.budgets import LABELS
from ddr_cli.verdicts.printed import QuotedNumber

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_DASHED = (0, (4, 2))
_FEW = 3
_MOST_TOGETHER = 6
_PANEL_WIDTH = 2.9

# Where most of a steep curve is flat, a second row of panels shows the flat part: the values up to
# this factor above the smallest.
_FLAT = 1.4


def draw_curves(picture: Picture, x: str, second: str | None = None) -> Figure:
    """Draw the metric against a swept parameter, a panel per value of a second one.

    There is a column per family of splits (or per value of `second`, where there is one family); a
    second row enlarges the flat part of a steep curve. Many methods have a panel each instead.
    """
    if second is None and len(picture.methods) > _MOST_TOGETHER:
        return _draw_small_multiples(picture, x)
    families = picture.families
    levels = [None] if second is None else sorted(picture.rows[second].dropna().unique())
    # How a method improves with labels or points is all of the curve, not its flat end.
    flat_top = _flat_top(picture) if second is None and x not in AXES else None
    panels = [(family, level) for level in levels for family in families]
    columns = len(families) if len(families) > 1 else len(panels)
    complete = len(panels) // columns
    lines = complete if flat_top is None else complete + 1
    width = 6.4 if columns == 1 else min(4.6 * columns, 12.0)
    figure = new_figure(width, 1.1 + 2.9 * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey="row", squeeze=False)
    for place, (family, level) in enumerate(panels):
        axes = grid[place // columns, place % columns]
        rows = picture.rows[picture.rows["split"] == family]
        title = f"{picture.note}{picture.family_title(family)}"
        if second is not None and level is not None:
            rows = rows[(rows[second] == level) | rows[second].isna()]
            title = f"{picture.setting_text(second, level)} · {title}"
        _panel(picture, axes, rows, x, family)
        axes.set_title(title, loc="left")
        if flat_top is not None:
            _panel(picture, grid[-1, place], rows, x, family)
            grid[-1, place].set_title("the same, enlarged", loc="left", style="italic")
    for axes in grid[-1, :]:
        axes.set_xlabel(picture.axis_of(x))
    means, shown = picture.rows["mean"], picture.shown_values()
    near = shown if flat_top is None else shown[shown <= flat_top]
    for number, line in enumerate(grid):
        line[0].set_ylabel(picture.axis)
        value_axis(line[0], means if number < complete else near, "y", picture.metric)
    if flat_top is not None:
        grid[-1, 0].set_ylim(near.min() - 0.06 * (flat_top - near.min()), flat_top)
    _parameter_axis(picture, grid[0, 0], x)
    picture.finish(figure, _handles(picture, x))
    return figure


def _draw_small_multiples(picture: Picture, x: str) -> Figure:
    """Draw a panel per method, with all the others behind it in grey."""
    methods = picture.methods
    columns = 4 if len(methods) > 9 else 3
    lines = -(-len(methods) // columns)
    figure = new_figure(_PANEL_WIDTH * columns, 1.3 + 2.0 * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    of_family = {
        family: picture.rows[picture.rows["split"] == family] for family in picture.families
    }
    everyone = of_family[picture.families[-1]]
    for place, axes in enumerate(grid.flat):
        if place >= len(methods):
            axes.remove()
            continue
        for method in methods:
            at, own = _curve(picture, everyone, method, x)
            axes.plot(at, own["mean"].to_numpy(), color=OTHERS, lw=0.9, zorder=1.2)
        for family, rows in of_family.items():
            _panel(picture, axes, rows, x, family, methods[place])
        axes.set_title(in_lines(picture.name(methods[place]), _PANEL_WIDTH), loc="left")
        if place + columns >= len(methods):
            axes.tick_params(labelbottom=True)
            axes.set_xlabel(picture.axis_of(x))
    figure.supylabel(picture.axis, fontsize="medium")
    value_axis(grid[0, 0], picture.rows["mean"], "y", picture.metric)
    _parameter_axis(picture, grid[0, 0], x)
    shown = [picture.family_title(family) for family in picture.families]
    handles = [legend_entry(shown[-1], color=NEUTRAL, marker="o", linestyle="-")]
    handles += _predefined_handle(picture)
    handles += [legend_entry("the other methods", color=OTHERS, linestyle="-"), *_stars(picture)]
    picture.finish(figure, [*handles, *picture.interval_handle()])
    return figure


def _flat_top(picture: Picture) -> float | None:
    """Return up to where to enlarge, None if the values are all of one size anyway."""
    means = picture.rows["mean"]
    top = _FLAT * float(means.min())
    return top if is_steep(means) and (means <= top).mean() >= 0.5 else None


def _curve(
    picture: Picture, rows: pd.DataFrame, method: Method, x: str
) -> tuple[NDArray[np.float64], pd.DataFrame]:
    """Return a method's places on the axis and its rows there.

    A method without the parameter is the same everywhere: it has its row at both ends.
    """
    own = picture.of(method, rows)
    if own.empty or own[x].notna().any():
        own = own[own[x].notna()].sort_values(x)
        return own[x].to_numpy(dtype=float), own
    places = picture.rows[x].dropna().astype(float)
    return np.array([places.min(), places.max()]), own.loc[[own.index[0]] * 2]


def _panel(
    picture: Picture,
    axes: Axes,
    rows: pd.DataFrame,
    x: str,
    family: str,
    alone: Method | None = None,
) -> None:
    """Draw the curves of all methods over a family of splits, or of one that has its own panel."""
    hollow = family == "predefined"
    for method in picture.methods if alone is None else [alone]:
        at, own = _curve(picture, rows, method, x)
        if own.empty:
            continue
        style = picture.look(method)
        line: dict[str, Any] = {
            "color": style.colour,
            "linestyle": _DASHED if hollow else "-" if alone else _line(picture, style),
            "marker": style.marker,
            "markerfacecolor": "white" if hollow else style.colour,
        }
        if own[x].isna().all():
            line |= {"marker": "", "linestyle": "-" if alone else style.line, "linewidth": 1.2}
        axes.plot(at, own["mean"].to_numpy(), **line)
        if own["low"].notna().any():
            axes.fill_between(at, own["low"], own["high"], color=style.colour, alpha=0.14, lw=0)
            for end in ("low", "high"):
                ends = "-" if alone else style.line
                axes.plot(at, own[end], color=style.colour, linestyle=ends, lw=0.7)
    for quoted in picture.quoted:
        if alone in (None, picture.method_of(quoted)):
            _quoted(picture, axes, quoted, x, family)


def _line(picture: Picture, style: Look) -> Any:
    """Return a method's dashes; few methods need none, and dashes also tell a predefined split."""
    return "-" if len(picture.methods) <= _FEW or "predefined" in picture.families else style.line


def _quoted(picture: Picture, axes: Axes, quoted: QuotedNumber, x: str, family: str) -> None:
    row = picture.row(quoted.row)
    if row["split"] != family or pd.isna(row[x]):
        return
    # Below the curves, so that it hides none of their points; its text stands in the legend.
    axes.plot(
        [float(row[x]) if quoted.at is None else quoted.at],
        [quoted.value * picture.scale],
        linestyle="",
        zorder=1.8,
        **_star(picture, quoted),
    )


def _star(picture: Picture, quoted: QuotedNumber) -> dict[str, Any]:
    return {
        "marker": "*",
        "markersize": 15,
        "color": picture.look(picture.method_of(quoted)).colour,
        "markeredgecolor": PAPER_COLOUR,
        "markeredgewidth": 0.8,
    }


def _parameter_axis(picture: Picture, axes: Axes, x: str) -> None:
    values = np.sort(picture.rows[x].dropna().unique().astype(float))
    if picture.run.spec.plot.log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    if x == LABELS:
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(picture.ticks), list(picture.ticks.values()))
    elif not picture.run.spec.plot.log and np.allclose(values, np.round(values)):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))


def _handles(picture: Picture, x: str) -> list[Any]:
    handles: list[Any] = []
    for method in picture.methods:
        style = picture.look(method)
        level = picture.of(method, picture.rows)[x].isna().all()
        line, marker = (style.line, "") if level else (_line(picture, style), style.marker)
        look = {"color": style.colour, "marker": marker, "linestyle": line}
        handles.append(legend_entry(picture.name(method), **look))
    handles += _predefined_handle(picture)
    return [*handles, *_stars(picture), *picture.interval_handle()]


def _predefined_handle(picture: Picture) -> list[Any]:
    if "predefined" not in picture.families:
        return []
    look = {"color": NEUTRAL, "marker": "o", "linestyle": _DASHED, "markerfacecolor": "white"}
    return [legend_entry("predefined split", **look)]


def _stars(picture: Picture) -> list[Any]:
    return [
        legend_entry(
            f"{quoted.text} ({picture.name(picture.method_of(quoted))})", **_star(picture, quoted)
        )
        for quoted in picture.quoted
    ]


def _tick(picture: Picture, name: str, value: Any) -> str:
    return picture.ticks[float(value)] if name == LABELS else plain(float(value))


def draw_heat_maps(picture: Picture, x: str, second: str) -> Figure:
    """Draw a heat map per method, all on one colour scale, over the last family of splits."""
    family = picture.families[-1]
    rows = picture.rows[picture.rows["split"] == family].dropna(subset=[x, second])
    methods = [method for method in picture.methods if len(picture.of(method, rows))]
    figure = new_figure(1.4 + 3.6 * len(methods), 4.0)
    grid = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    low, high = rows["mean"].min(), rows["mean"].max()
    for axes, method in zip(grid, methods, strict=True):
        own = picture.of(method, rows)
        table = own.pivot_table(index=second, columns=x, values="mean", aggfunc="min")
        image = axes.imshow(
            table.to_numpy(dtype=float),
            origin="lower",
            aspect="auto",
            cmap="cividis",
            vmin=low,
            vmax=high,
        )
        axes.grid(visible=False)
        axes.set_title(f"{picture.name(method)} · {picture.family_title(family)}", loc="left")
        axes.set_xlabel(picture.axis_of(x))
        axes.set_xticks(
            range(table.shape[1]),
            [_tick(picture, x, value) for value in table.columns],
            rotation=90,
        )
        axes.set_yticks(
            range(table.shape[0]), [_tick(picture, second, value) for value in table.index]
        )
    grid[0].set_ylabel(picture.axis_of(second))
    figure.colorbar(image, ax=list(grid), label=picture.axis)
    picture.finish(figure)
    return figure
