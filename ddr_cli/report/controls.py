"""A run's methods against its controls, for the terminal."""

from __future__ import annotations

import pandas as pd
from rich.table import Table

from ddr_cli.comparison.controls import against_controls
from ddr_cli.comparison.names import metric_axis, number
from ddr_cli.comparison.summary import Summary

_MOST_ROWS = 40


def control_table(summary: Summary) -> Table | None:
    """Return a run's methods against its controls, None if it has none."""
    found = against_controls(summary)
    if found is None or not {"scaled", "seen"} & set(found.rows):
        return None
    rows, notes = found.rows, []
    table = Table(title="Against the controls", title_justify="left")
    table.add_column("method")
    shown = rows["setting"].astype(bool).any()
    if shown:
        table.add_column("at")
    table.add_column(metric_axis(found.metric), justify="right")
    if "scaled" in rows:
        table.add_column("scaled", justify="right")
        notes.append(
            f"Scaled: 0 is always naming the largest class "
            f"({number(found.low or 0.0, found.metric)}), 1 is {found.strongest} on all features."
        )
    if "seen" in rows:
        table.add_column("shuffled: seen", justify="right")
        table.add_column("held out", justify="right")
        notes.append(
            "Shuffled: the share of labels named rightly after fitting to permuted ones, on the "
            "points fitted to and on the others (%)."
        )
    # A sentence in place of a single row would save nothing.
    shown_rows = _MOST_ROWS if len(rows) > _MOST_ROWS + 1 else len(rows)
    if shown_rows < len(rows):
        notes.insert(0, f"{len(rows) - shown_rows} more rows are in summary.csv.")
    for row in rows.head(shown_rows).to_dict("records"):
        cells = [f"{row['reducer']}, {row['classifier']}", *([row["setting"]] if shown else [])]
        cells.append(number(row["mean"], found.metric, unit=False))
        if "scaled" in rows:
            cells.append("" if pd.isna(row["scaled"]) else f"{row['scaled']:.2f}")
        shares = [row[name] for name in ("seen", "held_out") if name in rows]
        cells += ["" if pd.isna(share) else f"{100 * share:.1f}" for share in shares]
        table.add_row(*cells)
    table.caption, table.caption_justify = "\n".join(notes), "left"
    return table
