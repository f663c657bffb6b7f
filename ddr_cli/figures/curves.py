"""A metric over swept parameters: curves, and heat maps if a second parameter has many values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter, NullLocator

from ddr_cli.comparison.names import is_rate, lower_is_better
from ddr_cli.comparison.summary import AXES, best_index
from ddr_cli.figures import style
from ddr_cli.figures.picture import Method, Picture
from ddr_cli.spec.budgets import LABELS

_DASHED = (0, (4, 2))
_REFERENCE: dict[str, Any] = {"color": style.NEUTRAL, "linestyle": _DASHED, "linewidth": 1.1}
_LEVELS: tuple[Any, ...] = ((0, (1, 1.5)), (0, (7, 2)), (0, (5, 1.5, 1, 1.5)), (0, (2, 3)))
_MOST_CURVES = 10  # in one panel
_MOST_LINES = 8  # in one panel with curves of both the predefined split and re-splits
_MOST_LARGE = 4
_FEW = 3
# If curves fall steeply and are then mostly flat, the panel ends at this multiple of the lowest
# mean.
_FLAT = 1.4
_BEST: dict[str, Any] = {"markersize": 9, "markeredgecolor": "black", "markeredgewidth": 1.3}


@dataclass(frozen=True, eq=False)
class _Panel:
    """Curves that share a panel.

    `rows`, by family of splits and method, are sorted along the axis. They include the methods
    without the parameter.
    """

    title: str
    methods: Sequence[Method]
    rows: Mapping[str, Mapping[Method, pd.DataFrame]]
    families: Sequence[str]

    @property
    def last(self) -> Mapping[Method, pd.DataFrame]:
        """The rows over re-splits, or of the only family of splits."""
        return self.rows[self.families[-1]]


class _Curves:
    """How the curves of a figure are drawn: its panels, and the looks of methods."""

    def __init__(self, picture: Picture, x: str, second: str | None) -> None:
        self.picture, self.x = picture, x
        self.methods, self.level = picture.swept(x), picture.level(x)
        reducers = list(dict.fromkeys(name for name, _ in self.methods))
        classifiers = list(dict.fromkeys(name for _, name in self.methods))
        many = len(picture.reducing(self.methods)) > _MOST_CURVES
        several = len(reducers) > 1
        self.by_reducer = second is None and several and (many or len(classifiers) > 1)
        self.panels = self._panels(reducers, second)
        self.compact = len(self.panels) > _MOST_LARGE
        # Colours and markers show what differs within a panel: reducers (0) or classifiers (1).
        place = int(len(classifiers) > 1 and (self.by_reducer or not several))
        self.looks = {
            each: picture.look(
                each,
                place=place,
                alone=self.compact and not place,
                among=() if self.compact else self.methods,
            )
            for each in picture.methods
        }
        if self.compact and place:
            # Methods keep the colours they have in other figures.
            for each, own in self.looks.items():
                colour = picture.look(each, place=0, alone=True).colour
                self.looks[each] = replace(own, colour=colour)
        if several and len(classifiers) > 1 and not self.by_reducer:
            self.looks |= {each: style.look(i) for i, each in enumerate(self.methods)}

    def _panels(self, reducers: Sequence[str], second: str | None) -> list[_Panel]:
        """Return a panel per value of `second`, per method, per family of splits, or only one."""
        picture, families = self.picture, self.picture.families
        if second is not None:
            values = picture.rows[second]
            return [
                _Panel(
                    picture.setting_text(second, value),
                    self.methods,
                    self._by_family(picture.rows[(values == value) | values.isna()]),
                    families,
                )
                for value in sorted(values.dropna().unique())
            ]
        rows = self._by_family(picture.rows)
        if self.by_reducer:
            return [
                _Panel(name, [each for each in self.methods if each[0] == name], rows, families)
                for name in reducers
            ]
        if len(families) > 1 and len(self.methods) * len(families) > _MOST_LINES:
            return [
                _Panel(picture.family_title(each), self.methods, rows, [each]) for each in families
            ]
        return [_Panel(picture.note, self.methods, rows, families)]

    def _by_family(self, rows: pd.DataFrame) -> dict[str, dict[Method, pd.DataFrame]]:
        found = {}
        for family in self.picture.families:
            own = self.picture.by_method(rows[rows["split"] == family])
            for method in own.keys() - {*self.level}:
                own[method] = own[method].dropna(subset=self.x).sort_values(self.x)
            found[family] = {method: each for method, each in own.items() if len(each)}
        return found

    @property
    def references(self) -> list[Method]:
        """The curve without reduction, with the first classifier, for panels of other methods."""
        return [each for each in self.methods if self.picture.reduces_nothing(each)][:1]

    def name(self, method: Method) -> str:
        """Return a curve's name, without the method if the panel is named after it."""
        if method in self.level:
            return self.picture.name(method)
        return method[1] if self.by_reducer else self.picture.curve_name(method, self.x)

    def draw(self, axes: Axes, panel: _Panel) -> None:
        """Draw the curves of a panel, with their bands and best means, and the horizontal lines."""
        if self.compact:
            self._draw_others(axes, panel)
        several = len(panel.families) > 1
        few = len(panel.methods) <= _FEW
        for method in panel.methods:
            look = self.looks[method]
            label = self.picture.name(method)
            for family in panel.families:
                if method not in panel.rows[family]:
                    continue
                own = panel.rows[family][method]
                hollow = family == "predefined"
                line: dict[str, Any] = {
                    "label": label,
                    "color": look.colour,
                    "linestyle": "-" if few or several else look.line,
                    "marker": look.marker,
                    "markerfacecolor": "white" if hollow else look.colour,
                }
                if hollow and several:
                    line |= {"linestyle": _DASHED, "linewidth": 0.9, "markersize": 3.6}
                axes.plot(own[self.x].to_numpy(dtype=float), own["mean"].to_numpy(), **line)
                if len(partly := own[own["failed"] > 0]):
                    ring = line | {"linestyle": "", "markerfacecolor": "white"}
                    axes.plot(partly[self.x], partly["mean"], **ring)
                if own["low"].notna().any():
                    band: dict[str, Any] = {
                        "color": look.colour,
                        "alpha": 0.15 if few else 0.08,
                        "lw": 0,
                    }
                    axes.fill_between(own[self.x], own["low"], own["high"], label=label, **band)
        for method, value in self.level_means(panel).items():
            axes.axhline(value, label=self.picture.name(method), **self.level_look(method))
        if not self.compact:
            self._mark_best(axes, panel, few=few)

    def _draw_others(self, axes: Axes, panel: _Panel) -> None:
        """Draw all curves in grey, and the reference."""
        # A single line, with gaps at nan, draws the curves of all methods.
        gap = np.full((1, 2), np.nan)
        curves = [own for method, own in panel.last.items() if method in self.methods]
        points = [own[[self.x, "mean"]].to_numpy(dtype=float) for own in curves]
        parts = [part for own in points for part in (own, gap)] or [gap]
        axes.plot(*np.concatenate(parts).T, color=style.OTHERS, lw=0.9, zorder=1.2)
        for own in (panel.last[each] for each in self.references if each in panel.last):
            axes.plot(own[self.x], own["mean"], zorder=1.3, **_REFERENCE)

    def _mark_best(self, axes: Axes, panel: _Panel, *, few: bool) -> None:
        """Mark the best mean of each of a few curves, or of all of them."""
        if not self.picture.word:
            return
        reducing = self.picture.reducing(panel.methods)
        curves = [panel.last[each] for each in reducing if each in panel.last]
        for rows in [pd.concat(curves)] if curves and not few else curves:
            if len(rows) < 2:
                continue
            index = best_index(rows["mean"], self.picture.metric)
            best, look = self.picture.row(index), self.looks[self.picture.method_at(index)]
            signs = _BEST | {"marker": look.marker, "color": look.colour, "zorder": 5}
            axes.plot(
                [best[self.x]],
                [best["mean"]],
                linestyle="",
                label=self.picture.name(self.picture.method_at(index)),
                **signs,
            )

    def level_means(self, panel: _Panel) -> dict[Method, float]:
        """Return the means of the methods without the parameter."""
        own = {each: panel.last[each]["mean"] for each in self.level if each in panel.last}
        return {each: float(means.iloc[0]) for each, means in own.items()}

    def level_look(self, method: Method) -> dict[str, Any]:
        """Return the look of a horizontal line, with different dashes from others of its colour."""
        colour = self.looks[method].colour
        alike = [each for each in self.level if self.looks[each].colour == colour]
        dashes = _LEVELS[alike.index(method) % len(_LEVELS)]
        return {"color": colour, "linestyle": dashes, "linewidth": 1.2}

    def name_ends(self, axes: Axes, panel: _Panel) -> list[Annotation]:
        """Label each curve at its end, and each horizontal line with its value.

        The limits of the axes must be final.
        """
        low, high = axes.get_ylim()
        ends = []
        for method in panel.methods:
            if method in panel.last:
                end = float(panel.last[method]["mean"].iloc[-1])
                ends.append((end, self.name(method), self.looks[method].colour))
        for method, value in self.level_means(panel).items():
            arrow = " ↑" if value > high else " ↓" if value < low else ""
            text = f"{self.name(method)}: {self.picture.value_of(value)}{arrow}"
            ends.append((value, text, self.looks[method].colour))
        return style.label_ends(axes, ends)


def draw_curves(picture: Picture, x: str, second: str | None = None) -> Figure:
    """Draw the metric against a swept parameter, in one panel if it stays readable.

    The curves of the predefined split are dashed lines next to those of re-splits. Methods without
    the parameter are horizontal lines. Each value of `second` has a panel. Each method has a panel
    if there are more than ten methods (not counting no reduction), or several methods with several
    classifiers each. Each family of splits has a panel if a shared one would have more than eight
    lines.
    """
    drawn = _Curves(picture, x, second)
    n, compact = len(drawn.panels), drawn.compact
    columns = 4 if compact else 2 if n == _MOST_LARGE else n
    lines = -(-n // columns)
    names = [
        *map(drawn.name, drawn.methods),
        *(f"{drawn.name(each)}: 0.00 %" for each in drawn.level),
    ]
    room = 0.075 * max(map(len, names))
    width = 2.9 * columns if compact else (6.2 if n == 1 else 3.4 * columns) + room * columns
    height = 2.0 if compact else max(3.4, 0.17 * len(names) + 0.8)
    figure = style.new_figure(min(width, 13.0), 1.4 + height * lines)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    for place, axes in enumerate(grid.flat):
        if place >= n:
            axes.remove()
            continue
        panel = drawn.panels[place]
        drawn.draw(axes, panel)
        axes.set_title(style.in_lines(panel.title, 2.9), loc="left")
        axes.tick_params(labelbottom=place + columns >= n)
        if place >= columns * (lines - 1):
            axes.set_xlabel(picture.axis_of(x))
    note = _value_limits(drawn, grid[0, 0])
    _parameter_axis(picture, grid[0, 0], x)
    if compact:
        log = ", log scale" if grid[0, 0].get_yscale() == "log" else ""
        figure.supylabel(picture.axis + log, fontsize="medium")
    else:
        for axes in grid[:, 0]:
            axes.set_ylabel(picture.axis)
    texts = []
    for panel, axes in zip(drawn.panels, grid.flat, strict=False):
        texts += _printed(drawn, axes, panel)
        if picture.shows_largest:
            axes.axhline(picture.largest, **style.LARGEST)
    handles = [*_handles(drawn), *picture.handles(), *([style.legend_entry(note)] if note else [])]
    found = picture.best_along(x) if second is None else ""
    picture.finish(figure, handles, x=x, finding=found)
    panels = [] if compact else zip(drawn.panels, grid.flat, strict=False)
    labels = [drawn.name_ends(axes, panel) for panel, axes in panels]
    # The panels get their final size only after the title, the legend and labels are added.
    style.lay_out(figure)
    style.move_off_curves(texts)
    for each in labels:
        style.spread_ends(each)
    return figure


def _value_limits(drawn: _Curves, axes: Axes) -> str:
    """Scale the axis of values to the curves; return what lies outside it, in words.

    Horizontal lines and printed numbers extend it if they are near the curves.
    """
    picture = drawn.picture
    curves = picture.rows[picture.rows[drawn.x].notna()]
    shown = pd.concat([curves[name] for name in ("mean", "low", "high")]).dropna()
    means = curves["mean"]
    lower = lower_is_better(picture.metric)
    top = _FLAT * float(means.min())
    # Over numbers of labels or samples, the steep part of a curve is the result, so it is not cut
    # off.
    cut = drawn.x not in AXES and lower and style.is_steep(means) and (means <= top).mean() >= 0.7
    if cut:
        shown, means = shown[shown <= top], means[means <= top]
    style.value_axis(axes, means, "y", picture.metric, few=drawn.compact)
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.array([shown.min(), top if cut else shown.max()]))
    span = float(high - low) or abs(float(high)) or 1.0
    values = [each.value * picture.scale for each in picture.quoted]
    values += [value for panel in drawn.panels for value in drawn.level_means(panel).values()]
    with np.errstate(divide="ignore"):
        others = scale.transform(np.array(values, dtype=float))
    near = others[(others >= low - span) & (others <= high + span)]
    low, high = min([low, *near]), max([high, *near])
    pad = 0.04 * (high - low or span)
    axes.set_ylim(*scale.inverted().transform(np.array([low - pad, high + (0 if cut else pad)])))
    if not cut or curves["mean"].max() <= axes.get_ylim()[1]:
        return ""
    edge, most = (picture.value_of(each) for each in (axes.get_ylim()[1], curves["mean"].max()))
    return f"not shown: means above {edge} (up to {most})"


def _printed(drawn: _Curves, axes: Axes, panel: _Panel) -> list[Annotation]:
    """Mark the paper's numbers in a panel that shows the row they are compared with.

    The limits of the axes must be final: a number outside them is marked at the panel's edge. The
    texts, which are returned, must still be moved next to their marks.
    """
    picture, x = drawn.picture, drawn.x
    low, high = axes.get_ylim()
    several = len({picture.method_at(each.row) for each in picture.quoted}) > 1
    marked, found = set(), []
    for quoted in picture.quoted:
        method, family = picture.method_at(quoted.row), picture.row(quoted.row)["split"]
        if family not in panel.families or method not in (*panel.methods, *drawn.level):
            continue
        if method not in panel.rows[family] or quoted.row not in panel.rows[family][method].index:
            continue
        # The number of a method without the parameter is marked at the largest value.
        places = picture.rows[x].dropna().astype(float)
        at = quoted.at if quoted.at is not None else picture.row(quoted.row)[x]
        at = float(places.max() if pd.isna(at) else at)
        value, text = quoted.value * picture.scale, quoted.text
        # A number that is compared with both families of splits is marked once.
        if (method, at, value) in marked:
            continue
        marked.add((method, at, value))
        if several:
            text += f" ({drawn.name(method)})"
        inside = low <= value <= high
        if not inside:
            text += " ↑" if value > high else " ↓"
        height = min(max(value, low), high)
        # The star is drawn below the curves, so that it hides none of their points.
        look = style.STAR | {"color": drawn.looks[method].colour, "clip_on": inside}
        axes.plot([at], [height], linestyle="", zorder=1.8, **look)
        words: dict[str, Any] = {"fontsize": 8, "color": style.PAPER_COLOUR, "zorder": 5}
        words |= {"textcoords": "offset points", "annotation_clip": False}
        found.append(axes.annotate(text, (at, height), (0, 0), bbox=style.UNDER_TEXT, **words))
    return found


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


def _handles(drawn: _Curves) -> list[Any]:
    """Return the legend's entries: families of splits, the best mean, horizontal lines."""
    picture, neutral = drawn.picture, {"color": style.NEUTRAL, "marker": "o"}
    handles = []
    for family in reversed(picture.families):
        look: dict[str, Any] = dict(neutral, linestyle="-")
        if family == "predefined":
            look["markerfacecolor"] = "white"
            look["linestyle"] = _DASHED if len(picture.families) > 1 else "-"
        words = picture.family_title(family)
        handles.append(style.legend_entry(words[0].lower() + words[1:], **look))
    if not drawn.compact:
        word = f"{picture.word} mean"
        return [*handles, *([style.legend_entry(word, **neutral | _BEST)] if picture.word else [])]
    classifiers = {method[1]: drawn.looks[method] for method in drawn.methods}
    if drawn.by_reducer and len(classifiers) > 1:
        for name, each in classifiers.items():
            handles.append(style.legend_entry(name, color=style.NEUTRAL, marker=each.marker))
    handles += [style.legend_entry(each[0], **_REFERENCE) for each in drawn.references]
    handles += [
        style.legend_entry(picture.name(each), **drawn.level_look(each)) for each in drawn.level
    ]
    return [*handles, style.legend_entry("other methods", color=style.OTHERS, linestyle="-")]


def draw_heat_maps(picture: Picture, x: str, second: str) -> Figure:
    """Draw a heat map per method, over the last family of splits, with the means in the cells.

    The colours span the means that are shown; lighter is better. Means within one Monte-Carlo error
    of the best one are bold.
    """
    family = picture.families[-1]
    rows = picture.of_family(family).dropna(subset=[x, second])
    best = best_index(rows["mean"], picture.metric)
    rows = rows.assign(near=picture.within_error(rows, best))
    methods = picture.by_method(rows)
    lower = lower_is_better(picture.metric)
    low, high = float(rows["mean"].min()), float(rows["mean"].max())
    colours: dict[str, Any] = {"cmap": "Blues" if lower else "Blues_r", "vmin": low, "vmax": high}
    places = [np.sort(rows[name].unique()) for name in (second, x)]
    lines, wide = map(len, places)
    figure = style.new_figure(max(2.2 + 0.56 * wide * len(methods), 6.0), 1.9 + 0.42 * lines)
    grid = figure.subplots(1, len(methods), sharey=True, squeeze=False)[0]
    for axes, (method, own) in zip(grid, methods.items(), strict=True):
        values = np.full((lines, wide), np.nan)
        for _, row in own.iterrows():
            line, column = (
                int(np.searchsorted(each, row[name]))
                for each, name in zip(places, (second, x), strict=True)
            )
            values[line, column] = value = row["mean"]
            dark = (value - low if lower else high - value) > 0.6 * (high - low)
            look = {"ha": "center", "va": "center", "fontsize": 8}
            look["color"] = "white" if dark else style.ON_CELL
            look["weight"] = "bold" if row["near"] else "normal"
            text = f"{value:.1f}" if is_rate(picture.metric) else f"{value:.3g}"
            axes.text(column, line, text + "†" * bool(row["failed"]), **look)
        image = axes.imshow(values, origin="lower", aspect="auto", **colours)
        axes.grid(visible=False)
        words = picture.family_title(family)
        axes.set_title(
            f"{picture.name(method)} · {words}" if len(methods) > 1 else words, loc="left"
        )
        axes.set_xlabel(picture.axis_of(x))
        axes.set_xticks(range(wide), [picture.value_text(x, value) for value in places[1]])
        axes.set_yticks(range(lines), [picture.value_text(second, value) for value in places[0]])
        axes.tick_params(length=0)
    grid[0].set_ylabel(picture.axis_of(second))
    figure.colorbar(image, ax=list(grid)).set_label(picture.axis)
    found = picture.best()
    if (more := int(rows["near"].sum()) - 1) > 0:
        found += f"; bold: the best mean and {more} more within one Monte-Carlo error"
    if rows["failed"].any():
        found += "; †: failed on some splits"
    picture.finish(figure, finding=found)
    return figure
