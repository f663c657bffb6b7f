"""Judges all runs of a results folder by the papers, and counts the verdicts."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from ddr_cli.comparison.runs import find_runs
from ddr_cli.comparison.summary import Summary, summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.core.progress import progress_bar
from ddr_cli.papers.claims import ClaimResult, ClaimVerdict, judge_claims
from ddr_cli.papers.lookup import VIEWS, Judged, View
from ddr_cli.papers.marks import MarkResult, judge_marks
from ddr_cli.papers.numbers import NumberResult, Verdict, judge_numbers
from ddr_cli.papers.other_readings import ReadingResult, judge_readings
from ddr_cli.papers.schema import Artefact, Paper, load_paper, paper_names

_ALWAYS_COUNTED = ("reproduced", "differs (higher)", "differs (lower)", "holds", "fails")
CALIBRATION = "calibration"
ALONE = "hold alone"
"""The number of claims that hold over re-splits without Holm's correction."""


_FEWEST_COMPARED = 6


@dataclass(frozen=True)
class ArtefactResult:
    """An artefact, its existing runs, and the verdicts on its printed numbers and ratings.

    `own` are the runs whose figure is shown here: several artefacts may use one run.
    """

    artefact: Artefact
    summaries: tuple[Summary, ...]
    numbers: tuple[NumberResult, ...]
    marks: tuple[MarkResult, ...] = ()
    own: tuple[Summary, ...] = ()

    @property
    def judged(self) -> tuple[NumberResult | MarkResult, ...]:
        """All numbers and ratings that the paper prints here."""
        return (*self.numbers, *self.marks)

    @property
    def compared(self) -> list[NumberResult]:
        """The numbers that the figure of differences shows; empty if there is no such figure.

        It needs several specs, and six numbers or more of one metric; no other interpretations.
        """
        shown = [
            each
            for each in self.numbers
            if not each.entry.reading and each.entry.value and each.row
        ]
        one_metric = len({each.entry.metric for each in shown}) == 1
        enough = len(shown) >= _FEWEST_COMPARED and len(self.artefact.specs) > 1
        has_rows = all(each.entry.row for each in shown)
        return shown if enough and one_metric and has_rows else []

    @property
    def missing(self) -> tuple[str, ...]:
        """The specs that have no results."""
        there = {summary.run.name for summary in self.summaries}
        return tuple(name for name in self.artefact.specs if name not in there)

    @property
    def state(self) -> str:
        """The state of the runs: empty if all are complete, else which are missing or partial."""
        runs = [summary.run for summary in self.summaries]
        parts = [f"{name} has no results" for name in self.missing]
        parts += [f"{r.name}: {r.progress}" for r in runs if not r.is_complete or r.failed]
        return "; ".join(parts)

    @property
    def has_results(self) -> bool:
        """Whether any run is complete."""
        return any(summary.run.is_complete for summary in self.summaries)

    @property
    def not_testable(self) -> bool:
        """Whether we have results for which the paper prints no number."""
        return self.has_results and not self.judged and self.artefact.kind != "readings"


@dataclass(frozen=True)
class PaperResult:
    """A paper with all its artefacts and claims evaluated."""

    paper: Paper
    artefacts: tuple[ArtefactResult, ...]
    claims: tuple[ClaimResult, ...]
    readings: tuple[ReadingResult, ...] = ()

    def counts(self, view: View) -> Counter[str]:
        """Return how often each verdict was given to a number or rating.

        A printed number counts once: repetitions of it, and other interpretations, are shown but
        not counted. Results that were used to choose an interpretation count as calibration.
        """
        found = _counted([each for result in self.artefacts for each in result.judged], view)
        found["not testable"] += sum(result.not_testable for result in self.artefacts)
        return +found

    def claim_counts(self, view: View) -> Counter[str]:
        """Return the same counts for the claims, and how many hold without Holm's correction."""
        found = _counted(self.claims, view)
        alone = sum(each.resplits.alone for each in self.claims)
        found[ALONE] = found["holds"] + (alone if view == "resplits" else 0)
        return +found


def _counted(results: Sequence[Judged[Any, Any]], view: View) -> Counter[str]:
    return Counter(
        each.through(view).verdict if entry.is_counted(view) else CALIBRATION
        for each in results
        if (entry := each.entry).is_counted(view)
        or (entry.calibration and not (entry.reading or entry.same_as))
    )


@dataclass(frozen=True)
class Assessment:
    """All papers with results, the runs without a paper, and why other runs can't be read."""

    papers: tuple[PaperResult, ...]
    others: tuple[Summary, ...]
    unread: tuple[str, ...] = ()

    @property
    def summaries(self) -> list[Summary]:
        """Every run once, by name."""
        items = [item.summaries for result in self.papers for item in result.artefacts]
        found = {each.run.name: each for each in itertools.chain(*items, self.others)}
        return [found[name] for name in sorted(found)]

    def counts(self) -> Iterator[pd.DataFrame]:
        """Yield the counts of the verdicts on printed numbers and ratings, then on claims.

        The index has the papers, and its name states which of the two is counted; the columns are
        the verdicts that occur, and the most common ones; a cell is the paper's setting /
        re-splits.
        """
        for kind, verdicts, count in (
            ("printed numbers and ratings", get_args(Verdict), PaperResult.counts),
            ("claims", get_args(ClaimVerdict), PaperResult.claim_counts),
        ):
            found = [[count(each, view) for view in VIEWS] for each in self.papers]
            given = set(_ALWAYS_COUNTED).union(*itertools.chain.from_iterable(found))
            shown = [name for name in (*verdicts, CALIBRATION, ALONE) if name in given]
            rows = [[f"{own[name]} / {over[name]}" for name in shown] for own, over in found]
            index = pd.Index([each.paper.short for each in self.papers], name=kind)
            yield pd.DataFrame(rows, index=index, columns=shown)


def assess(results: Path, paper: str | None = None) -> Assessment:
    """Judge a results folder, for one paper, or for all with the runs without a paper.

    A run that can't be read is left out, and the reason is kept. Raises an `InputError` if the
    folder holds no runs, none of them can be read, or `paper` is unknown or has none.
    """
    folders = find_runs(results)
    papers = [load_paper(name) for name in (paper_names() if paper is None else [paper])]
    specs = {spec for each in papers for artefact in each.artefacts for spec in artefact.specs}
    if paper is not None:
        folders = [folder for folder in folders if folder.name in specs]
    if not folders:
        first = papers[0].artefacts[0].specs[0]
        raise InputError(f"{results} has no runs of {paper}; start with 'ddr run {first}'.")
    summaries, unread = {}, []
    for folder in progress_bar(folders, "Runs"):
        try:
            summaries[folder.name] = summary_of(folder)
        except InputError as error:
            unread.append(str(error))
    if not summaries:
        raise InputError("\n".join(unread))
    assessed = [_assess_paper(each, summaries) for each in papers]
    return Assessment(
        tuple(each for each in assessed if any(item.summaries for item in each.artefacts)),
        tuple(summary for name, summary in summaries.items() if name not in specs),
        tuple(unread),
    )


def _assess_paper(paper: Paper, summaries: Mapping[str, Summary]) -> PaperResult:
    homes = {
        name: _home(paper, summary)
        for name, summary in summaries.items()
        if any(name in artefact.specs for artefact in paper.artefacts)
    }
    claims = judge_claims(paper, summaries)
    artefacts = tuple(
        ArtefactResult(
            artefact,
            tuple(summaries[name] for name in artefact.specs if name in summaries),
            tuple(
                replace(each, claims=_claims_about(each, artefact, paper, claims))
                for each in judge_numbers(artefact, summaries, paper.method)
            ),
            judge_marks(artefact, summaries),
            tuple(summaries[name] for name in artefact.specs if homes.get(name) == artefact.id),
        )
        for artefact in paper.artefacts
    )
    numbers = [(each.artefact, each.numbers) for each in artefacts]
    readings = judge_readings(paper, summaries, numbers, claims)
    return PaperResult(paper, artefacts, claims, readings)


def _claims_about(
    number: NumberResult, artefact: Artefact, paper: Paper, claims: Sequence[ClaimResult]
) -> tuple[ClaimResult, ...]:
    """Return the claims with a counted sub-claim about the row of a printed number."""
    spec = number.entry.select.spec or artefact.specs[0]
    return tuple(
        claim
        for claim in claims
        if any(
            (part.select.spec or paper.artefact(part.artefact).specs[0]) == spec
            and part.is_about(number.entry)
            for part in claim.entry.parts
            if not part.reading
        )
    )


def _home(paper: Paper, summary: Summary) -> str:
    """Return the artefact that shows a run's figure: figures before tables."""
    using = [artefact for artefact in paper.artefacts if summary.run.name in artefact.specs]
    drawn = [artefact for artefact in using if artefact.kind in ("curve", "embedding")]
    names = [artefact.id for artefact in drawn or using]
    said = summary.run.spec.paper
    return said.artefact if said is not None and said.artefact in names else names[0]
