"""The verdicts of the last report, kept beside the results so that a later one can be compared."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.core.validation import Frozen
from ddr_cli.verdicts.assess import Assessment
from ddr_cli.verdicts.claims import ClaimResult, ClaimVerdict
from ddr_cli.verdicts.printed import MarkResult, NumberResult, Verdict

FILE_NAME = "verdicts.json"

# A verdict of a higher rank is better news; what the paper never printed can't get worse.
_RANKS = {"not run": 0, "worse": 1, "differs": 1, "fails": 1, "undecided": 2}
_BEST = 3


class RecordedVerdicts(Frozen):
    """The verdicts on one printed number, mark or claim through both views."""

    own: Verdict | ClaimVerdict
    resplits: Verdict | ClaimVerdict


class PaperRecord(Frozen):
    """The verdicts on one paper by the ids of its printed numbers (and marks) and claims."""

    numbers: dict[str, RecordedVerdicts]
    claims: dict[str, RecordedVerdicts]


Record = dict[str, PaperRecord]
"""By paper."""

_FILE = TypeAdapter(Record)


@dataclass(frozen=True)
class Regression:
    """A verdict that is worse than the recorded one."""

    key: str
    view: str
    recorded: str
    now: str

    def __str__(self) -> str:
        where = "the paper's setting" if self.view == "own" else "re-splits"
        return f"{self.key} ({where}): {self.recorded} before, {self.now} now"


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
        )
        for result in assessment.papers
    }


def _recorded(result: NumberResult | MarkResult | ClaimResult) -> RecordedVerdicts:
    return RecordedVerdicts(own=result.own.verdict, resplits=result.resplits.verdict)


def read_record(results: Path) -> Record:
    """Return the recorded verdicts of a results folder, empty if none were recorded."""
    path = results / FILE_NAME
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


def regressions(recorded: Record, now: Record, paper: str | None = None) -> list[Regression]:
    """Return the verdicts that are worse now than recorded, of one paper or of all.

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
            found.append(Regression(f"{name} {entry}", view, verdict, verdict_now))
    return found


def _flat(record: Record) -> Iterator[tuple[tuple[str, str, str, str], Verdict | ClaimVerdict]]:
    for paper, recorded in record.items():
        for kind, entries in (("numbers", recorded.numbers), ("claims", recorded.claims)):
            for name, verdicts in entries.items():
                yield (paper, kind, name, "own"), verdicts.own
                yield (paper, kind, name, "resplits"), verdicts.resplits
