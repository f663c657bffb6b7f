"""Splits from a file: a CSV table with a line per row of the data set and a column per split.

The first line names the splits; each cell below is ``train``, ``test``, or empty for a row in
neither set. So no row can be in both sets, and the table has the same rows as the data.
"""

from __future__ import annotations

import csv
import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError, unreadable

_PARTS = ("train", "test", "")


@dataclass(frozen=True, eq=False)
class SplitFile:
    """The splits of a file: the number of its rows, and the training and test rows of each split.

    `sha256` is the hash of the file.
    """

    sha256: str
    n_rows: int
    splits: tuple[tuple[NDArray[np.intp], NDArray[np.intp]], ...]

    @property
    def fewest_train(self) -> int:
        """The size of the smallest training set."""
        return min(len(train) for train, _ in self.splits)

    def check_rows(self, n_samples: int, file: str | Path, dataset: str) -> None:
        """Raise an InputError if there is not one line for each row of the data set."""
        if self.n_rows != n_samples:
            raise InputError(
                f"{file} has {self.n_rows} lines below the header, but needs {n_samples}: one per "
                f"row of {dataset}."
            )


def read_split_file(path: Path) -> SplitFile:
    """Read a file of splits; an InputError states what is wrong with it, and where."""
    try:
        require_file(path)
        content = path.read_bytes()
        lines = content.decode("utf-8-sig").splitlines()
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise InputError(f"{path} is not UTF-8 text; save the file as UTF-8.") from None
    names, rows = _checked_table(path, lines)
    splits = []
    for name, column in zip(names, np.array(rows, dtype=str).T, strict=True):
        train, test = (np.flatnonzero(column == part) for part in ("train", "test"))
        for part, found in (("train", train), ("test", test)):
            if not len(found):
                raise InputError(
                    f"{path}: the column '{name}' marks no row as '{part}'; mark at least one."
                )
        splits.append((train, test))
    return SplitFile(hashlib.sha256(content).hexdigest(), len(rows), tuple(splits))


def _checked_table(path: Path, lines: list[str]) -> tuple[list[str], list[list[str]]]:
    """Return the names of the splits, and the cells of each row below them."""
    while lines and not lines[-1].strip():
        lines.pop()
    table = [[cell.strip() for cell in row] or [""] for row in csv.reader(lines)]
    if len(table) < 2:
        raise InputError(
            f"{path} needs a line with the names of the splits, then one line per row of the data."
        )
    names = table[0]
    if set(names) & {"train", "test"}:
        raise InputError(
            f"{path}, line 1 must contain the names of the splits, not 'train' or 'test'."
        )
    if "" in names:
        raise InputError(
            f"{path}, line 1: column {names.index('') + 1} has no name; in pandas, use "
            "to_csv(..., index=False)."
        )
    for number, row in enumerate(table[1:], start=2):
        if len(row) != len(names):
            raise InputError(
                f"{path}, line {number} has {len(row)} cells, but line 1 has {len(names)}."
            )
        for name, cell in zip(names, row, strict=True):
            if cell not in _PARTS:
                raise InputError(
                    f"{path}, line {number}, column '{name}': '{cell}' is neither 'train' nor "
                    "'test'; leave the cell empty if the row is in neither set."
                )
    return names, table[1:]
