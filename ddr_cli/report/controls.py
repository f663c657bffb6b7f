"""A run's methods against its controls, for the terminal."""

from __future__ import annotations

import pandas as pd

from ddr_cli.comparison.against_controls import against_controls
from ddr_cli.comparison.names import metric_axis, number
from ddr_cli.comparison.summary import Summary
from ddr_cli.report.table import Table

_MOST_ROWS = 40


def control_table(summary: Summary) -> Table | None:
    """Return a run's methods against its controls, None if it has none."""
    found = against_controls(summary)
    if found is None or not {"scaled", "seen"} & set(found.rows):
        return None
    rows, notes = found.rows, []
    if "scaled" in rows:
        notes.append(
            f"Scaled: 0 is always naming the largest class "
            f"({number(found.low or 0.0, found.metric)}), 1 is {found.strongest} on all features."
        )
    if "seen" in rows:
        notes.append(
            "Shuffled: the share of labels named rightly after fitting to permuted ones, on the "
            "points fitted to and on the others (%)."
        )
    # A sentence in place of a single row would save nothing.
    shown_rows = _MOST_ROWS if len(rows) > _MOST_ROWS + 1 else len(rows)
    if shown_rows < len(rows):
        notes.insert(0, f"{len(rows) - shown_rows} more rows are in summary.csv.")
    records = []
    for row in rows.head(shown_rows).to_dict("records"):
        record = {"method": f"{row['reducer']}, {row['classifier']}"}
        if rows["setting"].astype(bool).any():
            record["at"] = row["setting"]
        record[metric_axis(found.metric)] = number(row["mean"], found.metric, unit=False)
        if "scaled" in rows:
            record["scaled"] = "" if pd.isna(row["scaled"]) else f"{row['scaled']:.2f}"
        for name, head in (("seen", "shuffled: seen"), ("held_out", "held out")):
            if name in rows:
                record[head] = "" if pd.isna(row[name]) else f"{100 * row[name]:.1f}"
        records.append(record)
    return Table(pd.DataFrame(records), "Against the controls", tuple(notes), left=("at",))
