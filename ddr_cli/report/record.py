"""The verdicts of the last report, kept beside the results so that a later one can be compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import InputError
from ddr_cli.report.assess import Assessment

FILE_NAME = "verdicts.json"

Record = dict[str, dict[str, dict[str, dict[str, str]]]]
"""Paper -> "numbers" or "claims" -> id -> view -> verdict."""

# A verdict of a higher rank is better news; what the paper never printed can't get worse.
_RANKS = {
    "not run": 0,
    "worse": 1,
    "differs": 1,
    "fails": 1,
    "undecided": 2,
    "reproduced": 3,
    "better": 3,
    "holds": 3,
    "unverifiable": 3,
    "not applicable": 3,
}


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
    """Return the verdicts of an assessment as plain data."""
    return {
        result.paper.name: {
            "numbers": {
                f"{item.artefact.id}.{name}": {
                    "own": judged.own.verdict,
                    "resplits": judged.resplits.verdict,
                }
                for item in result.artefacts
                for name, judged in item.judged.items()
            },
            "claims": {
                claim.claim.id: {"own": claim.own.verdict, "resplits": claim.resplits.verdict}
                for claim in result.claims
            },
        }
        for result in assessment.papers
    }


def read_record(results: Path) -> Record:
    """Return the recorded verdicts of a results folder, empty if none were recorded.

    Raises
    ------
    InputError
        If the file is there and is no record.
    """
    path = results / FILE_NAME
    if not path.is_file():
        return {}
    try:
        record: Record = json.loads(path.read_text(encoding="utf-8"))
        unknown = {verdict for _, verdict in _flat(record)} - set(_RANKS)
        if unknown:
            raise ValueError(f"no verdict: {', '.join(sorted(unknown))}")
    except (ValueError, AttributeError, TypeError) as error:
        raise InputError(
            f"{path} is no record of verdicts ({error}). Delete it; 'ddr report {results}' "
            "writes it anew."
        ) from None
    return record


def record_text(record: Mapping[str, Any]) -> str:
    """Return a record as the text of its file."""
    return json.dumps(record, indent=1, sort_keys=True) + "\n"


def regressions(recorded: Record, now: Record, paper: str | None = None) -> list[Regression]:
    """Return the verdicts that are worse now than recorded, of one paper or of all.

    A paper whose results are gone is "not run" now; a number or claim that its file no longer
    holds is left out.
    """
    current = dict(_flat(now))
    found = []
    for key, verdict in _flat(recorded):
        name = key[0]
        if paper not in (None, name):
            continue
        verdict_now = current.get(key, verdict if name in now else "not run")
        if _RANKS[verdict_now] < _RANKS[verdict]:
            found.append(Regression(f"{name} {key[2]}", key[3], verdict, verdict_now))
    return found


def _flat(record: Mapping[str, Any]) -> list[tuple[tuple[str, str, str, str], str]]:
    return [
        ((paper, kind, name, view), verdict)
        for paper, kinds in record.items()
        for kind, names in kinds.items()
        for name, views in names.items()
        for view, verdict in views.items()
    ]
