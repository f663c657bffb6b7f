"""The leaderboard that `ddr suite table` prints, kept until what it is made of changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.core.atomic import atomic_write
from ddr_cli.core.digests import code_digest, digest
from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.data.store.sources import Sources
from ddr_cli.suite.names import CARD, FOLDER, VERIFIED
from ddr_cli.suite.published import NO_ROWS, results_of, submissions_of

if TYPE_CHECKING:
    from ddr_cli.report.table import Table
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.remaining import SuitePart

SHOWN = "table.json"
_KINDS = (CARD, VERIFIED, "*/trials.csv", "*/controls.csv", "*/manifest.json")


def shown_board(
    name: str,
    out: Path,
    planned: Callable[[], tuple[Suite, list[SuitePart]]],
    only: Sequence[str],
    **options: Any,
) -> dict[str, Any]:
    """Return a leaderboard's `tables`, `notes` and `records`.

    It is computed from what `planned` returns for these data sets `only`, and the options of
    `_made`, unless a shipped suite, its rows, the data sets' cards, the options and the code are as
    when it was last computed.
    """
    shipped = shipped_yaml("suites").get(name)
    if shipped is None or Path(name).is_file():
        return _made(*planned(), **options)
    results = results_of(name, out)
    if not (results / f"{FOLDER}{name}").is_dir():
        raise InputError(NO_ROWS)
    cards = (path.read_bytes() for path in shipped_yaml("datasets").values())
    asked = json.dumps([only, options]).encode()
    parts = (code_digest().encode(), asked, shipped.read_bytes(), *cards)
    state = digest(*parts, *_contents(results, name))
    kept = Sources.from_environment().cache_dir / "tables" / f"{name}.json"
    for path in (kept, results / SHOWN):
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads(path.read_bytes())
            if found["state"] == state:
                return found
    found = _made(*planned(), **options) | {"state": state}
    with suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(kept, json.dumps(found))
    return found


def as_tables(shown: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of a shown board."""
    import pandas as pd

    from ddr_cli.report.table import Table

    for title, left, columns in shown["tables"]:
        yield Table(pd.DataFrame(columns), title, left=tuple(left), narrow=True)


def _contents(results: Path, name: str) -> Iterator[bytes]:
    """Yield the names and contents of all files with rows, and of the records of submissions."""
    for folder in (results / f"{FOLDER}{name}", *submissions_of(name, results)):
        for path in sorted({each for kind in _KINDS for each in folder.glob(kind)}):
            yield path.relative_to(results).as_posix().encode()
            yield path.read_bytes()


def _made(
    suite: Suite,
    parts: Sequence[SuitePart],
    *,
    track: str,
    classifier: str | None,
    metric: str | None,
    defaults: bool,
) -> dict[str, Any]:
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.tables import (
        choices_table,
        leaderboard_notes,
        leaderboard_table,
        trust_notes,
    )

    bench = benchmark_of(suite, parts)
    board = leaderboard(
        bench.rows,
        classifier=classifier,
        metric=metric,
        tuned=not defaults and suite.tracks[track].tune is not None,
        track=track,
        baseline=suite.baseline_of(track),
    )
    tables = [leaderboard_table(board)]
    if len(found := bench.choices_of(board)):
        tables.append(choices_table(found, board))
    notes = leaderboard_notes(board, suite.methods_of(track))
    notes += trust_notes(board, bench.rows, parts[0].spec, suite.errata)
    submitted = {name: each for name, each in bench.submissions.items() if each.card.track == track}
    notes += [f"submitted: {each.note}" for each in submitted.values()]
    records = json.loads(board.table.to_json(orient="records"))
    for row in records:
        if (own := submitted.get(row["method"])) is not None:
            row |= {"verified": own.verified, "card": own.card.model_dump()}
    columns = [(each.title, each.left, each.frame.to_dict("list")) for each in tables]
    return {"tables": columns, "notes": notes, "records": records}
