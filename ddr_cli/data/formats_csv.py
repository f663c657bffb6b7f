"""The `csv` format: text tables with one sample per line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.columns import Missing, Table, encode_table
from ddr_cli.data.csv_lines import Layout, records, separator_sign
from ddr_cli.data.raw import RawData

Column = int | str

_MISSING_VALUES = ("", "?", "NA", "NaN", "nan")


def read_csv(
    paths: Sequence[Path],
    *,
    separator: Annotated[str, MinLen(1)] = "comma",
    header: bool | None = None,
    names: Sequence[str] = (),
    comment: Annotated[str, MinLen(1)] | None = None,
    skip_lines: Annotated[int, Ge(0)] = 0,
    encoding: str = "utf-8-sig",
    label: Column = -1,
    ignore: Sequence[Column] = (),
    categorical: Sequence[Column] | Literal["all"] = (),
    missing: Missing = "error",
    missing_values: Sequence[str] = _MISSING_VALUES,
) -> RawData:
    """Read one or more text tables, plain or gzip, with the same columns.

    A column is named by its name or by its index; indices count from 0, negative ones from the
    end. Blank lines are passed over. Numbers are read to the nearest float64.

    Parameters
    ----------
    paths : sequence of Path
        The files, read one after the other; `sizes` of the result says how many rows each gave.
    separator : str
        ``comma``, ``tab``, ``semicolon``, ``whitespace`` (any run of blanks and tabs), or the one
        sign itself.
    header : bool, optional
        The first line that is not skipped holds the column names. If not said, it does when
        `label`, `ignore` or `categorical` names a column and `names` is not given.
    names : sequence of str
        The column names, the label's included, when the file doesn't state them.
    comment : str, optional
        From this sign to the end of the line nothing is read.
    skip_lines : int
        Lines at the start of each file that are not read.
    encoding : str
        The text encoding.
    label : int or str
        The column of the class. When every label is a number, labels are compared as numbers.
    ignore : sequence of int or str
        Columns that are not read at all.
    categorical : sequence of int or str, or "all"
        Columns of text that become one 0/1 column per value, in the sorted order (by code point)
        of the values found in all files.
    missing : {"error", "drop_rows", "drop_columns", "mean", "most_frequent", "category"}
        What a missing value does; see `ddr_cli.data.columns.encode_table`.
    missing_values : sequence of str
        Cells that mean a missing value.

    Raises
    ------
    InputError
        If a file has no rows, a row has too many or too few cells, a cell is not a number, or an
        option doesn't fit the file; the message names the file, the line and the column.
    """
    if header is None:
        columns = [label, *ignore, *([] if categorical == "all" else categorical)]
        header = not names and any(isinstance(column, str) for column in columns)
    layout = Layout(separator_sign(separator), comment, skip_lines, encoding, header)
    reader = _TableReader(
        layout, tuple(names), label, ignore, categorical, missing, frozenset(missing_values)
    )
    for path in paths:
        reader.read(Path(path))
    return encode_table(reader.table(), missing=missing)


@dataclass(frozen=True)
class _Columns:
    """Which column of the file is what, by index."""

    names: tuple[str, ...] | None
    width: int
    label: int
    numeric: tuple[int, ...]
    categorical: tuple[int, ...]

    def title(self, index: int) -> str:
        return f"column '{self.names[index]}'" if self.names else f"column {index} (from 0)"


@dataclass
class _TableReader:
    """Collects the rows of several files; the first row read settles what each column is."""

    layout: Layout
    names: tuple[str, ...]
    label: Column
    ignore: Sequence[Column]
    categorical: Sequence[Column] | str
    missing: Missing
    missing_values: frozenset[str]
    columns: _Columns | None = None
    labels: list[str] = field(default_factory=list)
    numbers: list[NDArray[np.float64]] = field(default_factory=list)
    texts: list[tuple[str | None, ...]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def read(self, path: Path) -> None:
        """Add the rows of one file."""
        before = len(self.labels)
        rows = records(path, self.layout)
        if self.layout.header:
            self._take_header(path, rows)
        for line, cells in rows:
            if self.columns is None:
                self.columns = self._settle(len(cells), path, self.names or None)
            self._take_row(path, line, cells, self.columns)
        if len(self.labels) == before:
            raise InputError(f"{path}: the file holds no rows of data.")
        self.sizes.append(len(self.labels) - before)

    def table(self) -> Table:
        """Return all rows read."""
        columns = self.columns
        if columns is None:
            raise InputError("A csv data set needs at least one file.")
        return Table(
            numbers=np.array(self.numbers).reshape(len(self.labels), len(columns.numeric)),
            texts=self.texts,
            labels=self.labels,
            numeric=columns.numeric,
            categorical=columns.categorical,
            names=columns.names,
            sizes=tuple(self.sizes),
        )

    def _take_header(self, path: Path, rows: Iterator[tuple[int, list[str]]]) -> None:
        line, names = next(rows, (0, []))
        if not names:
            raise InputError(f"{path}: the file is empty; a line of column names was expected.")
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{path}, line {line}: the column name '{twice}' stands there twice.")
        if self.columns is None:
            self.columns = self._settle(len(names), path, self.names or tuple(names))
        elif not self.names and tuple(names) != self.columns.names:
            raise InputError(f"{path}, line {line}: other column names than in the first file.")

    def _settle(self, width: int, path: Path, names: tuple[str, ...] | None) -> _Columns:
        if names is not None and len(names) != width:
            raise InputError(f"{path}: {len(names)} column names are given for {width} columns.")

        def index_of(column: Column) -> int:
            if isinstance(column, str):
                if names is None or column not in names:
                    hint = did_you_mean(column, names) if names else " The columns have no names."
                    raise InputError(f"{path}: there is no column called '{column}'.{hint}")
                return names.index(column)
            if not -width <= column < width:
                raise InputError(
                    f"{path}: there is no column {column}; the first row has {width} cells "
                    f"(is the separator right?)."
                )
            return column % width

        label = index_of(self.label)
        left_out = {label, *map(index_of, self.ignore)}
        features = [index for index in range(width) if index not in left_out]
        if isinstance(self.categorical, str):
            chosen = set(features)
        else:
            chosen = set(map(index_of, self.categorical))
            if chosen & left_out:
                raise InputError(
                    f"{path}: column {min(chosen & left_out)} is named as categorical, but it is "
                    f"the label or ignored."
                )
        if not features:
            raise InputError(f"{path}: no column is left for the features.")
        return _Columns(
            names,
            width,
            label,
            tuple(index for index in features if index not in chosen),
            tuple(index for index in features if index in chosen),
        )

    def _take_row(self, path: Path, line: int, cells: list[str], columns: _Columns) -> None:
        if len(cells) != columns.width:
            raise InputError(
                f"{path}, line {line}: {len(cells)} cells where {columns.width} were expected."
            )
        label = cells[columns.label]
        if label in self.missing_values:
            if self.missing == "drop_rows":
                return
            raise InputError(f"{path}, line {line}: the label is missing.")
        texts: list[str | None] = []
        for index in columns.categorical:
            known = cells[index] not in self.missing_values
            if not known:
                self._refuse_missing(path, line, columns, index)
            texts.append(cells[index] if known else None)
        self.numbers.append(self._numbers(path, line, cells, columns))
        self.texts.append(tuple(texts))
        self.labels.append(label)

    def _numbers(
        self, path: Path, line: int, cells: list[str], columns: _Columns
    ) -> NDArray[np.float64]:
        chosen = [cells[index] for index in columns.numeric]
        if self.missing_values.isdisjoint(chosen):
            try:
                values = np.array(chosen, dtype=np.float64)
            except ValueError:
                pass
            else:
                if np.isfinite(values).all():
                    return values
        # A row with a missing or bad cell is rare: only then is it gone through cell by cell.
        values = np.empty(len(chosen))
        for position, (index, cell) in enumerate(zip(columns.numeric, chosen, strict=True)):
            if cell in self.missing_values:
                self._refuse_missing(path, line, columns, index)
                values[position] = np.nan
                continue
            number = _number(cell)
            if number is None:
                first = (
                    ""
                    if self.labels or self.layout.header
                    else (" If this line holds the column names, set `header: true`.")
                )
                raise InputError(
                    f"{path}, line {line}, {columns.title(index)}: '{cell}' is not a finite "
                    f"number; name the column as `categorical` or in `ignore`, or add the value "
                    f"to `missing_values`.{first}"
                )
            values[position] = number
        return values

    def _refuse_missing(self, path: Path, line: int, columns: _Columns, index: int) -> None:
        if self.missing == "error":
            raise InputError(
                f"{path}, line {line}, {columns.title(index)}: the value is missing. Say with "
                f"`missing:` what to do: drop_rows, drop_columns, mean, most_frequent or category."
            )


def _number(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if np.isfinite(value) else None
