"""All runs of a results folder beside the papers: what came out, how often, and the record of it.

The record is kept beside the results, so that a later report can be compared with it.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import TypeAdapter, ValidationError

from ddr_cli.comparison.runs import find_runs
from ddr_cli.comparison.summary import Summary, summarize
from ddr_cli.core.errors import InputError
from ddr_cli.core.validation import Frozen
from ddr_cli.papers.schema import Artefact, Paper, load_paper, paper_names
from ddr_cli.verdicts.claims import ClaimResult, ClaimVerdict, PartResult, judge_claims
from ddr_cli.verdicts.printed import (
    MarkResult,
    NumberResult,
    Verdict,
    judge_marks,
    judge_numbers,
)
from ddr_cli.verdicts.readings import ReadingResult, judge_readings
from ddr_cli.verdicts.rows import View

_ALWAYS_COUNTED = ("reproduced", "differs (higher)", "differs (lower)", "holds", "fails")
_CALIBRATION = "calibration"
ALONE = "hold alone"
"""How many claims hold over re-splits without Holm's correction."""

RECORD = "verdicts.json"

# A verdict of a higher rank is better news; what the paper never printed can't lose.
_RANKS = {
    "not run": 0,
    **dict.fromkeys(("differs (higher)", "differs (lower)", "differs", "fails"), 1),
    **dict.fromkeys(("undecided", "uninformative", "close"), 2),
}
_BEST = 3


@dataclass(frozen=True)
class ArtefactResult:
    """An artefact, the runs that make it (those there are) and the verdicts on what it prints.

    `own` are the runs whose figure belongs here: several artefacts may look at one run.
    """

    artefact: Artefact
    summaries: tuple[Summary, ...]
    numbers: tuple[NumberResult, ...]
    marks: tuple[MarkResult, ...] = ()
    own: tuple[Summary, ...] = ()

    @property
    def judged(self) -> tuple[NumberResult | MarkResult, ...]:
        """Everything that the paper prints here."""
        return (*self.numbers, *self.marks)

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
        """Return how often each verdict was given to a number or mark.

        A printed number counts once: what repeats it, and other readings of it, is shown and not
        counted. What was used to choose a reading counts as calibration.
        """
        entries = [(each, each.entry) for result in self.artefacts for each in result.judged]
        found = _counted(entries, view)
        found["not testable"] += sum(result.not_testable for result in self.artefacts)
        return +found

    def claim_counts(self, view: View) -> Counter[str]:
        """Return the same for the claims, and how many hold without Holm's correction."""
        found = _counted([(each, each.claim) for each in self.claims], view)
        alone = sum(each.resplits.alone for each in self.claims)
        found[ALONE] = found["holds"] + (alone if view == "resplits" else 0)
        return +found


def _counted(entries: Sequence[tuple[Any, Any]], view: View) -> Counter[str]:
    return Counter(
        getattr(each, view).verdict if entry.is_counted(view) else _CALIBRATION
        for each, entry in entries
        if entry.is_counted(view) or (entry.calibration and not (entry.reading or entry.same_as))
    )


@dataclass(frozen=True)
class Counts:
    """How often each verdict was given to one kind of thing.

    `verdicts` are those that occur, and the most common ones; `rows` holds for each paper and
    verdict how often in its own setting and over re-splits.
    """

    kind: str
    verdicts: tuple[str, ...]
    rows: tuple[tuple[PaperResult, tuple[tuple[int, int], ...]], ...]


@dataclass(frozen=True)
class Assessment:
    """All papers with results, and the runs that belong to none."""

    papers: tuple[PaperResult, ...]
    others: tuple[Summary, ...]

    def counts(self) -> tuple[Counts, Counts]:
        """Return the counts for what is printed, and for the claims."""
        numbers = [(each.counts("own"), each.counts("resplits")) for each in self.papers]
        claims = [(each.claim_counts("own"), each.claim_counts("resplits")) for each in self.papers]

        def counted(
            kind: str, verdicts: Any, counts: Sequence[tuple[Counter[str], Counter[str]]]
        ) -> Counts:
            given = set(_ALWAYS_COUNTED).union(*itertools.chain.from_iterable(counts))
            shown = tuple(name for name in verdicts if name in given)
            rows = [tuple((own[name], over[name]) for name in shown) for own, over in counts]
            return Counts(kind, shown, tuple(zip(self.papers, rows, strict=True)))

        return (
            counted("printed numbers and marks", (*get_args(Verdict), _CALIBRATION), numbers),
            counted("claims", (*get_args(ClaimVerdict), _CALIBRATION, ALONE), claims),
        )


def assess(results: Path, paper: str | None = None) -> Assessment:
    """Evaluate a results folder, for one paper alone or for all with the runs of none.

    An `InputError` says if the folder holds no runs, one of them is damaged, or `paper` is unknown
    or has none.
    """
    runs = find_runs(results)
    names = paper_names() if paper is None else [paper]
    papers = [load_paper(name) for name in names]
    specs = {spec for each in papers for artefact in each.artefacts for spec in artefact.specs}
    if paper is not None:
        runs = {name: run for name, run in runs.items() if name in specs}
    if not runs:
        first = papers[0].artefacts[0].specs[0]
        raise InputError(
            f"{results} holds no results of the paper '{paper}'. 'ddr run {first}' makes some."
        )
    summaries = {name: summarize(run) for name, run in runs.items()}
    assessed = [_assess_paper(each, summaries) for each in papers]
    return Assessment(
        tuple(each for each in assessed if any(item.summaries for item in each.artefacts)),
        tuple(summary for name, summary in summaries.items() if name not in specs),
    )


def _assess_paper(paper: Paper, summaries: Mapping[str, Summary]) -> PaperResult:
    homes = {
        name: _home(paper, summary)
        for name, summary in summaries.items()
        if any(name in artefact.specs for artefact in paper.artefacts)
    }
    artefacts = tuple(
        ArtefactResult(
            artefact,
            tuple(summaries[name] for name in artefact.specs if name in summaries),
            judge_numbers(artefact, summaries, paper.method),
            judge_marks(artefact, summaries),
            tuple(summaries[name] for name in artefact.specs if homes.get(name) == artefact.id),
        )
        for artefact in paper.artefacts
    )
    claims = judge_claims(paper, summaries)
    numbers = [(each.artefact, each.numbers) for each in artefacts]
    readings = judge_readings(paper, summaries, numbers, claims)
    return PaperResult(paper, artefacts, claims, readings)


def _home(paper: Paper, summary: Summary) -> str:
    """Return the artefact that a run's figure is shown with: figures before tables."""
    using = [artefact for artefact in paper.artefacts if summary.run.name in artefact.specs]
    drawn = [artefact for artefact in using if artefact.kind in ("curve", "embedding")]
    names = [artefact.id for artefact in drawn or using]
    said = summary.run.spec.paper
    return said.artefact if said is not None and said.artefact in names else names[0]


# -- the record -------------------------------------------------------------------------------


class RecordedVerdicts(Frozen):
    """The verdicts on one printed number, mark or claim through both views."""

    own: Verdict | ClaimVerdict
    resplits: Verdict | ClaimVerdict


class PaperRecord(Frozen):
    """The verdicts on one paper by the ids of its printed numbers (and marks), claims and parts."""

    numbers: dict[str, RecordedVerdicts]
    claims: dict[str, RecordedVerdicts]
    parts: dict[str, RecordedVerdicts]


Record = dict[str, PaperRecord]
"""By paper."""

_FILE = TypeAdapter(Record)


def record_of(assessment: Assessment) -> Record:
    """Return the verdicts of an assessment."""
    return {
        result.paper.name: PaperRecord(
            numbers={
                f"{item.artefact.id}.{each.entry.id}": _recorded(each)
                for item in result.artefacts
                for each in item.judged
            },
            claims={each.claim.id: _recorded(each) for each in result.claims},
            parts={part.part.id: _recorded(part) for each in result.claims for part in each.parts},
        )
        for result in assessment.papers
    }


def _recorded(result: NumberResult | MarkResult | ClaimResult | PartResult) -> RecordedVerdicts:
    return RecordedVerdicts(own=result.own.verdict, resplits=result.resplits.verdict)


def read_record(results: Path) -> Record:
    """Return the recorded verdicts of a results folder, empty if none were recorded."""
    path = results / RECORD
    if not path.is_file():
        return {}
    try:
        return _FILE.validate_json(path.read_bytes())
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"{path} is not a record of verdicts ({place}: {first['msg']}). Delete it; "
            f"'ddr report {results}' writes it anew."
        ) from None


def record_text(record: Record) -> str:
    """Return a record as the text of its file."""
    return json.dumps(_FILE.dump_python(record), indent=1, sort_keys=True) + "\n"


def regressions(recorded: Record, now: Record, paper: str | None = None) -> list[str]:
    """Return in words the verdicts that were lost since the record, of one paper or of all.

    A paper whose results are gone is "not run" now; a number or claim that its file no longer
    holds is left out.
    """
    current = dict(_flat(now))
    found = []
    for key, verdict in _flat(recorded):
        name, _, entry, view = key
        if paper not in (None, name):
            continue
        verdict_now = current.get(key, verdict if name in now else "not run")
        if _RANKS.get(verdict_now, _BEST) < _RANKS.get(verdict, _BEST):
            where = "the paper's setting" if view == "own" else "re-splits"
            found.append(f"{name} {entry} ({where}): {verdict} before, {verdict_now} now")
    return found


def _flat(record: Record) -> Iterator[tuple[tuple[str, str, str, str], Verdict | ClaimVerdict]]:
    for paper, recorded in record.items():
        kinds = {"numbers": recorded.numbers, "claims": recorded.claims, "parts": recorded.parts}
        for kind, entries in kinds.items():
            for name, verdicts in entries.items():
                yield (paper, kind, name, "own"), verdicts.own
                yield (paper, kind, name, "resplits"), verdicts.resplits
