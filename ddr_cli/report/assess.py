"""Set all runs of a results folder beside the papers: what was asked, what came out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from ddr_cli.core.errors import InputError
from ddr_cli.papers.load import load_paper, paper_names
from ddr_cli.papers.schema import Artefact, Paper
from ddr_cli.report.claims import ClaimResult, evaluate
from ddr_cli.report.picture import Mark
from ddr_cli.report.runs import find_runs
from ddr_cli.report.signs import MarkResult, judge_marks
from ddr_cli.report.summary import Summary, summarize
from ddr_cli.report.verdicts import NumberResult, judge_artefact, marks_of


@dataclass(frozen=True)
class ArtefactResult:
    """An artefact, the runs that make it (those there are) and the verdicts on what it prints.

    Parameters
    ----------
    artefact : Artefact
        What the paper shows.
    summaries : tuple of Summary
        The runs that make it.
    numbers, marks : tuple
        What the paper prints, with verdicts.
    own : tuple of Summary
        The runs whose figure belongs here: several artefacts may look at one run.
    """

    artefact: Artefact
    summaries: tuple[Summary, ...]
    numbers: tuple[NumberResult, ...]
    marks: tuple[MarkResult, ...] = ()
    own: tuple[Summary, ...] = ()

    @property
    def judged(self) -> dict[str, NumberResult | MarkResult]:
        """Everything that the paper prints here, by its id."""
        numbers = {each.printed.id: each for each in self.numbers}
        return {**numbers, **{each.mark.id: each for each in self.marks}}

    @property
    def missing(self) -> tuple[str, ...]:
        """The specs that have no results."""
        there = {summary.run.name for summary in self.summaries}
        return tuple(name for name in self.artefact.specs if name not in there)

    @property
    def state(self) -> str:
        """What there is: empty if all runs are complete, else which are missing or partial."""
        parts = [f"not run: {name}" for name in self.missing]
        parts += [
            f"{summary.run.name}: {summary.run.progress}"
            for summary in self.summaries
            if not summary.run.is_complete or summary.run.failed
        ]
        return "; ".join(parts)

    @property
    def has_results(self) -> bool:
        """Whether any complete run is there."""
        return any(summary.run.is_complete for summary in self.summaries)

    @property
    def unverifiable(self) -> bool:
        """Whether we have results for which the paper prints no number."""
        return self.has_results and not self.judged


@dataclass(frozen=True)
class PaperResult:
    """A paper with all its artefacts and claims evaluated."""

    paper: Paper
    artefacts: tuple[ArtefactResult, ...]
    claims: tuple[ClaimResult, ...]

    def counts(self, view: str) -> Mapping[str, int]:
        """Return how often each verdict was given to a number or mark, ``own`` or ``resplits``.

        A printed number counts once: other readings of it are shown, but not counted.
        """
        verdicts = [
            getattr(each, view).verdict
            for result in self.artefacts
            for each in result.judged.values()
            if (each.mark if isinstance(each, MarkResult) else each.printed).reading is None
        ]
        verdicts += ["unverifiable" for result in self.artefacts if result.unverifiable]
        return Counter(verdicts)

    def claim_counts(self, view: str) -> Mapping[str, int]:
        """Return the same for the claims."""
        return Counter(getattr(claim, view).verdict for claim in self.claims)


@dataclass(frozen=True)
class Assessment:
    """All papers with results, and the runs that belong to none."""

    papers: tuple[PaperResult, ...]
    others: tuple[Summary, ...]


def assess(results: Path, paper: str | None = None) -> Assessment:
    """Evaluate a results folder.

    Parameters
    ----------
    results : Path
        The folder that holds the runs' folders.
    paper : str, optional
        Only this one; runs of no paper are then left out.

    Raises
    ------
    InputError
        If the folder holds no runs, one of them is damaged, or `paper` is unknown or has none.
    """
    runs = find_runs(results)
    names = paper_names() if paper is None else [paper]
    papers = [load_paper(name) for name in names]
    specs = {spec for each in papers for artefact in each.artefacts for spec in artefact.specs}
    wanted = runs if paper is None else {name: run for name, run in runs.items() if name in specs}
    if not wanted:
        first = papers[0].artefacts[0].specs[0]
        raise InputError(
            f"{results} holds no results of the paper '{paper}'. 'ddr run {first}' makes some."
        )
    summaries = {name: summarize(run) for name, run in wanted.items()}
    assessed = [assess_paper(each, summaries) for each in papers]
    return Assessment(
        tuple(each for each in assessed if any(item.summaries for item in each.artefacts)),
        tuple(summary for name, summary in summaries.items() if name not in specs),
    )


def assess_paper(paper: Paper, summaries: Mapping[str, Summary]) -> PaperResult:
    """Evaluate one paper over the summaries of its specs."""
    homes = {
        name: _home(paper, summary)
        for name, summary in summaries.items()
        if any(name in artefact.specs for artefact in paper.artefacts)
    }
    return PaperResult(
        paper,
        tuple(
            ArtefactResult(
                artefact,
                tuple(summaries[name] for name in artefact.specs if name in summaries),
                tuple(judge_artefact(artefact, summaries)),
                tuple(judge_marks(artefact, summaries)),
                tuple(summaries[name] for name in artefact.specs if homes.get(name) == artefact.id),
            )
            for artefact in paper.artefacts
        ),
        tuple(evaluate(claim, paper.artefact(claim.artefact), summaries) for claim in paper.claims),
    )


def _home(paper: Paper, summary: Summary) -> str:
    """Return the artefact that a run's figure is shown with: figures before tables."""
    using = [artefact for artefact in paper.artefacts if summary.run.name in artefact.specs]
    drawn = [artefact for artefact in using if artefact.kind in ("curve", "embedding")]
    names = [artefact.id for artefact in drawn or using]
    said = summary.run.spec.paper
    return said.artefact if said is not None and said.artefact in names else names[0]


def marks_for(summary: Summary, papers: Iterable[Paper] | None = None) -> list[Mark]:
    """Return the numbers that the papers quote for what one run measured."""
    papers = [load_paper(name) for name in paper_names()] if papers is None else papers
    return [
        mark
        for paper in papers
        for artefact in paper.artefacts
        if summary.run.name in artefact.specs
        for mark in marks_of(judge_artefact(artefact, {summary.run.name: summary}), summary)
    ]
