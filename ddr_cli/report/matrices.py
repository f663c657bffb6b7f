"""Tables in the paper's own form: its rows and columns, ours under each printed entry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ddr_cli.papers.printed import Sign
from ddr_cli.report.assess import ArtefactResult
from ddr_cli.report.names import number
from ddr_cli.report.signs import MEANINGS, SHORT, SIGNS, JudgedMark, MarkResult
from ddr_cli.report.tables import ours_text, printed_text, shown_views
from ddr_cli.report.times import TimeResult, ratio_text, times_of
from ddr_cli.report.verdicts import NumberResult

_Cell = tuple[str, str | None]
"""A text, and the verdict that belongs to it."""


@dataclass(frozen=True)
class MatrixRow:
    """One row of the paper's table, as several lines of cells.

    Parameters
    ----------
    name : str
        The row's name.
    lines : tuple of (str, tuple of (str, str or None))
        The name of each line, such as "printed", and a text with its verdict per column.
    remarks : tuple of str
        What is known of the row's numbers.
    """

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


def matrix_of(result: ArtefactResult) -> Matrix | None:
    """Return an artefact's table in the paper's form, None if it has none."""
    if result.marks:
        return _mark_matrix(result.marks)
    return _number_matrix(result.numbers) if result.artefact.is_matrix else None


def mark_data(results: Sequence[MarkResult]) -> pd.DataFrame:
    """Return marks beside ours, one row each, with the medians in full precision."""
    records = []
    for result in results:
        mark = result.mark
        record: dict[str, object] = {
            "row": mark.row,
            "column": mark.column,
            "reading": mark.reading,
            "printed": mark.printed,
        }
        for view in ("own", "resplits"):
            judged: JudgedMark = getattr(result, view)
            record |= {f"{view}_mark": judged.sign, f"{view}_n": judged.n or None}
            record |= {f"{view}_{name}": value for name, value in (judged.medians or {}).items()}
            record |= {f"{view}_verdict": judged.verdict, f"{view}_reason": judged.reason}
        records.append(record)
    return pd.DataFrame(records)


def _number_matrix(results: Sequence[NumberResult]) -> Matrix:
    times = times_of(results)
    views = shown_views(results)

    def lines_of(entries: Mapping[str, NumberResult]) -> Iterator[tuple[str, _Lines]]:
        if any(each.printed.value for each in entries.values()):
            yield "printed", lambda each: (printed_text(each), None)
        for view, heading in views:
            n = _common_n(entries.values(), view)
            told = "" if n is None or n == 1 else f", n = {n}"
            yield f"ours, {heading}{told}", _ours(view, with_n=n is None)
        own = [times[each.printed.id] for each in entries.values() if each.printed.id in times]
        if own:
            other = own[0].other
            yield f"time / {other}'s, printed", _time(times, "printed_ratio")
            yield f"time / {other}'s, ours", _time(times, "ratio")

    return _laid_out(
        [(_row_name(each), str(each.printed.column), each) for each in results], lines_of
    )


_Lines = Callable[[NumberResult], _Cell]


def _row_name(result: NumberResult) -> str:
    row, reading = str(result.printed.row), result.printed.reading
    return f"{row} ({reading})" if reading else row


def _common_n(entries: Iterable[NumberResult], view: str) -> int | None:
    """Return over how many splits all of a row's means are, None if that differs."""
    rows = [getattr(each, view).row for each in entries]
    found = {int(row["n"]) for row in rows if row is not None}
    return found.pop() if len(found) == 1 else None


def _ours(view: str, *, with_n: bool) -> _Lines:
    def cell(each: NumberResult) -> _Cell:
        judged = getattr(each, view)
        return ours_text(judged, each.printed.metric, with_n=with_n), judged.verdict

    return cell


def _time(times: Mapping[str, TimeResult], which: str) -> _Lines:
    def cell(each: NumberResult) -> _Cell:
        time = times.get(each.printed.id)
        if time is None:
            return ("1" if each.printed.seconds else ""), None
        return ratio_text(getattr(time, which)), None

    return cell


def _laid_out(
    entries: Sequence[tuple[str, str, NumberResult]],
    lines_of: Callable[[Mapping[str, NumberResult]], Iterator[tuple[str, _Lines]]],
) -> Matrix:
    columns = tuple(dict.fromkeys(column for _, column, _ in entries))
    rows = []
    for name in dict.fromkeys(row for row, _, _ in entries):
        own = {column: each for row, column, each in entries if row == name}
        lines = tuple(
            (line, tuple(cell(own[column]) if column in own else ("", None) for column in columns))
            for line, cell in lines_of(own)
        )
        remarks = dict.fromkeys(each.printed.remark for each in own.values() if each.printed.remark)
        rows.append(MatrixRow(name, lines, tuple(remarks)))
    return Matrix(columns, tuple(rows))


def _mark_matrix(results: Sequence[MarkResult]) -> Matrix:
    columns = tuple(dict.fromkeys(each.mark.column for each in results))
    rows = []
    for name in dict.fromkeys(_mark_row(each) for each in results):
        own = {each.mark.column: each for each in results if _mark_row(each) == name}
        found = [own.get(column) for column in columns]
        lines = [("printed", tuple(_printed_mark(each) for each in found))]
        for view, heading in shown_views(results):
            lines.append((f"ours, {heading}", tuple(_own_mark(each, view) for each in found)))
            for metric, words in SHORT.items():
                lines.append((words, tuple(_median(each, view, metric) for each in found)))
        remarks = dict.fromkeys(each.mark.remark for each in own.values() if each.mark.remark)
        rows.append(MatrixRow(name, tuple(lines), tuple(remarks)))
    return Matrix(columns, tuple(rows))


def _mark_row(result: MarkResult) -> str:
    reading = result.mark.reading
    return f"{result.mark.row} ({reading})" if reading else result.mark.row


def _printed_mark(each: MarkResult | None) -> _Cell:
    return ("" if each is None else _sign(each.mark.printed)), None


def _own_mark(each: MarkResult | None, view: str) -> _Cell:
    if each is None:
        return "", None
    judged: JudgedMark = getattr(each, view)
    return (judged.reason or "" if judged.sign is None else _sign(judged.sign)), judged.verdict


def _median(each: MarkResult | None, view: str, metric: str) -> _Cell:
    medians = None if each is None else getattr(each, view).medians
    return ("" if medians is None else number(medians[metric], metric)), None


def _sign(sign: Sign | None) -> str:
    return "" if sign is None else SIGNS[sign]


def mark_words(sign: Sign | None) -> str:
    """Return a mark with what it means, in words."""
    return "no mark" if sign is None else f"{SIGNS[sign]} ({MEANINGS[sign]})"


def legend() -> list[str]:
    """Return what each mark means."""
    return [f"{SIGNS[sign]} {words}" for sign, words in MEANINGS.items()]
