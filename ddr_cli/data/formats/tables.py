"""The `csv` format: text tables with one sample per line, read by pandas."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import pandas as pd
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.formats import RawData, decoded_text, numeric_labels

Column = int | str
# The last two are answered with the step that took their place.
Missing = Literal["error", "keep", "drop_rows", "drop_columns", "category", "mean", "most_frequent"]

# The value that a missing cell of a categorical column becomes, unless it stays missing.
MISSING_CATEGORY = "(missing)"

_MISSING_VALUES = ("", "?", "NA", "NaN", "nan")
_BLANKS = r"\s+"
_SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "whitespace": _BLANKS, " ": _BLANKS}


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
    groups: Column | None = None,
    parts: Sequence[Column] = (),
    ignore: Sequence[Column] = (),
    categorical: Sequence[Column] | Literal["all"] = (),
    categories: Literal["columns", "codes"] = "columns",
    missing: Missing = "error",
    missing_values: Sequence[str] = _MISSING_VALUES,
) -> RawData:
    """Read one or more text tables, plain or gzip, with the same columns.

    A column is named by its name or by its index; indices count from 0, negative ones from the
    end. Blank lines are passed over. Numbers are read to the nearest float64.

    Options
    -------
    separator: ``comma``, ``tab``, ``semicolon``, ``whitespace`` (any run of blanks and tabs), or
        the one sign itself.
    header: The first line that is not skipped holds the column names. If not said, it does when
        `label`, `groups`, `parts`, `ignore` or `categorical` names a column and `names` is not
        given.
    names: The column names, the label's included, when the file doesn't state them.
    comment: From this sign to the end of the line nothing is read.
    skip_lines: Lines at the start of each file that are not read.
    encoding: The text encoding.
    label: The column of the class. When every label is a number, labels are compared as numbers.
    groups: The column that says what belongs together, such as a subject; no feature.
    parts: Columns that say of each row whether it is to ``train`` or ``test``, or is left out
        (empty); no features. A spec's ``split: {kind: given, column: NAME}`` takes one.
    ignore: Columns that are not read at all.
    categorical: Columns of text, whose values are categories.
    categories: What a categorical column becomes: ``columns``, one 0/1 column per value; or
        ``codes``, one column of numbers, for the step ``one_hot`` of a spec. Both are in the sorted
        order (by code point) of the values found in all files.
    missing: What a missing value does. ``keep``: it stays missing, for the step ``impute`` of a
        spec; among 0/1 columns it is a value of its own. ``drop_rows``, ``drop_columns``: rows or
        columns with one are left out. ``category``: a value of its own in a categorical column, an
        error in a numeric one.
    missing_values: Cells that mean a missing value.
    """
    if missing in ("mean", "most_frequent"):
        step = f"{{name: impute, strategy: {missing}}}"
        raise InputError(
            f"`missing: {missing}` looked at the rows of test parts too, and is no more: write "
            f"`missing: keep` in the card and `preprocess: [{step}]` in the spec."
        )
    if header is None:
        columns = [label, groups, *parts, *ignore]
        columns += [] if categorical == "all" else categorical
        header = not names and any(isinstance(column, str) for column in columns)
    titles = list(names)
    frames: list[pd.DataFrame] = []
    for path in map(Path, paths):
        frame = _read_cells(path, _sign(separator), comment, skip_lines, encoding)
        if header:
            line, found = _column_names(path, frame)
            frame = frame.iloc[1:]
            titles = titles or found
            if not names and found != titles:
                raise InputError(f"{path}, line {line}: other column names than in the first file.")
        if frame.empty:
            raise InputError(f"{path}: the file holds no rows of data.")
        width = frames[0].shape[1] if frames else frame.shape[1]
        if titles and len(titles) != width:
            raise InputError(f"{path}: {len(titles)} column names are given for {width} columns.")
        if frame.shape[1] != width:
            raise InputError(f"{path}: {frame.shape[1]} columns, the first file has {width}.")
        frames.append(frame)

    table = _Table(paths, pd.concat(frames, keys=range(len(frames))), titles, header=header)
    label_at = table.index_of(label)
    groups_at = None if groups is None else table.index_of(groups)
    parts_at = [table.index_of(column) for column in parts]
    special = [label_at, *parts_at, *([] if groups_at is None else [groups_at])]
    if len(set(special)) < len(special):
        raise InputError(f"{paths[0]}: one column can't be two of label, groups and parts.")
    left_out = {*special, *map(table.index_of, ignore)}
    features = [index for index in range(table.cells.shape[1]) if index not in left_out]
    hot = set(features) if categorical == "all" else set(map(table.index_of, categorical))
    if hot & left_out:
        raise InputError(
            f"{paths[0]}: column {min(hot & left_out)} is named as categorical, but it is the "
            f"label, groups, one of parts or ignored."
        )
    if not features:
        raise InputError(f"{paths[0]}: no column is left for the features.")
    gaps = frozenset(missing_values)
    table.settle_gaps(label_at, features, gaps, missing)
    categorize = table.codes if categories == "codes" else table.categories
    X = pd.concat(
        [
            categorize(index, missing) if index in hot else table.numbers(index, missing)
            for index in table.gaps
        ],
        axis=1,
    )
    coded = [place for place, index in enumerate(table.gaps) if index in hot]
    of_file = X.index.get_level_values(0)
    return RawData(
        X.to_numpy(np.float64),
        numeric_labels(table.cells[label_at].tolist()),
        feature_names=tuple(X.columns) if titles or hot else None,
        sizes=tuple(int((of_file == number).sum()) for number in range(len(frames))),
        groups=None if groups_at is None else table.group_values(groups_at, gaps),
        parts={table.title(index): table.part_values(index, gaps) for index in parts_at} or None,
        categorical=tuple(coded) if categories == "codes" else (),
    )


def _sign(separator: str) -> str:
    if separator in _SEPARATORS:
        return _SEPARATORS[separator]
    if len(separator) != 1:
        named = [name for name in _SEPARATORS if name.isalpha()]
        raise InputError(
            f"The separator '{separator}' is neither one sign nor one of {', '.join(named)}."
            f"{did_you_mean(separator, named)}"
        )
    return separator


def _read_cells(
    path: Path, sign: str, comment: str | None, skip_lines: int, encoding: str
) -> pd.DataFrame:
    """Return a file's cells as text, a row for each line that holds something.

    The index holds the lines' numbers in the file, from 1.
    """
    text = re.sub(r"\r\n?", "\n", decoded_text(path, encoding))
    if comment is not None:
        text = re.sub(f"{re.escape(comment)}.*", "", text)
    lines = text.removesuffix("\n").split("\n")

    def split(line: str) -> list[str]:
        if sign == _BLANKS:
            return line.split()
        return next(csv.reader([line], delimiter=sign, skipinitialspace=True))

    first = next((line for line in lines[skip_lines:] if line.strip()), None)
    if first is None:
        return pd.DataFrame()
    width = len(split(first))
    try:
        cells = pd.read_csv(
            io.StringIO(text),
            sep=sign,
            header=None,
            names=range(width),
            index_col=False,
            dtype=object,
            na_filter=False,
            skiprows=skip_lines,
            skip_blank_lines=False,
            skipinitialspace=True,
            quoting=csv.QUOTE_NONE if sign == _BLANKS else csv.QUOTE_MINIMAL,
        )
    except pd.errors.ParserError as error:
        many = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", str(error))
        if many is None:
            raise InputError(f"{path}: {str(error).rpartition(': ')[2].strip()}.") from None
        expected, number, there = many.groups()
        raise InputError(
            f"{path}, line {number}: {there} cells where {expected} were expected."
        ) from None
    cells.index = pd.RangeIndex(skip_lines + 1, skip_lines + 1 + len(cells))
    if sign != _BLANKS:
        cells = cells.apply(lambda column: column.str.strip())
    short = cells.index[cells[width - 1] == ""]
    cells = cells[(cells != "").any(axis=1)]
    # pandas fills a short row with empty cells. (A quoted cell of several lines moves the numbers.)
    for number in short.intersection(cells.index) if '"' not in text else ():
        there = len(split(lines[number - 1]))
        if there < width:
            raise InputError(f"{path}, line {number}: {there} cells where {width} were expected.")
    return cells


def _column_names(path: Path, frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return in which line the column names stand, and them."""
    if frame.empty:
        raise InputError(f"{path}: the file is empty; a line of column names was expected.")
    line, found = frame.index[0], frame.iloc[0].tolist()
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"{path}, line {line}: the column name '{twice}' is there twice.")
    return line, found


class _Table:
    """The cells of all files as text, by (number of the file, line in it) and column."""

    def __init__(
        self, paths: Sequence[Path], cells: pd.DataFrame, titles: list[str], *, header: bool
    ) -> None:
        self.paths = paths
        self.cells = cells
        self.titles = titles
        self.header = header
        self.gaps: Any = None

    def index_of(self, column: Column) -> int:
        """Return a column's index from 0."""
        width = self.cells.shape[1]
        if isinstance(column, int):
            if -width <= column < width:
                return column % width
            raise InputError(
                f"{self.paths[0]}: there is no column {column}; the first row has {width} cells "
                f"(is the separator right?)."
            )
        if column in self.titles:
            return self.titles.index(column)
        hint = did_you_mean(column, self.titles) if self.titles else " The columns have no names."
        raise InputError(f"{self.paths[0]}: there is no column called '{column}'.{hint}")

    def title(self, index: int) -> str:
        """Return what a column is called among the features."""
        return self.titles[index] if self.titles else f"x{index}"

    def place(self, row: Any, index: int | None = None) -> str:
        """Return where a row, or a cell of it, stands."""
        number, line = row
        place = f"{self.paths[number]}, line {line}"
        if index is None:
            return place
        column = f"column '{self.titles[index]}'" if self.titles else f"column {index} (from 0)"
        return f"{place}, {column}"

    def settle_gaps(
        self, label: int, features: list[int], values: frozenset[str], missing: Missing
    ) -> None:
        """Find the missing values; drop rows or columns with one, or refuse them, as `missing`."""
        gaps: Any = self.cells[[label, *features]].isin(values)
        if missing == "drop_rows":
            whole = ~gaps.any(axis=1)
            if not whole.any():
                raise InputError("Every row has a missing value: `drop_rows` leaves none.")
            self.cells, gaps = self.cells[whole], gaps[whole]
        if gaps.pop(label).any():
            row = self.cells[label].isin(values).idxmax()
            raise InputError(f"{self.place(row)}: the label is missing.")
        if missing == "drop_columns":
            gaps = gaps.loc[:, ~gaps.any()]
            if gaps.empty:
                raise InputError("Every column has a missing value: `drop_columns` leaves none.")
        if missing == "error" and gaps.any(axis=None):
            place = gaps.stack().idxmax()
            raise InputError(
                f"{self.place(place[:2], place[2])}: the value is missing. Say with `missing:` "
                f"what to do: keep (a spec's step impute fills it in), drop_rows, drop_columns or "
                f"category."
            )
        empty = gaps.all()
        if missing != "category" and empty.any():
            raise InputError(
                f"The column '{self.title(empty.idxmax())}' holds no value at all: name it in "
                f"`ignore`."
            )
        self.gaps = gaps

    def group_values(self, index: int, gaps: frozenset[str]) -> NDArray[Any]:
        """Return each row's group."""
        column = self.cells[index]
        if column.isin(gaps).any():
            raise InputError(f"{self.place(column.isin(gaps).idxmax(), index)}: no group is named.")
        return numeric_labels(column.tolist())

    def part_values(self, index: int, gaps: frozenset[str]) -> NDArray[np.str_]:
        """Return of which part each row is: ``train``, ``test`` or neither."""
        column = self.cells[index].where(lambda cells: ~cells.isin(gaps), "")
        wrong = ~column.isin(("train", "test", ""))
        if wrong.any():
            row: Any = wrong.idxmax()
            raise InputError(
                f"{self.place(row, index)}: '{column[row]}' is neither train nor test; leave the "
                "cell of a row of neither part empty."
            )
        return column.to_numpy(dtype=str)

    def numbers(self, index: int, missing: Missing) -> pd.Series[float]:
        """Return a numeric column."""
        present = self.cells[index][~self.gaps[index]]
        try:
            known: Any = present.astype(np.float64)  # by Python's float: the nearest there is
        except ValueError:
            known = present.map(_number)
        bad = ~np.isfinite(known)
        if bad.any():
            row = bad.idxmax()
            hint = " If this line holds the column names, set `header: true`."
            raise InputError(
                f"{self.place(row, index)}: '{present[row]}' is not a finite number; name the "
                f"column as `categorical` or in `ignore`, or add the value to `missing_values`."
                f"{hint if row == self.cells.index[0] and not self.header else ''}"
            )
        if self.gaps[index].any():
            if missing == "category":
                raise InputError(
                    f"The numeric column '{self.title(index)}' has missing values, which can't be "
                    f"a category of their own: choose keep, drop_rows or drop_columns."
                )
            known = known.reindex(self.cells.index)
        column: pd.Series[float] = known.rename(self.title(index))
        return column

    def codes(self, index: int, missing: Missing) -> pd.Series[float]:
        """Return the place of each row's value among the sorted values of a column of text."""
        column, gaps = self.cells[index], self.gaps[index]
        if missing == "category":
            column, gaps = column.mask(gaps, MISSING_CATEGORY), gaps & False
        values = pd.Categorical(column.mask(gaps)).codes.astype(np.float64)
        return pd.Series(np.where(gaps, np.nan, values), column.index, name=self.title(index))

    def categories(self, index: int, _missing: Missing) -> pd.DataFrame:
        """Return a 0/1 column for each value of a column of text."""
        column = self.cells[index].mask(self.gaps[index], MISSING_CATEGORY)
        return pd.get_dummies(column, prefix=self.title(index), prefix_sep="=", dtype=np.float64)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
