"""The tables of a report: as data (CSV), for a page (Markdown) and for a paper (LaTeX)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from ddr_cli.papers.schema import Artefact
from ddr_cli.report.claims import ClaimResult
from ddr_cli.report.names import is_rate, method_name, number
from ddr_cli.report.verdicts import Judged, NumberResult

FLOAT_FORMAT = "%.10g"
"""Ten digits: more than any result carries, fewer than the last bits that platforms differ in."""

NO_NUMBER = "The paper prints no number here; see the figure and the claims."


def number_data(results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the printed numbers of an artefact beside ours, one row each, in full precision."""
    records = []
    for result in results:
        printed = result.printed
        record: dict[str, Any] = {
            "id": printed.id,
            "row": printed.row,
            "column": printed.column,
            "where": printed.where,
            "reading": printed.reading,
            "metric": printed.metric,
            "printed": printed.value.value,
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
        records.append(record)
    return pd.DataFrame(records)


def number_table(artefact: Artefact, results: Sequence[NumberResult]) -> pd.DataFrame:
    """Return the same for a reader: printed, ours with its spread and n, verdict."""
    records = []
    for result in results:
        printed = result.printed
        record = {"": described(artefact, result), "printed": printed_text(result)}
        for heading, judged in _views(results, result):
            record[f"ours, {heading}"] = ours_text(judged, printed.metric)
            record[f"verdict, {heading}"] = judged.verdict
        records.append(record)
    return pd.DataFrame(records)


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
    text = printed.value.text + (f" ± {printed.sd.text}" if printed.sd else "")
    if is_rate(printed.metric) and "%" not in text:
        return f"{text} ({100 * printed.value.value:.4g} %)"
    return text


def ours_text(judged: Judged, metric: str) -> str:
    """Return our number: mean ± standard deviation (n), or why there is none."""
    row = judged.row
    if row is None:
        return judged.reason or "–"
    if row["n"] == 1:
        return number(row["mean"], metric)
    spread = number(row["sd"], metric)
    return f"{number(row['mean'], metric, unit=False)} ± {spread} (n = {row['n']})"


def _views(results: Sequence[NumberResult], result: NumberResult) -> list[tuple[str, Judged]]:
    """Return the columns worth showing: one where the paper's own setting is the re-splits."""
    rows = [(each.own.row, each.resplits.row) for each in results]
    if any(own and resplits and own.family == resplits.family for own, resplits in rows):
        return [("re-splits", result.own)]
    return [("the paper's split", result.own), ("re-splits", result.resplits)]


def claim_table(results: Sequence[ClaimResult]) -> pd.DataFrame:
    """Return the claims of a paper, one row each, with both verdicts and their numbers."""
    return pd.DataFrame(
        [
            {
                "claim": result.claim.id,
                "where": result.claim.where,
                "sentence": " ".join(result.claim.sentence.split()),
                "the paper's split": result.own.verdict,
                "numbers": result.own.detail,
                "re-splits": result.resplits.verdict,
                "numbers over re-splits": result.resplits.detail,
            }
            for result in results
        ]
    )


def to_csv(table: pd.DataFrame) -> str:
    """Return a table as CSV, numbers to ten digits."""
    return table.to_csv(index=False, float_format=FLOAT_FORMAT, lineterminator="\n")


def to_markdown(table: pd.DataFrame) -> str:
    """Return a table of texts as GitHub's Markdown."""
    lines = [list(table.columns), ["---"] * table.shape[1], *table.to_numpy().tolist()]
    rows = [" | ".join(str(cell).replace("|", "\\|") for cell in line) for line in lines]
    return "".join(f"| {row} |\n" for row in rows)


_LATEX = str.maketrans(
    {"β": r"$\beta$", "±": r"$\pm$", "≈": r"$\approx$", "–": "--", "→": r"$\to$"}
)


def to_latex(table: pd.DataFrame) -> str:
    """Return a table of texts as a LaTeX tabular (package booktabs)."""
    columns = "l" * table.shape[1]
    text: str = table.to_latex(index=False, escape=True, column_format=columns)
    return text.translate(_LATEX)
