"""The papers' verdicts in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd
from rich.text import Text

from ddr_cli.papers.assess import Assessment, PaperResult
from ddr_cli.papers.cells import described, ours_text, printed_text, verdict_text
from ddr_cli.papers.rows import VIEWS, Judged, View
from ddr_cli.report.table import Table

_COLOURS = {
    **dict.fromkeys(("reproduced", "holds"), "green"),
    **dict.fromkeys(("differs (higher)", "differs (lower)", "differs", "fails"), "red"),
    **dict.fromkeys(("undecided", "close", "uninformative", "not testable"), "yellow"),
    **dict.fromkeys(("not run", "not applicable"), "dim"),
}


def count_tables(assessment: Assessment) -> Iterable[Table]:
    """Yield how often each verdict was given: in the paper's own setting / over re-splits."""
    for counts in assessment.counts():
        frame = pd.DataFrame({"": counts.verdicts})
        for paper, found in counts.rows:
            frame[paper.paper.short] = [f"{own} / {over}" for own, over in found]
        title = f"{counts.kind.capitalize()}: the paper's setting / re-splits"
        yield Table(frame, title)


def paper_tables(result: PaperResult) -> Iterable[Table]:
    """Yield the verdicts on what a paper prints and on its claims, where there are results."""
    what = result.paper.short
    rows: list[tuple[Any, ...]] = []
    for item in result.artefacts:
        where = item.artefact.where
        if item.not_testable:
            verdict = Text("not testable", _COLOURS["not testable"])
            rows.append((f"{where}: {item.artefact.title}", "no number", verdict, verdict))
        for each in item.numbers if item.summaries else ():
            views = [
                Text(f"{ours_text(each.through(view), each.entry.metric)}\n")
                + _coloured(each, view)
                for view in VIEWS
            ]
            rows.append((f"{where}: {described(item.artefact, each)}", printed_text(each), *views))
        for mark in item.marks if item.summaries else ():
            views = [
                Text(f"{mark.through(view).kept or mark.through(view).reason}\n")
                + _coloured(mark, view)
                for view in VIEWS
            ]
            rows.append((f"{where}: {mark.entry.id}", mark.entry.printed or "–", *views))
    if rows:
        states = [f"{item.artefact.where}: {item.state}" for item in result.artefacts if item.state]
        heads = ["", "printed", "ours, the paper's setting", "ours, re-splits"]
        frame = pd.DataFrame(rows, columns=heads)
        yield Table(frame, f"{what}: printed numbers", tuple(states), left=("printed",))
    rows = [
        (
            result.paper.artefact(claim.entry.artefact).where,
            " ".join(claim.entry.sentence.split()),
            *(_coloured(claim, view) for view in VIEWS),
        )
        for claim in result.claims
        if {claim.own.verdict, claim.resplits.verdict} != {"not run"}
    ]
    if rows:
        heads = ["", "the paper says", "the paper's setting", "re-splits"]
        yield Table(pd.DataFrame(rows, columns=heads), f"{what}: claims", left=tuple(heads))


def _coloured(result: Judged[Any, Any], view: View) -> Text:
    verdict = result.through(view).verdict
    colour = _COLOURS[verdict] if result.entry.is_counted(view) else "dim"
    return Text(verdict_text(result, view), colour)
