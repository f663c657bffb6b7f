"""Judges the claims of a paper: rows -> predicate of each sub-claim -> verdict on the claim.

Each sub-claim is judged twice. In the paper's own split or setting the means decide. Over repeated
random splits, a sub-claim holds if every value of the 95 % interval meets its predicate, and it is
undecided if the mean meets it but the interval does not. A claim holds if all its sub-claims hold.
Over re-splits its p-value is the largest p-value of its sub-claims (one minus the level of the
widest interval that still meets them), and Holm's correction over the counted claims of a paper
applies: a claim that holds alone, but not with the correction, is undecided.
`ddr_cli.papers.predicates` has the predicates; the glossary has the thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from ddr_cli.comparison.summary import MEAN_LEVEL, Summary
from ddr_cli.evaluation.statistics import holm
from ddr_cli.papers.lookup import VIEWS, EntryT, Judged, Lookup, View, family_of
from ddr_cli.papers.part_view import PartView
from ddr_cli.papers.questions import EXACT, UnansweredError
from ddr_cli.papers.schema import Claim, Paper, Part, glossary

ClaimVerdict = Literal["holds", "fails", "undecided", "not run", "not applicable"]

DECIDED = ("holds", "fails", "undecided")
"""The verdicts that our results give."""

_ALPHA = 1 - MEAN_LEVEL


@dataclass(frozen=True)
class ClaimFinding:
    """Whether something holds in one view, and the numbers that show it.

    `p` is nan if there is no interval. `alone` means that it holds at 95 % without correction.
    """

    verdict: ClaimVerdict
    detail: str
    p: float = float("nan")
    alone: bool = False


@dataclass(frozen=True)
class _Tested(Judged[EntryT, ClaimFinding]):
    """A claim or a sub-claim, and its verdicts.

    `same_splits` means that the paper's setting is itself repeated random splits: both views then
    use the same numbers, and only the second uses the interval.
    """

    same_splits: bool

    @property
    def differs(self) -> bool:
        """Whether both views decide and disagree."""
        verdicts = {self.own.verdict, self.resplits.verdict}
        return len(verdicts) == 2 and verdicts <= set(DECIDED)


@dataclass(frozen=True)
class PartResult(_Tested[Part]):
    """A sub-claim; `threshold` states if it was fixed before or after the result, or not run."""

    threshold: str


@dataclass(frozen=True)
class ClaimResult(_Tested[Claim]):
    """A claim with its sub-claims."""

    parts: tuple[PartResult, ...]


def judge_claims(paper: Paper, summaries: Mapping[str, Summary]) -> tuple[ClaimResult, ...]:
    """Return the result of each claim of a paper, with Holm's correction over re-splits."""
    found = [judge_claim(claim, paper, summaries) for claim in paper.claims]
    p_values = [
        each.resplits.p
        if each.entry.is_counted("resplits") and each.resplits.verdict in DECIDED
        else np.nan
        for each in found
    ]
    for place, adjusted in enumerate(holm(p_values)):
        over = found[place].resplits
        if over.verdict == "holds" and adjusted > _ALPHA:
            words = (
                f"{over.detail}; Holm's correction for {np.isfinite(p_values).sum()} claims "
                'changes the verdict from "holds" to "undecided"'
            )
            corrected = replace(over, verdict="undecided", detail=words, alone=True)
            found[place] = replace(found[place], resplits=corrected)
    return tuple(found)


def judge_claim(claim: Claim, paper: Paper, summaries: Mapping[str, Summary]) -> ClaimResult:
    """Return the result of a claim alone."""
    parts = tuple(_judge_part(part, paper, summaries) for part in claim.parts)
    own, over = (
        _together([(e.entry.what, e.through(view)) for e in parts if e.entry.is_counted(view)])
        for view in VIEWS
    )
    return ClaimResult(claim, own, over, all(each.same_splits for each in parts), parts)


def _together(parts: Sequence[tuple[str, ClaimFinding]]) -> ClaimFinding:
    """Return the finding on a claim, given the topic of each sub-claim and the finding on it."""
    findings = [finding for _, finding in parts]
    if len(findings) == 1:
        return findings[0]
    if not findings:
        return ClaimFinding("not applicable", "we used every sub-claim to choose an interpretation")
    order: list[ClaimVerdict] = ["fails", "not run", "not applicable", "undecided", "holds"]
    verdict = min((each.verdict for each in findings), key=order.index)
    if verdict not in DECIDED:
        return next(each for each in findings if each.verdict == verdict)
    others = [f"{what} ({each.verdict})" for what, each in parts if each.verdict != "holds"]
    words = f"{len(findings) - len(others)} of {len(findings)} sub-claims hold"
    if others:
        words += f"; the others: {', '.join(others)}"
    p = max((each.p for each in findings), key=lambda p: np.inf if np.isnan(p) else p)
    return ClaimFinding(verdict, words, p)


def _judge_part(part: Part, paper: Paper, summaries: Mapping[str, Summary]) -> PartResult:
    artefact = paper.artefact(part.artefact)
    default = artefact.specs[0]

    def finding(view: View) -> ClaimFinding:
        rows = Lookup(summaries, default, view, part.metric, artefact.resplits)
        try:
            found = part.predicate(PartView(rows, part.select, part.selectors[-1], part.along))
        except UnansweredError as error:
            return ClaimFinding(error.verdict, str(error))
        if not found.holds:
            # Holm's correction also counts claims that fail, with the largest p-value.
            return ClaimFinding("fails", found.detail, float("nan") if view == "own" else 1.0)
        open_ = view == "resplits" and found.p > _ALPHA + EXACT
        return ClaimFinding("undecided" if open_ else "holds", found.detail, found.p)

    specs = {meant.spec or default for meant in part.selectors}
    runs = [summaries[name].run for name in specs if name in summaries]
    same_splits = bool(runs) and all(
        family_of(run, "own") == family_of(run, "resplits") for run in runs
    )
    times = [time for name in specs if name in summaries for time in _seen(summaries[name])]
    threshold = "before" if times and part.fixed < min(times) else "after"
    own, over = finding("own"), finding("resplits")
    return PartResult(part, own, over, same_splits, threshold if times else "not run")


def _seen(summary: Summary) -> Iterator[datetime]:
    """Yield the times from which results of a run could be seen."""
    for session in summary.run.manifest.sessions:
        if session.started:
            yield datetime.fromisoformat(session.started)
    if (known := glossary().seen.get(summary.run.name)) is not None:
        yield known
