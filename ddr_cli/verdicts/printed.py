"""What a paper prints judged: numbers and the marks of a table, our rows -> verdict.

With p a printed number, t its tolerance (one point or dimension, or the printed standard deviation
where that is larger), m our mean and u the half-width of its 95 % interval (0 on one split):

- **uninformative** when u > 2 t and the interval reaches p - t to p + t: ours could be anything;
- **reproduced** when abs(m - p) <= t and u <= t;
- **close** when abs(m - p) is at most 2 t, or t + u;
- **differs (higher)** or **differs (lower)** beyond;
- **not testable** where the paper prints no number, **not run** where ours is missing or partial,
  **not applicable** over re-splits where all points are embedded.

In a row of a table where always naming the largest class does as well as every method (none is
further above it than the glossary's `trivial`), nothing is reproduced or close: agreement there is
uninformative. Whether a difference flatters the paper's method or a rival is said in words.

A mark says whether an embedding keeps the classes apart, the hidden sub-classes, or both. Ours are
given by the medians over the repeats, from thresholds that the paper's file sets for every method
alike. A mark is **reproduced** when it is the printed one, and **differs** otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ddr_cli.comparison.names import (
    difference_text,
    is_rate,
    lower_is_better,
    method_name,
    number,
)
from ddr_cli.comparison.summary import Row, Summary, swept_columns
from ddr_cli.core.errors import InputError
from ddr_cli.data.cards import load_card
from ddr_cli.papers.glossary import glossary
from ddr_cli.papers.schema import (
    Artefact,
    Kept,
    Near,
    PrintedNumber,
    Selector,
    TableMark,
    Thresholds,
)
from ddr_cli.verdicts.rows import VIEWS, Lookup, NotApplicableError, UnansweredError, View

Verdict = Literal[
    "reproduced",
    "close",
    "differs (higher)",
    "differs (lower)",
    "differs",
    "uninformative",
    "not testable",
    "not run",
    "not applicable",
]

_EXACT = 1e-9  # A difference of 1.00 points is not above one point for a rounding error.


def _no_answer(error: UnansweredError) -> Verdict:
    return "not applicable" if isinstance(error, NotApplicableError) else "not run"


# -- numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on one printed number through one view, and the row that it rests on.

    `reason` says why there is no row, `note` whom a difference flatters, and what is trivial.
    """

    verdict: Verdict
    row: Row | None = None
    reason: str | None = None
    note: str = ""

    @property
    def setting(self) -> str:
        """The swept parameters of the row, such as ``β = 0.562``."""
        return "" if self.row is None else self.row.setting


@dataclass(frozen=True)
class NumberResult:
    """A printed number and what became of it, in the paper's own setting and over re-splits."""

    entry: PrintedNumber
    own: NumberVerdict
    resplits: NumberVerdict

    @property
    def fit_seconds(self) -> float:
        """Our CPU seconds per fit, the mean over the splits; nan if there are none."""
        row = self.own.row or self.resplits.row
        return float("nan") if row is None else float(row.trials["fit_seconds"].mean())

    @property
    def method(self) -> str:
        """The reducer's name as shown."""
        row = self.own.row or self.resplits.row
        return method_name(self.entry.select.reducer) if row is None else row["reducer_label"]


def judge_numbers(
    artefact: Artefact, summaries: Mapping[str, Summary], method: str = ""
) -> tuple[NumberResult, ...]:
    """Return a result for each printed number of an artefact; `method` is the paper's own."""

    def judged(entry: PrintedNumber, view: View) -> NumberVerdict:
        rows = Lookup(summaries, artefact.specs[0], view, entry.metric, artefact.resplits)
        try:
            row = rows.row(entry.select)
        except UnansweredError as error:
            return NumberVerdict(_no_answer(error), reason=str(error))
        half = max(row["mean"] - row["mean_low"], row["mean_high"] - row["mean"])
        uncertainty = 0.0 if np.isnan(half) else float(half)
        verdict = verdict_on(float(row["mean"]), uncertainty, entry)
        return NumberVerdict(verdict, row, note=_flattered(entry, row, verdict, method))

    found = [[judged(entry, view) for entry in artefact.printed] for view in VIEWS]
    own, over = (_without_trivial(artefact.printed, verdicts) for verdicts in found)
    return tuple(map(NumberResult, artefact.printed, own, over))


def tolerance_of(entry: PrintedNumber) -> float:
    """Return how far ours may be from a printed number that it reproduces."""
    rule = glossary().numbers
    least = rule.rate_tolerance if is_rate(entry.metric) else rule.dimension_tolerance
    return max(least, entry.sd.value if entry.sd is not None else 0.0)


def verdict_on(mean: float, uncertainty: float, entry: PrintedNumber) -> Verdict:
    """Return the verdict on a mean of ours, and its uncertainty, beside a printed number."""
    if entry.value is None:
        return "not testable"
    tolerance = tolerance_of(entry) + _EXACT
    difference = mean - entry.value.value
    apart = abs(difference)
    if uncertainty > 2 * tolerance and apart <= tolerance + uncertainty:
        return "uninformative"
    if apart <= tolerance and uncertainty <= tolerance:
        return "reproduced"
    if apart <= max(2 * tolerance, tolerance + uncertainty):
        return "close"
    return "differs (higher)" if difference > 0 else "differs (lower)"


def _flattered(entry: PrintedNumber, row: Row, verdict: Verdict, method: str) -> str:
    """Return in words whom the difference from a printed number flatters."""
    if entry.value is None or verdict == "reproduced" or not method or not is_rate(entry.metric):
        return ""
    difference = float(row["mean"]) - entry.value.value
    whose = "the paper's method" if entry.select.reducer == method else "a rival"
    if entry.select.reducer == "none":
        whose = "no reduction"
    flatters = (difference < 0) == lower_is_better(entry.metric)
    apart = difference_text(abs(difference), entry.metric).lstrip("+")
    return f"{apart} {'in favour of' if flatters else 'against'} {whose}"


def _without_trivial(
    entries: Sequence[PrintedNumber], verdicts: Sequence[NumberVerdict]
) -> list[NumberVerdict]:
    """Return the verdicts with what agrees taken back in rows where one class does as well."""
    groups: dict[tuple[str | None, str | None], list[int]] = {}
    for place, entry in enumerate(entries):
        if entry.row is not None and entry.metric in ("accuracy", "error"):
            groups.setdefault((entry.row, entry.reading), []).append(place)
    found = list(verdicts)
    for places in groups.values():
        rows = [row for place in places if (row := verdicts[place].row) is not None]
        share = _largest_share(rows[0].summary) if rows else None
        if share is None:
            continue
        metric = rows[0]["metric"]
        best = max(1 - row["mean"] if metric == "error" else row["mean"] for row in rows)
        level = 1 - share if metric == "error" else share
        naming = f"always naming the largest class gives {number(level, metric)}"
        for place in places:
            each = verdicts[place]
            if each.row is None:
                continue
            if best <= share + glossary().numbers.trivial + _EXACT:
                taken = each.verdict in ("reproduced", "close")
                words = f"{naming}, as much as any method of the row"
                found[place] = replace(
                    each,
                    verdict="uninformative" if taken else each.verdict,
                    note="; ".join(filter(None, [each.note, words, _constant(each.row)])),
                )
    return found


def _constant(row: Row) -> str:
    return "a constant answer" if row["n"] > 1 and row["sd"] < _EXACT else ""


def _largest_share(summary: Summary) -> float | None:
    """Return the share of the largest class, None where the card does not count the classes."""
    try:
        classes = load_card(summary.run.spec.dataset.name).expect.classes
    except InputError:
        return None
    return max(classes.values()) / sum(classes.values()) if classes else None


@dataclass(frozen=True)
class QuotedNumber:
    """A number that a paper quotes, as a star in a figure beside the row of ours that answers it.

    `value` is in the metric's unit, `text` as shown (``paper: 8.6 %``); `at` is where along the
    swept parameter the paper says it is, None where the row is.
    """

    row: int
    value: float
    text: str
    at: float | None = None


def quoted_numbers(results: Sequence[NumberResult], summary: Summary) -> list[QuotedNumber]:
    """Return the stars of one run's figure, beside every row that a number is compared with."""
    found = []
    swept = swept_columns(summary.run)
    for result in results:
        quantity = result.entry.value
        if quantity is None:
            continue
        places = [value for name, value in result.entry.select.params.items() if name in swept]
        at = places[0].near if places and isinstance(places[0], Near) else None
        value = quantity.value
        text = f"{100 * value:.3g} %" if is_rate(result.entry.metric) else f"{value:g}"
        found += [
            QuotedNumber(row.index, value, f"paper: {text}", at)
            for row in (result.own.row, result.resplits.row)
            if row is not None and row.summary is summary
        ]
    return list(dict.fromkeys(found))


# -- marks ----------------------------------------------------------------------------------------

# The measure that gives each metric of the thresholds.
_MEASURES = {
    "separability": "separability",
    "silhouette": "subclass_silhouette",
    "subclass_accuracy": "subclass_accuracy",
}
MEDIAN_NAMES = {
    "separability": "accuracy kept",
    "silhouette": "silhouette",
    "subclass_accuracy": "sub-class accuracy",
}


@dataclass(frozen=True)
class MarkVerdict:
    """Our mark through one view, with the medians over `n` repeats that it rests on."""

    verdict: Verdict
    kept: Kept | None = None
    medians: Mapping[str, float] | None = None
    n: int = 0
    reason: str | None = None

    @property
    def detail(self) -> str:
        """The medians as text, or why there are none."""
        if self.medians is None:
            return self.reason or "–"
        return ", ".join(
            f"{MEDIAN_NAMES[name]} {number(value, name)}" for name, value in self.medians.items()
        )


@dataclass(frozen=True)
class MarkResult:
    """A printed mark and what became of it."""

    entry: TableMark
    own: MarkVerdict
    resplits: MarkVerdict


def judge_marks(artefact: Artefact, summaries: Mapping[str, Summary]) -> tuple[MarkResult, ...]:
    """Return a result for each mark of an artefact."""
    thresholds = artefact.thresholds
    if thresholds is None:
        return ()

    def judged(entry: TableMark, view: View) -> MarkVerdict:
        medians: dict[str, float] = {}
        n = 0
        try:
            for metric, measure in _MEASURES.items():
                selector = Selector(**entry.select.model_dump(), classifier=measure)
                row = Lookup(summaries, artefact.specs[0], view, metric).row(selector)
                medians[metric], n = float(row.values.median()), len(row.values)
        except UnansweredError as error:
            return MarkVerdict(_no_answer(error), reason=str(error))
        kept = _kept(medians, thresholds)
        return MarkVerdict(_mark_verdict(kept, entry.printed), kept, medians, n)

    return tuple(
        MarkResult(entry, judged(entry, "own"), judged(entry, "resplits"))
        for entry in artefact.marks
    )


def _kept(medians: Mapping[str, float], thresholds: Thresholds) -> Kept:
    separable = medians["separability"] >= thresholds.separability
    multimodal = (
        medians["silhouette"] >= thresholds.silhouette
        or medians["subclass_accuracy"] >= thresholds.subclass_accuracy
    )
    if separable:
        return "both" if multimodal else "separable"
    return "multimodal" if multimodal else "neither"


def _mark_verdict(ours: Kept, printed: Kept | None) -> Verdict:
    if printed is None:
        return "not testable"
    return "reproduced" if ours == printed else "differs"


# -- training times, as ratios: machines differ, ratios less so -----------------------------------


@dataclass(frozen=True)
class TimeRatio:
    """The time of one method as a multiple of another's, as printed and ours; nan if unknown."""

    other: str
    printed: float
    ours: float


def time_ratios(results: Sequence[NumberResult]) -> dict[str, TimeRatio]:
    """Return the times of an artefact's numbers that are compared with another, by their ids."""
    timed = [(each.entry.seconds, each) for each in results if each.entry.seconds]
    ratios = {}
    for seconds, result in timed:
        if seconds.than is None:
            continue
        theirs, other = next(item for item in timed if item[1].entry.select == seconds.than)
        ratios[result.entry.id] = TimeRatio(
            other.method,
            _ratio(seconds.value, theirs.value),
            _ratio(result.fit_seconds, other.fit_seconds),
        )
    return ratios


def _ratio(first: float, second: float) -> float:
    return first / second if second > 0 else float("nan")
