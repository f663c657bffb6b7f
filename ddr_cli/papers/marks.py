"""Judges the ratings in a paper's table: medians over the repeats -> our rating -> verdict.

A rating states whether an embedding separates the classes, keeps the hidden sub-classes apart, or
both. Our rating follows from the medians over the repeats, with thresholds in the paper's file that
are the same for every method. A rating is **reproduced** if ours is the printed one, and
**differs** otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ddr_cli.comparison.names import number
from ddr_cli.comparison.summary import Summary
from ddr_cli.papers.lookup import VIEWS, Judged, Lookup, View
from ddr_cli.papers.numbers import Verdict
from ddr_cli.papers.questions import Selector, UnansweredError
from ddr_cli.papers.schema import Artefact, Kept, TableMark, Thresholds

MEDIAN_NAMES = {
    "separability": "accuracy kept",
    "silhouette": "silhouette",
    "subclass_accuracy": "sub-class accuracy",
}
"""The metrics of the thresholds, as shown."""


@dataclass(frozen=True)
class MarkVerdict:
    """Our rating in one view, with the medians over `n` repeats behind it."""

    verdict: Verdict
    kept: Kept | None = None
    medians: Mapping[str, float] = field(default_factory=dict)
    n: int = 0
    reason: str | None = None

    @property
    def detail(self) -> str:
        """The medians as text, or why there are none."""
        medians = self.medians.items()
        found = ", ".join(f"{MEDIAN_NAMES[name]} {number(value, name)}" for name, value in medians)
        return found or self.reason or "–"


class MarkResult(Judged[TableMark, MarkVerdict]):
    """A printed rating and its verdicts."""


def judge_marks(artefact: Artefact, summaries: Mapping[str, Summary]) -> tuple[MarkResult, ...]:
    """Return a result for each rating of an artefact."""
    thresholds = artefact.thresholds
    if thresholds is None:
        return ()

    def judged(entry: TableMark, view: View) -> MarkVerdict:
        medians: dict[str, float] = {}
        n = 0
        try:
            for metric in MEDIAN_NAMES:
                measure = "subclass_silhouette" if metric == "silhouette" else metric
                selector = Selector(**entry.select.model_dump(), classifier=measure)
                row = Lookup(summaries, artefact.specs[0], view, metric).row(selector)
                medians[metric], n = float(row.values.median()), len(row.values)
        except UnansweredError as error:
            return MarkVerdict(error.verdict, reason=str(error))
        kept = _kept(medians, thresholds)
        verdict: Verdict = "reproduced" if kept == entry.printed else "differs"
        return MarkVerdict("not testable" if entry.printed is None else verdict, kept, medians, n)

    return tuple(
        MarkResult(entry, *(judged(entry, view) for view in VIEWS)) for entry in artefact.marks
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
