"""A run's result folder: who may write to it, and whether what it holds can be added to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from ddr_cli.core.atomic import clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.engine import journal
from ddr_cli.engine.journal import OK, journal_columns, metrics_of, read_rows
from ddr_cli.engine.plan import Plan
from ddr_cli.engine.provenance import read_manifest

PREVIOUS = "previous"
LOCK = "run.lock"

# Keys of a spec that change no trial.
_COSMETIC = ("title", "description", "paper", "plot", "label", "name")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder if it is not there, and keep other runs out of it.

    Raises
    ------
    InputError
        If another run is in it, or it can't be written.
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
        # While the lock is held, so that nobody else's is removed.
        with suppress(OSError):
            (folder / LOCK).unlink()
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


def columns_of(plan: Plan) -> tuple[str, ...]:
    """Return the columns of a plan's journal."""
    return journal_columns(plan.parameters, plan.spec.metrics)


def rows_so_far(folder: Path, plan: Plan) -> dict[str, dict[str, str]]:
    """Return the journal's rows by trial id; none if there is no journal.

    Raises
    ------
    InputError
        If it holds trials that are not in the plan: they were made by another version of the spec,
        of the data or of a piece of code, and are never mixed with this one's.
    """
    path = folder / journal.FILE_NAME
    if not path.is_file() or path.stat().st_size == 0:
        return {}
    header, rows = read_rows(folder)
    foreign = any(row["trial_id"] not in plan.trials for row in rows)
    # A trial is the same whatever it is scored by, but its row lacks the new scores.
    if rows and (foreign or metrics_of(header) != plan.spec.metrics):
        raise InputError(
            f"{folder} holds {len(rows)} trials of another version of this spec"
            f"{_what_changed(folder, plan)}. Use --fresh (it moves them to "
            f"{folder / PREVIOUS}/<time>) or choose another folder with --out; nothing was touched."
        )
    return {row["trial_id"]: row for row in rows}


def to_do(plan: Plan, rows: Mapping[str, Mapping[str, str]], *, retry_failed: bool) -> list[str]:
    """Return the ids of the trials that have no row or, with `retry_failed`, no good one."""
    return [
        trial
        for trial in plan.trials
        if trial not in rows or (retry_failed and rows[trial]["status"] != OK)
    ]


def set_aside(folder: Path) -> Path | None:
    """Move what the folder holds to ``previous/<time>`` in it, and return that folder."""
    with clear_messages(folder):
        kept = [path for path in folder.iterdir() if path.name not in (PREVIOUS, LOCK)]
        if not kept:
            return None
        stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
        target = folder / PREVIOUS / stamp
        number = 1
        while target.exists():
            number += 1
            target = folder / PREVIOUS / f"{stamp}-{number}"
        target.mkdir(parents=True)
        for path in kept:
            path.rename(target / path.name)
        return target


def _what_changed(folder: Path, plan: Plan) -> str:
    try:
        manifest = read_manifest(folder)
        before, now = _flat(manifest["spec"]), _flat(plan.spec.resolved())
        data_changed = manifest["data"]["fingerprint"] != plan.data.fingerprint
    except (InputError, KeyError, TypeError):
        return ""
    changed = [
        f"{key}: {before.get(key, 'nothing')} -> {now.get(key, 'nothing')}"
        for key in dict.fromkeys([*now, *before])
        if before.get(key) != now.get(key)
    ]
    if data_changed:
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
