"""The texts in the cells of the papers' tables and on their page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ddr_cli.comparison.names import difference_text, is_rate, method_name, number
from ddr_cli.papers.claims import PartResult
from ddr_cli.papers.lookup import HEADINGS, VIEWS, Judged, View
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult, NumberVerdict, TimeRatio, binomial_error
from ddr_cli.papers.schema import Artefact, Claim, Kept, Part, PrintedNumber, TableMark

KINDS = {
    "agrees": ("reproduced", "holds"),
    "near": ("close", "undecided", "uninformative"),
    "differs": ("differs", "differs (higher)", "differs (lower)", "fails"),
}
"""The verdicts by their meaning; all others say nothing about the paper."""


def kind_of(verdict: str) -> str:
    """Return the meaning of a verdict: one of `KINDS`, or ``untold``."""
    return next((kind for kind, own in KINDS.items() if verdict in own), "untold")


SIGNS: Mapping[Kept, str] = {"both": "○", "separable": "△", "multimodal": "✕", "neither": "–"}
_MEANINGS: Mapping[Kept, str] = {
    "both": "separates the classes and keeps the sub-classes",
    "separable": "separates the classes only",
    "multimodal": "keeps the sub-classes only",
    "neither": "does neither",
}
SIGN_LEGEND = tuple(f"{sign} {_MEANINGS[kept]}" for kept, sign in SIGNS.items())
"""The meaning of each rating."""


def entry_text(artefact: Artefact, result: NumberResult | MarkResult) -> str:
    """Return a printed number's place in the table, or the method that it was measured with."""
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
    """Return a number with its standard deviation as printed, or a rating with its meaning."""
    if isinstance(result, MarkResult):
        return _mark_words(result.entry.printed)
    entry = result.entry
    if entry.value is None:
        return "–"
    text = entry.value.text + (f" ± {entry.sd.text}" if entry.sd else "")
    if is_rate(entry.metric) and "%" not in text:
        return f"{text} ({100 * entry.value.value:.4g} %)"
    return text


def reason_text(entry: PrintedNumber | TableMark | Claim | Part) -> str:
    """Return why ours differs, with the spec that shows it, or that the cause is not known."""
    if entry.reason is None:
        return "unknown"
    return f"{entry.reason.text} (see the results of {entry.reason.shown_by})"


def not_counted(entry: PrintedNumber | TableMark | Claim | Part, view: View) -> str:
    """Return why an entry does not count in a view; empty if it counts."""
    if entry.same_as:
        return f"already counted as {entry.same_as}"
    if entry.reading:
        return "another interpretation"
    return "" if entry.is_counted(view) else "calibration"


def verdict_text(result: Judged[Any, Any], view: View) -> str:
    """Return a verdict, in parentheses with the reason if it does not count."""
    verdict, why = result.through(view).verdict, not_counted(result.entry, view)
    return f"({verdict}: {why})" if why else str(verdict)


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
    """Return our number or rating in one view, a rating with its meaning and medians."""
    if isinstance(result, MarkResult):
        verdict = result.through(view)
        return f"{_mark_words(verdict.kept)} ({verdict.detail})"
    return ours_text(result.through(view), result.entry.metric)


def _mark_words(kept: Kept | None) -> str:
    return "no rating" if kept is None else f"{SIGNS[kept]} ({_MEANINGS[kept]})"


def ratio_text(ratio: float) -> str:
    """Return a ratio to two digits, such as ``140 x`` or ``0.35 x``."""
    return "–" if np.isnan(ratio) else f"{float(f'{ratio:.2g}'):.10g} ×"


def time_text(time: TimeRatio | None, which: str) -> str:
    """Return a ratio of times, ``printed`` or ``ours``, with what it is a multiple of."""
    return "" if time is None else f"{ratio_text(getattr(time, which))} {time.other}"


def shown_views(results: Sequence[NumberResult | MarkResult]) -> list[tuple[View, str]]:
    """Return the views to show and their headings.

    One view is enough if the paper's own setting is random splits, or if there are none.
    """
    both = list(HEADINGS.items())
    if results and all(each.resplits.verdict == "not applicable" for each in results):
        return [("own", "all samples")]
    rows = [(each.own.row, each.resplits.row) for each in results if isinstance(each, NumberResult)]
    pairs = [(own, over) for own, over in rows if own is not None and over is not None]
    if pairs and all(own.family == over.family for own, over in pairs):
        return [("own", "random splits")]
    return both


_AGREED = ("reproduced", "not testable", "not run", "not applicable")


def difference_reason(result: NumberResult | MarkResult) -> str:
    """Return why ours differs, empty if nothing differs."""
    agreed = all(result.through(view).verdict in _AGREED for view in VIEWS)
    return "" if agreed else reason_text(result.entry)


def difference_cell(verdict: NumberVerdict, metric: str) -> str:
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


def notes_of(result: NumberResult, views: Sequence[tuple[View, str]]) -> list[str]:
    """Return which method the difference favours and whether the row is trivial, in each view."""
    notes = {heading: result.through(view).note for view, heading in views}
    if len(set(notes.values())) == 1:
        notes = {"": next(iter(notes.values()))}
    return [f"{heading}: {note}" if heading else note for heading, note in notes.items() if note]


def claims_about(result: NumberResult) -> list[str]:
    """Return the claims about a number's row, which are tested on new data, with both verdicts."""
    return [
        f"claim {each.entry.sentence}: {each.own.verdict} in the paper's setting, "
        f"{each.resplits.verdict} over re-splits"
        for each in result.claims
    ]


def term_name(term: str) -> str:
    """Return a term of the glossary as shown, such as "much better along"."""
    return term.replace("_", " ").replace("ahead", "better")


def threshold_text(part: Part) -> str:
    """Return the term of a sub-claim with its thresholds."""
    values = part.predicate.model_dump(exclude_none=True, exclude={"name"})
    shown = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in values.items())
    term = term_name(part.term)
    return f"{term}: {shown}" if shown else term


def fixed_text(part: PartResult) -> str:
    """Return when a sub-claim's threshold was fixed, and whether its result was known then."""
    when = f"{part.entry.fixed:%Y-%m-%d %H:%M}"
    return when if part.threshold == "not run" else f"{part.threshold} the first result ({when})"
