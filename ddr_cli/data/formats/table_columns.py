"""From the cells of a table to arrays: which columns are label, group, given split, features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.files import pattern_labeller
from ddr_cli.data.formats import RawData, numeric_labels

Column = int | str
# The last two are answered with the step that took their place.
Missing = Literal["error", "keep", "drop_rows", "drop_columns", "category", "mean", "most_frequent"]

# The value that a missing cell of a categorical column becomes, unless it stays missing.
MISSING_CATEGORY = "(missing)"
MISSING_VALUES = ("", "?", "NA", "NaN", "nan")


@dataclass(frozen=True)
class Columns:
    """What the columns are, as the options of `ddr_cli.data.formats.delimited.read_csv` say."""

    label: Column
    groups: Column | None
    parts: Sequence[Column]
    ignore: Sequence[Column]
    categorical: Sequence[Column] | Literal["all"]
    categories: Literal["columns", "codes"]
    missing: Missing
    missing_values: Sequence[str]
    group_pattern: str | None = None
    part_values: Mapping[str, str] = field(default_factory=dict)

    @property
    def named(self) -> bool:
        """Whether a column is told by its name."""
        columns = [self.label, self.groups, *self.parts, *self.ignore]
        columns += [] if self.categorical == "all" else self.categorical
        return any(isinstance(column, str) for column in columns)


@dataclass(frozen=True)
class Cells:
    """A file's cells as text, by their lines in it; `titles` where the file tells them apart."""

    path: Path
    frame: pd.DataFrame
    titles: tuple[str, ...] = ()


def read_columns(
    files: Sequence[Cells],
    columns: Columns,
    *,
    header: bool | None = None,
    names: Sequence[str] = (),
) -> RawData:
    """Return what is in the cells of files, whose first rows hold the titles if `header` is so."""
    label, missing = columns.label, columns.missing
    if missing in ("mean", "most_frequent"):
        step = f"{{name: impute, strategy: {missing}}}"
        raise InputError(
            f"`missing: {missing}` looked at the rows of test parts too, and is no more: write "
            f"`missing: keep` in the card and `preprocess: [{step}]` in the spec."
        )
    paths = [file.path for file in files]
    table = _table(files, names, not names and columns.named if header is None else header)
    label_at = table.index_of(label)
    groups_at = None if columns.groups is None else table.index_of(columns.groups)
    parts_at = [table.index_of(column) for column in columns.parts]
    special = [label_at, *parts_at, *([] if groups_at is None else [groups_at])]
    if len(set(special)) < len(special):
        raise InputError(f"{paths[0]}: one column can't be two of label, groups and parts.")
    left_out = {*special, *map(table.index_of, columns.ignore)}
    features = [index for index in range(table.cells.shape[1]) if index not in left_out]
    hot = (
        set(features)
        if columns.categorical == "all"
        else set(map(table.index_of, columns.categorical))
    )
    if hot & left_out:
        raise InputError(
            f"{paths[0]}: column {min(hot & left_out)} is named as categorical, but it is the "
            f"label, groups, one of parts or ignored."
        )
    if not features:
        raise InputError(f"{paths[0]}: no column is left for the features.")
    gaps = frozenset(columns.missing_values)
    table.settle_gaps(label_at, features, gaps, missing)
    categorize = table.codes if columns.categories == "codes" else table.categories
    X = None if hot else table.all_numbers(missing)
    if X is None:
        X = pd.concat(
            [
                categorize(index, missing) if index in hot else table.numbers(index, missing)
                for index in table.gaps
            ],
            axis=1,
        )
    coded = [place for place, index in enumerate(table.gaps) if index in hot]
    without_label = table.unlabelled.any()
    of_file = X.index.get_level_values(0)
    return RawData(
        X.to_numpy(np.float64),
        table.label_values(label_at),
        feature_names=tuple(X.columns) if table.titles or hot else None,
        sizes=tuple(int((of_file == number).sum()) for number in range(len(files))),
        groups=None
        if groups_at is None
        else table.group_values(groups_at, gaps, columns.group_pattern),
        parts={
            table.title(index): table.part_values(index, gaps, columns.part_values)
            for index in parts_at
        }
        or None,
        unlabelled=table.unlabelled.to_numpy() if without_label else None,
        first_unlabelled=table.place(table.unlabelled.idxmax()) if without_label else "",
        categorical=tuple(coded) if columns.categories == "codes" else (),
        categories=tuple(table.values[index] for index in table.gaps if index in table.values),
    )


def _table(files: Sequence[Cells], names: Sequence[str], header: bool) -> Table:
    titles = list(names) or list(files[0].titles)
    frames: list[pd.DataFrame] = []
    for path, frame, own in ((file.path, file.frame, list(file.titles)) for file in files):
        if own and own != titles:
            raise InputError(f"{path}: other column names than in the first file.")
        if header and not own:
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
    paths = [file.path for file in files]
    return Table(paths, pd.concat(frames, keys=range(len(frames))), titles, header=header)


def _column_names(path: Path, frame: pd.DataFrame) -> tuple[int, list[str]]:
    """Return in which line the column names stand, and them."""
    if frame.empty:
        raise InputError(f"{path}: the file is empty; a line of column names was expected.")
    line, found = frame.index[0], frame.iloc[0].tolist()
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        raise InputError(f"{path}, line {line}: the column name '{twice}' is there twice.")
    return line, found


class Table:
    """The cells of all files as text, by (number of the file, line in it) and column."""

    def __init__(
        self, paths: Sequence[Path], cells: pd.DataFrame, titles: list[str], *, header: bool
    ) -> None:
        self.paths = paths
        self.cells = cells
        self.titles = titles
        self.header = header
        self.gaps: Any = None
        self.values: dict[int, tuple[str, ...]] = {}
        self.unlabelled: Any = None

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
        self.unlabelled = gaps.pop(label)
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

    def label_values(self, index: int) -> NDArray[Any]:
        """Return each row's label; of a row without one, another's."""
        known = self.cells[index][~self.unlabelled]
        if known.empty:
            raise InputError(f"{self.paths[0]}: no row has a label.")
        return numeric_labels(self.cells[index].mask(self.unlabelled, known.iloc[0]).tolist())

    def group_values(
        self, index: int, gaps: frozenset[str], pattern: str | None = None
    ) -> NDArray[Any]:
        """Return each row's group."""
        column = self.cells[index]
        if column.isin(gaps).any():
            raise InputError(f"{self.place(column.isin(gaps).idxmax(), index)}: no group is named.")
        names = column.tolist()
        return numeric_labels(list(map(pattern_labeller(pattern), names)) if pattern else names)

    def part_values(
        self, index: int, gaps: frozenset[str], meaning: Mapping[str, str]
    ) -> NDArray[np.str_]:
        """Return of which part each row is: ``train``, ``test`` or neither."""
        column = self.cells[index].where(lambda cells: ~cells.isin(gaps), "").replace(meaning)
        wrong = ~column.isin(("train", "test", ""))
        if wrong.any():
            row: Any = wrong.idxmax()
            raise InputError(
                f"{self.place(row, index)}: '{column[row]}' is neither train nor test; leave the "
                "cell of a row of neither part empty."
            )
        return column.to_numpy(dtype=str)

    def all_numbers(self, missing: Missing) -> pd.DataFrame | None:
        """Return numeric columns together, as chips have thousands; None for `numbers` to say why.

        A Series for each of them would take a hundred times as long.
        """
        gaps = self.gaps.to_numpy()
        if missing == "category" and gaps.any():
            return None
        try:
            X = np.where(gaps, "nan", self.cells[list(self.gaps)]).astype(np.float64)
        except ValueError:
            return None
        if not np.isfinite(X[~gaps]).all():
            return None
        return pd.DataFrame(X, self.cells.index, [self.title(index) for index in self.gaps])

    def numbers(self, index: int, missing: Missing) -> pd.Series[float]:
        """Return a numeric column."""
        present = self.cells[index][~self.gaps[index]]
        known: Any = as_numbers(present)
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
        values = self.values.setdefault(index, tuple(sorted(set(column[~gaps]))))
        codes = pd.Index(values).get_indexer(pd.Index(column)).astype(np.float64)
        return pd.Series(np.where(gaps, np.nan, codes), column.index, name=self.title(index))

    def categories(self, index: int, _missing: Missing) -> pd.DataFrame:
        """Return a 0/1 column for each value of a column of text."""
        column = self.cells[index].mask(self.gaps[index], MISSING_CATEGORY)
        return pd.get_dummies(column, prefix=self.title(index), prefix_sep="=", dtype=np.float64)


def as_numbers(cells: pd.Series[str]) -> pd.Series[float]:
    """Return the nearest float64 of each cell; NaN of what is no number."""
    try:
        return cells.astype(np.float64)  # by Python's float: the nearest there is
    except ValueError:
        return cells.map(_number)


def _number(cell: str) -> float:
    try:
        return float(cell)
    except ValueError:
        return np.nan
