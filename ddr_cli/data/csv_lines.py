"""Lines of a text table, cut into cells, with their numbers."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.files import read_text

_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "whitespace": None}


@dataclass(frozen=True)
class Layout:
    """How lines become cells.

    Parameters
    ----------
    separator : str or None
        The sign between cells; None for any run of blanks and tabs.
    comment : str or None
        From this sign to the end of the line nothing is read.
    skip_lines : int
        Lines at the start of the file that are not read.
    encoding : str
        The text encoding.
    header : bool
        The first line that is read holds the column names.
    """

    separator: str | None
    comment: str | None
    skip_lines: int
    encoding: str
    header: bool


def separator_sign(separator: str) -> str | None:
    """Return the sign that a separator's name stands for, None for ``whitespace``.

    Raises
    ------
    InputError
        If it is neither a name nor one sign.
    """
    if separator in _SEPARATORS:
        return _SEPARATORS[separator]
    if len(separator) != 1:
        raise InputError(
            f"The separator '{separator}' is neither one sign nor one of "
            f"{', '.join(_SEPARATORS)}.{did_you_mean(separator, _SEPARATORS)}"
        )
    return None if separator == " " else separator


def records(path: Path, layout: Layout) -> Iterator[tuple[int, list[str]]]:
    """Yield (line number from 1, cells) of every line that holds something.

    Raises
    ------
    InputError
        If the file can't be read, or a quoted cell is not closed.
    """
    text = read_text(path, layout.encoding)
    numbers: list[int] = []

    def lines() -> Iterator[str]:
        for number, line in enumerate(io.StringIO(text, newline=None), start=1):
            content = line if layout.comment is None else line.partition(layout.comment)[0]
            if number > layout.skip_lines and content.strip():
                numbers.append(number)
                yield content

    if layout.separator is None:
        for content in lines():
            yield numbers[-1], content.split()
        return
    reader = csv.reader(lines(), delimiter=layout.separator, strict=True)
    try:
        for cells in reader:
            yield numbers[-1], [cell.strip() for cell in cells]
    except csv.Error as error:
        raise InputError(f"{path}, line {numbers[-1]}: {error}.") from None
