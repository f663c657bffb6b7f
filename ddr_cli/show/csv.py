"""A grid as CSV."""

from __future__ import annotations

from csv import QUOTE_ALL
from typing import Any

from ddr_cli.core.spreadsheet import as_cell
from ddr_cli.show.page import Grid

# Ten digits are more than any result needs, and hide the last bits, which depend on the platform.
_FLOAT_FORMAT = "%.10g"


def csv(grid: Grid) -> str:
    """Return the cells as CSV, numbers with ten digits; no text is a spreadsheet formula."""
    texts = grid.frame.select_dtypes(exclude=["number", "bool"]).columns
    frame = grid.frame.assign(**{name: grid.frame[name].map(as_cell) for name in texts})
    frame.columns = frame.columns.map(as_cell)
    how: dict[str, Any] = {"float_format": _FLOAT_FORMAT, "lineterminator": "\n"}
    text: str = frame.to_csv(index=False, **how)
    if "\r" in text:
        # pandas does not quote a carriage return, which would start a new row.
        text = frame.to_csv(index=False, quoting=QUOTE_ALL, **how)
    return text
