"""A run in a terminal and on the page of a report: its figure, tables, comparisons and failures."""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.comparison.compare import Comparison, compare
from ddr_cli.comparison.names import family_name, metric_name, number
from ddr_cli.comparison.runs import Run
from ddr_cli.comparison.summary import Row, Summary, best_over_resplits
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import class_name
from ddr_cli.core.registry import spec_word
from ddr_cli.report.chart import Chart as Drawing
from ddr_cli.report.chart import on_dark
from ddr_cli.report.comparison_tables import comparison_tables
from ddr_cli.report.page import drawing
from ddr_cli.report.run_embeddings import DrawnEmbedding, drawn_embeddings
from ddr_cli.report.run_tables import FAILED_MARK, control_table, run_table
from ddr_cli.rows.log import OK
from ddr_cli.show.page import Block, Chart, Grid, Section, Text

_MOST_REASONS = 20
_GROUPS = 256
_LEVELS = 4095
"""The largest value of the twelve bits of a coordinate, which are finer than a screen's pixels."""


def run_blocks(summary: Summary) -> list[Block]:
    """Return a run for a terminal: its table, and its methods compared with controls and others."""
    controls = control_table(summary)
    return [run_table(summary), *([controls] if controls else []), *comparisons(summary)]


def run_section(summary: Summary, drawings: Mapping[str, Drawing]) -> Section:
    """Return a run for the page: its figure, its comparisons and all its rows."""
    run = summary.run
    blocks: list[Block] = []
    if run.spec.description:
        blocks.append(Text(run.spec.description))
    if not run.is_complete or run.failed:
        blocks.append(Text(f"{run.progress}.", "state"))
    blocks += [chart_of(summary, drawings[run.name]), *comparisons(summary)]
    rows = [_all_rows(summary)]
    blocks.append(Section(f"All {len(summary.rows)} rows", rows, folded=True))
    return Section(run.title, blocks, f"run-{run.name}")


def chart_of(summary: Summary, figure: Drawing, caption: Sequence[Block] = ()) -> Chart:
    """Return a run's figure, with how to make it and what it cost below the caption."""
    run = summary.run
    facts = [f"`ddr run {spec_word(run.name)}`", run.progress]
    if seconds := sum(session.cpu_seconds for session in run.manifest.sessions):
        facts.append(f"{seconds / 60:.1f} minutes of CPU")
    if (data := run.manifest.data) is not None:
        # The first digits are enough to distinguish two versions of the data.
        facts.append(f"{data.name} {data.fingerprint[:19]}")
    below = [*caption, Text(" · ".join(facts))]
    return Chart(figure.title or run.title, drawing(figure, run.title), below, page_points(summary))


def comparisons(summary: Summary) -> Iterator[Block]:
    """Yield the paired differences of a run's methods with notes on them, and its failures."""
    failures = _failures(summary.run)
    found: Comparison | InputError | None = None
    # If no track has two methods, `compare` needs a reference method, so the first one is tried.
    for against in (None, *summary.methods["reducer_label"].head(1)):
        try:
            found = compare([summary], against=against)
            break
        except InputError as error:
            found = found or error
    notes: Sequence[str] = ()
    if not isinstance(found, Comparison):
        notes = (f"The methods could not be compared. {found}",)
    elif not found.differences.empty:
        yield from comparison_tables(found)
        notes = found.notes
    yield from failures
    yield from (Text(each, "legend") for each in notes)


def _all_rows(summary: Summary) -> Grid:
    """Return a row per method, setting, family of splits and metric."""
    heads = ("reducer", "classifier", "setting", "splits", "metric", "n", "mean", "sd", "interval")
    records = []
    for row in map(summary.row, summary.rows.index):
        metric, n, failed = row["metric"], row["n"], row.failed
        splits = f"{n} of {row['planned']}" if n < row["planned"] else f"{n}"
        splits += f", failed on {failed}" if failed else ""
        mean = number(row["mean"], metric) + FAILED_MARK * bool(failed)
        ends = f"{number(row['low'], metric, unit=False)} to {number(row['high'], metric)}"
        texts = [row["reducer_label"], row["classifier_label"], row.settings, row.family]
        texts += [metric_name(metric), splits, "failed" if failed and failed == n else mean]
        records.append([*texts, number(row["sd"], metric), ends if n > 1 else ""])
    mark = f"{FAILED_MARK} A failed split gets the score of the majority-class baseline."
    notes = (mark,) if summary.run.failed else ()
    return Grid(pd.DataFrame(records, columns=heads), notes=notes, left=heads[:5])


def _failures(run: Run) -> tuple[Grid, ...]:
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
    return (Grid(pd.DataFrame(records), title, tuple(below), left=("reason",)),)


def totals_table(summaries: Sequence[Summary]) -> Grid:
    """Return a row per run: its progress, its best setting, and the number of settings."""
    return Grid(
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


# -- the samples of embeddings, for linked scatter plots ------------------------------------------


def page_points(summary: Summary) -> list[dict[str, Any]]:
    """Return groups of planes that show the same samples, for the page's script.

    In a group, ``groups`` has the names of classes or sub-classes with their colours, ``y`` a
    sample's index among them, and ``test`` whether it is a test sample; ``at`` of a plane packs two
    coordinates into three bytes. Embeddings with another number of dimensions are left out.
    """
    shared: dict[tuple[Any, ...], list[DrawnEmbedding]] = {}
    for each in drawn_embeddings(summary):
        if each.dimension == 2:
            shared.setdefault((each.kept.split_hash, each.kept.y), []).append(each)
    few = (planes for planes in shared.values() if planes[0].samples["code"].max() < _GROUPS)
    return [_group(planes) for planes in few]


def _group(planes: Sequence[DrawnEmbedding]) -> dict[str, Any]:
    samples = planes[0].samples
    groups = samples.sort_values("code").drop_duplicates("code")
    codes = samples["code"].rank(method="dense").astype(int) - 1
    return {
        "groups": [
            [group, colour, on_dark(colour)]
            for group, colour in zip(groups["group"], groups["colour"], strict=True)
        ],
        "y": _packed(codes.to_numpy()),
        "test": _packed(samples["test"].to_numpy()),
        "planes": [[each.title, ", ".join(each.scores), _coordinates(each)] for each in planes],
    }


def _coordinates(embedding: DrawnEmbedding) -> str:
    points = embedding.coordinates
    low, high = points.min(axis=0), points.max(axis=0)
    scaled = (points - low) / np.where(high > low, high - low, 1.0)
    x, y = np.round(scaled * _LEVELS).astype(np.int64).T
    return _packed(np.column_stack([x >> 4, (x & 15) << 4 | y >> 8, y & 255]))


def _packed(values: NDArray[Any]) -> str:
    return b64encode(values.astype(np.uint8).tobytes()).decode()
