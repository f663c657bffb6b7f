"""Our means minus the numbers that a paper's table prints: a panel per column, a line per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ddr_cli.comparison.names import difference_text, is_rate
from ddr_cli.figures import style
from ddr_cli.papers.numbers import NumberResult, band_of, reach_of

_MOST_ACROSS = 4
_SHIFT = 0.16
_FAR = 5.0  # largest end of the axis, in multiples of the median difference


def draw_differences(title: str, shown: Sequence[NumberResult]) -> Figure:
    """Draw the difference of our mean from every printed number."""
    rows = list(dict.fromkeys(str(each.entry.row) for each in shown))
    columns = list(dict.fromkeys(each.entry.column or "" for each in shown))
    across = min(len(columns), _MOST_ACROSS)
    down = -(-len(columns) // across)
    # Both views are drawn if they use different splits.
    several = any(
        each.own.row and each.resplits.row and each.own.row.index != each.resplits.row.index
        for each in shown
    )
    with style.house_style():
        figure = style.new_figure(2.0 + 2.2 * across, 1.6 + down * (0.5 + 0.3 * len(rows)))
        grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
        limit = _limit(shown)
        for place, column in enumerate(columns):
            axes = grid.flat[place]
            own = [each for each in shown if (each.entry.column or "") == column]
            # A column about one method has this method's colour and marker, as in every figure.
            reducers = {each.entry.select.reducer for each in own}
            look = style.looks_of([*reducers])[0] if len(reducers) == 1 else style.look(place)
            _draw_column(axes, own, rows, look, limit, _SHIFT if several else 0.0)
            axes.set_title(column, loc="left")
        for axes in list(grid.flat)[len(columns) :]:
            axes.remove()
        style.name_lines(grid[0, 0], rows)
        for axes in grid[-1]:
            unit = " (percentage points)" if is_rate(shown[0].entry.metric) else ""
            axes.set_xlabel(f"our number minus the printed number{unit}")
        style.set_title(figure, f"{title}: ours minus printed", _finding(shown), _words(shown))
        style.legend_below(figure, _handles(several=several))
    return figure


def _scale(result: NumberResult) -> float:
    return 100.0 if is_rate(result.entry.metric) else 1.0


def _limit(results: Sequence[NumberResult]) -> float:
    """Return the end of the axis, such that a few large differences do not compress the others."""
    apart = [
        _scale(each) * (abs(verdict.difference) + band_of(each.entry))
        for each in results
        for verdict in (each.own, each.resplits)
        if verdict.row is not None
    ]
    return float(min(1.1 * max(apart), _FAR * np.median(apart)))


def _draw_column(
    axes: Axes,
    results: Sequence[NumberResult],
    rows: Sequence[str],
    look: style.Look,
    limit: float,
    shift: float,
) -> None:
    """Draw the bands and differences of a column; `shift` separates the two views."""
    for each in results:
        place = rows.index(str(each.entry.row))
        band = _scale(each) * band_of(each.entry)
        axes.barh(place, 2 * band, left=-band, height=0.7, color=style.OTHERS, alpha=0.7)
        own = each.own if shift or each.resplits.row is None else None
        for verdict, at, face in (
            (own, place - shift, "white"),
            (each.resplits, place + shift, look.colour),
        ):
            if verdict is None or verdict.row is None:
                continue
            mean = _scale(each) * verdict.difference
            if abs(mean) > limit:
                edge, side = (limit, "right") if mean > 0 else (-limit, "left")
                text = f"{mean:+.1f} →" if mean > 0 else f"← {mean:+.1f}"
                axes.text(edge, at, text, ha=side, va="center", fontsize=8, color=look.colour)
                continue
            reach = _scale(each) * reach_of(verdict.error, each.entry)
            axes.plot([mean - reach, mean + reach], [at] * 2, color=look.colour, linewidth=1.6)
            axes.plot([mean], [at], marker=look.marker, color=look.colour, markerfacecolor=face)
    axes.axvline(0.0, color=style.NEUTRAL, linewidth=0.9)
    axes.set_xlim(-limit, limit)
    axes.grid(visible=False, axis="y")


def _finding(results: Sequence[NumberResult]) -> str:
    """Return the median difference and the range of all, over re-splits if there are any."""
    verdicts = [each.resplits if each.resplits.row else each.own for each in results]
    apart = [verdict.difference for verdict in verdicts]
    middle, low, high = (
        difference_text(value, results[0].entry.metric, unit=False)
        for value in (float(np.median(apart)), min(apart), max(apart))
    )
    unit = " percentage points" if is_rate(results[0].entry.metric) else ""
    return f"differences of {len(apart)} numbers: median {middle}, from {low} to {high}{unit}"


def _words(results: Sequence[NumberResult]) -> str:
    parts = []
    for each in results:
        verdict = each.own if each.own.row else each.resplits
        apart = difference_text(verdict.difference, each.entry.metric)
        parts.append(f"{each.entry.row}, {each.entry.column}: {apart}")
    return f"Our numbers minus the printed numbers. {'; '.join(parts)}."


def _handles(*, several: bool) -> list[object]:
    dot = {"marker": "o", "color": style.NEUTRAL}
    own = style.legend_entry("the paper's split", **dot | {"markerfacecolor": "white"})
    text = "difference ± twice the Monte-Carlo error and rounding (reproduced if it includes 0)"
    mean = style.legend_entry(text, linestyle="-", **dot)
    band = "close: within one percentage point or the printed standard deviation"
    return [*[own] * several, mean, Patch(facecolor=style.OTHERS, alpha=0.7, label=band)]
