"""The claims of a paper judged: rows -> test of each part -> verdict on the sentence.

A part is looked at twice. In the paper's own split or setting the means decide. Over repeated
random splits a part holds when every value of the 95 % interval meets its predicate, whatever its
kind, and is undecided when the mean does and the interval does not. A sentence holds when all its
parts do. Over re-splits its p-value is the largest of its parts' (the level of the widest interval
that still meets them), and Holm's correction over the counted claims of a paper applies: a sentence
that holds alone, but not with it, is undecided. What each predicate means stands in
`ddr_cli.papers.predicates`; the thresholds, in the papers' glossary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

import numpy as np

from ddr_cli.comparison.summary import MEAN_LEVEL, Summary
from ddr_cli.papers.glossary import glossary
from ddr_cli.papers.schema import Claim, Paper, Part
from ddr_cli.verdicts.parts import EXACT, TESTS, PartView
from ddr_cli.verdicts.rows import (
    Lookup,
    NotApplicableError,
    UnansweredError,
    View,
    family_of,
)

ClaimVerdict = Literal["holds", "fails", "undecided", "not run", "not applicable"]

DECIDED = ("holds", "fails", "undecided")
"""The verdicts that our results give."""

_ALPHA = 1 - MEAN_LEVEL


@dataclass(frozen=True)
class Finding:
    """Whether something holds through one view, with the numbers that say so.

    `p` is nan where there is no interval. With `alone` it holds at 95 % by itself.
    """

    verdict: ClaimVerdict
    detail: str
    p: float = float("nan")
    alone: bool = False


@dataclass(frozen=True)
class _Judged:
    own: Finding
    resplits: Finding
    same_splits: bool

    @property
    def differs(self) -> bool:
        """Whether both views decide and disagree."""
        verdicts = {self.own.verdict, self.resplits.verdict}
        return len(verdicts) == 2 and verdicts <= set(DECIDED)


@dataclass(frozen=True)
class PartResult(_Judged):
    """A part of a claim and what became of it, in the paper's own setting and over re-splits.

    With `same_splits` the paper's setting is itself repeated random splits: then both look at the
    same numbers, and only the second asks for the interval. `threshold` says whether the threshold
    was fixed before or after the result was seen.
    """

    part: Part
    threshold: Literal["before", "after", "not run"]


@dataclass(frozen=True)
class ClaimResult(_Judged):
    """A claim and what became of it, with its parts."""

    claim: Claim
    parts: tuple[PartResult, ...]


def judge_claims(paper: Paper, summaries: Mapping[str, Summary]) -> tuple[ClaimResult, ...]:
    """Return the result of each claim of a paper, corrected for their number."""
    return _corrected([judge_claim(claim, paper, summaries) for claim in paper.claims])


def judge_claim(claim: Claim, paper: Paper, summaries: Mapping[str, Summary]) -> ClaimResult:
    """Return the result of a claim alone."""
    parts = tuple(_judge_part(part, paper, summaries) for part in claim.parts)
    own, over = (
        _together([getattr(each, view) for each in parts if each.part.is_counted(view)])
        for view in ("own", "resplits")
    )
    return ClaimResult(own, over, all(each.same_splits for each in parts), claim, parts)


def _together(findings: Sequence[Finding]) -> Finding:
    """Return the finding on a sentence from those on its parts."""
    if len(findings) == 1:
        return findings[0]
    if not findings:
        return Finding("not applicable", "every part was looked at to choose a reading")
    order: list[ClaimVerdict] = ["fails", "not run", "not applicable", "undecided", "holds"]
    verdict = min((each.verdict for each in findings), key=order.index)
    if verdict not in DECIDED:
        return next(each for each in findings if each.verdict == verdict)
    holding = sum(each.verdict == "holds" for each in findings)
    p = max((each.p for each in findings), key=lambda p: np.inf if np.isnan(p) else p)
    return Finding(verdict, f"{holding} of {len(findings)} parts hold", p)


def _corrected(results: Sequence[ClaimResult]) -> tuple[ClaimResult, ...]:
    """Return the results with Holm's correction over the counted claims over re-splits."""
    found = list(results)
    decided = [
        place
        for place, each in enumerate(results)
        if each.claim.is_counted("resplits")
        and each.resplits.verdict in DECIDED
        and not np.isnan(each.resplits.p)
    ]
    adjusted = 0.0
    for rank, place in enumerate(sorted(decided, key=lambda each: results[each].resplits.p)):
        over = results[place].resplits
        adjusted = max(adjusted, (len(decided) - rank) * over.p)
        if over.verdict == "holds" and adjusted > _ALPHA:
            words = f"{over.detail}; holds alone, not beside the {len(decided)} claims (Holm)"
            found[place] = replace(
                found[place], resplits=replace(over, verdict="undecided", detail=words, alone=True)
            )
    return tuple(found)


def _judge_part(part: Part, paper: Paper, summaries: Mapping[str, Summary]) -> PartResult:
    artefact = paper.artefact(part.artefact)
    default = artefact.specs[0]

    def finding(view: View) -> Finding:
        rows = Lookup(summaries, default, view, part.metric, artefact.resplits)
        looked = PartView(part, rows)
        try:
            found = TESTS[type(part.predicate)](looked, part.predicate)
        except NotApplicableError as error:
            return Finding("not applicable", str(error))
        except UnansweredError as error:
            return Finding("not run", str(error))
        if not found.holds:
            # The worst there is: Holm's correction counts it among the others.
            return Finding("fails", found.detail, float("nan") if view == "own" else 1.0)
        open_ = view == "resplits" and found.p > _ALPHA + EXACT
        return Finding("undecided" if open_ else "holds", found.detail, found.p)

    specs = {meant.spec or default for meant in (part.select, part.than) if meant is not None}
    runs = [summaries[name].run for name in specs if name in summaries]
    same_splits = bool(runs) and all(
        family_of(run, "own") == family_of(run, "resplits") for run in runs
    )
    seen = [_first_seen(name, summaries) for name in specs]
    times = [time for time in seen if time is not None]
    threshold: Literal["before", "after", "not run"] = "not run"
    if times:
        threshold = "before" if part.fixed < min(times) else "after"
    return PartResult(finding("own"), finding("resplits"), same_splits, part, threshold)


def _first_seen(spec: str, summaries: Mapping[str, Summary]) -> datetime | None:
    """Return when a result of a spec could first be seen, None if there is none."""
    if spec not in summaries:
        return None
    sessions = summaries[spec].run.manifest.sessions
    started = [datetime.fromisoformat(session.started) for session in sessions if session.started]
    known = glossary().seen.get(spec)
    return min([*started, *([known] if known else [])], default=None)
