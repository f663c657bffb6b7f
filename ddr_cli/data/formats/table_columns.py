"""Turns the cells of a table into arrays: label, groups, given splits and features."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, getdoc, signature
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.files import pattern_labeller
from ddr_cli.data.formats import RawData, numeric_labels

Column = int | str
Missing = Literal["error", "keep", "drop_rows", "drop_columns", "category"]

MISSING_CATEGORY = "(missing)"
"""The category of the missing cells in a categorical column, unless they stay missing."""
MISSING_VALUES = ("", "?", "NA", "NaN", "nan")


@dataclass(frozen=True)
class Columns:
    """The roles of the columns of a table.

    header: The first line or row that is not skipped holds the column names. By default, it does
        when `label`, `groups`, `parts`, `ignore` or `categorical` names a column and no `names` are
        given. Parquet, Feather and ARFF files always have names.
    label: The column of the class. When every label is a number, labels are compared as numbers.
    groups: The column of the groups, such as subjects; it is not a feature.
    group_pattern: A regular expression with one capture group that extracts the name of the group
        from the cell of `groups`, such as the speaker from the name of a recording.
    parts: Columns that hold a given split: each cell is ``train``, ``test`` or, for neither, empty;
        they are not features. A spec's ``split: {kind: given, column: NAME}`` uses one.
    part_values: The meaning of other cells there, such as ``{'0': train, '1': test}``.
    ignore: Columns to skip.
    categorical: Columns of text, whose values are categories.
    categories: What a categorical column becomes: ``columns``, one 0/1 column per value; or
        ``codes``, one column of numbers, for the step ``one_hot`` of a spec. Both follow the order
        (by code point) of the values in all files.
    missing: Treatment of missing values. ``keep``: they stay missing, for the step ``impute`` of a
        spec; in 0/1 columns they are a separate value. ``drop_rows``, ``drop_columns``: rows or
        columns with missing values are left out. ``category``: they are a separate value of a
        categorical column, and an error in a numeric column.
    missing_values: Cells that mean a missing value.
    """

    header: bool | None = None
    label: Column = -1
    groups: Column | None = None
    group_pattern: str | None = None
    parts: Sequence[Column] = ()
    part_values: Mapping[str, Literal["train", "test", ""]] | None = None
    ignore: Sequence[Column] = ()
    categorical: Sequence[Column] | Literal["all"] = ()
    categories: Literal["columns", "codes"] = "columns"
    missing: Missing = "error"
    missing_values: Sequence[str] = MISSING_VALUES

    @property
    def named(self) -> bool:
        """Whether an option refers to a column by name, so that the table must have names."""
        columns = [self.label, self.groups, *self.parts, *self.ignore]
        columns += [] if self.categorical == "all" else self.categorical
        return any(isinstance(column, str) for column in columns)


def takes_columns(read: Callable[..., RawData]) -> Callable[..., RawData]:
    """Give a format the options of `Columns`, which it receives as one argument, `columns`."""
    own = dict(signature(read, eval_str=True).parameters)
    shared = signature(Columns, eval_str=True).parameters
    del own["columns"]

    @wraps(read)
    def wrapped(paths: Sequence[Path], **options: Any) -> RawData:
        columns = {name: options.pop(name) for name in shared if name in options}
        return read(paths, columns=Columns(**columns), **options)

    every = [*own.values(), *(each.replace(kind=each.KEYWORD_ONLY) for each in shared.values())]
    # `ddr describe` and pydantic read the options of a format from these.
    wrapped.__doc__ = "\n".join([str(getdoc(read)), *str(getdoc(Columns)).splitlines()[2:]])
    wrapped.__annotations__ = {each.name: each.annotation for each in every}
    vars(wrapped)["__signature__"] = Signature(every)
    return wrapped


@dataclass(frozen=True)
class Cells:
    """The cells of a file as text, by line; `titles` if its format states the column names."""

    path: Path
    frame: pd.DataFrame
    titles: tuple[str, ...] = ()


def read_columns(files: Sequence[Cells], columns: Columns, names: Sequence[str] = ()) -> RawData:
    """Return the arrays for the cells of files; `names` are the names of the columns."""
    header = columns.header
    table = Table(files, names, not names and columns.named if header is None else header)
    path, missing = table.paths[0], columns.missing
    label, groups, parts, categorical, features = _roles(table, columns)
    markers = frozenset(columns.missing_values)
    gaps, unlabelled = _gaps(table, label, features, markers, missing)
    known = table.cells[label][~unlabelled]
    if known.empty:
        raise InputError(f"{path}: no row has a label; set `label` to the class column.")
    numeric = [index for index in gaps if index not in categorical]
    numbers = dict(zip(numeric, _numbers(table, gaps[numeric], missing).T, strict=True))
    X, titles, values = _features(table, gaps, numbers, columns)
    given = {table.title(i): _part(table, i, markers, columns.part_values or {}) for i in parts}
    of_file = table.cells.index.get_level_values(0)
    return RawData(
        X,
        # Unlabelled samples get an arbitrary label here; `unlabelled` marks them.
        numeric_labels(table.cells[label].mask(unlabelled, known.iloc[0]).tolist()),
        feature_names=tuple(titles) if table.titles or categorical else None,
        sizes=tuple(int((of_file == number).sum()) for number in range(len(files))),
        groups=None if groups is None else _groups(table, groups, markers, columns.group_pattern),
        parts=given or None,
        unlabelled=unlabelled.to_numpy() if unlabelled.any() else None,
        first_unlabelled=table.place(unlabelled.idxmax()) if unlabelled.any() else "",
        categorical=tuple(values),
        categories=tuple(values.values()),
    )


def _roles(
    table: Table, columns: Columns
) -> tuple[int, int | None, list[int], set[int], list[int]]:
    """Return the indices of label, groups, given splits, categorical features and features."""
    path = table.paths[0]
    label = table.index_of(columns.label)
    groups = None if columns.groups is None else table.index_of(columns.groups)
    parts = [table.index_of(column) for column in columns.parts]
    special = [label, *parts, *([] if groups is None else [groups])]
    if len(set(special)) < len(special):
        raise InputError(f"{path}: list a column in only one of `label`, `groups` and `parts`.")
    left_out = {*special, *map(table.index_of, columns.ignore)}
    features = [index for index in range(table.cells.shape[1]) if index not in left_out]
    if columns.categorical == "all":
        categorical = set(features)
    else:
        categorical = set(map(table.index_of, columns.categorical))
    if categorical & left_out:
        raise InputError(
            f"{path}: remove column {min(categorical & left_out)} from `categorical`; it is "
            "not a feature."
        )
    if not features:
        raise InputError(
            f"{path}: all columns are in `label`, `groups`, `parts` or `ignore`; none is a feature."
        )
    return label, groups, parts, categorical, features


def _features(
    table: Table, gaps: Any, numbers: Mapping[int, NDArray[np.float64]], columns: Columns
) -> tuple[NDArray[np.float64], list[str], dict[int, tuple[str, ...]]]:
    """Return the features, their names, and the categories of those that hold codes."""
    blocks: list[NDArray[np.float64]] = []
    titles: list[str] = []
    values: dict[int, tuple[str, ...]] = {}
    for index in gaps:
        if index in numbers:
            block, found = numbers[index], [table.title(index)]
        elif columns.categories == "codes":
            found = [table.title(index)]
            block, codes = _codes(table.cells[index], gaps[index], columns.missing)
            values[len(titles)] = codes
        else:
            cells = table.cells[index].mask(gaps[index], MISSING_CATEGORY)
            dummies = pd.get_dummies(cells, table.title(index), "=", dtype=np.float64)
            block, found = dummies.to_numpy(), list(map(str, dummies))
        blocks.append(block)
        titles += found
    return np.column_stack(blocks), titles, values


class Table:
    """The cells of all files as text, by (number of the file, line in it) and column."""

    def __init__(self, files: Sequence[Cells], names: Sequence[str], header: bool) -> None:
        self.paths = [file.path for file in files]
        self.header = header
        self.titles = list(names) or list(files[0].titles)
        frames: list[pd.DataFrame] = []
        for path, frame, own in ((file.path, file.frame, list(file.titles)) for file in files):
            if own and own != self.titles:
                raise InputError(f"{path}: the column names differ from those of the first file.")
            if header and not own:
                line, found = _header(path, frame)
                frame = frame.iloc[1:]
                self.titles = self.titles or found
                if not names and found != self.titles:
                    raise InputError(
                        f"{path}, line {line}: the column names differ from those of the first "
                        "file."
                    )
            if frame.empty:
                raise InputError(f"{path} contains no rows of data.")
            frames.append(frame)
            width = frames[0].shape[1]
            if self.titles and len(self.titles) != width:
                raise InputError(f"{path} has {width} columns; the card names {len(self.titles)}.")
            if frame.shape[1] != width:
                raise InputError(
                    f"{path} has {frame.shape[1]} columns; the first file has {width}."
                )
        self.cells = pd.concat(frames, keys=range(len(frames)))

    def index_of(self, column: Column) -> int:
        """Return the index of a column from 0."""
        width = self.cells.shape[1]
        if isinstance(column, int):
            if -width <= column < width:
                return column % width
            raise InputError(
                f"{self.paths[0]} has columns 0 to {width - 1}, not {column}; check the separator."
            )
        if column in self.titles:
            return self.titles.index(column)
        hint = did_you_mean(column, self.titles) if self.titles else " The columns have no names."
        raise InputError(f"{self.paths[0]}: there is no column '{column}'.{hint}")

    def title(self, index: int) -> str:
        """Return the name of a column as a feature."""
        return self.titles[index] if self.titles else f"x{index}"

    def place(self, row: Any, index: int | None = None) -> str:
        """Return the file and line of a row, with the column of a cell."""
        number, line = row
        place = f"{self.paths[number]}, line {line}"
        if index is None:
            return place
        column = f"column '{self.titles[index]}'" if self.titles else f"column {index} (from 0)"
        return f"{place}, {column}"


def _header(path: Path, frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return the number of the line with the column names, and the names."""
    if frame.empty:
        raise InputError(f"{path} is empty, but must begin with a line of column names.")
    line, found = frame.index[0], frame.iloc[0].tolist()
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"{path}, line {line}: the column name '{twice}' occurs twice.")
    return line, found


def _gaps(
    table: Table, label: int, features: list[int], markers: frozenset[str], missing: Missing
) -> tuple[Any, Any]:
    """Return which cells of the features are missing, and which labels are.

    Depending on `missing`, rows or columns with a missing value are dropped or rejected.
    """
    cells = table.cells[[label, *features]]
    # `DataFrame.isin` is slow for thousands of columns, so all cells form one series.
    flat = pd.Series(cells.to_numpy().ravel(), dtype=object).isin(markers)
    gaps: Any = pd.DataFrame(flat.to_numpy().reshape(cells.shape), cells.index, cells.columns)
    if missing == "drop_rows":
        whole = ~gaps.any(axis=1)
        if not whole.any():
            raise InputError("All rows have missing values; set `missing: keep`.")
        table.cells, gaps = table.cells[whole], gaps[whole]
    unlabelled = gaps.pop(label)
    if missing == "drop_columns":
        gaps = gaps.loc[:, ~gaps.any()]
        if gaps.empty:
            raise InputError("All columns have missing values; set `missing: keep`.")
    if missing == "error" and gaps.any(axis=None):
        place = gaps.stack().idxmax()
        raise InputError(
            f"{table.place(place[:2], place[2])}: the value is missing; in the card, set `missing` "
            "to `keep`, `drop_rows`, `drop_columns` or `category`."
        )
    empty = gaps.all()
    if missing != "category" and empty.any():
        raise InputError(
            f"The column '{table.title(empty.idxmax())}' is empty; add it to `ignore`."
        )
    return gaps, unlabelled


def _numbers(table: Table, gaps: Any, missing: Missing) -> NDArray[np.float64]:
    """Return the numeric columns; NaN replaces the missing values that `gaps` marks."""
    is_gap = gaps.to_numpy(bool)
    X = as_numbers(np.where(is_gap, "nan", table.cells[list(gaps)]))
    wrong = ~np.isfinite(X) & ~is_gap
    if wrong.any():
        column, row = np.argwhere(wrong.T)[0]
        index, at = list(gaps)[column], table.cells.index[row]
        hint = (
            ""
            if row or table.header
            else (" If this line holds the column names, set `header: true`.")
        )
        raise InputError(
            f"{table.place(at, index)}: '{table.cells[index].iloc[row]}' is not a finite number; "
            "add the column to `categorical` or `ignore`, or add the value to "
            f"`missing_values`.{hint}"
        )
    if missing == "category" and is_gap.any():
        raise InputError(
            "`missing: category` can't replace missing numbers (column "
            f"'{table.title(gaps.any().idxmax())}'); set `missing: keep`."
        )
    return X


def _codes(
    column: pd.Series[str], gaps: pd.Series[bool], missing: Missing
) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Return the rank of each value among a text column's sorted values, and these values."""
    if missing == "category":
        column, gaps = column.mask(gaps, MISSING_CATEGORY), gaps & False
    values = tuple(sorted(set(column[~gaps])))
    codes = pd.Index(values).get_indexer(pd.Index(column)).astype(np.float64)
    return np.where(gaps, np.nan, codes), values


def _groups(table: Table, index: int, markers: frozenset[str], pattern: str | None) -> NDArray[Any]:
    """Return the group of each row."""
    column = table.cells[index]
    if column.isin(markers).any():
        place = table.place(column.isin(markers).idxmax(), index)
        raise InputError(f"{place}: the group is missing; every row needs a group.")
    return numeric_labels(list(map(pattern_labeller(pattern), column)) if pattern else list(column))


def _part(
    table: Table, index: int, markers: frozenset[str], meaning: Mapping[str, str]
) -> NDArray[np.str_]:
    """Return ``train``, ``test`` or, if a row is in neither set, an empty text for each row."""
    column = table.cells[index].where(lambda cells: ~cells.isin(markers), "").replace(meaning)
    wrong = ~column.isin(("train", "test", ""))
    if wrong.any():
        row: Any = wrong.idxmax()
        raise InputError(f"{table.place(row, index)}: '{column[row]}' is not train, test or empty.")
    return column.to_numpy(dtype=str)


def as_numbers(cells: NDArray[Any]) -> NDArray[np.float64]:
    """Return the nearest float64 of each cell, NaN for text."""
    try:
        # This uses Python's float(), which returns the nearest value.
        return cells.astype(np.float64)
    except ValueError:
        return np.array([_number(cell) for cell in cells.flat]).reshape(cells.shape)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
