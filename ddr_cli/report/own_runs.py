"""A run that belongs to no paper, in words: comparisons of its methods, and its failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from ddr_cli.comparison.compare import Comparison, compare
from ddr_cli.comparison.names import family_name, metric_name, number
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import Row, Summary, best_over_resplits
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import class_name
from ddr_cli.report.comparison_tables import comparison_tables
from ddr_cli.report.run_tables import control_table, run_table
from ddr_cli.report.table import Table
from ddr_cli.rows.log import OK

_MOST_REASONS = 20


@dataclass(frozen=True)
class OwnRun:
    """A run's summary; tables of its paired differences and of its failures by reason; notes."""

    summary: Summary
    tables: tuple[Table, ...]
    notes: tuple[str, ...] = ()


def own_run(summary: Summary) -> OwnRun:
    """Return the notes on a run, next to its table and figure."""
    failures = _failures(summary.run)
    found: Comparison | InputError | None = None
    # If no track has two methods, `compare` needs a reference method, so the first one is tried.
    for against in (None, *summary.methods["reducer_label"].head(1)):
        try:
            found = compare([summary], against=against)
            break
        except InputError as error:
            found = found or error
    if not isinstance(found, Comparison):
        return OwnRun(summary, failures, (f"The methods could not be compared. {found}",))
    if found.differences.empty:
        return OwnRun(summary, failures)
    return OwnRun(summary, (*comparison_tables(found), *failures), found.notes)


def _failures(run: Run) -> tuple[Table, ...]:
    """Return a table of the reasons of failed trials, most frequent first, if there are any."""
    bad = run.trials[run.trials["status"] != OK]
    if bad.empty:
        return ()
    method = bad["reducer"].map(class_name) + ", " + bad["classifier"].map(class_name)
    reason = bad["status"] + ": " + bad["reason"]
    counts = Counter(zip(method, reason, strict=True))
    records = [
        {"method": of, "trials": str(count), "reason": why}
        for (of, why), count in counts.most_common(_MOST_REASONS)
    ]
    below = [f"'ddr status {run.folder} --reasons' shows the lines of code that failed."]
    if len(counts) > _MOST_REASONS:
        below.insert(
            0,
            f"{len(counts) - _MOST_REASONS} more reasons are in the column 'reason' of trials.csv.",
        )
    title = f"{run.name}: failures"
    return (Table(pd.DataFrame(records), title, tuple(below), left=("reason",)),)


def own_run_tables(own: OwnRun) -> Iterable[Table]:
    """Yield a run's table, its methods compared with controls and each other, and failures."""
    yield run_table(own.summary)
    if (controls := control_table(own.summary)) is not None:
        yield controls
    yield from own.tables


def totals_table(summaries: Sequence[Summary]) -> Table:
    """Return a row per run: its progress, its best setting, and the number of settings."""
    return Table(
        pd.DataFrame([_totals(each) for each in summaries]), "Other runs", left=("best setting",)
    )


def _totals(summary: Summary) -> dict[str, str]:
    run, metric = summary.run, summary.run.spec.metrics[0]
    cells = summary.methods[summary.methods["metric"] == metric]
    record = {
        "run": run.name,
        "trials": f"{len(run.ok)} of {run.planned}",
        "failed": str(run.failed or ""),
    }
    if (found := best_over_resplits(cells, metric)) is None:
        return record | dict.fromkeys(("best setting", "settings", "mean", "splits"), "")
    row, compared = Row(summary, found[0]), found[1]
    mean = f"{metric_name(metric)} {number(row['mean'], metric)}"
    over = family_name(row.family, int(row["n"]))
    return record | {
        "best setting": row.title,
        "settings": str(compared),
        "mean": mean,
        "splits": over,
    }
