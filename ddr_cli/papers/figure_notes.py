"""What the papers print about one run, and the verdicts on it, in words that fit into a figure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ddr_cli.comparison.names import is_rate
from ddr_cli.comparison.summary import Summary, swept_columns
from ddr_cli.figures.picture import Notes, QuotedNumber
from ddr_cli.papers.claims import ClaimResult
from ddr_cli.papers.lookup import VIEWS, View
from ddr_cli.papers.marks import MarkResult, judge_marks
from ddr_cli.papers.numbers import NumberResult, judge_numbers
from ddr_cli.papers.questions import Near
from ddr_cli.papers.schema import Kept, Paper, load_paper, papers_naming

_KEPT: dict[Kept, str] = {
    "both": "classes and parts",
    "separable": "classes alone",
    "multimodal": "parts alone",
    "neither": "neither",
}
_NO_VERDICT = ("not testable", "not run", "not applicable")


def notes_on(summary: Summary, claims: Mapping[str, Sequence[ClaimResult]] | None = None) -> Notes:
    """Return what the papers print about one run.

    Verdicts on claims rest on all runs of a paper; `claims` has them by the paper's name.
    """
    name = summary.run.name
    quoted: list[QuotedNumber] = []
    numbers: list[NumberResult] = []
    marks: list[MarkResult] = []
    judged: list[ClaimResult] = []
    shared: list[ClaimResult] = []
    for of_paper in papers_naming(name):
        paper = load_paper(of_paper)
        for artefact in paper.artefacts:
            if name in artefact.specs:
                found = judge_numbers(artefact, {name: summary})
                quoted += quoted_numbers(found, summary)
                numbers += found
                marks += judge_marks(artefact, {name: summary})
        for each in (claims or {}).get(of_paper, ()):
            if name in (runs := _runs_of(paper, each)):
                (judged if len(runs) == 1 else shared).append(each)
    parts = [
        _count("printed number", "reproduced", numbers),
        _count("mark", "reproduced", marks),
        _count("claim", "holds", judged),
        _count("claim", "holds", shared, " on several runs"),
    ]
    text = "; ".join(text for text, _ in parts if text)
    return Notes(
        tuple(dict.fromkeys(quoted)),
        {each.entry.row: _mark_text(each) for each in marks if _judged(each)},
        _with_remark(text, sum(used for _, used in parts)),
    )


def quoted_numbers(results: Sequence[NumberResult], summary: Summary) -> list[QuotedNumber]:
    """Return the stars of one run's figure, next to every row that a number is compared with."""
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


def _runs_of(paper: Paper, result: ClaimResult) -> set[str]:
    """Return the specs that the verdict on a claim rests on."""
    first = {artefact.id: artefact.specs[0] for artefact in paper.artefacts}
    return {
        select.spec or first[part.artefact]
        for part in result.entry.parts
        if part.reading is None
        for select in part.selectors
    }


def _judged(result: Any) -> bool:
    return result.own.verdict not in _NO_VERDICT


def _mark_text(result: MarkResult) -> str:
    printed, own = result.entry.printed, result.own.kept
    words = [f"{_KEPT[kept]} ({who})" for kept, who in ((printed, "paper"), (own, "here")) if kept]
    return "kept: " + ", ".join(words)


def counted(noun: str, good: str, results: Sequence[Any]) -> str:
    """Return ``3 of 4 printed numbers reproduced, 2 over re-splits``, of those that count."""
    return _with_remark(*_count(noun, good, results))


def _with_remark(text: str, used: int) -> str:
    return f"{text} ({used} more used to choose a reading)" if used else text


def _count(noun: str, good: str, results: Sequence[Any], which: str = "") -> tuple[str, int]:
    """Return the verdicts on what counts, and how many more were used to choose a reading."""
    entries = [each for each in results if not each.entry.reading and not each.entry.same_as]
    used = [each for each in entries if each.entry.calibration and _judged(each)]
    own, over = (_counted_verdicts(entries, view) for view in VIEWS)
    first = own or over or [each.own.verdict for each in used]
    if not first:
        return "", 0
    text = f"{first.count(good)} of {len(first)} {noun}s{which} "
    text += "hold" if good == "holds" else good
    if len(first) == 1:
        text = f"the {noun}{which} {_words(noun, first[0])}"
    if not own and not over:
        return f"{text}, used to choose a reading", 0
    return text + _beside(good, own, over), len(used)


def _beside(good: str, own: list[str], over: list[str]) -> str:
    """Return what the re-splits say otherwise, or else how many are close."""
    first = own or over
    if own and over and Counter(own) != Counter(over):
        one = len(own) == 1
        return f", over re-splits {over[0]}" if one else f", {over.count(good)} over re-splits"
    return f", {first.count('close')} close" if len(first) > 1 and "close" in first else ""


def _counted_verdicts(entries: Sequence[Any], view: View) -> list[str]:
    verdicts = [each.through(view).verdict for each in entries if each.entry.is_counted(view)]
    return [verdict for verdict in verdicts if verdict not in _NO_VERDICT]


def _words(noun: str, verdict: str) -> str:
    if noun == "claim":
        return f"is {verdict}" if verdict == "undecided" else verdict
    return verdict if verdict.startswith("differs") else f"is {verdict}"
