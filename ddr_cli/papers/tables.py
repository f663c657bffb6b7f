"""Tables of printed numbers: as data (CSV), for readers, and in the paper's rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ddr_cli.comparison.names import number
from ddr_cli.papers import cells
from ddr_cli.papers.assess import ArtefactResult
from ddr_cli.papers.lookup import VIEWS, View
from ddr_cli.papers.marks import MEDIAN_NAMES, MarkResult
from ddr_cli.papers.numbers import NumberResult, TimeRatio, time_ratios
from ddr_cli.papers.schema import Artefact, Kept

# -- a row per printed number or mark --------------------------------------------------------------


def number_data(results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the printed numbers of an artefact next to ours, with full precision."""
    records = []
    times = time_ratios(results)
    for result in results:
        entry = result.entry
        places = ("id", "row", "column", "where", "reading", "same_as", "metric")
        record = {name: getattr(entry, name) for name in places}
        record["printed"] = entry.value.value if entry.value else None
        record["printed_sd"] = entry.sd.value if entry.sd else None
        for view in VIEWS:
            verdict = result.through(view)
            statistics = ("split", "n", "mean", "sd")
            record |= {f"{view}_{name}": verdict.row and verdict.row[name] for name in statistics}
            record[f"{view}_difference"] = verdict.difference
            record[f"{view}_monte_carlo_error"] = verdict.error
            record[f"{view}_setting"] = verdict.setting
            record |= _verdict_data(result, view, verdict.note or verdict.reason)
        record["claims"] = ", ".join(claim.entry.id for claim in result.claims)
        record["reason"] = cells.difference_reason(result)
        if times:
            time = times.get(entry.id)
            record["fit_seconds_than"] = time and time.other
            record["printed_fit_seconds_ratio"] = time and time.printed
            record["fit_seconds_ratio"] = time and time.ours
        records.append(record)
    return pd.DataFrame(records)


def _verdict_data(
    result: NumberResult | MarkResult, view: View, note: str | None
) -> dict[str, Any]:
    verdict, counted = result.through(view).verdict, result.entry.is_counted(view)
    return {f"{view}_verdict": verdict, f"{view}_counted": counted, f"{view}_note": note}


def number_table(artefact: Artefact, results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the same for readers: printed, ours with its standard deviation and n, verdict."""
    records = []
    views = cells.shown_views(results)
    times = time_ratios(results)
    for result in results:
        record = {"": cells.entry_text(artefact, result), "printed": cells.printed_text(result)}
        for view, heading in views:
            verdict = result.through(view)
            record[f"ours, {heading}"] = cells.ours_text(verdict, result.entry.metric)
            record[f"difference, {heading}"] = cells.difference_cell(verdict, result.entry.metric)
            record[f"verdict, {heading}"] = cells.verdict_text(result, view)
        record["notes"] = "; ".join([*cells.notes_of(result, views), *cells.claims_about(result)])
        record["reason"] = cells.difference_reason(result)
        if times:
            time = times.get(result.entry.id)
            record["training time, printed"] = cells.time_text(time, "printed")
            record["training time, ours"] = cells.time_text(time, "ours")
        records.append(record)
    return pd.DataFrame(records)


def mark_data(results: Sequence[MarkResult]) -> pd.DataFrame:
    """Return ratings next to ours, with the medians in full precision."""
    records = []
    for result in results:
        places = ("row", "column", "reading", "printed")
        record = {name: getattr(result.entry, name) for name in places}
        for view in VIEWS:
            verdict = result.through(view)
            record |= {f"{view}_mark": verdict.kept, f"{view}_n": verdict.n or None}
            record |= {f"{view}_{name}": value for name, value in verdict.medians.items()}
            record |= _verdict_data(result, view, verdict.reason)
        records.append(record | {"reason": cells.difference_reason(result)})
    return pd.DataFrame(records)


# -- the paper's own form -------------------------------------------------------------------------

_Cells = Mapping[str, tuple[str, str]]
"""For each column a text, and the verdict that belongs to it, if there is one."""


class MatrixRow(NamedTuple):
    """One row of the paper's table as several named lines (such as "printed") of cells."""

    name: str
    lines: Sequence[tuple[str, _Cells]]
    remarks: Sequence[str]


class Matrix(NamedTuple):
    """A table in the paper's form."""

    columns: Sequence[str]
    rows: Sequence[MatrixRow]

    def frame(self) -> pd.DataFrame:
        """Return the same as a table of texts, with verdicts on separate lines."""
        found = []
        for name, lines, remarks in self.rows:
            for place, (line, own) in enumerate(lines):
                shown = [own.get(column, ("", "")) for column in self.columns]
                texts, verdicts = zip(*shown, strict=True)
                found.append([name if place == 0 else "", line, *texts])
                if any(verdicts):
                    found.append(["", "verdict", *verdicts])
            rest = [""] * (len(self.columns) - 1)
            found += [["", "note", remark, *rest] for remark in remarks]
        return pd.DataFrame(found, columns=["", " ", *self.columns])


def matrix_of(result: ArtefactResult) -> Matrix | None:
    """Return an artefact's table in the paper's form, None if it has none.

    It has one if every printed number has a place in a table with several columns.
    """
    judged: Sequence[NumberResult | MarkResult] = result.marks or result.numbers
    columns = list(dict.fromkeys(str(each.entry.column) for each in judged))
    is_placed = all(each.entry.row and each.entry.column for each in result.numbers)
    is_table = result.artefact.kind == "table" and is_placed and len(columns) > 1
    if not (result.marks or is_table):
        return None
    rows: dict[str, dict[str, Any]] = {}
    for each in judged:
        row, reading = str(each.entry.row), each.entry.reading
        name = f"{row} ({reading})" if reading else row
        rows.setdefault(name, {})[str(each.entry.column)] = each
    views, times = cells.shown_views(judged), time_ratios(result.numbers)
    found = []
    for name, own in rows.items():
        lines = _mark_lines(own, views) if result.marks else _number_lines(own, views, times)
        found.append(MatrixRow(name, list(lines), _remarks(own, views)))
    return Matrix(columns, found)


def _remarks(own: Mapping[str, Any], views: Sequence[tuple[View, str]]) -> list[str]:
    """Return notes, claims and reasons, each once, with the columns that they are about."""
    about: dict[str, list[str]] = {}
    general: list[str] = []
    for column, each in own.items():
        general += [each.entry.remark] if each.entry.remark else []
        if isinstance(each, NumberResult):
            general += cells.claims_about(each)
            for note in cells.notes_of(each, views):
                about.setdefault(f": {note}", []).append(column)
        if reason := cells.difference_reason(each):
            about.setdefault(f", reason: {reason}", []).append(column)
    specific = [f"{', '.join(columns)}{text}" for text, columns in about.items()]
    return [*dict.fromkeys(general), *specific]


def _number_lines(
    own: Mapping[str, NumberResult],
    views: Sequence[tuple[View, str]],
    times: Mapping[str, TimeRatio],
) -> Iterator[tuple[str, _Cells]]:
    """Yield each line's name and its cells."""
    if any(each.entry.value for each in own.values()):
        yield "printed", {column: (cells.printed_text(each), "") for column, each in own.items()}
    for view, heading in views:
        yield from _lines_of_ours(own, view, heading)
    yield from _time_lines(own, times)


def _lines_of_ours(
    own: Mapping[str, NumberResult], view: View, heading: str
) -> Iterator[tuple[str, _Cells]]:
    # If all means are over the same number of splits, the line's name contains it.
    ours = [row for each in own.values() if (row := each.through(view).row) is not None]
    sizes = {int(row["n"]) for row in ours}
    n = sizes.pop() if len(sizes) == 1 else None
    shown, apart = {}, {}
    for column, each in own.items():
        verdict, metric = each.through(view), each.entry.metric
        text = cells.ours_text(verdict, metric, with_n=n is None)
        shown[column] = text, cells.verdict_text(each, view)
        apart[column] = cells.difference_cell(verdict, metric), ""
    yield f"ours, {heading}" if n in (None, 1) else f"ours, {heading}, n = {n}", shown
    if any(text for text, _ in apart.values()):
        yield f"difference, {heading}", apart


def _time_lines(
    own: Mapping[str, NumberResult], times: Mapping[str, TimeRatio]
) -> Iterator[tuple[str, _Cells]]:
    timed = {
        column: times.get(each.entry.id)
        for column, each in own.items()
        if each.entry.seconds is not None
    }
    other = next((time.other for time in timed.values() if time), "")
    for which in ("printed", "ours") if other else ():
        ratios = {
            column: (cells.ratio_text(getattr(time, which)) if time else "1", "")
            for column, time in timed.items()
        }
        yield f"training time relative to {other}, {which}", ratios


def _mark_lines(
    own: Mapping[str, MarkResult], views: Sequence[tuple[View, str]]
) -> Iterator[tuple[str, _Cells]]:
    yield "printed", {name: (_sign(each.entry.printed), "") for name, each in own.items()}
    for view, heading in views:
        verdicts = {name: each.through(view) for name, each in own.items()}
        texts = {name: _sign(each.kept) or each.reason or "" for name, each in verdicts.items()}
        shown = {name: (texts[name], cells.verdict_text(each, view)) for name, each in own.items()}
        yield f"ours, {heading}", shown
        for metric, words in MEDIAN_NAMES.items():
            yield (
                words,
                {
                    name: (number(each.medians[metric], metric), "")
                    for name, each in verdicts.items()
                    if each.medians
                },
            )


def _sign(kept: Kept | None) -> str:
    return "" if kept is None else cells.SIGNS[kept]
