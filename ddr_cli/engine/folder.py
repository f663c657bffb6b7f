"""A run's result folder: who may write to it, and whether what it holds can be added to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ddr_cli.core.atomic import clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.engine.journal import FILE_NAME, Journal, journal_columns, metrics_of
from ddr_cli.engine.plan import Plan
from ddr_cli.engine.records import read_manifest

PREVIOUS = "previous"
LOCK = "run.lock"

# Keys of a spec that change no trial.
_COSMETIC = ("title", "description", "paper", "plot", "label", "name", "keep")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if it is not there, and keep other runs out of it.

    The lock's file stays: were it removed, a run that has just opened it and one that makes it anew
    would both have the lock.
    """
    with clear_messages(folder):
        folder.mkdir(parents=True, exist_ok=True)
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
    if not (folder / LOCK).exists():
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


def check_same_version(journal: Journal, plan: Plan) -> None:
    """Refuse a journal with trials of another version of the spec, the data or a piece of code.

    They are never mixed with the plan's.
    """
    rows = journal.status
    foreign = any(trial not in plan.trials for trial in rows)
    # A trial is the same whatever it is scored by, but its row lacks the new scores.
    if rows and (foreign or metrics_of(journal.header) != plan.spec.metrics):
        folder = journal.path.parent
        raise InputError(
            f"{folder} holds {len(rows)} trials of another version of this spec"
            f"{_what_changed(folder, plan)}. Use --fresh (it moves them to "
            f"{folder / PREVIOUS}/<time>) or choose another folder with --out; nothing was touched."
        )


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


def set_aside_copy(path: Path) -> None:
    """Copy a file of a result folder to ``previous/<time>``."""
    with clear_messages(path):
        shutil.copy2(path, _previous(path.parent))


def _previous(folder: Path) -> Path:
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    target = folder / PREVIOUS / stamp
    number = 1
    while target.exists():
        number += 1
        target = folder / PREVIOUS / f"{stamp}-{number}"
    target.mkdir(parents=True)
    return target


def _what_changed(folder: Path, plan: Plan) -> str:
    try:
        manifest = read_manifest(folder)
    except InputError:
        return ""
    before, now = _flat(manifest.spec), _flat(plan.spec.resolved())
    changed = [
        f"{key}: {before.get(key, 'nothing')} -> {now.get(key, 'nothing')}"
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]
    if manifest.data and manifest.data.fingerprint != plan.data.fingerprint:
        changed.insert(0, "the data's fingerprint")
    if not changed:
        changed = ["the version of a reducer, classifier or data set"]
    more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
    return f" (changed: {'; '.join(changed[:3])}{more})"


def _flat(value: Any, prefix: str = "") -> dict[str, str]:
    if isinstance(value, dict):
        items = [(str(key), item) for key, item in value.items() if key not in _COSMETIC or prefix]
    elif isinstance(value, list) and any(isinstance(item, (dict, list)) for item in value):
        items = [(str(i), item) for i, item in enumerate(value)]
    else:
        return {prefix: str(value)}
    flat: dict[str, str] = {}
    for key, item in items:
        if key != "label":
            flat |= _flat(item, f"{prefix}.{key}" if prefix else key)
    return flat
