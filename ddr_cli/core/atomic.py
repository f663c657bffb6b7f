"""Files that appear whole or not at all, what is no file, and what is said of either."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path, PurePosixPath, PureWindowsPath
from secrets import token_hex
from typing import IO

from ddr_cli.core.errors import InputError

_OLD_SECONDS = 600
_LONGEST_NAME = 200


@contextmanager
def atomic_open(path: Path, *, durable: bool = False) -> Iterator[IO[bytes]]:
    """Give a binary file that appears at `path`, complete, if the block ends without an error.

    Whoever reads at `path` meanwhile sees the old file or the new one, never a part; a `durable`
    file also survives a power cut from then on. What a killed process left aside is removed by the
    next write to `path`, once it is too old for another process to be writing it still.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    for left in path.parent.glob(f".{escape(path.name)}.{'?' * 8}.part"):
        with suppress(FileNotFoundError):
            if time.time() - left.stat().st_mtime > _OLD_SECONDS:
                left.unlink()
    aside = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        with aside.open("xb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        if error.filename is not None and str(error.filename) == str(aside):
            # The caller knows the file by its own name.
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a whole file, durably; after an error, what was there before is still there."""
    with atomic_open(path, durable=True) as file:
        file.write(content.encode() if isinstance(content, str) else content)


def is_inside(name: str) -> bool:
    """Return whether a path stays below the folder that it is joined to, on any system.

    >>> is_inside("a/b.csv"), is_inside("../b.csv"), is_inside("C:b.csv")
    (True, False, False)
    """
    ways = PurePosixPath(name), PureWindowsPath(name)
    return "\0" not in name and not any(way.anchor or ".." in way.parts for way in ways)


def is_one_name(name: str) -> bool:
    """Return whether a text can be the name of one file or folder, on any system.

    >>> is_one_name("lda on iris"), is_one_name("a/b"), is_one_name("..")
    (True, False, False)
    """
    fits = len(name.encode(errors="replace")) <= _LONGEST_NAME
    return fits and is_inside(name) and PureWindowsPath(name).parts == (name,)


def sync_folder(folder: Path) -> None:
    """Force a folder's entries to disk, so that a new or renamed file survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_file(path: Path) -> None:
    """Refuse what has no end or may never begin: a device, a pipe; what is not there may be."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise InputError(f"{path} is no file that can be read, but {kind}; name a file.")


def require_folder_of(path: Path) -> None:
    """Refuse a file that has no folder to be in."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it, or name another.")


def refuse_link(path: Path) -> None:
    """Refuse to write into what leads elsewhere, as in a results folder of someone else."""
    if path.is_symlink():
        raise InputError(f"{path} is a link to another place, where nothing is written: remove it.")


@contextmanager
def clear_messages(path: Path) -> Iterator[None]:
    """Turn an operating system's refusal (full disk, read-only folder) into an `InputError`."""
    try:
        yield
    except OSError as error:
        require_folder_of(path)
        raise InputError(
            f"{path} can't be read or written: {error.strerror or error}. What was there is "
            "untouched; make room or choose another folder with --out, then run the same command."
        ) from error
