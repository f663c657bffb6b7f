"""The temporary folder of a run's arrays; it is removed when the run ends."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from filelock import FileLock, Timeout

from ddr_cli.core.errors import InputError

_PREFIX = "ddr-scratch-"
_LOCK = "alive.lock"
_UNLOCKED_FOR_SECONDS = 3600.0


class Scratch(AbstractContextManager["Scratch"]):
    """A temporary folder `path`, which is removed when the run ends.

    Folders that killed runs have left are removed first. If a program that deletes old files has
    removed the folder, another one replaces it.
    """

    def __init__(self) -> None:
        _remove_stale()
        self._make()

    def folder(self, name: str) -> Path:
        """Return a folder inside, and create it if needed."""
        if not (self.path / _LOCK).exists():
            self._remove()
            self._make()
        with self.writing():
            folder = self.path / name
            folder.mkdir(exist_ok=True)
        return folder

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Report an error of the disk in the block as an `InputError`."""
        try:
            yield
        except OSError as error:
            raise self.refusal(error.strerror or str(error)) from error

    def refusal(self, reason: str) -> InputError:
        """Return the error that states why nothing can be written."""
        return InputError(
            f"The scratch folder {tempfile.gettempdir()} can't be written to ({reason}); make "
            "room, or set TMPDIR to another folder."
        )

    def _make(self) -> None:
        while True:
            # Another run that starts may remove the folder before it is locked; then make another.
            with self.writing(), suppress(Timeout):
                # Each folder gets a new name, because another user could have taken the old one.
                self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
                self._lock = FileLock(self.path / _LOCK)
                self._lock.acquire(timeout=0)
                return

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()

    def __exit__(self, *_: object) -> None:
        self._remove()


def _remove_stale() -> None:
    """Remove the scratch folders of runs that have ended, whose lock is free."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        lock = folder / _LOCK
        with suppress(OSError, Timeout):
            # In a folder that another user made, nothing is opened or removed.
            facts = folder.lstat()
            if not stat.S_ISDIR(facts.st_mode) or (
                hasattr(os, "getuid") and facts.st_uid != os.getuid()
            ):
                continue
            if not lock.exists():
                # A folder without a lock may be new: its run is about to lock it.
                if time.time() - folder.stat().st_mtime > _UNLOCKED_FOR_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with FileLock(lock, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)
