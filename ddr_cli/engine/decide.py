"""Decides what a run will do, from the plan, the existing rows and the policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ddr_cli.core.errors import InputError
from ddr_cli.engine.changes import names_of, refusal_of
from ddr_cli.rows.embeddings import EMBEDDINGS
from ddr_cli.rows.log import OK, Rows
from ddr_cli.rows.manifest import read_manifest

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan

POLICIES = ("failed", "changed", "all")


@dataclass(frozen=True)
class Redo:
    """Which existing rows a run replaces.

    By default, a run does the trials that have no row, and rejects a folder with rows of another
    version of the spec, the data or the code. `failed` replaces rows of trials that did not
    succeed, `changed` replaces rows of another version, `names` replaces rows of these reducers,
    classifiers and measures, and `all` replaces every row. Replaced rows, except failed ones, are
    kept in ``previous/``. `done` are the trials that have been run since, even if they failed
    again.
    """

    failed: bool = False
    changed: bool = False
    all: bool = False
    names: frozenset[str] = frozenset()
    done: frozenset[str] = frozenset()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Return the policy that ``--redo`` states: failed, changed, all, or names."""
        given = frozenset(words)
        return cls("failed" in given, "changed" in given, "all" in given, given - set(POLICIES))


@dataclass(frozen=True)
class Decision:
    """What a run will do; nothing has been changed yet.

    `rows` has the status of each trial whose row is valid. If it has to `start_over`, the run first
    moves everything in the folder to ``previous/``, otherwise only the rows `replaced`. Then it
    runs the trials `todo`, a part of the requested trials `asked`, and creates the missing files of
    `embeddings`. `refusal` is the reason why it may not run.
    """

    asked: tuple[str, ...]
    rows: Mapping[str, str] = field(default_factory=dict)
    todo: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()
    embeddings: frozenset[str] = frozenset()
    start_over: bool = False
    refusal: str = ""

    @property
    def is_done(self) -> bool:
        """Whether a run has nothing to do."""
        return not (self.todo or self.replaced or self.embeddings)


def decide(plan: Plan, rows: Rows | None, redo: Redo, *, splits: int | None = None) -> Decision:
    """Return what a run of a plan, or of its first `splits`, will do, given the existing rows.

    Without rows (a file cannot be read), it starts over.
    """
    asked = plan.first(splits)
    if rows is None or redo.all:
        return Decision(asked, todo=asked, start_over=True)
    status = rows.status
    stale = stale_rows(rows, plan)
    refusal = ""
    if stale and not redo.changed:
        refusal = refusal_of(rows, plan, stale, redo.names)
    named = {
        trial_id
        for trial_id in status.keys() & plan.trials.keys()
        for cell in [plan.trials[trial_id]]
        if redo.names and not redo.names.isdisjoint(names_of(cell.reducer, cell.evaluator))
    }
    replaced = stale | named
    valid = {key: ended for key, ended in status.items() if key not in replaced}
    again = {key for key, ended in valid.items() if redo.failed and ended != OK} - redo.done
    todo = [trial for trial in asked if trial not in valid or trial in again]
    embeddings = {
        file
        for trial, file in plan.kept.items()
        if valid.get(trial) == OK and not (rows.folder / EMBEDDINGS / file).is_file()
    }
    return Decision(
        asked,
        valid,
        tuple(todo),
        frozenset(replaced),
        frozenset(embeddings),
        refusal=refusal,
    )


def rows_of(folder: Path, plan: Plan) -> Rows:
    """Return the rows of a plan's runs, of which there may be none yet."""
    return Rows(folder, lambda: plan.lines, plan.spec.metrics)


def stale_rows(rows: Rows, plan: Plan) -> set[str]:
    """Return the ids of rows of another version of the spec, the data or the code.

    They are also stale if the metrics have changed, because their rows lack the new scores, or if
    the suite's version has, because then all rows have another meaning.
    """
    ids = rows.status.keys()
    if not ids:
        return set()
    if rows.metrics != {plan.spec.metrics}:
        return set(ids)
    if (suite := plan.spec.suite) is not None:
        try:
            made_for = read_manifest(rows.folder).spec.get("suite") or {}
        except InputError:
            made_for = {}
        if made_for.get("version") != suite.version:
            return set(ids)
    return ids - plan.trials.keys()
