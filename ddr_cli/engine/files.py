"""Files that are written whole or not at all, and what is said when they can't be."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ddr_cli.core.errors import InputError


def write_aside(path: Path, content: bytes) -> None:
    """Write a whole file beside its place, force it to disk, then rename it into place.

    Raises
    ------
    OSError
        If it can't be written; what was there before is then still there.
    """
    aside = path.with_name(path.name + ".part")
    try:
        with aside.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError:
        aside.unlink(missing_ok=True)
        raise
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a new or renamed file survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextmanager
def clear_messages(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal (full disk, read-only folder) into an `InputError`."""
    try:
        yield
    except OSError as error:
        raise InputError(
            f"{path} can't be read or written: {error.strerror or error}. What was there is "
            "untouched; make room or choose another folder with --out, then run the same command."
        ) from error
