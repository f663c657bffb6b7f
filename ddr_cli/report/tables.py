"""The tables of a report, one row per printed number: as data (CSV) and for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ddr_cli.papers.schema import Artefact
from ddr_cli.report.claims import ClaimResult
from ddr_cli.report.names import is_rate, method_name, number
from ddr_cli.report.signs import MarkResult
from ddr_cli.report.times import TimeResult, ratio_text, times_of
from ddr_cli.report.verdicts import Judged, NumberResult


def number_data(results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the printed numbers of an artefact beside ours, one row each, in full precision."""
    records = []
    times = times_of(results)
    for result in results:
        printed = result.printed
        record: dict[str, Any] = {
            "id": printed.id,
            "row": printed.row,
            "column": printed.column,
            "where": printed.where,
            "reading": printed.reading,
            "metric": printed.metric,
            "printed": printed.value.value if printed.value else None,
            "printed_sd": printed.sd.value if printed.sd else None,
        }
        for view, judged in (("own", result.own), ("resplits", result.resplits)):
            row = judged.row
            record |= {
                f"{view}_{name}": None if row is None else row[name]
                for name in ("split", "n", "mean", "sd", "low", "high", "level")
            }
            record |= {
                f"{view}_setting": judged.setting,
                f"{view}_verdict": judged.verdict,
                f"{view}_reason": judged.reason,
            }
        if times:
            time = times.get(printed.id)
            record |= {
                "fit_seconds_than": time.other if time else None,
                "printed_fit_seconds_ratio": time.printed_ratio if time else None,
                "fit_seconds_ratio": time.ratio if time else None,
            }
        records.append(record)
    return pd.DataFrame(records)


def number_table(artefact: Artefact, results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the same for a reader: printed, ours with its spread and n, verdict."""
    records = []
    views = shown_views(results)
    times = times_of(results)
    for result in results:
        printed = result.printed
        record = {"": described(artefact, result), "printed": printed_text(result)}
        for view, heading in views:
            judged = getattr(result, view)
            record[f"ours, {heading}"] = ours_text(judged, printed.metric)
            record[f"verdict, {heading}"] = judged.verdict
        if times:
            time = times.get(printed.id)
            record["training time, printed"] = time_text(time, "printed_ratio")
            record["training time, ours"] = time_text(time, "ratio")
        records.append(record)
    return pd.DataFrame(records)


def time_text(time: TimeResult | None, which: str) -> str:
    """Return a ratio of times with what it is a multiple of."""
    return "" if time is None else f"{ratio_text(getattr(time, which))} {time.other}"


def described(artefact: Artefact, result: NumberResult) -> str:
    """Return what a printed number is: its place in the table, or what it was measured with."""
    printed = result.printed
    if printed.row or printed.column:
        text = ", ".join(part for part in (printed.row, printed.column) if part)
    else:
        text = f"{method_name(printed.select.reducer)}, {method_name(printed.select.classifier)}"
        if result.own.row is not None:
            text = f"{result.own.row['reducer_label']}, {result.own.row['classifier_label']}"
    setting = result.own.setting or result.resplits.setting
    if setting and artefact.kind == "curve":
        text += f" at {setting}"
    return f"{text} ({printed.reading})" if printed.reading else text


def printed_text(result: NumberResult) -> str:
    """Return a printed number with its standard deviation, as printed."""
    printed = result.printed
    if printed.value is None:
        return "–"
    text = printed.value.text + (f" ± {printed.sd.text}" if printed.sd else "")
    if is_rate(printed.metric) and "%" not in text:
        return f"{text} ({100 * printed.value.value:.4g} %)"
    return text


def ours_text(judged: Judged, metric: str, *, with_n: bool = True) -> str:
    """Return our number: mean ± standard deviation (n), or why there is none."""
    row = judged.row
    if row is None:
        return judged.reason or "–"
    if row["n"] == 1:
        return number(row["mean"], metric)
    spread = number(row["sd"], metric)
    text = f"{number(row['mean'], metric, unit=False)} ± {spread}"
    return f"{text} (n = {row['n']})" if with_n else text


def shown_views(results: Sequence[NumberResult | MarkResult]) -> list[tuple[str, str]]:
    """Return the views worth showing, ``own`` or ``resplits``, and their headings.

    One is enough where the paper's own setting is random splits, or where there are none.
    """
    both = [("own", "the paper's setting"), ("resplits", "re-splits")]
    if not results:
        return both
    if all(each.resplits.verdict == "not applicable" for each in results):
        return [("own", "all points")]
    rows = [(each.own.row, each.resplits.row) for each in results if isinstance(each, NumberResult)]
    pairs = [(own, over) for own, over in rows if own is not None and over is not None]
    if pairs and all(own.family == over.family for own, over in pairs):
        return [("own", "random splits")]
    return both


def claim_table(results: Sequence[ClaimResult]) -> pd.DataFrame:
    """Return the claims of a paper, one row each, with both verdicts and their numbers."""
    return pd.DataFrame(
        [
            {
                "claim": result.claim.id,
                "where": result.claim.where,
                "sentence": " ".join(result.claim.sentence.split()),
                "the paper's setting": result.own.verdict,
                "numbers": result.own.detail,
                "re-splits": result.resplits.verdict,
                "numbers over re-splits": result.resplits.detail,
            }
            for result in results
        ]
    )
