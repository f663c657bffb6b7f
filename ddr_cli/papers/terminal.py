"""The papers' verdicts in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from ddr_cli.papers.assess import Assessment, PaperResult
from ddr_cli.papers.verdicts import both, with_n
from ddr_cli.papers.words import badge
from ddr_cli.show.page import Grid


def count_grids(assessment: Assessment) -> Iterator[Grid]:
    """Yield the counts of verdicts: in the paper's own setting / over re-splits."""
    for counts in assessment.counts():
        title = f"{str(counts.index.name).capitalize()}: the paper's setting / re-splits"
        yield Grid(counts.T.reset_index(names=""), title)


def paper_grids(result: PaperResult) -> Iterator[Grid]:
    """Yield the verdicts on a paper's printed numbers and claims, if there are results."""
    what, table = result.paper.short, result.verdicts
    where = {item.artefact.id: item.artefact.where for item in result.artefacts}
    with_runs = [item.artefact.id for item in result.artefacts if item.summaries]
    shown = table[table["kind"].isin(["numbers", "artefacts"]) & table["artefact"].isin(with_runs)]
    heads = ["the paper's setting", "re-splits"]
    if len(shown):
        rows = [
            (
                f"{where[pair[0].artefact]}: {pair[0].text}",
                pair[0].printed_mark or pair[0].printed,
                *(tuple(filter(str, (_ours(row), row.apart, badge(row)))) for row in pair),
            )
            for pair in both(shown)
        ]
        frame = pd.DataFrame(rows, columns=["", "printed", *(f"ours, {head}" for head in heads)])
        states = [f"{item.artefact.where}: {item.state}" for item in result.artefacts if item.state]
        yield Grid(frame, f"{what}: printed numbers", tuple(states), left=("printed",))
    rows = [
        (where[own.artefact], own.text, badge(own), badge(over))
        for own, over in both(result.of("claims"))
        if {own.verdict, over.verdict} != {"not run"}
    ]
    if rows:
        heads = ["", "claim", *heads]
        yield Grid(pd.DataFrame(rows, columns=heads), f"{what}: claims", left=tuple(heads))


def _ours(row: Any) -> str:
    return with_n(row) if row.metric else str(row.mark or row.note)
