"""A run as one table for the terminal."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
from rich.table import Table

from ddr_cli.report.names import (
    family_name,
    lower_is_better,
    metric_axis,
    number,
    parameter_name,
    plain,
    setting_text,
)
from ddr_cli.report.runs import load_run
from ddr_cli.report.summary import summarize, swept_columns

MOST_ROWS = 40
MOST_COLUMNS = 4


def overview(folder: Path) -> Table:
    """Return a run as a table: settings down, families of splits across.

    Classifiers are across too if that makes four columns at the most. Of more than 40 settings only
    the best of each reducer and classifier is shown.

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
    summary = summarize(load_run(folder))
    run = summary.run
    metric = run.spec.metrics[0]
    swept = swept_columns(run)
    cells = summary.rows[summary.rows["metric"] == metric]
    partial = "" if run.is_complete else f", {len(run.ok)} of {run.planned} trials"
    table = Table(title=f"{run.spec.title or run.name}: {metric_axis(metric)}{partial}")
    down = ["reducer_label", *(name for name in swept if name.startswith("reducer."))]
    across = ["classifier_label", *(name for name in swept if name.startswith("classifier."))]
    if len(set(_tuples(cells, down))) > MOST_ROWS:
        _fill_with_best(table, cells, metric, swept)
    elif len(set(_tuples(cells, [*across, "split"]))) > MOST_COLUMNS:
        _fill_with_all(table, cells, metric, [*down, *across], ["split"])
    else:
        _fill_with_all(table, cells, metric, down, [*across, "split"])
    return table


def _fill_with_all(
    table: Table, cells: pd.DataFrame, metric: str, down: list[str], across: list[str]
) -> None:
    settings, columns = _tuples(cells, down), _tuples(cells, across)
    texts = {
        (setting, column): _cell(mean, sd, metric)
        for setting, column, mean, sd in zip(
            settings, columns, cells["mean"], cells["sd"], strict=True
        )
    }
    splits: dict[tuple[object, ...], int] = {}
    for column, n in zip(columns, cells["n"], strict=True):
        splits[column] = max(int(n), splits.get(column, 0))
    for name in down:
        table.add_column(_head(name))
    for (*method, family), n in splits.items():
        names = " ".join(plain(value) for value in method if value is not None)
        table.add_column(f"{names}\n{family_name(str(family), n)}".lstrip(), justify="right")
    for setting in dict.fromkeys(settings):
        shown = ["" if value is None else plain(value) for value in setting]
        table.add_row(*shown, *(texts.get((setting, column), "") for column in splits))


def _fill_with_best(table: Table, cells: pd.DataFrame, metric: str, swept: list[str]) -> None:
    grouped = cells.groupby(["reducer_label", "classifier_label", "split"], sort=False)["mean"]
    best = cells.loc[grouped.idxmin() if lower_is_better(metric) else grouped.idxmax()]
    for name in ("reducer", "classifier", "split"):
        table.add_column(name)
    table.add_column("best", justify="right")
    table.add_column("at")
    for row, values in zip(best.to_dict("records"), _tuples(best, swept), strict=True):
        at = {name: value for name, value in zip(swept, values, strict=True) if value is not None}
        table.add_row(
            row["reducer_label"],
            row["classifier_label"],
            family_name(row["split"], row["n"]),
            _cell(row["mean"], row["sd"], metric),
            setting_text(at),
        )


def _tuples(rows: pd.DataFrame, columns: list[str]) -> list[tuple[object, ...]]:
    """Return rows as tuples with None where a piece has no such parameter."""
    return [
        tuple(None if pd.isna(value) else value for value in row)
        for row in rows[columns].itertuples(index=False, name=None)
    ]


def _head(column: str) -> str:
    piece, label, _ = column.partition("_label")
    return piece if label else parameter_name(column, short=True)


def _cell(mean: float, sd: float, metric: str) -> str:
    spread = "" if pd.isna(sd) else f" ± {number(sd, metric, unit=False)}"
    return number(mean, metric, unit=False) + spread
