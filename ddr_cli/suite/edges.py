"""How often tuning selects the edge of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.numerics.kernels import scale_factor
from ddr_cli.suite.names import INDUCTIVE
from ddr_cli.suite.remaining import SuitePart


def edges(parts: Sequence[SuitePart]) -> pd.DataFrame:
    """Return how often tuning selects the lowest and the highest value of each ordered grid.

    A row per method and parameter: the number of tuned `rows`, of `values` in the largest grid, and
    the fractions `lowest` and `highest`. A grid is ordered if its values are numbers, or multiples
    of a kernel's scale. A grid of fewer than three values is left out.
    """
    counts = []
    for part in parts:
        if part.track != INDUCTIVE or not part.status:
            continue
        trials = part.trials
        cells = [part.plan.trials[trial] for trial in trials.index]
        labels = np.array([cell.reducer.label for cell in cells])
        tuned = np.array([cell.tuning is not None and not cell.role for cell in cells])
        for item in part.spec.reducers:
            for name, grid in item.grids.items():
                # Of one column: whole rows are costly to take.
                own = trials.loc[tuned & (labels == item.label), f"reducer.{name}"]
                sizes = [_size(value) for value in grid]
                if len(own) and len(grid) > 2 and not np.isnan(sizes).any():
                    chosen = [_size(value) for value in own.dropna()]
                    ends = [np.isclose(chosen, end(sizes)).sum() for end in (min, max)]
                    counts.append((item.label, name, len(chosen), len(grid), *ends))
    columns = ["method", "parameter", "rows", "values", "lowest", "highest"]
    by = pd.DataFrame(counts, columns=columns).groupby(["method", "parameter"], sort=False)
    table = by.agg(
        rows=("rows", "sum"),
        values=("values", "max"),
        lowest=("lowest", "sum"),
        highest=("highest", "sum"),
    )
    table[["lowest", "highest"]] = table[["lowest", "highest"]].div(table["rows"], axis=0)
    return table.reset_index()


def _size(value: Any) -> float:
    """Return a number, or the factor of a multiple of a kernel's scale; else nan."""
    try:
        return scale_factor(str(value))
    except ValueError:
        return float("nan")
