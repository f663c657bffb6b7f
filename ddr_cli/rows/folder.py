"""A run's result folder: its lock, and the copies of old files in ``previous/``."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from ddr_cli.core.atomic import as_input_errors, refuse_link, require_file
from ddr_cli.core.errors import InputError

PREVIOUS = "previous"
LOCK = "run.lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock the folder, and create it if needed.

    The lock's file stays. If it were removed, a run that has just opened it and a run that creates
    it again would both hold the lock.
    """
    with as_input_errors(folder):
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
                f"Another run is writing to {folder}. Wait for it or choose another --out folder."
            ) from None
    try:
        yield
    finally:
        lock.release()


def is_running(folder: Path) -> bool:
    """Return whether a run holds the folder's lock."""
    if (folder / LOCK).is_symlink() or not (folder / LOCK).is_file():
        return False
    try:
        with FileLock(folder / LOCK, timeout=0):
            return False
    except Timeout:
        return True
    except OSError:
        return False


def set_aside(folder: Path) -> Path | None:
    """Move the folder's content to its ``previous/<time>``, and return that folder."""
    with as_input_errors(folder):
        kept = [path for path in folder.iterdir() if path.name not in (PREVIOUS, LOCK)]
        if not kept:
            return None
        target = previous_folder(folder)
        for path in kept:
            path.rename(target / path.name)
        return target


def set_aside_copy(folder: Path, files: Iterable[Path], moved: Iterable[Path] = ()) -> None:
    """Copy files of a result folder to ``previous/<time>``, and move others there."""
    with as_input_errors(folder):
        target = previous_folder(folder)
        for path in files:
            shutil.copy2(path, target)
        for path in moved:
            new = target / path.relative_to(folder)
            new.parent.mkdir(exist_ok=True)
            path.rename(new)


def previous_folder(folder: Path) -> Path:
    """Return a new folder ``previous/<time>``."""
    stamp = datetime.now(UTC).strftime("%Y-%m-%dT%H-%M-%SZ")
    target = folder / PREVIOUS / stamp
    number = 1
    while target.exists():
        number += 1
        target = folder / PREVIOUS / f"{stamp}-{number}"
    target.mkdir(parents=True)
    return target
