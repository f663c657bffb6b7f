"""Every verdict of a report in one table, of which all that is shown is a pivot."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from ddr_cli.comparison.names import difference_text, is_rate, method_name, number
from ddr_cli.papers.claims import ClaimResult, PartResult
from ddr_cli.papers.lookup import VIEWS, Judged, View
from ddr_cli.papers.marks import MarkResult, MarkVerdict
from ddr_cli.papers.numbers import NumberResult, NumberVerdict, binomial_error, time_ratios
from ddr_cli.papers.questions import MethodSelector, Near
from ddr_cli.papers.schema import Artefact, Claim, Kept, Paper, Part, PrintedNumber, TableMark
from ddr_cli.rows.schema import VERDICTS

_EMPTY = {name: {str: "", bool: False, float: np.nan}[kind] for name, (kind, _) in VERDICTS.items()}

SIGNS: Mapping[Kept, str] = {"both": "○", "separable": "△", "multimodal": "✕", "neither": "–"}
_MEANINGS: Mapping[Kept, str] = {
    "both": "separates the classes and keeps the sub-classes",
    "separable": "separates the classes only",
    "multimodal": "keeps the sub-classes only",
    "neither": "does neither",
}
SIGN_LEGEND = "; ".join(f"{sign} {_MEANINGS[kept]}" for kept, sign in SIGNS.items())
"""The meaning of each rating."""


def table_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Return rows of verdicts as a table with all columns."""
    return pd.DataFrame([{**_EMPTY, **row} for row in rows], columns=[*VERDICTS])


def both(table: pd.DataFrame) -> Iterator[tuple[Any, Any]]:
    """Yield the two rows of each entry: in the paper's setting, and over re-splits."""
    own, over = (through(table, view) for view in VIEWS)
    yield from zip(own, over, strict=True)


def through(table: pd.DataFrame, view: View) -> Sequence[Any]:
    """Return the rows of a view, with the columns as attributes."""
    rows = table[table["view"] == view].itertuples(name=None)
    return [*map(_row_class(tuple(table.columns))._make, rows)]


@cache
def _row_class(columns: tuple[str, ...]) -> Any:
    # A class for each of thousands of small tables would take most of the time of a report.
    return namedtuple("Row", ("Index", *columns))


def number_rows(artefact: Artefact, results: Sequence[NumberResult]) -> Iterator[dict[str, Any]]:
    """Yield the rows of printed numbers."""
    times = time_ratios(results)
    for result in results:
        entry = result.entry
        own = {
            **_entry(artefact, entry),
            "text": _number_text(artefact, result),
            "metric": entry.metric,
            "where": entry.where,
            "printed": _printed_text(entry),
            "printed_value": entry.value.value if entry.value else np.nan,
            "printed_sd": entry.sd.value if entry.sd else np.nan,
            "methods": _methods([entry.select]),
            "claims": ", ".join(claim.entry.id for claim in result.claims),
            "said": "\n".join(
                f"claim {each.entry.sentence}: {each.own.verdict} in the paper's setting, "
                f"{each.resplits.verdict} over re-splits"
                for each in result.claims
            ),
        }
        if entry.seconds is not None:
            than, printed, ours = times.get(entry.id, ("", 1.0, 1.0))
            own |= {"than": than, "printed_ratio": printed, "ratio": ours}
        for view in VIEWS:
            yield own | _in_view(result, view) | _number(result.through(view), entry)


def mark_rows(artefact: Artefact, results: Sequence[MarkResult]) -> Iterator[dict[str, Any]]:
    """Yield the rows of printed ratings."""
    for result in results:
        entry = result.entry
        own = {
            **_entry(artefact, entry),
            "text": entry.id,
            "printed": _mark_words(entry.printed),
            "printed_mark": entry.printed or "",
            "methods": _methods([entry.select]),
        }
        for view in VIEWS:
            yield own | _in_view(result, view) | _mark(result.through(view))


def claim_rows(paper: Paper, result: ClaimResult) -> Iterator[dict[str, Any]]:
    """Yield the rows of a claim, then of its sub-claims."""
    claim = result.entry
    selectors = [select for part in claim.parts for select in part.selectors]
    own = {"id": claim.id, "where": claim.where, "text": claim.sentence}
    own["methods"] = _methods(selectors)
    own["why"] = claim.calibration.why if claim.calibration else ""
    yield from _claim(claim.id, "claims", result, own)
    for found in result.parts:
        part = found.entry
        default = paper.artefact(part.artefact).specs[0]
        own = {"id": part.id, "text": part.what, "why": part.why or ""}
        own |= {"threshold": _threshold_text(part), "fixed": _fixed_text(found)}
        own["rows"] = "; ".join(_places(part, default))
        yield from _claim(claim.id, "parts", found, own)


def _claim(
    claim: str, kind: str, found: ClaimResult | PartResult, own: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    facts: dict[str, Any] = {"claim": claim, "kind": kind, "artefact": found.entry.artefact}
    facts |= _stated(found.entry)
    facts |= {"same_splits": found.same_splits, "differs": found.differs}
    for view in VIEWS:
        seen = found.through(view)
        numbers = {"ours": seen.detail, "p": seen.p, "alone": seen.alone}
        yield facts | own | _in_view(found, view) | numbers


def with_n(row: Any) -> str:
    """Return our number with its number of splits."""
    return f"{row.ours} (n = {row.n:g})" if row.n > 1 and row.metric else str(row.ours)


# -- what all entries state, and what one view shows -----------------------------------------------


def _entry(artefact: Artefact, entry: PrintedNumber | TableMark) -> dict[str, Any]:
    place = {"artefact": artefact.id, "kind": "numbers", "id": f"{artefact.id}.{entry.id}"}
    return place | {"row": entry.row or "", "column": entry.column or ""} | _stated(entry)


def _stated(entry: PrintedNumber | TableMark | Claim | Part) -> dict[str, str]:
    return {
        "reading": entry.reading or "",
        "same_as": entry.same_as or "",
        "remark": entry.remark or "",
        "reason": reason_text(entry),
    }


def reason_text(entry: PrintedNumber | TableMark | Claim | Part) -> str:
    """Return why ours differs, with the spec that shows it, or that the cause is not known."""
    if entry.reason is None:
        return "unknown"
    return f"{entry.reason.text} (see the results of {entry.reason.shown_by})"


def _in_view(result: Judged[Any, Any], view: View) -> dict[str, Any]:
    entry, verdict = result.entry, result.through(view).verdict
    counted = entry.is_counted(view)
    why = "" if counted else "calibration"
    if entry.reading:
        why = "another interpretation"
    if entry.same_as:
        why = f"already counted as {entry.same_as}"
    shown = f"({verdict}: {why})" if why else verdict
    return {"view": view, "verdict": verdict, "counted": counted, "shown": shown}


def _number(verdict: NumberVerdict, entry: PrintedNumber) -> dict[str, Any]:
    ours = _ours_text(verdict, entry.metric)
    found = {"ours": ours, "setting": verdict.setting, "note": verdict.note}
    if (row := verdict.row) is None:
        return found
    ids = list(row.trials["trial_id"])
    more = f" to {ids[-1]} ({len(ids)} rows)" if len(ids) > 1 else ""
    return found | {
        **{name: row[name] for name in ("split", "n", "mean", "sd")},
        "difference": verdict.difference,
        "error": verdict.error,
        "apart": apart_text(verdict, entry.metric),
        "rows": f"{row.summary.run.name}/trials.csv, trial {ids[0]}{more}",
    }


def _mark(verdict: MarkVerdict) -> dict[str, Any]:
    found = {"mark": verdict.kept or "", "note": verdict.reason or ""}
    found["ours"] = f"{_mark_words(verdict.kept)} ({verdict.detail})"
    return {**found, **verdict.medians, "n": verdict.n or np.nan}


# -- texts -----------------------------------------------------------------------------------------


def _number_text(artefact: Artefact, result: NumberResult) -> str:
    """Return a printed number's place in the table, or the method that it was measured with."""
    entry, own = result.entry, result.own
    if entry.row or entry.column:
        text = ", ".join(filter(None, (entry.row, entry.column)))
    elif own.row is not None:
        text = f"{own.row['reducer_label']}, {own.row['classifier_label']}"
    else:
        text = f"{method_name(entry.select.reducer)}, {method_name(entry.select.classifier)}"
    setting = own.setting or result.resplits.setting
    if setting and artefact.kind == "curve":
        text += f" at {setting}"
    return f"{text} ({entry.reading})" if entry.reading else text


def _printed_text(entry: PrintedNumber) -> str:
    if entry.value is None:
        return "–"
    text = entry.value.text + (f" ± {entry.sd.text}" if entry.sd else "")
    if is_rate(entry.metric) and "%" not in text:
        return f"{text} ({100 * entry.value.value:.4g} %)"
    return text


def _ours_text(verdict: NumberVerdict, metric: str) -> str:
    """Return our mean ± standard deviation, or why there is none."""
    row = verdict.row
    if row is None:
        return verdict.reason or "–"
    if row["n"] == 1:
        return number(row["mean"], metric)
    return f"{number(row['mean'], metric, unit=False)} ± {number(row['sd'], metric)}"


def _mark_words(kept: Kept | None) -> str:
    return "no rating" if kept is None else f"{SIGNS[kept]} ({_MEANINGS[kept]})"


def apart_text(verdict: NumberVerdict, metric: str) -> str:
    """Return ours minus printed with twice its Monte-Carlo error (one split: binomial error)."""
    if verdict.row is None or np.isnan(verdict.difference):
        return ""
    text = difference_text(verdict.difference, metric, unit=False).replace("-", "−")
    if verdict.row["n"] > 1:
        return f"{text} ± {difference_text(2 * verdict.error, metric, unit=False).lstrip('+')}"
    binomial = binomial_error(verdict.row)
    if np.isnan(binomial):
        return text
    return f"{text} (binomial error {difference_text(binomial, metric, unit=False).lstrip('+')})"


def _methods(selectors: Sequence[MethodSelector]) -> str:
    names = [(each.reducer, getattr(each, "classifier", None)) for each in selectors]
    return "|".join(dict.fromkeys(method_name(name) for both in names for name in both if name))


def term_name(term: str) -> str:
    """Return a term of the glossary as shown, such as "much better along"."""
    return term.replace("_", " ").replace("ahead", "better")


def _threshold_text(part: Part) -> str:
    """Return the term of a sub-claim with its thresholds."""
    values = part.predicate.model_dump(exclude_none=True, exclude={"name"})
    shown = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())
    term = term_name(part.term)
    return f"{term}: {shown}" if shown else term


def _fixed_text(part: PartResult) -> str:
    """Return when a sub-claim's threshold was fixed, and whether its result was known then."""
    when = f"{part.entry.fixed:%Y-%m-%d %H:%M}"
    return when if part.threshold == "not run" else f"{part.threshold} the first result ({when})"


def _places(part: Part, spec: str) -> list[str]:
    """Return the rows that a sub-claim uses, in the terms of the spec."""
    found = []
    for select in part.selectors:
        words = [select.reducer, f"“{select.label}”" if select.label else "", select.classifier]
        for name, value in select.params.items():
            text = f"about {value.near:g}" if isinstance(value, Near) else value
            words.append(f"{name} = {text}")
        words.append(f"along {part.along}" if part.along else "")
        found.append(f"{select.spec or spec}: {', '.join(filter(None, words))} ({part.metric})")
    return list(dict.fromkeys(found))
