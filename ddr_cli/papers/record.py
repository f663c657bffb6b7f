"""The record of verdicts next to the results, with which later reports are compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

import pandas as pd
from pydantic import TypeAdapter, ValidationError

from ddr_cli.core.errors import InputError
from ddr_cli.papers.claims import ClaimVerdict
from ddr_cli.papers.lookup import HEADINGS, View
from ddr_cli.papers.numbers import Verdict
from ddr_cli.papers.verdicts import both
from ddr_cli.papers.words import look_of

RECORD = "verdicts.json"

Kind = Literal["numbers", "claims", "parts"]
Record = dict[str, dict[Kind, dict[str, dict[View, Verdict | ClaimVerdict]]]]
"""By paper, by kind (ratings are among the numbers), by id: the verdict in each view."""

_FILE = TypeAdapter(Record)


def _rank(verdict: str) -> int:
    """Return a verdict's rank, bad to good; one that does not judge the paper ranks as good."""
    return 0 if verdict == "not run" else {"bad": 1, "even": 2}.get(look_of(verdict), 3)


def verdict_record(table: pd.DataFrame) -> Record:
    """Return the verdicts of a table."""
    found: Record = {}
    for own, over in both(table[table["kind"].isin(get_args(Kind))]):
        of_paper = found.setdefault(own.paper, {kind: {} for kind in get_args(Kind)})
        of_paper[own.kind][own.id] = {row.view: row.verdict for row in (own, over)}
    return found


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
            f"{path} is not valid ({place}: {first['msg']}); delete it and run 'ddr report "
            f"{results}'."
        ) from None


def regressions(recorded: Record, now: Record, paper: str | None = None) -> list[str]:
    """Return the verdicts that were lost since the record, in words, for one paper or for all.

    A paper whose results no longer exist is "not run" now; a number or claim that is no longer in
    its file is ignored.
    """
    current = dict(_flat(now))
    found = []
    for key, verdict in _flat(recorded):
        name, _, entry, view = key
        if paper not in (None, name):
            continue
        verdict_now = current.get(key, verdict if name in now else "not run")
        if _rank(verdict_now) < _rank(verdict):
            where = HEADINGS[view]
            found.append(f"{name} {entry} ({where}) changed from {verdict} to {verdict_now}")
    return found


def _flat(record: Record) -> Iterator[tuple[tuple[str, Kind, str, View], str]]:
    for paper, kinds in record.items():
        for kind, entries in kinds.items():
            for name, verdicts in entries.items():
                for view, verdict in verdicts.items():
                    yield (paper, kind, name, view), verdict
