"""The files of a folder or an archive, in an order and with labels that packing doesn't change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ddr_cli.core.errors import InputError
from ddr_cli.data.archive import members
from ddr_cli.data.files import read_bytes


def files_in(
    path: Path, *, pattern: str, endings: Sequence[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each wanted file in a folder or an archive.

    Parameters
    ----------
    path : Path
        A folder, or a zip or tar archive (gz, bz2, xz or plain).
    pattern : str
        Which files are wanted: matched, as a shell matches it, against the whole name and against
        its last part.
    endings : sequence of str, optional
        The endings that a wanted file may have, in lower case.

    Yields
    ------
    (str, bytes)
        In no order that means anything. Hidden files are passed over.

    Raises
    ------
    InputError
        If `path` is neither, or can't be read.
    """

    def wanted(name: str) -> bool:
        last = name.rpartition("/")[2]
        return (fnmatchcase(name, pattern) or fnmatchcase(last, pattern)) and (
            not endings or last.lower().endswith(tuple(endings))
        )

    if not path.is_dir():
        yield from members(path, wanted=wanted)
        return
    for file in path.rglob("*"):
        parts = file.relative_to(path).parts
        name = "/".join(parts)
        if file.is_file() and wanted(name) and not any(part[0] == "." for part in parts):
            yield name, read_bytes(file)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts ``a2`` before ``a10``."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    )


def labeller(label: str) -> Callable[[str], str]:
    """Return the function that tells a file's label from its name.

    Parameters
    ----------
    label : str
        ``folder`` for the name of the folder that the file is in, or a regular expression with one
        group, searched for in the name with its folders; the group is the label.

    Raises
    ------
    InputError
        If the expression is wrong; and, by the function, if a name doesn't fit.
    """
    if label == "folder":
        return _folder
    try:
        expression = re.compile(label)
    except re.error as error:
        raise InputError(
            f"The label pattern '{label}' is no regular expression: {error}."
        ) from None
    if expression.groups != 1:
        raise InputError(
            f"The label pattern '{label}' must have one group in parentheses, the label; it has "
            f"{expression.groups}."
        )

    def found(name: str) -> str:
        match = expression.search(name)
        if match is None or match.group(1) is None:
            raise InputError(f"The label pattern '{label}' is not in the file name '{name}'.")
        return match.group(1)

    return found


def _folder(name: str) -> str:
    parts = name.split("/")
    if len(parts) < 2:
        raise InputError(
            f"The file '{name}' is in no folder that names its class; put it in one, or give "
            f"`label` as a pattern on the file name."
        )
    return parts[-2]
