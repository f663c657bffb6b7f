"""A run as one table for the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from rich.table import Table

from ddr_cli.report.names import (
    family_name,
    lower_is_better,
    metric_axis,
    number,
    parameter_name,
    plain,
)
from ddr_cli.report.runs import load_run
from ddr_cli.report.summary import Summary, summarize, swept_columns

MOST_ROWS = 40


def overview(folder: Path) -> Table:
    """Return a run as a table: settings down, classifiers and families of splits across.

    Beyond 40 settings only those stay that are the best of a reducer in some column.

    Parameters
    ----------
    folder : Path
        A result folder, of a complete or a partial run.

    Returns
    -------
    rich.table.Table
        Of the spec's first metric.

    Raises
    ------
    InputError
        If the folder holds no run or its files are damaged.
    """
    return _as_table(summarize(load_run(folder)))


def _as_table(summary: Summary) -> Table:
    run = summary.run
    metric = run.spec.metrics[0]
    swept = swept_columns(run)
    down = ["reducer_label", *[name for name in swept if name.startswith("reducer.")]]
    across = ["classifier_label", *[name for name in swept if name.startswith("classifier.")]]
    rows = summary.rows[summary.rows["metric"] == metric]
    cells = rows.assign(
        _down=_joined(rows, down),
        _across=_joined(rows, [*across, "split"]),
        _text=[_cell(mean, sd, metric) for mean, sd in zip(rows["mean"], rows["sd"], strict=True)],
    )
    wide = cells.pivot_table(
        index="_down", columns="_across", values="_text", aggfunc="first", sort=False
    )
    if len(wide) > MOST_ROWS:
        wide = wide.loc[_best(cells, metric)]

    partial = "" if run.is_complete else f", {len(run.ok)} of {run.planned} trials"
    table = Table(title=f"{run.spec.title or run.name}: {metric_axis(metric)}{partial}")
    for name in down:
        table.add_column("reducer" if name == "reducer_label" else parameter_name(name, short=True))
    for column in wide.columns:
        names = [plain(value) for value in column[:-1]]
        n = int(cells.loc[cells["_across"] == column, "n"].max())
        table.add_column("\n".join([" ".join(names), family_name(column[-1], n)]), justify="right")
    for setting, texts in zip(wide.index, wide.to_numpy(), strict=True):
        shown = ["" if pd.isna(value) else plain(value) for value in setting]
        table.add_row(*shown, *["" if pd.isna(text) else text for text in texts])
    return table


def _joined(rows: pd.DataFrame, columns: list[str]) -> pd.Series[Any]:
    return pd.Series(list(rows[columns].itertuples(index=False, name=None)), index=rows.index)


def _cell(mean: float, sd: float, metric: str) -> str:
    spread = "" if pd.isna(sd) else f" ± {number(sd, metric, unit=False)}"
    return number(mean, metric, unit=False) + spread


def _best(cells: pd.DataFrame, metric: str) -> list[object]:
    """Return the settings that are a reducer's best in some column, in their order."""
    grouped = cells.groupby(["reducer_label", "_across"], sort=False)["mean"]
    best = grouped.idxmin() if lower_is_better(metric) else grouped.idxmax()
    kept = set(cells.loc[best, "_down"])
    return [setting for setting in dict.fromkeys(cells["_down"]) if setting in kept]
