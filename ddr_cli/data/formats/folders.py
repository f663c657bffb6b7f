"""The files of a folder or an archive, in an order and with labels that packing doesn't change."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from ddr_cli.core.errors import InputError
from ddr_cli.core.limits import TookTooLongError, time_limit
from ddr_cli.data.archives import read_members
from ddr_cli.data.formats import read_bytes

_LONGEST_SEARCH = 5.0


def walk_folder(
    path: Path, *, pattern: str, endings: Sequence[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each wanted file in a folder or archive, in no set order.

    A file is wanted if its whole name or the last part of it matches `pattern`, as a shell matches
    it, and ends with one of `endings` (in lower case), if there are any. Hidden files are passed
    over.
    """

    def wanted(name: str) -> bool:
        last = name.rpartition("/")[2]
        return (fnmatchcase(name, pattern) or fnmatchcase(last, pattern)) and (
            not endings or last.lower().endswith(tuple(endings))
        )

    if not path.is_dir():
        yield from read_members(path, wanted=wanted)
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

    `label` is ``folder``, for the name of the folder that the file is in, or a regular expression
    with one group, searched for in the name with its folders; the group is the label.
    """
    return _folder if label == "folder" else pattern_labeller(label)


def pattern_labeller(label: str) -> Callable[[str], str]:
    """Return the function that finds the one group of a regular expression in a name."""
    try:
        expression = re.compile(label)
    except re.error as error:
        raise InputError(
            f"The label pattern '{label}' is not a regular expression: {error}."
        ) from None
    if expression.groups != 1:
        raise InputError(
            f"The label pattern '{label}' must have one group in parentheses, the label; it has "
            f"{expression.groups}."
        )

    def found(name: str) -> str:
        try:
            with time_limit(_LONGEST_SEARCH):
                match = expression.search(name)
        except TookTooLongError:
            raise InputError(
                f"The label pattern '{label}' takes more than {_LONGEST_SEARCH:g} s on the file "
                f"name '{name}': write it without a repetition of what repeats."
            ) from None
        if match is None or match.group(1) is None:
            raise InputError(f"The label pattern '{label}' is not in the name '{name}'.")
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
