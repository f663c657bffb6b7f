"""What a run does, decided before it does anything: plan x existing rows x policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import class_name, shown
from ddr_cli.engine.changes import differences
from ddr_cli.engine.rows.embeddings import embedding_path
from ddr_cli.engine.rows.folder import PREVIOUS
from ddr_cli.engine.rows.journal import IDENTITY_COLUMNS, OK, Journal, metrics_of
from ddr_cli.engine.rows.manifest import read_manifest

if TYPE_CHECKING:
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.spec import Cell, Setting

POLICIES = ("failed", "changed", "all")

_COMPONENTS = [IDENTITY_COLUMNS.index(column) for column in ("reducer", "classifier")]
_MOST_CHANGES = 3


@dataclass(frozen=True)
class Redo:
    """Which existing rows a run replaces.

    Without any, it runs what has no row, and refuses a folder with rows of another version of the
    spec, the data or the code. `failed` replaces rows of trials that did not succeed, `changed`
    those of another version, `names` those of these reducers, classifiers and measures, and `all`
    every row. Replaced rows are kept below ``previous/``, but failed ones.
    """

    failed: bool = False
    changed: bool = False
    all: bool = False
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Return the policy that ``--redo`` gives: failed, changed, all, or names."""
        given = frozenset(words)
        return cls("failed" in given, "changed" in given, "all" in given, given - set(POLICIES))


@dataclass(frozen=True)
class Decision:
    """What a run does; nothing has been touched yet.

    `rows` is how each trial ended that has a row which counts. The run moves all that the folder
    holds to ``previous/`` if it is to `start_over`, and else the rows `replaced`; it then runs the
    trials `todo`, of those `asked` for, and makes the `embeddings` again that have no file.
    `refusal` says why it may not; `stale` are all rows that are of another version.
    """

    asked: tuple[str, ...]
    rows: Mapping[str, str] = field(default_factory=dict)
    todo: tuple[str, ...] = ()
    replaced: frozenset[str] = frozenset()
    embeddings: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    start_over: bool = False
    refusal: str = ""

    @property
    def is_done(self) -> bool:
        """Whether a run has nothing to do."""
        return not (self.todo or self.replaced or self.embeddings)


def decide(
    plan: Plan, journal: Journal | None, redo: Redo, *, splits: int | None = None
) -> Decision:
    """Return what a run of a plan, or of its first `splits`, does about the rows of a journal.

    Without a journal, as where its file can't be read, it starts over.
    """
    asked = plan.first(splits)
    if journal is None or redo.all:
        return Decision(asked, todo=asked, start_over=True)
    stale = stale_rows(journal, plan)
    refusal = ""
    if stale and not redo.changed:
        refusal = _refusal(journal, plan, stale, redo.names)
    named = {
        trial_id
        for trial_id in journal.status.keys() & plan.trials.keys()
        if redo.names and not redo.names.isdisjoint(names_of(plan.trials[trial_id]))
    }
    replaced = stale | named
    rows = {key: status for key, status in journal.status.items() if key not in replaced}
    todo = [trial for trial in asked if trial not in rows or (redo.failed and rows[trial] != OK)]
    folder = journal.path.parent
    embeddings = {
        embedding
        for trial, embedding in plan.kept.items()
        if rows.get(trial) == OK and not embedding_path(folder, plan, trial).is_file()
    }
    return Decision(
        asked,
        rows,
        tuple(todo),
        frozenset(replaced),
        frozenset(embeddings),
        frozenset(stale),
        refusal=refusal,
    )


def stale_rows(journal: Journal, plan: Plan) -> set[str]:
    """Return the ids of rows of another version of the spec, the data or a piece of code.

    They can't be next to the plan's. A trial is the same whatever it is scored by, but its row
    lacks the scores of other metrics; another version of a suite says that all its rows mean
    something else.
    """
    rows = journal.status.keys()
    if not rows:
        return set()
    if metrics_of(journal.header) != plan.spec.metrics:
        return set(rows)
    if (suite := plan.spec.suite) is not None:
        try:
            made_for = read_manifest(journal.path.parent).spec.get("suite") or {}
        except InputError:
            made_for = {}
        if made_for.get("version") != suite.version:
            return set(rows)
    return rows - plan.trials.keys()


def names_of(trial: Cell) -> set[str]:
    """Return what a command may call a trial's reducer and its classifier or measure."""
    return _names(trial.reducer) | _names(trial.evaluator)


def _names(component: Setting) -> set[str]:
    name = component.name
    return {name, shown(name), class_name(name), component.label}


def _refusal(journal: Journal, plan: Plan, stale: set[str], names: frozenset[str]) -> str:
    """Return why stale rows keep a run from starting, nothing if all are of named components."""
    components = {
        id(one): one for trial in plan.trials.values() for one in (trial.reducer, trial.evaluator)
    }
    named = {shown(one.name) for one in components.values() if not names.isdisjoint(_names(one))}
    rows = journal.rows
    is_rescored = metrics_of(journal.header) != plan.spec.metrics
    if not is_rescored and all(
        not named.isdisjoint(row[i] for i in _COMPONENTS) for row in rows if row[0] in stale
    ):
        return ""
    folder = journal.path.parent
    try:
        changes = differences(read_manifest(folder), rows, stale, plan)
    except InputError:
        changes = []
    more = f" and {len(changes) - _MOST_CHANGES} more" if len(changes) > _MOST_CHANGES else ""
    why = f" (changed: {'; '.join(changes[:_MOST_CHANGES])}{more})" if changes else ""
    kept = len(rows) - len(stale)
    rest = f" and keeps the other {kept}" if kept else ""
    return (
        f"{folder} holds {len(stale)} rows of another version of this spec{why}. "
        f"'--redo changed' replaces them{rest}; the old ones go to {folder / PREVIOUS}/<time>. "
        "Or choose another folder with --out. Nothing was touched."
    )
