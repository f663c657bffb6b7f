"""The matrix of all pairs of methods: their differences, and the wins on data sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from ddr_cli.charts.matrix import matrix
from ddr_cli.charts.style import Words
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


def draw_pairs(found: Comparison) -> Figure:
    """Draw the difference of every two methods of a track; at least one pair must share data."""
    pairs = found.pairs
    if pairs.empty:
        raise InputError(
            "The pairwise matrix needs two methods in the same track; add a method or a run."
        )
    across = pairs["datasets"].max() > 1
    sign = -1 if lower_is_better(found.metric) else 1
    tracks = [track for track in TRACKS if (pairs["track"] == track).any()]
    cells = []
    for track in tracks:
        own = pairs[pairs["track"] == track]
        panel = f"{track} methods" if len(tracks) > 1 or track == "transductive" else ""
        names = list(dict.fromkeys([*own["first"], *own["second"]]))
        shown: dict[tuple[str, str], dict[str, Any]] = {}
        for _, pair in own.iterrows():
            for side, key in ((1, ("first", "second")), (-1, ("second", "first"))):
                value = side * sign * pair["median_difference"]
                text = _cell(pair, found.metric, side, across)
                shown[pair[key[0]], pair[key[1]]] = {"value": value, "text": text}
        nothing = {"value": np.nan, "text": ""}
        cells += [
            {"panel": panel, "row": row, "column": column, **shown.get((row, column), nothing)}
            for row in names
            for column in names
        ]
    limit = max(float(pairs["median_difference"].abs().quantile(0.9)), found.equivalence) or 1.0
    words = Words(f"{metric_axis(found.metric)}: row minus column", _finding(found, across))
    size = (0.72 if across else 1.08), 0.46
    return matrix(pd.DataFrame(cells), words, cell=size, limit=limit, stacked=True)


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


def _finding(found: Comparison, across: bool) -> str:
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
