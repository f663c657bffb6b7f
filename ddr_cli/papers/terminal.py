"""The papers' verdicts in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from ddr_cli.papers.assess import Assessment, PaperResult
from ddr_cli.papers.cells import (
    difference_cell,
    entry_text,
    kind_of,
    ours_text,
    printed_text,
    verdict_text,
)
from ddr_cli.papers.lookup import VIEWS, Judged, View
from ddr_cli.papers.marks import MarkResult
from ddr_cli.papers.numbers import NumberResult
from ddr_cli.report.table import Table
from ddr_cli.show.page import Badge, Look

_LOOKS: dict[str, Look] = {"agrees": "good", "near": "even", "differs": "bad", "untold": "dim"}


def count_tables(assessment: Assessment) -> Iterable[Table]:
    """Yield the counts of verdicts: in the paper's own setting / over re-splits."""
    for counts in assessment.counts():
        title = f"{str(counts.index.name).capitalize()}: the paper's setting / re-splits"
        yield Table(counts.T.reset_index(names=""), title)


def paper_tables(result: PaperResult) -> Iterable[Table]:
    """Yield the verdicts on a paper's printed numbers and claims, if there are results."""
    what = result.paper.short
    rows: list[tuple[Any, ...]] = []
    for item in result.artefacts:
        where = item.artefact.where
        if item.not_testable:
            verdict = Badge("not testable", "dim")
            rows.append((f"{where}: {item.artefact.title}", "no number", verdict, verdict))
        for each in item.judged if item.summaries else ():
            printed = printed_text(each)
            if isinstance(each, MarkResult):
                printed = each.entry.printed or "–"
            views = [(*_ours(each, view), _coloured(each, view)) for view in VIEWS]
            rows.append((f"{where}: {entry_text(item.artefact, each)}", printed, *views))
    if rows:
        states = [f"{item.artefact.where}: {item.state}" for item in result.artefacts if item.state]
        heads = ["", "printed", "ours, the paper's setting", "ours, re-splits"]
        frame = pd.DataFrame(rows, columns=heads)
        yield Table(frame, f"{what}: printed numbers", tuple(states), left=("printed",))
    rows = [
        (
            result.paper.artefact(claim.entry.artefact).where,
            claim.entry.sentence,
            *(_coloured(claim, view) for view in VIEWS),
        )
        for claim in result.claims
        if {claim.own.verdict, claim.resplits.verdict} != {"not run"}
    ]
    if rows:
        heads = ["", "claim", "the paper's setting", "re-splits"]
        yield Table(pd.DataFrame(rows, columns=heads), f"{what}: claims", left=tuple(heads))


def _ours(result: NumberResult | MarkResult, view: View) -> tuple[str, ...]:
    if isinstance(result, MarkResult):
        return (result.through(view).kept or result.through(view).reason or "",)
    verdict, metric = result.through(view), result.entry.metric
    apart = difference_cell(verdict, metric)
    return (ours_text(verdict, metric), apart) if apart else (ours_text(verdict, metric),)


def _coloured(result: Judged[Any, Any], view: View) -> Badge:
    verdict = result.through(view).verdict
    look = _LOOKS[kind_of(verdict)] if result.entry.is_counted(view) else "dim"
    return Badge(verdict_text(result, view), look)
