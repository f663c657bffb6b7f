"""What a paper prints judged: numbers and the marks of a table, our rows -> verdict.

With p a printed number (and its standard deviation, where printed) and m the mean of ours:
**reproduced** when they differ by at most one percentage point or the printed standard deviation,
whichever is larger; **better** or **worse** beyond that, in the direction of the metric, and
**differs** where it has none; **unverifiable** where the paper prints no number; **not run** where
ours is missing or partial; **not applicable** over re-splits where all points are embedded.

A mark says whether an embedding keeps the classes apart, the hidden sub-classes, or both. Ours are
given by the medians over the repeats, from thresholds that the paper's file sets for every method
alike. A mark is **reproduced** when it is the printed one; **better** when it keeps all that the
printed one keeps and more; **worse** when something is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ddr_cli.comparison.names import is_rate, lower_is_better, method_name, number
from ddr_cli.comparison.summary import Row, Summary, swept_columns
from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.papers.schema import (
    Artefact,
    Kept,
    Near,
    PrintedNumber,
    Selector,
    TableMark,
    Thresholds,
)
from ddr_cli.verdicts.rows import Lookup, NotApplicableError, UnansweredError, View

Verdict = Literal[
    "reproduced", "better", "worse", "differs", "unverifiable", "not run", "not applicable"
]

RATE_TOLERANCE = 0.01
"""How far a rate may be off the printed one: one percentage point."""

_EXACT = 1e-9  # A difference of 1.00 points is not above one point for a rounding error.


def _no_answer(error: UnansweredError) -> Verdict:
    return "not applicable" if isinstance(error, NotApplicableError) else "not run"


# -- numbers --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NumberVerdict:
    """The verdict on one printed number through one view, and the row that it rests on."""

    verdict: Verdict
    row: Row | None = None
    reason: str | None = None

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


def judge_numbers(artefact: Artefact, summaries: Mapping[str, Summary]) -> tuple[NumberResult, ...]:
    """Return a result for each printed number of an artefact."""

    def judged(entry: PrintedNumber, view: View) -> NumberVerdict:
        rows = Lookup(summaries, artefact.specs[0], view, entry.metric)
        try:
            row = rows.row(entry.select)
        except UnansweredError as error:
            return NumberVerdict(_no_answer(error), reason=str(error))
        return NumberVerdict(verdict_on(float(row["mean"]), entry), row)

    return tuple(
        NumberResult(entry, judged(entry, "own"), judged(entry, "resplits"))
        for entry in artefact.printed
    )


def verdict_on(mean: float, entry: PrintedNumber) -> Verdict:
    """Return the verdict on a mean of ours beside a printed number."""
    if entry.value is None:
        return "unverifiable"
    tolerance = entry.tolerance or max(
        RATE_TOLERANCE, entry.sd.value if entry.sd is not None else 0.0
    )
    difference = mean - entry.value.value
    if abs(difference) <= tolerance + _EXACT:
        return "reproduced"
    if get_scale(entry.metric).better is None:
        return "differs"
    return "better" if (difference < 0) == lower_is_better(entry.metric) else "worse"


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
    """Return the stars of one run's figure, which stand in the panel of the paper's own split."""
    found = []
    swept = swept_columns(summary.run)
    for result in results:
        row, quantity = result.own.row, result.entry.value
        if row is None or row.summary is not summary or quantity is None:
            continue
        places = [value for name, value in result.entry.select.params.items() if name in swept]
        at = places[0].near if places and isinstance(places[0], Near) else None
        value = quantity.value
        text = f"{100 * value:.3g} %" if is_rate(result.entry.metric) else f"{value:g}"
        found.append(QuotedNumber(row.index, value, f"paper: {text}", at))
    return found


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
_PROPERTIES: Mapping[Kept, frozenset[str]] = {
    "both": frozenset({"separable", "multimodal"}),
    "separable": frozenset({"separable"}),
    "multimodal": frozenset({"multimodal"}),
    "neither": frozenset(),
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
        return "unverifiable"
    if ours == printed:
        return "reproduced"
    return "better" if _PROPERTIES[ours] > _PROPERTIES[printed] else "worse"


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
