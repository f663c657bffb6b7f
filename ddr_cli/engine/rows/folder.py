"""A run's result folder: who may write to it, and whether what it holds can be added to."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ddr_cli.core.atomic import clear_messages, refuse_link, require_file
from ddr_cli.core.errors import InputError
from ddr_cli.engine.changes import changes_since, named_pieces
from ddr_cli.engine.plan.plan import Plan
from ddr_cli.engine.rows.journal import FILE_NAME, Journal, journal_columns, metrics_of
from ddr_cli.engine.rows.manifest import read_manifest

PREVIOUS = "previous"
LOCK = "run.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if it is not there, and keep other runs out of it.

    The lock's file stays: were it removed, a run that has just opened it and one that makes it anew
    would both have the lock.
    """
    with clear_messages(folder):
        refuse_link(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            refuse_link(path)
        require_file(folder / LOCK)
        lock = FileLock(folder / LOCK)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            raise InputError(
                f"Another run is writing to {folder}. Wait until it has ended, or choose another "
                "folder with --out."
            ) from None
    try:
        yield
    finally:
        lock.release()


def is_running(folder: Path) -> bool:
    """Return whether a run is in the folder."""
    if (folder / LOCK).is_symlink() or not (folder / LOCK).is_file():
        return False
    try:
        with FileLock(folder / LOCK, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def journal_of(folder: Path, plan: Plan) -> Journal:
    """Return the journal of a plan's runs, which need not be there yet."""
    columns = journal_columns(plan.parameters, plan.spec.metrics, plan.optional_columns)
    return Journal(folder / FILE_NAME, columns)


def check_same_version(journal: Journal, plan: Plan, rerun: Collection[str] = ()) -> set[str]:
    """Refuse a journal with trials of another version of the spec, the data or a piece of code.

    They are never mixed with the plan's. If all of them are of pieces that `rerun` names, and
    nothing else has changed, their ids are returned.
    """
    rows = journal.status
    foreign = rows.keys() - plan.trials.keys()
    # A trial is the same whatever it is scored by, but its row lacks the new scores.
    rescored = bool(rows) and metrics_of(journal.header) != plan.spec.metrics
    if not foreign and not rescored:
        return set()
    folder = journal.path.parent
    changed = remedy = ""
    try:
        changes = changes_since(read_manifest(folder), journal.rows, plan)
    except InputError:
        pass
    else:
        pieces = changes.pieces
        if foreign and pieces and not rescored:
            if pieces <= named_pieces(plan, rerun):
                return foreign
            options = " ".join(f"--rerun {name}" for name in changes.names)
            them = "it" if len(pieces) == 1 else "them"
            remedy = f"'{options}' runs {them} again and keeps the other rows. Or use"
        told = changes.told
        more = f" and {len(told) - 3} more" if len(told) > 3 else ""
        changed = f" (changed: {'; '.join(told[:3])}{more})"
    raise InputError(
        f"{folder} holds {len(rows)} trials of another version of this spec{changed}. "
        f"{remedy or 'Use'} --fresh (it moves them to {folder / PREVIOUS}/<time>) or choose "
        "another folder with --out; nothing was touched."
    )


def stale_rows(journal: Journal, plan: Plan) -> set[str]:
    """Return the ids of a journal's rows that can't stand beside the plan's trials.

    They are of another version of something, or all, if the suite has another one or they are
    scored by other metrics.
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


def set_aside(folder: Path) -> Path | None:
    """Move what the folder holds to ``previous/<time>`` in it, which is returned."""
    with clear_messages(folder):
        kept = [path for path in folder.iterdir() if path.name not in (PREVIOUS, LOCK)]
        if not kept:
            return None
        target = _previous(folder)
        for path in kept:
            path.rename(target / path.name)
        return target


def rescue(journal: Journal) -> str:
    """Write a journal again that another program removed or changed; return the sentence on it."""
    path, aside = journal.path, ""
    with clear_messages(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            target = _previous(path.parent)
            path.rename(target / path.name)
            aside = f" What stood there is in {target} now."
        journal.write_again()
    return (
        f"{path} was removed or changed by another program while the run went on. It has all "
        f"{len(journal.rows)} rows again.{aside} The same command goes on from them."
    )


def set_aside_copy(path: Path, others: Iterable[Path] = ()) -> None:
    """Copy a file of a result folder to ``previous/<time>``, and move others of it there."""
    with clear_messages(path):
        target = _previous(path.parent)
        shutil.copy2(path, target)
        for other in others:
            moved = target / other.relative_to(path.parent)
            moved.parent.mkdir(exist_ok=True)
            other.rename(moved)


def _previous(folder: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    target = folder / PREVIOUS / stamp
    number = 1
    while target.exists():
        number += 1
        target = folder / PREVIOUS / f"{stamp}-{number}"
    target.mkdir(parents=True)
    return target
