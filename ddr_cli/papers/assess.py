"""Judges all runs of a results folder by the papers: one table of verdicts per paper."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd

from ddr_cli.comparison.runs import find_runs
from ddr_cli.comparison.summary import Summary, summary_of
from ddr_cli.core.errors import InputError
from ddr_cli.core.progress import progress_bar
from ddr_cli.papers.claims import ClaimResult, judge_claims
from ddr_cli.papers.lookup import VIEWS
from ddr_cli.papers.marks import judge_marks
from ddr_cli.papers.numbers import NumberResult, judge_numbers
from ddr_cli.papers.other_readings import judge_readings
from ddr_cli.papers.reading_table import reading_table
from ddr_cli.papers.schema import Artefact, Paper, load_paper, paper_names
from ddr_cli.papers.tables import count_tables
from ddr_cli.papers.verdicts import claim_rows, mark_rows, number_rows, table_of

_FEWEST_COMPARED = 6


@dataclass(frozen=True)
class ArtefactRuns:
    """An artefact and its existing runs, with the results on its printed numbers for a figure.

    `own` are the runs whose figure is shown here: several artefacts may use one run.
    """

    artefact: Artefact
    summaries: tuple[Summary, ...]
    numbers: tuple[NumberResult, ...] = ()
    own: tuple[Summary, ...] = ()

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


@dataclass(frozen=True)
class PaperResult:
    """A paper with the runs of its artefacts, its verdicts, and the interpretations' verdicts."""

    paper: Paper
    artefacts: tuple[ArtefactRuns, ...]
    verdicts: pd.DataFrame
    readings: pd.DataFrame

    def of(self, kind: str, artefact: str = "") -> pd.DataFrame:
        """Return the verdicts of a kind, on one artefact or on all."""
        own = self.verdicts[self.verdicts["kind"] == kind]
        return own[own["artefact"] == artefact] if artefact else own


@dataclass(frozen=True)
class Assessment:
    """All papers with results, the runs without a paper, and why other runs can't be read."""

    papers: tuple[PaperResult, ...]
    others: tuple[Summary, ...]
    unread: tuple[str, ...] = ()

    @property
    def verdicts(self) -> pd.DataFrame:
        """The verdicts on all papers."""
        return pd.concat([table_of(()), *(each.verdicts for each in self.papers)])

    @property
    def summaries(self) -> list[Summary]:
        """Every run once, by name."""
        items = [item.summaries for result in self.papers for item in result.artefacts]
        found = {each.run.name: each for each in itertools.chain(*items, self.others)}
        return [found[name] for name in sorted(found)]

    def counts(self) -> Iterator[pd.DataFrame]:
        """Yield the counts of the verdicts, see `ddr_cli.papers.tables.count_tables`."""
        names = {each.paper.name: each.paper.short for each in self.papers}
        return count_tables(self.verdicts, names)


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
    claims = judge_claims(paper, summaries)
    artefacts = [_artefact_runs(each, paper, summaries, claims) for each in paper.artefacts]
    rows = [row for item in artefacts for row in _rows_of(item, summaries)]
    rows += [row for claim in claims for row in claim_rows(paper, claim)]
    verdicts = table_of({"paper": paper.name, **row} for row in rows)
    numbers = [(each.artefact, each.numbers) for each in artefacts]
    readings = judge_readings(paper, summaries, numbers, claims)
    return PaperResult(paper, tuple(artefacts), verdicts, reading_table(paper, verdicts, readings))


def _artefact_runs(
    artefact: Artefact,
    paper: Paper,
    summaries: Mapping[str, Summary],
    claims: Sequence[ClaimResult],
) -> ArtefactRuns:
    runs = tuple(summaries[name] for name in artefact.specs if name in summaries)
    numbers = tuple(
        replace(each, claims=_claims_about(each, artefact, paper, claims))
        for each in judge_numbers(artefact, summaries, paper.method)
    )
    own = tuple(each for each in runs if _home(paper, each) == artefact.id)
    return ArtefactRuns(artefact, runs, numbers, own)


def _rows_of(item: ArtefactRuns, summaries: Mapping[str, Summary]) -> Iterator[dict[str, Any]]:
    """Yield the rows of an artefact's numbers and ratings, or that it has results without any."""
    artefact = item.artefact
    yield from number_rows(artefact, item.numbers)
    yield from mark_rows(artefact, judge_marks(artefact, summaries))
    if item.has_results and not artefact.entries and artefact.kind != "readings":
        facts = {"artefact": artefact.id, "kind": "artefacts", "id": artefact.id, "counted": True}
        facts |= {"text": artefact.title, "printed": "no number"}
        for view in VIEWS:
            yield facts | {"view": view, "verdict": "not testable", "shown": "not testable"}


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
