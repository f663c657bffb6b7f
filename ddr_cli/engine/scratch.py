"""The folder of a run's intermediate arrays, which never outlives the run for long."""

from __future__ import annotations

import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from filelock import FileLock, Timeout

_PREFIX = "ddr-scratch-"
_LOCK = "alive.lock"
_UNLOCKED_FOR_SECONDS = 3600.0


class Scratch:
    """A temporary folder, removed when the run ends; what a killed run left is removed first.

    Attributes
    ----------
    path : Path
        The folder.
    """

    def __init__(self) -> None:
        remove_stale()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock = FileLock(self.path / _LOCK)
        self._lock.acquire(timeout=0)

    def folder(self, *names: str) -> Path:
        """Return a folder inside, making it if it is not there."""
        folder = self.path.joinpath(*names)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def drop(self, folder: Path) -> None:
        """Remove a folder inside; who has its arrays open keeps them until done."""
        shutil.rmtree(folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()


def remove_stale() -> None:
    """Remove the scratch folders of runs that are no more: those whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        lock = folder / _LOCK
        with suppress(OSError, Timeout):
            if not lock.exists():
                # Just made and about to be locked, unless it is old.
                if time.time() - folder.stat().st_mtime > _UNLOCKED_FOR_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with FileLock(lock, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
