"""How often each verdict was given: per paper, in the paper's setting and over re-splits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ddr_cli.report.assess import Assessment, PaperResult
from ddr_cli.report.writing import to_markdown

COUNTS = "verdict_counts.md"

NUMBER_VERDICTS = (
    *("reproduced", "better", "worse", "differs"),
    *("unverifiable", "not run", "not applicable"),
)
CLAIM_VERDICTS = ("holds", "fails", "undecided", "not run", "not applicable")
_ALWAYS = ("reproduced", "better", "worse", "holds", "fails")


@dataclass(frozen=True)
class Counts:
    """The verdicts of all papers on one kind of thing.

    Parameters
    ----------
    kind : str
        "printed numbers and marks" or "claims".
    verdicts : tuple of str
        Those that occur, and the most common ones.
    rows : tuple of (PaperResult, tuple of (int, int))
        For each paper and verdict, how often in its own setting and over re-splits.
    """

    kind: str
    verdicts: tuple[str, ...]
    rows: tuple[tuple[PaperResult, tuple[tuple[int, int], ...]], ...]


def counts_of(assessment: Assessment) -> tuple[Counts, Counts]:
    """Return the counts for what is printed, and for the claims."""
    papers = assessment.papers
    numbers = [(each.counts("own"), each.counts("resplits")) for each in papers]
    claims = [(each.claim_counts("own"), each.claim_counts("resplits")) for each in papers]
    return (
        _counted("printed numbers and marks", NUMBER_VERDICTS, papers, numbers),
        _counted("claims", CLAIM_VERDICTS, papers, claims),
    )


def _counted(
    kind: str,
    verdicts: Sequence[str],
    papers: Sequence[PaperResult],
    counts: Sequence[tuple[Mapping[str, int], Mapping[str, int]]],
) -> Counts:
    shown = tuple(
        name
        for name in verdicts
        if name in _ALWAYS or any(name in view for views in counts for view in views)
    )
    rows = tuple(
        (paper, tuple((own.get(name, 0), over.get(name, 0)) for name in shown))
        for paper, (own, over) in zip(papers, counts, strict=True)
    )
    return Counts(kind, shown, rows)


def count_text(assessment: Assessment) -> str:
    """Return the counts as Markdown tables: in the paper's own setting / over re-splits."""
    parts = []
    for counts in counts_of(assessment):
        records = [
            {counts.kind: paper.paper.short}
            | {
                verdict: f"{own} / {over}"
                for verdict, (own, over) in zip(counts.verdicts, found, strict=True)
            }
            for paper, found in counts.rows
        ]
        if records:
            parts.append(to_markdown(pd.DataFrame(records)))
    return "\n".join(parts)
