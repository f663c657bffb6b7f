"""Our means minus the numbers that a paper's table prints: a panel per column, a line per row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from ddr_cli.charts import style
from ddr_cli.charts.dots import dots
from ddr_cli.charts.style import Words
from ddr_cli.comparison.names import difference_text, is_rate
from ddr_cli.papers.numbers import NumberResult, band_of, reach_of

_MOST_ACROSS = 4
_FEW = 2  # rows of a table
_FAR = 5.0  # largest end of the axis, in multiples of the median difference


def draw_differences(title: str, shown: Sequence[NumberResult]) -> Figure:
    """Draw the difference of our mean from every printed number, over re-splits if there are any.

    If the paper's split gives other numbers, these are drawn, too. A table of one or two rows has
    one panel, with a line per number.
    """
    several = any(
        each.own.row and each.resplits.row and each.own.row.index != each.resplits.row.index
        for each in shown
    )
    rows = pd.DataFrame([row for each in shown for row in _rows_of(each, several=several)])
    rows = rows.join(_looks(rows))
    if rows["line"].nunique() <= _FEW < rows["panel"].nunique():
        rows = rows.assign(line=rows["line"] + ", " + rows["panel"], panel="")
    middle = (rows["value"].abs() + rows["band"]).median()
    limit = float(min(1.1 * (rows["value"].abs() + rows["band"]).max(), _FAR * middle))
    metric = shown[0].entry.metric
    unit = " (percentage points)" if is_rate(metric) else ""
    dot = {"marker": "o", "color": style.NEUTRAL}
    own = style.legend_entry("the paper's split", **dot | {"markerfacecolor": "white"})
    reach = "difference ± twice the Monte-Carlo error and rounding (reproduced if it includes 0)"
    close = "close: within one percentage point or the printed standard deviation"
    words = Words(
        f"{title}: ours minus printed",
        _finding(rows, metric),
        "Our numbers minus the printed numbers, in the order of the paper's table.",
        f"our number minus the printed number{unit}",
        legend=[
            *[own] * several,
            style.legend_entry(reach, linestyle="-", **dot),
            Patch(facecolor=style.BAND, label=close),
        ],
    )
    return dots(rows, words, across=_MOST_ACROSS, limits=(-limit, limit), reference=0.0)


def _rows_of(result: NumberResult, *, several: bool) -> list[dict[str, Any]]:
    """Return the differences of a number, of the paper's split only if it is shown beside."""
    entry = result.entry
    scale = 100.0 if is_rate(entry.metric) else 1.0
    views = [("resplits", result.resplits)]
    if several or result.resplits.row is None:
        views.insert(0, ("own", result.own))
    return [
        {
            "panel": entry.column or "",
            "line": str(entry.row),
            "series": series,
            "method": entry.select.reducer,
            "value": scale * verdict.difference,
            "low": scale * (verdict.difference - reach_of(verdict.error, entry)),
            "high": scale * (verdict.difference + reach_of(verdict.error, entry)),
            "band": scale * band_of(entry),
            "hollow": series == "own",
        }
        for series, verdict in views
        if verdict.row is not None
    ]


def _looks(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the look of each column: of its method, as in every figure, if it is about one."""
    found = {}
    for place, (panel, own) in enumerate(rows.groupby("panel", sort=False)):
        methods = list(own["method"].unique())
        found[panel] = style.looks_of(methods)[0] if len(methods) == 1 else style.look(place)
    looks = [found[panel] for panel in rows["panel"]]
    return pd.DataFrame({"colour": [x.colour for x in looks], "marker": [x.marker for x in looks]})


def _finding(rows: pd.DataFrame, metric: str) -> str:
    """Return the median difference and the range of all, over re-splits if there are any."""
    scale = 100.0 if is_rate(metric) else 1.0
    apart = rows.groupby(["panel", "line"], sort=False)["value"].last() / scale
    middle, low, high = (
        difference_text(float(value), metric, unit=False)
        for value in (np.median(apart), apart.min(), apart.max())
    )
    unit = " percentage points" if is_rate(metric) else ""
    return f"differences of {len(apart)} numbers: median {middle}, from {low} to {high}{unit}"
