"""Tables of marks: whether an embedding keeps the classes apart, the hidden sub-classes, or both.

Ours are given by the medians over the repeats, from thresholds that the paper's file sets for every
method alike. A mark is **reproduced** when it is the printed one; **better** when it keeps all that
the printed one keeps and more; **worse** when something is lost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ddr_cli.papers.printed import PrintedMark, Sign, Thresholds
from ddr_cli.papers.schema import Artefact
from ddr_cli.papers.selectors import Selector
from ddr_cli.report.names import number
from ddr_cli.report.select import (
    OWN,
    RESPLITS,
    NoQuestionError,
    UnansweredError,
    View,
    single_row,
)
from ddr_cli.report.summary import Summary
from ddr_cli.report.verdicts import Verdict

# The measure that gives each metric of the thresholds.
_MEASURES = {
    "separability": "separability",
    "silhouette": "subclass_silhouette",
    "subclass_accuracy": "subclass_accuracy",
}
SHORT = {
    "separability": "accuracy kept",
    "silhouette": "silhouette",
    "subclass_accuracy": "sub-class accuracy",
}

SIGNS: Mapping[Sign, str] = {"both": "○", "separable": "△", "multimodal": "✕", "neither": "–"}
MEANINGS: Mapping[Sign, str] = {
    "both": "classes separate and the sub-classes are kept",
    "separable": "classes separate, sub-classes are lost",
    "multimodal": "sub-classes are kept, classes do not separate",
    "neither": "neither",
}
_KEEPS: Mapping[Sign, frozenset[str]] = {
    "both": frozenset({"separable", "multimodal"}),
    "separable": frozenset({"separable"}),
    "multimodal": frozenset({"multimodal"}),
    "neither": frozenset(),
}


@dataclass(frozen=True)
class JudgedMark:
    """Our mark through one view, with the medians that it rests on.

    Parameters
    ----------
    verdict : str
        As for numbers.
    sign : Sign or None
        Our mark.
    medians : mapping of str to float
        Of each metric of the thresholds.
    n : int
        The number of repeats.
    reason : str or None
        Why there is none.
    """

    verdict: Verdict
    sign: Sign | None = None
    medians: Mapping[str, float] | None = None
    n: int = 0
    reason: str | None = None

    @property
    def detail(self) -> str:
        """The medians as text, or why there are none."""
        if self.medians is None:
            return self.reason or "–"
        return ", ".join(
            f"{SHORT[name]} {number(value, name)}" for name, value in self.medians.items()
        )


@dataclass(frozen=True)
class MarkResult:
    """A printed mark and what became of it."""

    mark: PrintedMark
    own: JudgedMark
    resplits: JudgedMark


def judge_marks(artefact: Artefact, summaries: Mapping[str, Summary]) -> list[MarkResult]:
    """Return a result for each mark of an artefact."""
    thresholds = artefact.thresholds
    if thresholds is None:
        return []
    return [
        MarkResult(
            mark,
            _judged(artefact, mark, thresholds, summaries, OWN),
            _judged(artefact, mark, thresholds, summaries, RESPLITS),
        )
        for mark in artefact.marks
    ]


def sign_of(medians: Mapping[str, float], thresholds: Thresholds) -> Sign:
    """Return the mark that medians of the three metrics earn."""
    separable = medians["separability"] >= thresholds.separability
    multimodal = (
        medians["silhouette"] >= thresholds.silhouette
        or medians["subclass_accuracy"] >= thresholds.subclass_accuracy
    )
    if separable:
        return "both" if multimodal else "separable"
    return "multimodal" if multimodal else "neither"


def _judged(
    artefact: Artefact,
    mark: PrintedMark,
    thresholds: Thresholds,
    summaries: Mapping[str, Summary],
    view: View,
) -> JudgedMark:
    medians: dict[str, float] = {}
    n = 0
    try:
        for metric, measure in _MEASURES.items():
            selector = Selector(**mark.select.model_dump(), classifier=measure)
            row = single_row(summaries, artefact.specs[0], selector, view, metric)
            values = row.values()["value"]
            medians[metric], n = float(values.median()), len(values)
    except NoQuestionError as error:
        return JudgedMark("not applicable", reason=str(error))
    except UnansweredError as error:
        return JudgedMark("not run", reason=str(error))
    sign = sign_of(medians, thresholds)
    return JudgedMark(_verdict(sign, mark.printed), sign, medians, n)


def _verdict(ours: Sign, printed: Sign | None) -> Verdict:
    if printed is None:
        return "unverifiable"
    if ours == printed:
        return "reproduced"
    return "better" if _KEEPS[ours] > _KEEPS[printed] else "worse"
