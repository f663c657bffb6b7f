"""Tables of what the papers print: as data (CSV), for a reader, in the paper's rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ddr_cli.comparison.names import number
from ddr_cli.papers.assess import ArtefactResult
from ddr_cli.papers.cells import (
    SIGNS,
    described,
    difference_reason,
    notes_of,
    ours_text,
    printed_text,
    ratio_text,
    shown_views,
    time_text,
    verdict_text,
)
from ddr_cli.papers.marks import MEDIAN_NAMES, MarkResult
from ddr_cli.papers.numbers import NumberResult, TimeRatio, time_ratios
from ddr_cli.papers.rows import VIEWS, View
from ddr_cli.papers.schema import Artefact, Kept

# -- a row per printed number or mark --------------------------------------------------------------


def number_data(results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the printed numbers of an artefact beside ours, in full precision."""
    records = []
    times = time_ratios(results)
    for result in results:
        entry = result.entry
        record: dict[str, Any] = {
            "id": entry.id,
            "row": entry.row,
            "column": entry.column,
            "where": entry.where,
            "reading": entry.reading,
            "same_as": entry.same_as,
            "metric": entry.metric,
            "printed": entry.value.value if entry.value else None,
            "printed_sd": entry.sd.value if entry.sd else None,
        }
        for view in VIEWS:
            verdict = result.through(view)
            row = verdict.row
            record |= {
                f"{view}_{name}": None if row is None else row[name]
                for name in ("split", "n", "mean", "sd", "mean_low", "mean_high")
            }
            record |= {
                f"{view}_setting": verdict.setting,
                f"{view}_verdict": verdict.verdict,
                f"{view}_counted": entry.is_counted(view),
                f"{view}_note": verdict.note or verdict.reason,
            }
        record["reason"] = difference_reason(result)
        if times:
            time = times.get(entry.id)
            record |= {
                "fit_seconds_than": time.other if time else None,
                "printed_fit_seconds_ratio": time.printed if time else None,
                "fit_seconds_ratio": time.ours if time else None,
            }
        records.append(record)
    return pd.DataFrame(records)


def number_table(artefact: Artefact, results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the same for a reader: printed, ours with its spread and n, verdict."""
    records = []
    views = shown_views(results)
    times = time_ratios(results)
    for result in results:
        record = {"": described(artefact, result), "printed": printed_text(result)}
        for view, heading in views:
            verdict = result.through(view)
            record[f"ours, {heading}"] = ours_text(verdict, result.entry.metric)
            record[f"verdict, {heading}"] = verdict_text(result, view)
        record["in words"] = "; ".join(notes_of(result, views))
        record["reason"] = difference_reason(result)
        if times:
            time = times.get(result.entry.id)
            record["training time, printed"] = time_text(time, "printed")
            record["training time, ours"] = time_text(time, "ours")
        records.append(record)
    return pd.DataFrame(records)


def mark_data(results: Sequence[MarkResult]) -> pd.DataFrame:
    """Return marks beside ours, with the medians in full precision."""
    records = []
    for result in results:
        entry = result.entry
        record: dict[str, Any] = {
            "row": entry.row,
            "column": entry.column,
            "reading": entry.reading,
            "printed": entry.printed,
        }
        for view in VIEWS:
            verdict = result.through(view)
            record |= {f"{view}_mark": verdict.kept, f"{view}_n": verdict.n or None}
            record |= {f"{view}_{name}": value for name, value in (verdict.medians or {}).items()}
            record |= {
                f"{view}_verdict": verdict.verdict,
                f"{view}_counted": entry.is_counted(view),
                f"{view}_note": verdict.reason,
            }
        record["reason"] = difference_reason(result)
        records.append(record)
    return pd.DataFrame(records)


# -- the paper's own form -------------------------------------------------------------------------

_Cell = tuple[str, str | None]
"""A text, and the verdict that belongs to it."""


@dataclass(frozen=True)
class MatrixRow:
    """One row of the paper's table as several named lines (such as "printed") of cells."""

    name: str
    lines: tuple[tuple[str, tuple[_Cell, ...]], ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Matrix:
    """A table in the paper's form."""

    columns: tuple[str, ...]
    rows: tuple[MatrixRow, ...]

    def frame(self) -> pd.DataFrame:
        """Return the same as a table of texts, verdicts on lines of their own."""
        return pd.DataFrame(
            [[name, *line] for row in self.rows for name, *line in _text_lines(row)],
            columns=["", " ", *self.columns],
        )


def _text_lines(row: MatrixRow) -> Iterator[list[str]]:
    name = row.name
    for line, cells in row.lines:
        yield [name, line, *(text for text, _ in cells)]
        name = ""
        if any(verdict for _, verdict in cells):
            yield ["", "verdict", *(verdict or "" for _, verdict in cells)]
    for remark in row.remarks:
        yield ["", "in words", remark, *[""] * (len(row.lines[0][1]) - 1)]


def matrix_of(result: ArtefactResult) -> Matrix | None:
    """Return an artefact's table in the paper's form, None if it has none."""
    if not result.marks and not result.artefact.is_matrix:
        return None
    results: Sequence[NumberResult | MarkResult] = result.marks or result.numbers
    rows: dict[str, dict[str, Any]] = {}
    for each in results:
        row, reading = str(each.entry.row), each.entry.reading
        name = f"{row} ({reading})" if reading else row
        rows.setdefault(name, {})[str(each.entry.column)] = each
    columns = tuple(dict.fromkeys(str(each.entry.column) for each in results))
    views, times = shown_views(results), time_ratios(result.numbers)
    found = []
    for name, own in rows.items():
        named = _mark_lines(own, views) if result.marks else _number_lines(own, views, times)
        lines = tuple(
            (line, tuple(cells.get(column, ("", None)) for column in columns))
            for line, cells in named
        )
        remarks = [each.entry.remark for each in own.values() if each.entry.remark]
        for column, each in own.items():
            if isinstance(each, NumberResult):
                remarks += [f"{column}: {note}" for note in notes_of(each, views)]
            if difference_reason(each):
                remarks.append(f"{column}, reason: {difference_reason(each)}")
        found.append(MatrixRow(name, lines, tuple(dict.fromkeys(remarks))))
    return Matrix(columns, tuple(found))


def _number_lines(
    own: Mapping[str, NumberResult],
    views: Sequence[tuple[View, str]],
    times: Mapping[str, TimeRatio],
) -> Iterator[tuple[str, dict[str, _Cell]]]:
    """Yield each line's name and its cells by column."""
    if any(each.entry.value for each in own.values()):
        yield "printed", {column: (printed_text(each), None) for column, each in own.items()}
    for view, heading in views:
        verdicts = {name: each.through(view) for name, each in own.items()}
        # Over how many splits all of the row's means are stands at its head, unless that differs.
        sizes = {int(each.row["n"]) for each in verdicts.values() if each.row is not None}
        n = sizes.pop() if len(sizes) == 1 else None
        head = f"ours, {heading}" if n is None or n == 1 else f"ours, {heading}, n = {n}"
        yield (
            head,
            {
                column: (
                    ours_text(verdict, own[column].entry.metric, with_n=n is None),
                    verdict_text(own[column], view),
                )
                for column, verdict in verdicts.items()
            },
        )
    timed = {
        name: times.get(each.entry.id)
        for name, each in own.items()
        if each.entry.seconds is not None
    }
    other = next((time.other for time in timed.values() if time), None)
    if other is not None:
        for which in ("printed", "ours"):
            yield (
                f"time / {other}'s, {which}",
                {
                    column: ("1" if time is None else ratio_text(getattr(time, which)), None)
                    for column, time in timed.items()
                },
            )


def _mark_lines(
    own: Mapping[str, MarkResult], views: Sequence[tuple[View, str]]
) -> Iterator[tuple[str, dict[str, _Cell]]]:
    yield "printed", {name: (_sign(each.entry.printed), None) for name, each in own.items()}
    for view, heading in views:
        verdicts = {name: each.through(view) for name, each in own.items()}
        yield (
            f"ours, {heading}",
            {
                name: (
                    _sign(each.kept) or each.reason or "",
                    verdict_text(own[name], view),
                )
                for name, each in verdicts.items()
            },
        )
        for metric, words in MEDIAN_NAMES.items():
            yield (
                words,
                {
                    name: (number(each.medians[metric], metric), None)
                    for name, each in verdicts.items()
                    if each.medians is not None
                },
            )


def _sign(kept: Kept | None) -> str:
    return "" if kept is None else SIGNS[kept]
