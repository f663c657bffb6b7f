"""The output of `ddr suite table` and `ddr suite status`, stored until an input changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
_AGAIN = "computed earlier: no result, setting or code has changed since"
_KINDS = (CARD, VERIFIED, "*/trials.csv", "*/controls.csv", "*/manifest.json")


def shown_board(
    name: str,
    out: Path,
    planned: Callable[[], tuple[Suite, list[SuitePart]]],
    only: Sequence[str],
    **options: Any,
) -> dict[str, Any]:
    """Return a leaderboard's `tables`, `notes` and `records`.

    It is made of what `planned` returns for these data sets `only`, with the options of `_board`.
    """
    is_shipped = name in shipped_yaml("suites") and not Path(name).is_file()
    if is_shipped and not (results_of(name, out) / f"{FOLDER}{name}").is_dir():
        raise InputError(NO_ROWS)
    return kept("table", name, out, [only, options], lambda: _board(*planned(), **options))


def kept(
    command: str, name: str, out: Path, asked: Any, made: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Return what `made` returned last for a shipped suite, unless an input has changed.

    The inputs are the suite, its rows, the data sets' cards, the options `asked` and the code.
    """
    shipped = shipped_yaml("suites").get(name)
    if shipped is None or Path(name).is_file():
        return made()
    results = results_of(name, out)
    cards = (path.read_bytes() for path in shipped_yaml("datasets").values())
    request = json.dumps([command, asked]).encode()
    parts = (code_digest().encode(), request, shipped.read_bytes(), *cards)
    state = digest(*parts, *_contents(results, name))
    own = Sources.from_environment().cache_dir / "shown" / f"{name}_{command}.json"
    for path in (own, results / SHOWN):
        with suppress(OSError, ValueError, LookupError, TypeError):
            found: dict[str, Any] = json.loads(path.read_bytes())
            if found["state"] == state:
                return found | {"notes": [*found["notes"], _AGAIN]}
    found = made() | {"state": state}
    with suppress(OSError, InputError):
        own.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(own, json.dumps(found))
    return found


def packed(tables: Iterable[Table]) -> list[Any]:
    """Return narrow tables as JSON can keep them."""
    return [(each.title, each.left, each.frame.to_dict("list"), each.total) for each in tables]


def as_tables(shown: Mapping[str, Any]) -> Iterator[Table]:
    """Yield the `packed` tables of what is shown."""
    import pandas as pd

    from ddr_cli.report.table import Table

    for title, left, columns, total in shown["tables"]:
        frame = pd.DataFrame(columns)
        yield Table(frame, title, left=tuple(left), total=tuple(total), narrow=True)


def status_shown(
    suite: Suite, parts: Sequence[SuitePart], hours: float | None = None
) -> dict[str, Any]:
    """Return the `tables`, `notes` and `records` of the progress, with costs for a budget."""
    from ddr_cli.suite.remaining import cost_table
    from ddr_cli.suite.tables import (
        covered,
        plan_notes,
        plan_tables,
        progress_line,
        size_notes,
        status_tables,
    )

    tables = [*status_tables(parts)]
    notes = [*size_notes(suite, parts), progress_line(suite, parts)]
    if hours is not None:
        times = cost_table(parts)
        tables += plan_tables(times)
        notes = [*plan_notes(times), *notes, covered(parts, times, hours)]
    records = {part.spec.name: part.tallies.to_dict("index") for part in parts}
    return {"tables": packed(tables), "notes": notes, "records": records}


def _contents(results: Path, name: str) -> Iterator[bytes]:
    """Yield the names and contents of all files with rows, and of the records of submissions."""
    for folder in (results / f"{FOLDER}{name}", *submissions_of(name, results)):
        for path in sorted({each for kind in _KINDS for each in folder.glob(kind)}):
            yield path.relative_to(results).as_posix().encode()
            yield path.read_bytes()


def _board(
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
        tuned=not defaults and suite.tunes(track),
        track=track,
        baseline=suite.baseline_of(track),
    )
    tables = [leaderboard_table(board)]
    if len(found := bench.choices_of(board)):
        tables.append(choices_table(found, board))
    notes = leaderboard_notes(board, suite.methods_of(track))
    notes += trust_notes(board, bench.rows, parts[0].spec, suite)
    submitted = {name: each for name, each in bench.submissions.items() if each.card.track == track}
    notes += [f"submitted: {each.note}" for each in submitted.values()]
    records = json.loads(board.table.to_json(orient="records"))
    for row in records:
        if (own := submitted.get(row["method"])) is not None:
            row |= {"verified": own.verified, "card": own.card.model_dump()}
    return {"tables": packed(tables), "notes": notes, "records": records}
