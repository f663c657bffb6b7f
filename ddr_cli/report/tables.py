"""Tables of what the papers print: as data (CSV), for a reader, in the paper's rows and columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.names import is_rate, method_name, number
from ddr_cli.papers.schema import Artefact, Claim, Kept, Part, PrintedNumber, TableMark
from ddr_cli.verdicts.assess import ArtefactResult
from ddr_cli.verdicts.printed import (
    MEDIAN_NAMES,
    MarkResult,
    MarkVerdict,
    NumberResult,
    NumberVerdict,
    TimeRatio,
    time_ratios,
)
from ddr_cli.verdicts.rows import VIEWS, View

_SIGNS: Mapping[Kept, str] = {"both": "○", "separable": "△", "multimodal": "✕", "neither": "–"}
_MEANINGS: Mapping[Kept, str] = {
    "both": "classes separate and the sub-classes are kept",
    "separable": "classes separate, sub-classes are lost",
    "multimodal": "sub-classes are kept, classes do not separate",
    "neither": "neither",
}
SIGN_LEGEND = tuple(f"{sign} {_MEANINGS[kept]}" for kept, sign in _SIGNS.items())
"""What each mark means."""

# -- cells ----------------------------------------------------------------------------------------


def described(artefact: Artefact, result: NumberResult | MarkResult) -> str:
    """Return what is printed: its place in the table, or what it was measured with."""
    if isinstance(result, MarkResult):
        return result.entry.id
    entry = result.entry
    if entry.row or entry.column:
        text = ", ".join(part for part in (entry.row, entry.column) if part)
    else:
        text = f"{method_name(entry.select.reducer)}, {method_name(entry.select.classifier)}"
        if result.own.row is not None:
            text = f"{result.own.row['reducer_label']}, {result.own.row['classifier_label']}"
    setting = result.own.setting or result.resplits.setting
    if setting and artefact.kind == "curve":
        text += f" at {setting}"
    return f"{text} ({entry.reading})" if entry.reading else text


def printed_text(result: NumberResult | MarkResult) -> str:
    """Return a number with its standard deviation as printed, or a mark with its meaning."""
    if isinstance(result, MarkResult):
        return _mark_words(result.entry.printed)
    entry = result.entry
    if entry.value is None:
        return "–"
    text = entry.value.text + (f" ± {entry.sd.text}" if entry.sd else "")
    if is_rate(entry.metric) and "%" not in text:
        return f"{text} ({100 * entry.value.value:.4g} %)"
    return text


NOT_KNOWN = "not known"


def reason_text(entry: PrintedNumber | TableMark | Claim | Part) -> str:
    """Return why ours differs, with what shows it, or that it is not known."""
    if entry.reason is None:
        return NOT_KNOWN
    return f"{' '.join(entry.reason.text.split())} (shown by {entry.reason.shown_by})"


def not_counted(entry: PrintedNumber | TableMark | Claim | Part, view: View) -> str:
    """Return why an entry does not count through a view; empty if it does."""
    if entry.same_as:
        return f"counted as {entry.same_as}"
    if entry.reading:
        return "another reading"
    return "" if entry.is_counted(view) else "calibration"


def verdict_text(entry: PrintedNumber | TableMark | Claim | Part, view: View, verdict: str) -> str:
    """Return a verdict, in brackets with the reason where it does not count."""
    why = not_counted(entry, view)
    return f"({verdict}: {why})" if why else verdict


def ours_text(verdict: NumberVerdict, metric: str, *, with_n: bool = True) -> str:
    """Return our number: mean ± standard deviation (n), or why there is none."""
    row = verdict.row
    if row is None:
        return verdict.reason or "–"
    if row["n"] == 1:
        return number(row["mean"], metric)
    spread = number(row["sd"], metric)
    text = f"{number(row['mean'], metric, unit=False)} ± {spread}"
    return f"{text} (n = {row['n']})" if with_n else text


def our_words(result: NumberResult | MarkResult, view: View) -> str:
    """Return our number or mark through one view, a mark with its meaning and medians."""
    if isinstance(result, MarkResult):
        verdict: MarkVerdict = getattr(result, view)
        return f"{_mark_words(verdict.kept)} ({verdict.detail})"
    return ours_text(getattr(result, view), result.entry.metric)


def _mark_words(kept: Kept | None) -> str:
    return "no mark" if kept is None else f"{_SIGNS[kept]} ({_MEANINGS[kept]})"


def ratio_text(ratio: float) -> str:
    """Return a ratio to two digits, such as ``140 x`` or ``0.35 x``."""
    return "–" if np.isnan(ratio) else f"{float(f'{ratio:.2g}'):.10g} ×"


def time_text(time: TimeRatio | None, which: str) -> str:
    """Return a ratio of times, ``printed`` or ``ours``, with what it is a multiple of."""
    return "" if time is None else f"{ratio_text(getattr(time, which))} {time.other}"


def shown_views(results: Sequence[NumberResult | MarkResult]) -> list[tuple[View, str]]:
    """Return the views worth showing and their headings.

    One is enough where the paper's own setting is random splits, or where there are none.
    """
    both: list[tuple[View, str]] = [("own", "the paper's setting"), ("resplits", "re-splits")]
    if not results:
        return both
    if all(each.resplits.verdict == "not applicable" for each in results):
        return [("own", "all points")]
    rows = [(each.own.row, each.resplits.row) for each in results if isinstance(each, NumberResult)]
    pairs = [(own, over) for own, over in rows if own is not None and over is not None]
    if pairs and all(own.family == over.family for own, over in pairs):
        return [("own", "random splits")]
    return both


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
            verdict: NumberVerdict = getattr(result, view)
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
        record["reason"] = _reason_of(result)
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
            verdict: NumberVerdict = getattr(result, view)
            record[f"ours, {heading}"] = ours_text(verdict, result.entry.metric)
            record[f"verdict, {heading}"] = verdict_text(result.entry, view, verdict.verdict)
        record["in words"] = "; ".join(notes_of(result, views))
        record["reason"] = _reason_of(result)
        if times:
            time = times.get(result.entry.id)
            record["training time, printed"] = time_text(time, "printed")
            record["training time, ours"] = time_text(time, "ours")
        records.append(record)
    return pd.DataFrame(records)


_AGREED = ("reproduced", "not testable", "not run", "not applicable")


def _reason_of(result: NumberResult | MarkResult) -> str:
    """Return why ours differs, empty where nothing does."""
    agreed = all(getattr(result, view).verdict in _AGREED for view in VIEWS)
    return "" if agreed else reason_text(result.entry)


def notes_of(result: NumberResult, views: Sequence[tuple[View, str]]) -> list[str]:
    """Return in words whom a difference flatters and what is trivial, through each view."""
    notes = {heading: getattr(result, view).note for view, heading in views}
    if len(set(notes.values())) == 1:
        notes = {"": next(iter(notes.values()))}
    return [f"{heading}: {note}" if heading else note for heading, note in notes.items() if note]


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
            verdict: MarkVerdict = getattr(result, view)
            record |= {f"{view}_mark": verdict.kept, f"{view}_n": verdict.n or None}
            record |= {f"{view}_{name}": value for name, value in (verdict.medians or {}).items()}
            record |= {
                f"{view}_verdict": verdict.verdict,
                f"{view}_counted": entry.is_counted(view),
                f"{view}_note": verdict.reason,
            }
        record["reason"] = _reason_of(result)
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
            if _reason_of(each):
                remarks.append(f"{column}, reason: {_reason_of(each)}")
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
        verdicts: dict[str, NumberVerdict] = {name: getattr(own[name], view) for name in own}
        # Over how many splits all of the row's means are stands at its head, unless that differs.
        sizes = {int(each.row["n"]) for each in verdicts.values() if each.row is not None}
        n = sizes.pop() if len(sizes) == 1 else None
        head = f"ours, {heading}" if n is None or n == 1 else f"ours, {heading}, n = {n}"
        yield (
            head,
            {
                column: (
                    ours_text(verdict, own[column].entry.metric, with_n=n is None),
                    verdict_text(own[column].entry, view, verdict.verdict),
                )
                for column, verdict in verdicts.items()
            },
        )
    timed = {name: times.get(each.entry.id) for name, each in own.items() if each.entry.seconds}
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
        verdicts: dict[str, MarkVerdict] = {name: getattr(own[name], view) for name in own}
        yield (
            f"ours, {heading}",
            {
                name: (
                    _sign(each.kept) or each.reason or "",
                    verdict_text(own[name].entry, view, each.verdict),
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
    return "" if kept is None else _SIGNS[kept]
