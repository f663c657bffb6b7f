"""The numbers and ratings that the papers print for one run, for its figure."""

from __future__ import annotations

from collections.abc import Sequence

from ddr_cli.comparison.names import is_rate
from ddr_cli.comparison.summary import Summary, swept_columns
from ddr_cli.papers.marks import MarkResult, judge_marks
from ddr_cli.papers.numbers import NumberResult, judge_numbers
from ddr_cli.papers.questions import Near
from ddr_cli.papers.schema import Kept, load_paper, papers_naming
from ddr_cli.report.notes import Notes, QuotedNumber

_KEPT: dict[Kept, str] = {
    "both": "classes and sub-classes",
    "separable": "only classes",
    "multimodal": "only sub-classes",
    "neither": "neither",
}
_NO_VERDICT = ("not testable", "not run", "not applicable")


def notes_on(summary: Summary) -> Notes:
    """Return the numbers and ratings that the papers print for one run."""
    name = summary.run.name
    quoted: list[QuotedNumber] = []
    marks: list[MarkResult] = []
    for of_paper in papers_naming(name):
        for artefact in load_paper(of_paper).artefacts:
            if name in artefact.specs:
                quoted += quoted_numbers(judge_numbers(artefact, {name: summary}), summary)
                marks += judge_marks(artefact, {name: summary})
    texts = {
        each.entry.row: _mark_text(each) for each in marks if each.own.verdict not in _NO_VERDICT
    }
    return Notes(tuple(dict.fromkeys(quoted)), texts)


def quoted_numbers(results: Sequence[NumberResult], summary: Summary) -> list[QuotedNumber]:
    """Return the stars of one run's figure, next to every row with which a number is compared."""
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


def _mark_text(result: MarkResult) -> str:
    printed, own = result.entry.printed, result.own.kept
    words = [f"{_KEPT[kept]} ({who})" for kept, who in ((printed, "paper"), (own, "here")) if kept]
    return "kept apart: " + ", ".join(words)
