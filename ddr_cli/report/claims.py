"""Evaluate the claims of a paper over our own results.

A claim is looked at twice: on the paper's own split or setting, by the means, and over repeated
random splits. There, a claim about a difference (better, a gain, a rise) holds when the mean
difference is large enough *and* Nadeau and Bengio's corrected interval of the paired differences
lies above zero; with the first alone it is undecided. A claim about a level, a place or flatness is
decided by the means, with the interval beside it. The thresholds stand in the paper's file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from ddr_cli.papers.schema import Artefact, Claim
from ddr_cli.report.deciding import decide
from ddr_cli.report.question import Question
from ddr_cli.report.select import OWN, RESPLITS, NoQuestionError, UnansweredError, View
from ddr_cli.report.summary import Summary

ClaimVerdict = Literal["holds", "fails", "undecided", "not run", "not applicable"]


DECIDED = ("holds", "fails", "undecided")
"""The verdicts that our results give."""


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds through one view, with the numbers that say so."""

    verdict: ClaimVerdict
    detail: str


@dataclass(frozen=True)
class ClaimResult:
    """A claim and what became of it, in the paper's own setting and over re-splits.

    Parameters
    ----------
    claim : Claim
        What the paper says.
    own, resplits : Finding
        What the means say in the paper's setting, and what re-splits show.
    same_splits : bool
        Whether the paper's setting is itself repeated random splits: then both look at the same
        numbers, and only the second asks for the corrected interval.
    """

    claim: Claim
    own: Finding
    resplits: Finding
    same_splits: bool = False

    @property
    def differs(self) -> bool:
        """Whether both views decide and disagree."""
        verdicts = {self.own.verdict, self.resplits.verdict}
        return len(verdicts) == 2 and verdicts <= set(DECIDED)


def evaluate(claim: Claim, artefact: Artefact, summaries: Mapping[str, Summary]) -> ClaimResult:
    """Return the result of a claim."""
    summary = summaries.get(claim.select.spec or artefact.specs[0])
    return ClaimResult(
        claim,
        _finding(claim, artefact, summaries, OWN),
        _finding(claim, artefact, summaries, RESPLITS),
        summary is not None and OWN.family(summary.run) == RESPLITS.family(summary.run),
    )


def _finding(
    claim: Claim, artefact: Artefact, summaries: Mapping[str, Summary], view: View
) -> Finding:
    question = Question(claim, artefact.specs[0], summaries, view)
    try:
        holds, detail = decide(question, claim.predicate)
        by_means = holds or decide(replace(question, means_only=True), claim.predicate)[0]
    except NoQuestionError as error:
        return Finding("not applicable", str(error))
    except UnansweredError as error:
        return Finding("not run", str(error))
    return Finding("holds" if holds else "undecided" if by_means else "fails", detail)
