"""The leaderboard that `ddr suite table` prints, kept by everything that it is made of."""

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
from ddr_cli.suite.names import CARD, CLASSIFIERS, FOLDER, INDUCTIVE, VERIFIED
from ddr_cli.suite.published import NO_ROWS, results_of, submissions_of

if TYPE_CHECKING:
    from ddr_cli.report.table import Table
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.remaining import SuitePart

TABLES = "tables"
_KINDS = (CARD, VERIFIED, "*/trials.csv", "*/controls.csv", "*/manifest.json")

Planned = Callable[[Sequence[str]], "tuple[Suite, list[SuitePart]]"]


def shown_board(
    name: str,
    out: Path,
    planned: Planned,
    *,
    track: str = INDUCTIVE,
    only: Sequence[str] = (),
    classifier: str | None = None,
    metric: str | None = None,
    defaults: bool = False,
) -> tuple[str, dict[str, Any]]:
    """Return a leaderboard's `tables`, `notes` and `records`, and the name of its file.

    It is computed from what `planned` returns for some tracks, unless a shipped suite, its rows,
    the data sets' cards, the options and the code are as when it was computed before.
    """

    def made() -> dict[str, Any]:
        return _made(planned, track, classifier=classifier, metric=metric, defaults=defaults)

    shipped = shipped_yaml("suites").get(name)
    if shipped is None or Path(name).is_file():
        return "", made()
    results, cache = results_of(name, out), Sources.from_environment().cache_dir
    if not (results / f"{FOLDER}{name}").is_dir():
        raise InputError(NO_ROWS)
    options = json.dumps([track, [*only], classifier, metric, defaults])
    cards = (path.read_bytes() for path in shipped_yaml("datasets").values())
    parts = (code_digest().encode(), options.encode(), shipped.read_bytes(), *cards)
    file = f"{digest(*parts, *_contents(results, name))}.json"
    for folder in (cache, results):
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads((folder / TABLES / file).read_bytes())
            return file, found
    content = made()
    with suppress(OSError):
        (cache / TABLES).mkdir(parents=True, exist_ok=True)
        atomic_write(cache / TABLES / file, json.dumps(content))
    return file, content


def as_tables(shown: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the tables of a shown board."""
    import pandas as pd

    from ddr_cli.report.table import Table

    for each in shown["tables"]:
        frame = pd.DataFrame(each["rows"], columns=each["columns"])
        yield Table(frame, each["title"], left=tuple(each["left"]), narrow=True)


def _contents(results: Path, name: str) -> Iterator[bytes]:
    """Yield the names and contents of all files with rows, and of the records of submissions."""
    for folder in (results / f"{FOLDER}{name}", *submissions_of(name, results)):
        for path in sorted({each for kind in _KINDS for each in folder.glob(kind)}):
            yield path.relative_to(results).as_posix().encode()
            yield path.read_bytes()


def _made(
    planned: Planned, track: str, *, classifier: str | None, metric: str | None, defaults: bool
) -> dict[str, Any]:
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.tables import (
        choices_table,
        leaderboard_notes,
        leaderboard_table,
        trust_notes,
    )

    # Classifiers on all features are a choice, too.
    suite, parts = planned([INDUCTIVE, CLASSIFIERS] if track == INDUCTIVE else [track])
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
    shown = [
        {
            "title": table.title,
            "left": table.left,
            "columns": [*table.frame.columns],
            "rows": table.frame.to_numpy().tolist(),
        }
        for table in tables
    ]
    records = json.loads(board.table.to_json(orient="records"))
    for row in records:
        if (own := submitted.get(row["method"])) is not None:
            row |= {"verified": own.verified, "card": own.card.model_dump()}
    return {"tables": shown, "notes": notes, "records": records}
