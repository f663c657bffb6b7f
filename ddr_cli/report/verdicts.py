"""A verdict on every number that a paper prints.

With p printed (and its standard deviation, where printed) and m the mean of ours: **reproduced**
when they differ by at most one percentage point or the printed standard deviation, whichever is
larger; **better** or **worse** beyond that, in the direction of the metric, and **differs** where
it has none; **unverifiable** where the paper prints no number; **not run** where ours is missing or
partial; **not applicable** over re-splits where all points are embedded and there is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.papers.printed import Printed
from ddr_cli.papers.schema import Artefact
from ddr_cli.papers.selectors import Near
from ddr_cli.report.names import is_rate, lower_is_better
from ddr_cli.report.picture import Mark
from ddr_cli.report.select import (
    OWN,
    RESPLITS,
    NoQuestionError,
    Row,
    UnansweredError,
    View,
    single_row,
)
from ddr_cli.report.summary import Summary, swept_columns

Verdict = Literal[
    "reproduced", "better", "worse", "differs", "unverifiable", "not run", "not applicable"
]

RATE_TOLERANCE = 0.01
"""How far a rate may be off the printed one: one percentage point."""

_EXACT = 1e-9  # A difference of 1.00 points is not above one point for a rounding error.


@dataclass(frozen=True)
class Judged:
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

    printed: Printed
    own: Judged
    resplits: Judged


def judge(mean: float, printed: Printed) -> Verdict:
    """Return the verdict on a mean of ours beside a printed number."""
    if printed.value is None:
        return "unverifiable"
    tolerance = printed.tolerance or max(
        RATE_TOLERANCE, printed.sd.value if printed.sd is not None else 0.0
    )
    difference = mean - printed.value.value
    if abs(difference) <= tolerance + _EXACT:
        return "reproduced"
    if get_scale(printed.metric).better is None:
        return "differs"
    return "better" if (difference < 0) == lower_is_better(printed.metric) else "worse"


def judge_artefact(artefact: Artefact, summaries: Mapping[str, Summary]) -> list[NumberResult]:
    """Return a result for each printed number of an artefact."""
    return [
        NumberResult(
            printed,
            _judged(artefact, printed, summaries, OWN),
            _judged(artefact, printed, summaries, RESPLITS),
        )
        for printed in artefact.printed
    ]


def _judged(
    artefact: Artefact, printed: Printed, summaries: Mapping[str, Summary], view: View
) -> Judged:
    try:
        row = single_row(summaries, artefact.specs[0], printed.select, view, printed.metric)
    except NoQuestionError as error:
        return Judged("not applicable", reason=str(error))
    except UnansweredError as error:
        return Judged("not run", reason=str(error))
    return Judged(judge(float(row["mean"]), printed), row)


def marks_of(results: list[NumberResult], summary: Summary) -> list[Mark]:
    """Return the quoted numbers that belong into the figure of one run.

    They stand in the panel of the paper's own split.
    """
    marks = []
    swept = swept_columns(summary.run)
    for result in results:
        row, value = result.own.row, result.printed.value
        if row is None or row.summary is not summary or value is None:
            continue
        wanted = [value for name, value in result.printed.select.params.items() if name in swept]
        at = wanted[0].near if wanted and isinstance(wanted[0], Near) else None
        marks.append(Mark(row.index, value.value, _quoted(result.printed, value.value), at))
    return marks


def _quoted(printed: Printed, value: float) -> str:
    return f"paper: {100 * value:.3g} %" if is_rate(printed.metric) else f"paper: {value:g}"
