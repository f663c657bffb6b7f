"""Curves of a value over a parameter: a panel for all of them or, if they are many, one each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from matplotlib.ticker import MaxNLocator, NullFormatter, NullLocator

from ddr_cli.charts import style
from ddr_cli.charts.style import Words

DASHED = (0, (4, 2))
REFERENCE: dict[str, Any] = {"color": style.NEUTRAL, "linestyle": DASHED, "linewidth": 1.1}
BEST: dict[str, Any] = {"markersize": 9, "markeredgecolor": "black", "markeredgewidth": 1.3}
FEW = 3
"""The largest number of curves of a panel that are drawn without dashes."""
_DEFAULTS: dict[str, Any] = {
    "panel": "",
    "series": "",
    "low": np.nan,
    "high": np.nan,
    "thin": False,
    "hollow": False,
    "best": False,
    "cross": False,
}
LEVELS: tuple[Any, ...] = ((0, (1, 1.5)), (0, (7, 2)), (0, (5, 1.5, 1, 1.5)), (0, (2, 3)))
_MANY = 24
_LEADER = {"arrowstyle": "-", "lw": 0.6, "color": style.PAPER_COLOUR, "shrinkA": 0, "shrinkB": 5}
# If curves fall steeply and are then mostly flat, the panel ends at this multiple of the lowest
# mean.
_FLAT = 1.4


def curves(
    rows: pd.DataFrame,
    words: Words,
    *,
    log: bool = False,
    ticks: Mapping[float, str] | None = None,
    stars: pd.DataFrame | None = None,
    others: bool = False,
    reference: str = "",
    level: float | None = None,
    cut: bool = False,
) -> Figure:
    """Draw a panel per `panel`, in it a line per `curve` and `series`, with a marker per row.

    The columns are ``curve``, ``x`` (missing for a horizontal line), ``value``, ``colour`` and
    ``marker``, and optionally ``dashes``, ``panel``, ``series``, the band ``low`` to ``high``,
    ``thin`` (the series beside the main one), ``hollow``, ``best`` and ``cross`` (the curve ends
    here). `stars` has printed numbers: ``panel``, ``x``, ``value``, ``text`` and ``colour``. With
    `others`, each panel also has all other curves in grey, and the first of the panel `reference`.
    `level` is a dotted line. With `cut`, the steep part of flat curves is left out.
    """
    rows = style.with_defaults(rows, _DEFAULTS)
    panels = list(rows["panel"].unique())
    n = len(panels)
    columns = (6 if n > _MANY else min(n, 4)) if others else 2 if n == 4 else n
    lines = -(-n // columns)
    with style.house_style():
        figure = style.new_figure(*_size(rows, columns, lines, small=others))
        grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
        shown = {panel: rows[rows["panel"] == panel] for panel in panels}
        if others:
            _draw_behind(list(grid.flat[:n]), rows, reference)
        for axes, (panel, own) in zip(grid.flat, shown.items(), strict=False):
            _draw(axes, own, named=not others)
            title = {"fontsize": 8.5, "pad": 3} if n > _MANY else {}
            axes.set_title(style.in_lines(panel, 2.9), loc="left", **title)
            if level is not None:
                axes.axhline(level, **style.LARGEST)
        style.remove_empty(grid, n)
        if stars is None:
            stars = pd.DataFrame(columns=["panel", "value"])
        note = _value_limits(grid[0, 0], rows, words, stars["value"], cut=cut, few=others)
        _parameter_axis(grid[0, 0], rows["x"].dropna(), log, ticks)
        style.finish(figure, words, [style.legend_entry(note)] if note else [])
        style.name_axes(figure, grid, words)
        if n > _MANY:
            _lay_out_quickly(figure)
        texts, labels = [], []
        for axes, (panel, own) in zip(grid.flat, shown.items(), strict=False):
            texts += _mark_numbers(axes, stars[stars["panel"] == panel])
            labels += [] if others else [_name_ends(axes, own)]
        # The panels get their final size only after the title, the legend and labels are added.
        style.lay_out(figure)
        style.move_off_curves(texts)
        for each in labels:
            style.spread_ends(each)
    return figure


def _size(rows: pd.DataFrame, columns: int, lines: int, *, small: bool) -> tuple[float, float]:
    if small and columns > 4:
        return 0.7 + 1.55 * columns, 1.4 + 1.25 * lines
    if small:
        return 2.9 * columns, 1.4 + 2.0 * lines
    names = rows["curve"].unique()
    width = (6.2 if columns == 1 else 3.4 * columns) + 0.075 * max(map(len, names)) * columns
    return min(width, 13.0), 1.4 + max(3.4, 0.17 * len(names) + 0.8) * lines


def _lay_out_quickly(figure: Figure) -> None:
    """Give all panels one size: Matplotlib's layout of so many takes longer than their drawing."""
    width, height = figure.get_size_inches()
    above = 0.02 * height + 0.3 + 0.18 * len(figure.get_suptitle().split("\n"))
    figure.set_layout_engine(None)
    figure.subplots_adjust(
        0.7 / width, 0.85 / height, 1 - 0.1 / width, 1 - above / height, 0.12, 0.3
    )


def _main(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of curves without those of the thin series."""
    return rows[rows["x"].notna() & ~rows["thin"]]


def _lines(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the name and the rows of each curve."""
    shown = rows[rows["x"].notna()]
    for (name, _), own in shown.groupby(["curve", "series"], sort=False):
        yield str(name), own.sort_values("x")


def _draw_behind(panels: Sequence[Axes], rows: pd.DataFrame, reference: str) -> None:
    """Draw all curves in grey, and the first of the reference, behind those of each panel."""
    main = _main(rows)
    # A single line, with gaps at nan, draws the curves of all panels.
    gap = np.full((1, 2), np.nan)
    lines = (own for _, panel in main.groupby("panel") for _, own in _lines(panel))
    parts = [part for own in lines for part in (own[["x", "value"]].to_numpy(dtype=float), gap)]
    grey = np.concatenate(parts or [gap]).T
    first = [own for _, own in _lines(main[main["panel"] == reference])][:1]
    for axes in panels:
        axes.plot(*grey, color=style.OTHERS, lw=0.7, zorder=1.2)
        for own in first:
            axes.plot(own["x"], own["value"], zorder=1.3, **REFERENCE)


def _draw(axes: Axes, rows: pd.DataFrame, *, named: bool) -> None:
    """Draw the curves of a panel, with their bands and best values, and the horizontal lines."""
    few = rows.loc[rows["x"].notna(), "curve"].nunique() <= FEW
    solid = few or rows["series"].nunique() > 1
    for name, own in _lines(rows):
        first = own.iloc[0]
        hollow = own[own["hollow"]]
        look: dict[str, Any] = {"color": first["colour"], "marker": first["marker"], "label": name}
        look["linestyle"] = "-" if solid else first["dashes"]
        look["markerfacecolor"] = "white" if len(hollow) == len(own) else first["colour"]
        if not named:
            look["markersize"] = 3.4
        if first["thin"]:
            look |= {"linestyle": DASHED, "linewidth": 0.9, "markersize": 3.6}
        axes.plot(own["x"], own["value"], **look)
        if 0 < len(hollow) < len(own):
            rings = look | {"linestyle": "", "markerfacecolor": "white"}
            axes.plot(hollow["x"], hollow["value"], **rings)
        if own["low"].notna().any():
            band = {"color": first["colour"], "alpha": 0.15 if few else 0.08, "lw": 0}
            axes.fill_between(own["x"], own["low"], own["high"], **band)
        for _, best in own[own["best"] & named].iterrows():
            signs = BEST | {"marker": best["marker"], "color": best["colour"], "zorder": 5}
            axes.plot([best["x"]], [best["value"]], linestyle="", **signs)
        for _, end in own[own["cross"]].iterrows():
            cross = {"color": end["colour"], "markersize": 7, "markeredgewidth": 1.8}
            axes.plot([end["x"]], [end["value"]], "x", **cross)
    for row in _levels(rows):
        look = {"color": row["colour"], "linestyle": row["dashes"], "linewidth": 1.2}
        axes.axhline(row["value"], label=row["curve"], **look)


def _levels(rows: pd.DataFrame) -> list[dict[Any, Any]]:
    """Return the rows of horizontal lines; those of one colour have different dashes."""
    level = rows[rows["x"].isna() & ~rows["thin"]]
    alike = level.groupby("colour").cumcount() % len(LEVELS)
    return [
        {**row, "dashes": LEVELS[place]}
        for row, place in zip(level.to_dict("records"), alike, strict=True)
    ]


def _name_ends(axes: Axes, rows: pd.DataFrame) -> list[Annotation]:
    """Label each line at its end, with an arrow if it is outside; the limits must be final."""
    low, high = axes.get_ylim()
    ends = []
    for name, own in _lines(_main(rows)):
        ends.append((float(own["value"].iloc[-1]), name, own["colour"].iloc[0]))
    for row in _levels(rows):
        arrow = " ↑" if row["value"] > high else " ↓" if row["value"] < low else ""
        ends.append((row["value"], row["curve"] + arrow, row["colour"]))
    return style.label_ends(axes, ends)


def _value_limits(
    axes: Axes,
    rows: pd.DataFrame,
    words: Words,
    stars: pd.Series[float],
    *,
    cut: bool,
    few: bool,
) -> str:
    """Scale the axis of values to the curves; return what lies outside it, in words.

    Horizontal lines and printed numbers extend it if they are near the curves.
    """
    curved, level = rows[rows["x"].notna()], rows[rows["x"].isna()]
    shown = pd.concat([curved[name] for name in ("value", "low", "high")]).dropna()
    values = curved["value"].dropna()
    top = _FLAT * float(values.min())
    cut = cut and words.lower and style.is_steep(values) and (values <= top).mean() >= 0.7
    if cut:
        shown, values = shown[shown <= top], values[values <= top]
    style.value_axis(axes, values, "y", words, few=few)
    scale = axes.yaxis.get_transform()
    low, high = scale.transform(np.array([shown.min(), top if cut else shown.max()]))
    span = float(high - low) or abs(float(high)) or 1.0
    with np.errstate(divide="ignore"):
        placed = scale.transform(np.array([*level["value"], *stars], dtype=float))
    near = placed[(placed >= low - span) & (placed <= high + span)]
    low, high = min([low, *near]), max([high, *near])
    pad = 0.04 * (high - low or span)
    axes.set_ylim(*scale.inverted().transform(np.array([low - pad, high + (0 if cut else pad)])))
    edge, most = axes.get_ylim()[1], curved["value"].max()
    if not cut or most <= edge:
        return ""
    unit = " %" if words.rate else ""
    return f"not shown: means above {edge:.4g}{unit} (up to {most:.4g}{unit})"


def _mark_numbers(axes: Axes, stars: pd.DataFrame) -> list[Annotation]:
    """Mark printed numbers, at the panel's edge if they are outside; return their texts.

    The texts must still be moved next to their marks.
    """
    low, high = axes.get_ylim()
    found = []
    for star in stars.to_dict("records"):
        value, text = star["value"], star["text"]
        inside = low <= value <= high
        if not inside:
            text += " ↑" if value > high else " ↓"
        height = min(max(value, low), high)
        # The star is drawn below the curves, so that it hides none of their points.
        look = style.STAR | {"color": star["colour"], "clip_on": inside}
        axes.plot([star["x"]], [height], linestyle="", zorder=1.8, **look)
        words: dict[str, Any] = {"fontsize": 8, "color": style.PAPER_COLOUR, "zorder": 5}
        words |= {"textcoords": "offset points", "annotation_clip": False, "arrowprops": _LEADER}
        place = (star["x"], height)
        found.append(axes.annotate(text, place, (0, 0), bbox=style.UNDER_TEXT, **words))
    return found


def _parameter_axis(
    axes: Axes, values: pd.Series[float], log: bool, ticks: Mapping[float, str] | None
) -> None:
    if log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(style.PLAIN)
        axes.xaxis.set_minor_formatter(NullFormatter())
    if ticks:
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_xticks(list(ticks), list(ticks.values()))
    elif not log and np.allclose(values, np.round(values)):
        axes.xaxis.set_major_locator(MaxNLocator(nbins=12, integer=True))
