"""A metric over swept parameters: curves, and heat maps where a second one has many values."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm, ListedColormap
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from ddr_cli.comparison.across_datasets import EQUIVALENCE
from ddr_cli.comparison.names import is_rate, lower_is_better, plain
from ddr_cli.comparison.summary import AXES
from ddr_cli.figures import style
from ddr_cli.figures.picture import Method, Picture
from ddr_cli.spec.budgets import LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

_DASHED = (0, (4, 2))
_FEW = 3
_MOST_TOGETHER = 6
_MOST_SWEPT = 4
_ROOM = 0.5  # of the curves' range: level lines further away are named above the panel
_PANEL_WIDTH = 2.9
_LINE = 0.03  # of the values' range: nearer curves look like one
_MOSTLY = 0.7

# From the best mean on, light to dark, in tolerances.
_STEPS = (1, 2, 3, 5, 10, 20, 50, 100)
_DARK_FROM = 10
_HEAT = (
    *("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1"),
    *("#6baed6", "#4292c6", "#2171b5", "#08519c"),
)

# Where most of a steep curve is flat, a second row of panels shows the flat part: the values up to
# this factor above the smallest.
_FLAT = 1.4


def draw_curves(picture: Picture, x: str, second: str | None = None) -> Figure:
    """Draw the metric against a swept parameter, a panel per value of a second one.

    There is a column per family of splits (or per value of `second`, where there is one family); a
    second row enlarges the flat part of a steep curve. Many methods have a panel each instead, and
    so have methods whose curves lie on each other. If one of several reducers has the parameter,
    its curves and a level line for each other method share one panel.
    """
    if second is None and (other := _other_form(picture, x)) is not None:
        return other
    families = picture.families
    levels = [None] if second is None else sorted(picture.rows[second].dropna().unique())
    flat_top = None if second else _flat_top(picture, x)
    panels = [(family, level) for level in levels for family in families]
    columns = len(families) if len(families) > 1 else len(panels)
    complete = len(panels) // columns
    lines = complete + (flat_top is not None)
    room = 0.085 * max(len(picture.name(method)) for method in picture.methods)
    width = (5.6 if columns == 1 else min(4.4 * columns, 11.0)) + room
    figure = style.new_figure(width, 1.3 + 2.9 * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey="row", squeeze=False)
    for place, (axes, (family, level)) in enumerate(zip(grid.flat, panels, strict=False)):
        rows, title = _panel_of(picture, family, second, level)
        _panel(picture, axes, rows, x, family)
        axes.set_title(title, loc="left")
        if flat_top is not None:
            _panel(picture, grid[-1, place], rows, x, family)
            grid[-1, place].set_title("the same, enlarged", loc="left", style="italic")
    for axes in grid[-1]:
        axes.set_xlabel(picture.axis_of(x))
    for axes in grid[:, 0]:
        axes.set_ylabel(picture.axis)
    for axes in grid[:complete, 0]:
        style.value_axis(axes, picture.rows["mean"], "y", picture.metric)
    if flat_top is not None:
        shown = picture.shown_values()
        near = shown[shown <= flat_top]
        style.value_axis(grid[-1, 0], near, "y", picture.metric)
        grid[-1, 0].set_ylim(near.min() - 0.06 * (flat_top - near.min()), flat_top)
    _parameter_axis(picture, grid[0, 0], x)
    for axes, (family, _) in zip(grid.flat, panels, strict=False):
        _printed(picture, axes, x, family)
        _largest_class(picture, axes)
    for axes in grid[:, -1]:
        _name_ends(picture, axes, x)
    picture.finish(figure, [*_predefined_handle(picture), *picture.handles()])
    return figure


def _other_form(picture: Picture, x: str) -> Figure | None:
    """Return the figure of one swept reducer, or of many methods; None if curves suit."""
    if swept := _only_swept(picture, x):
        return _draw_one_sweep(picture, x, swept)
    if len(picture.methods) > _MOST_TOGETHER or _hidden(picture, x):
        return _draw_small_multiples(picture, x)
    return None


def _only_swept(picture: Picture, x: str) -> list[Method]:
    """Return the methods of the one reducer that has the parameter, none if several have it."""
    found = [each for each in picture.methods if picture.of(each, picture.rows)[x].notna().any()]
    others = len(picture.methods) - len(found)
    is_one = len({reducer for reducer, _ in found}) == 1 and len(found) <= _MOST_SWEPT
    return found if is_one and others > _FEW else []


def _draw_one_sweep(picture: Picture, x: str, swept: list[Method]) -> Figure:
    """Draw the curves of one reducer, level lines of the other methods, and each curve's best."""
    figure = style.new_figure(9.6, 5.4)
    axes = figure.subplots()
    main = picture.families[-1]
    ends: list[tuple[float, str, str]] = []
    for place, method in enumerate(swept):
        colour = style.look(place).colour
        for family in picture.families:
            at, own = _curve(picture, picture.of_family(family), method, x)
            means, is_main = own["mean"].to_numpy(dtype=float), family == main
            how: dict[str, Any] = {"linestyle": "-", "lw": 2.0, "markerfacecolor": colour}
            if not is_main:
                how = {"linestyle": _DASHED, "lw": 1.0, "markerfacecolor": "white"}
            label = picture.name(method)
            axes.plot(at, means, marker="o", ms=4, color=colour, label=label, **how)
            if not is_main or not len(means):
                continue
            if own["low"].notna().any():
                axes.fill_between(at, own["low"], own["high"], color=colour, alpha=0.14, lw=0)
            best = int(np.argmin(means) if lower_is_better(picture.metric) else np.argmax(means))
            ring: dict[str, Any] = {"ms": 11, "markerfacecolor": "none", "markeredgewidth": 1.4}
            axes.plot([at[best]], [means[best]], "o", color=colour, **ring)
            ends.append((float(means[-1]), label, colour))
    low, high = axes.get_ylim()
    room = _ROOM * (high - low)
    beyond = []
    for method in picture.methods:
        means = picture.of(method, picture.of_family(main))["mean"].dropna().to_numpy(dtype=float)
        if method in swept or not len(means):
            continue
        level, name = float(means[0]), picture.name(method)
        if low - room <= level <= high + room:
            axes.axhline(level, color=style.NEUTRAL, lw=0.9, zorder=1.2)
            ends.append((level, f"{name} {level:.1f}", style.NEUTRAL))
            low, high = min(low, level), max(high, level)
        else:
            beyond.append(f"{name} {level:.1f}")
    axes.set_ylim(low, high)
    axes.set_xlabel(picture.axis_of(x))
    axes.set_ylabel(picture.axis)
    _parameter_axis(picture, axes, x)
    for family in picture.families:
        _printed(picture, axes, x, family)
    style.label_ends(axes, ends)
    title = picture.family_title(main)
    axes.set_title(f"{title}; not shown: {', '.join(beyond)}" if beyond else title, loc="left")
    marked = {"color": style.NEUTRAL, "marker": "o", "markersize": 11, "markerfacecolor": "none"}
    handles = [*_predefined_handle(picture), style.legend_entry("best mean", **marked)]
    picture.finish(figure, [*handles, *picture.handles(largest=False)])
    return figure


def _panel_of(
    picture: Picture, family: str, second: str | None, level: Any
) -> tuple[pd.DataFrame, str]:
    """Return the rows and the title of the panel for a family and a value of `second`."""
    rows = picture.of_family(family)
    title = f"{picture.note}{picture.family_title(family)}"
    if second is None:
        return rows, title
    rows = rows[(rows[second] == level) | rows[second].isna()]
    return rows, f"{picture.setting_text(second, level)} · {title}"


def _hidden(picture: Picture, x: str) -> bool:
    """Tell whether a curve lies on another all along, so that one of them isn't seen."""
    rows = picture.of_family(picture.families[-1])
    curves = {}
    for method in picture.methods:
        at, own = _curve(picture, rows, method, x)
        if len(own) > 1 and own[x].is_unique:
            curves[method] = pd.Series(own["mean"].to_numpy(), index=at)
    span = float(rows["mean"].max() - rows["mean"].min())
    for first, second in combinations(curves.values(), 2):
        apart = (first - second).abs().dropna()
        near = float((apart <= _LINE * span + 1e-9).mean())
        if len(apart) > 2 and near >= (_MOSTLY if len(curves) > _FEW else 1.0):
            return True
    return False


def _draw_small_multiples(picture: Picture, x: str) -> Figure:
    """Draw a panel per method, with all the others behind it in grey."""
    methods = picture.methods
    columns = 4 if len(methods) > 9 or len(methods) == 4 else 3
    lines = -(-len(methods) // columns)
    figure = style.new_figure(_PANEL_WIDTH * columns, 1.3 + 2.0 * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    of_family = {family: picture.of_family(family) for family in picture.families}
    everyone = of_family[picture.families[-1]]
    for place, axes in enumerate(grid.flat):
        if place >= len(methods):
            axes.remove()
            continue
        for method in methods:
            at, own = _curve(picture, everyone, method, x)
            axes.plot(at, own["mean"].to_numpy(), color=style.OTHERS, lw=0.9, zorder=1.2)
        for family, rows in of_family.items():
            _panel(picture, axes, rows, x, family, methods[place])
        axes.set_title(style.in_lines(picture.name(methods[place]), _PANEL_WIDTH), loc="left")
        axes.tick_params(labelbottom=place + columns >= len(methods))
        if place >= columns * (lines - 1):
            axes.set_xlabel(picture.axis_of(x))
    figure.supylabel(picture.axis, fontsize="medium")
    style.value_axis(grid[0, 0], picture.rows["mean"], "y", picture.metric)
    _parameter_axis(picture, grid[0, 0], x)
    for method, axes in zip(methods, grid.flat, strict=False):
        for family in of_family:
            _printed(picture, axes, x, family, method)
        _largest_class(picture, axes)
    shown = [picture.family_title(family) for family in picture.families]
    handles = [style.legend_entry(shown[-1], color=style.NEUTRAL, marker="o", linestyle="-")]
    handles += _predefined_handle(picture)
    handles += [style.legend_entry("the other methods", color=style.OTHERS, linestyle="-")]
    picture.finish(figure, [*handles, *picture.handles()])
    return figure


def _flat_top(picture: Picture, x: str) -> float | None:
    """Return up to which value to enlarge; None if all values are of one size."""
    means = picture.rows["mean"]
    top = _FLAT * float(means.min())
    # How a method improves with labels or samples is all of the curve, not its flat end.
    enlarged = x not in AXES and style.is_steep(means) and (means <= top).mean() >= 0.5
    return top if enlarged else None


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
    picture: Picture, axes: Axes, rows: pd.DataFrame, x: str, family: str, *alone: Method
) -> None:
    """Draw the curves of all methods over a family of splits, or of one that has its own panel."""
    hollow = family == "predefined"
    # Few methods need no dashes, which also tell a predefined split.
    solid = alone or len(picture.methods) <= _FEW or "predefined" in picture.families
    for method in alone or picture.methods:
        at, own = _curve(picture, rows, method, x)
        if own.empty:
            continue
        look = picture.look(method, alone=bool(alone))
        line: dict[str, Any] = {
            "label": picture.name(method),
            "color": look.colour,
            "linestyle": _DASHED if hollow else "-" if solid else look.line,
            "marker": look.marker,
            "markerfacecolor": "white" if hollow else look.colour,
        }
        if own[x].isna().all():
            line |= {"marker": "", "linestyle": "-" if alone else look.line, "linewidth": 1.2}
        axes.plot(at, own["mean"].to_numpy(), **line)
        if own["low"].notna().any():
            band: dict[str, Any] = {"color": look.colour, "label": picture.name(method)}
            axes.fill_between(at, own["low"], own["high"], alpha=0.14, lw=0, **band)
            for end in ("low", "high"):
                ends = "-" if alone else look.line
                axes.plot(at, own[end], linestyle=ends, lw=0.7, **band)


def _printed(
    picture: Picture, axes: Axes, x: str, family: str, alone: Method | None = None
) -> None:
    """Mark what the paper prints, in every panel that shows what it is compared with.

    The limits of the axes must be final: a number far from ours is marked at the panel's edge.
    """
    low, high = axes.get_ylim()
    axes.set_ylim(low, high)
    several = len({picture.method_of(quoted) for quoted in picture.quoted}) > 1
    for quoted in picture.quoted:
        row, method = picture.row(quoted.row), picture.method_of(quoted)
        if row["split"] != family or alone not in (None, method):
            continue
        # A method without the parameter is the same everywhere: its number stands at the end.
        places = picture.rows[x].dropna().astype(float)
        at = quoted.at if quoted.at is not None else row[x]
        at = float(places.max() if pd.isna(at) else at)
        value, text = quoted.value * picture.scale, quoted.text
        if alone is None and several:
            text += f" ({picture.name(method)})"
        inside = low <= value <= high
        if not inside:
            text += " ↑" if value > high else " ↓"
        colour = picture.look(method).colour
        height = min(max(value, low), high)
        # Below the curves, so that it hides none of their points.
        drawn = style.STAR | {"color": colour, "clip_on": inside}
        axes.plot([at], [height], linestyle="", zorder=1.8, **drawn)
        left = axes.transAxes.inverted().transform(axes.transData.transform((at, low)))[0] > 0.5
        look: dict[str, Any] = {"fontsize": 8, "color": style.PAPER_COLOUR, "zorder": 5}
        look |= {"textcoords": "offset points", "va": "top", "annotation_clip": False}
        look["bbox"] = style.UNDER_TEXT
        look |= {"xytext": (-9, -3), "ha": "right"} if left else {"xytext": (9, -3), "ha": "left"}
        axes.annotate(text, (at, height), **look)


def _largest_class(picture: Picture, axes: Axes) -> None:
    """Draw what always naming the largest class scores, where that is within the panel."""
    low, high = axes.get_ylim()
    if picture.largest is not None and low < picture.largest < high:
        axes.axhline(picture.largest, **style.LARGEST)


def _name_ends(picture: Picture, axes: Axes, x: str) -> None:
    """Name each curve at its end, in the last panel of a line."""
    low, high = axes.get_ylim()
    rows = picture.of_family(picture.families[-1])
    ends = []
    for method in picture.methods:
        _, own = _curve(picture, rows, method, x)
        # What leaves an enlarged panel has its name beside the whole one.
        if len(own) and low <= (height := float(own["mean"].iloc[-1])) <= high:
            ends.append((height, picture.name(method), picture.look(method).colour))
    style.label_ends(axes, ends)


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


def _predefined_handle(picture: Picture) -> list[Any]:
    if "predefined" not in picture.families:
        return []
    look = {"color": style.NEUTRAL, "marker": "o", "linestyle": _DASHED, "markerfacecolor": "white"}
    return [style.legend_entry("predefined split", **look)]


def _tick(picture: Picture, name: str, value: Any) -> str:
    return picture.ticks[float(value)] if name == LABELS else plain(float(value))


def draw_heat_maps(picture: Picture, x: str, second: str) -> Figure:
    """Draw a heat map per method, over the last family of splits, with the means in the cells.

    The colour is how far a mean is from the best one, in the papers' tolerance: what is within it
    has one colour.
    """
    family = picture.families[-1]
    rows = picture.of_family(family).dropna(subset=[x, second])
    methods = [method for method in picture.methods if len(picture.of(method, rows))]
    tables = [
        picture.of(method, rows).pivot_table(index=second, columns=x, values="mean", aggfunc="min")
        for method in methods
    ]
    lower = lower_is_better(picture.metric)
    best = float(rows["mean"].min() if lower else rows["mean"].max())
    tolerance = picture.scale * (EQUIVALENCE if is_rate(picture.metric) else abs(best) / 100)
    reach = float((rows["mean"] - best).abs().max()) / tolerance
    steps = _STEPS[: 1 + sum(step < reach for step in _STEPS[:-1])]
    norm = BoundaryNorm([0, *[step * tolerance for step in steps]], len(steps))
    colours = ListedColormap(_HEAT[: len(steps)])
    lines, wide = tables[0].shape
    figure = style.new_figure(max(2.2 + 0.56 * wide * len(methods), 6.0), 1.8 + 0.42 * lines)
    grid = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for axes, method, table in zip(grid, methods, tables, strict=True):
        values = table.to_numpy(dtype=float)
        apart = np.abs(values - best)
        image = axes.imshow(apart, origin="lower", aspect="auto", cmap=colours, norm=norm)
        for (line, column), value in np.ndenumerate(values):
            if not np.isnan(value):
                dark = apart[line, column] > _DARK_FROM * tolerance
                look = {"ha": "center", "va": "center", "fontsize": 8}
                look["color"] = "white" if dark else style.ON_CELL
                look["weight"] = "bold" if value == best else "normal"
                text = f"{value:.1f}" if is_rate(picture.metric) else f"{value:.3g}"
                axes.text(column, line, text, **look)
        axes.grid(visible=False)
        words = picture.family_title(family)
        several = f"{picture.name(method)} · " if len(methods) > 1 else ""
        axes.set_title(f"{several}{picture.axis}, {words[0].lower()}{words[1:]}", loc="left")
        axes.set_xlabel(picture.axis_of(x))
        axes.set_xticks(range(wide), [_tick(picture, x, value) for value in table.columns])
        axes.set_yticks(range(lines), [_tick(picture, second, value) for value in table.index])
        axes.tick_params(length=0)
    grid[0].set_ylabel(picture.axis_of(second))
    unit = "points from" if is_rate(picture.metric) else "from"
    bar = figure.colorbar(image, ax=list(grid), spacing="uniform")
    bar.set_ticks([0, *[step * tolerance for step in steps]])
    bar.ax.set_yticklabels([f"{step * tolerance:.3g}" for step in (0, *steps)])
    bar.set_label(f"colour: {unit} the best mean, {best:.4g}", fontsize=8)
    picture.finish(figure)
    return figure
