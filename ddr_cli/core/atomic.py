"""Files that are written completely or not at all, and the checks and errors around them."""

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
    """Yield a binary file that appears at `path`, complete, if the block ends without an error.

    Until then, readers of `path` see the old file, never an incomplete one; a `durable` file also
    survives a power cut from then on. A temporary file that a killed process left is removed by the
    next write to `path`, once it is so old that no other process can still be writing it.
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
            # The error must name the caller's file, not the temporary one.
            raise type(error)(error.errno, error.strerror, str(path)) from error
        raise
    finally:
        aside.unlink(missing_ok=True)
    if durable:
        sync_folder(path.parent)


def is_inside(name: str) -> bool:
    """Return whether a path, on any system, stays below the folder that it is joined to.

    >>> is_inside("a/b.csv"), is_inside("../b.csv"), is_inside("C:b.csv")
    (True, False, False)
    """
    ways = PurePosixPath(name), PureWindowsPath(name)
    return "\0" not in name and not any(way.anchor or ".." in way.parts for way in ways)


def is_one_name(name: str) -> bool:
    """Return whether a text can be the name of a single file or folder on any system.

    >>> is_one_name("lda on iris"), is_one_name("a/b"), is_one_name("..")
    (True, False, False)
    """
    fits = len(name.encode(errors="replace")) <= _LONGEST_NAME
    return fits and is_inside(name) and PureWindowsPath(name).parts == (name,)


def sync_folder(folder: Path) -> None:
    """Sync a folder to disk, so that a new or renamed file survives a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def require_file(path: Path) -> None:
    """Reject a device or a pipe, which may never end; a missing file is accepted."""
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "a device or a pipe"
        raise InputError(f"{path} is {kind}, not a readable file; give the path of a file.")


def require_folder_of(path: Path) -> None:
    """Reject a file whose folder does not exist."""
    if not path.parent.is_dir():
        raise InputError(f"The folder {path.parent} does not exist; create it first.")


def refuse_link(path: Path) -> None:
    """Reject a link, which may lead outside, as in a results folder of someone else."""
    if path.is_symlink():
        raise InputError(f"{path} is a link, and ddr does not write to links; remove it.")


@contextmanager
def as_input_errors(path: Path) -> Iterator[None]:
    """Turn an error of the operating system (full disk, read-only folder) into an `InputError`."""
    try:
        yield
    except OSError as error:
        require_folder_of(path)
        raise InputError(
            f"{path} can't be read or written: {error.strerror or error}. Existing files are "
            "unchanged. Free up disk space or choose another --out folder, and repeat the command."
        ) from error


def atomic_write(path: Path, content: str | bytes) -> None:
    """Write a whole file durably; after an error, an `InputError`, the old file is unchanged."""
    with as_input_errors(path), atomic_open(path, durable=True) as file:
        file.write(content.encode() if isinstance(content, str) else content)
