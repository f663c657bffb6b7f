"""A run's methods against its controls, for the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.table import Table

from ddr_cli.comparison.controls import against_controls
from ddr_cli.comparison.names import metric_axis, number
from ddr_cli.comparison.runs import load_run
from ddr_cli.comparison.summary import summarize

_MOST_ROWS = 40


def control_table(folder: Path) -> Table | None:
    """Return a run's methods against its controls, None if it has none."""
    summary = summarize(load_run(folder))
    found = against_controls(summary)
    if found is None or not {"scaled", "seen"} & set(found.rows):
        return None
    rows, notes = found.rows, []
    table = Table(title="Against the controls", title_justify="left")
    table.add_column("reducer")
    table.add_column("classifier")
    shown = rows["setting"].astype(bool).any()
    if shown:
        table.add_column("at")
    table.add_column(metric_axis(found.metric), justify="right")
    if "scaled" in rows:
        table.add_column("scaled", justify="right")
        notes.append(
            f"Scaled: 0 is always naming the largest class "
            f"({number(found.low or 0.0, found.metric)}), 1 is {found.strongest} on all features "
            f"({number(found.high or 0.0, found.metric)})."
        )
    if "seen" in rows:
        table.add_column("shuffled: seen", justify="right")
        table.add_column("held out", justify="right")
        notes.append(
            "Shuffled: the share of labels named rightly after fitting to permuted ones, on the "
            "points fitted to and on the others (%)."
        )
    if len(rows) > _MOST_ROWS:
        notes.insert(0, f"{len(rows) - _MOST_ROWS} more rows are in summary.csv.")
    for row in rows.head(_MOST_ROWS).to_dict("records"):
        cells = [row["reducer"], row["classifier"], *([row["setting"]] if shown else [])]
        cells.append(number(row["mean"], found.metric, unit=False))
        cells += [f"{row['scaled']:.2f}"] if "scaled" in rows else []
        for name in ("seen", "held_out") if "seen" in rows else ():
            cells.append("" if pd.isna(row[name]) else f"{100 * row[name]:.1f}")
        table.add_row(*cells)
    table.caption, table.caption_justify = "\n".join(notes), "left"
    return table
