"""The formats of tables: `csv`, `columns` (text), `table` (Excel, Parquet, Feather, ARFF)."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from zipfile import BadZipFile

import numpy as np
import pandas as pd
from annotated_types import Ge, MinLen
from numpy.typing import NDArray

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError, did_you_mean, unreadable
from ddr_cli.core.extras import load_module
from ddr_cli.core.registry import registered
from ddr_cli.data.files import UNPACKED_LIMIT, check_zip, decoded_text, pattern_labeller
from ddr_cli.data.formats import RawData, concatenate_rows, numeric_labels
from ddr_cli.data.formats.table_columns import (
    Cells,
    Columns,
    as_numbers,
    read_columns,
    takes_columns,
)

_BLANKS = r"\s+"
DECIMAL_COMMA = r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$"
SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "whitespace": _BLANKS, " ": _BLANKS}


@takes_columns
@registered(
    "format",
    "csv",
    "text table: separated by commas, tabs, blanks or another character; plain or gz",
    endings=(".csv", ".tsv"),
)
def read_csv(
    paths: Sequence[Path],
    *,
    columns: Columns,
    separator: Annotated[str, MinLen(1)] = "comma",
    names: Sequence[str] = (),
    comment: Annotated[str, MinLen(1)] | None = None,
    skip_lines: Annotated[int, Ge(0)] = 0,
    encoding: str = "utf-8-sig",
    decimal: Literal[".", ","] = ".",
) -> RawData:
    """Read one or more text tables, plain or gzip, with the same columns.

    Options refer to a column by its name or its index; indices count from 0, negative ones from the
    end. Blank lines are skipped. Numbers are read to the nearest float64.

    Options
    -------
    separator: ``comma``, ``tab``, ``semicolon``, ``whitespace`` (any run of blanks and tabs), or
        a single character.
    names: The column names, including that of the label, if the file does not state them.
    comment: A character that starts a comment until the end of the line.
    skip_lines: Number of lines to skip at the start of each file.
    encoding: The text encoding.
    decimal: The decimal separator of numbers.
    """
    how = (separator, comment, skip_lines, encoding, decimal)
    files = [Cells(Path(path), read_text_cells(Path(path), *how)) for path in paths]
    return read_columns(files, columns, names)


def read_text_cells(
    path: Path,
    separator: str,
    comment: str | None = None,
    skip_lines: int = 0,
    encoding: str = "utf-8-sig",
    decimal: str = ".",
) -> pd.DataFrame:
    """Return the cells of a text table as text, one row for each line that is not blank.

    The options are those of `read_csv`; the index holds the numbers of the lines, from 1.
    """
    if len(separator) != 1 and separator not in SEPARATORS:
        named = [name for name in SEPARATORS if name.isalpha()]
        raise InputError(
            f"The separator '{separator}' is neither one character nor one of {', '.join(named)}."
            f"{did_you_mean(separator, named)}"
        )
    sign = SEPARATORS.get(separator, separator)
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
        raise InputError(f"{path}, line {number} has {there} cells, not {expected}.") from None
    # Store all columns in one block: thousands, as of microarrays, would take a millisecond each.
    lines_read = range(skip_lines + 1, skip_lines + 1 + len(cells))
    cells = pd.DataFrame(cells.to_numpy(), lines_read, dtype=object)
    if sign != _BLANKS and re.search(rf'[ \t]({re.escape(sign)}|["\n]|\Z)|"[ \t]', text):
        cells = cells.apply(lambda column: column.str.strip())
    short = cells.index[cells[width - 1] == ""]
    cells = cells[(cells != "").any(axis=1)]
    # pandas fills short rows with empty cells, so count again. Line numbers are unreliable if a
    # quoted cell has line breaks, so files with quotes are not checked.
    for number in short.intersection(cells.index) if '"' not in text else ():
        there = len(split(lines[number - 1]))
        if there < width:
            raise InputError(f"{path}, line {number} has {there} cells, not {width}.")
    return cells.replace(DECIMAL_COMMA, r"\1.\2", regex=True) if decimal == "," else cells


@registered(
    "format",
    "columns",
    "text table with one sample per column and titles in the first line; plain or gz",
)
def read_sample_columns(
    paths: Sequence[Path],
    *,
    label: str = "(.+)",
    groups: str | None = None,
    names: Annotated[int, Ge(1)] = 1,
    ignore: str | None = None,
    separator: Annotated[str, MinLen(1)] = "comma",
    encoding: str = "utf-8-sig",
) -> RawData:
    """Read one or more text tables, plain or gzip, whose first line holds the samples' titles.

    Each further line holds a feature: its name, then its value in every sample. A column without
    any value, such as after a last separator, is skipped.

    Options
    -------
    label: A regular expression with one group that is searched for in a sample's title; the group
        is its class.
    groups: A regular expression for the group of a sample, such as the measured subject.
    names: Number of columns at the start that are not samples; the last of them names the features.
    ignore: A regular expression; columns whose whole title matches it are not samples.
    separator: ``comma``, ``tab``, ``semicolon``, ``whitespace``, or a single character.
    encoding: The text encoding.
    """

    def read_one(path: Path) -> RawData:
        cells = read_text_cells(path, separator, encoding=encoding)
        if len(cells) < 2 or cells.shape[1] <= names:
            raise InputError(
                f"{path} needs a header line, then one line per feature; check the separator."
            )
        titles, rows = cells.iloc[0], cells.iloc[1:]
        samples = [
            column
            for column in cells.columns[names:]
            if not (ignore and re.fullmatch(ignore, titles[column])) and (rows[column] != "").any()
        ]
        if not samples:
            raise InputError(f"{path}: all columns after column {names} are empty or ignored.")
        values = as_numbers(rows[samples].to_numpy())
        if not np.isfinite(values).all():
            row, at = np.argwhere(~np.isfinite(values))[0]
            line, column = rows.index[row], samples[at]
            raise InputError(
                f"{path}, line {line}, column '{titles[column]}': "
                f"'{rows.loc[line, column]}' is not a finite number."
            )

        def found(pattern: str) -> NDArray[Any]:
            return numeric_labels(list(map(pattern_labeller(pattern), titles[samples])))

        return RawData(
            values.T,
            found(label),
            feature_names=tuple(rows[names - 1]),
            groups=None if groups is None else found(groups),
        )

    files = [read_one(Path(path)) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if file.feature_names != files[0].feature_names:
            raise InputError(f"{path}: the features differ from those of the first file.")
    return concatenate_rows(files)


@takes_columns
@registered(
    "format",
    "table",
    "Excel, Parquet, Feather or ARFF file, detected from the file name",
    endings=(".xlsx", ".xlsm", ".parquet", ".feather", ".arff"),
)
def read_table(
    paths: Sequence[Path],
    *,
    columns: Columns,
    sheet: int | str = 0,
    skip_rows: Annotated[int, Ge(0)] = 0,
) -> RawData:
    """Read Excel (.xlsx), Parquet (.parquet), Feather (.feather) and ARFF (.arff) files.

    The ending of a file determines its kind. Options refer to a column by its name or its index;
    indices count from 0, negative ones from the end. Excel needs the extra ``excel``, Parquet and
    Feather need the extra ``parquet``.

    Options
    -------
    sheet: The sheet of an Excel file, by its name or by its number from 0.
    skip_rows: Number of rows to skip at the start of an Excel sheet.
    """
    return read_columns([read_file_cells(Path(path), sheet, skip_rows) for path in paths], columns)


def _check_excel(path: Path) -> None:
    _load_module("openpyxl", "openpyxl", "excel", path)
    try:
        check_zip(path)
    except BadZipFile as error:
        raise InputError(f"{path} is not a readable Excel file; save it as .xlsx.") from error


def sheet_names(path: Path) -> list[str]:
    """Return the names of an Excel file's sheets; empty for other files."""
    if path.suffix.lower() not in _EXCEL:
        return []
    _check_excel(path)
    try:
        with pd.ExcelFile(path, engine="openpyxl") as book:
            return [str(name) for name in book.sheet_names]
    except Exception as error:  # openpyxl can raise any exception for a damaged file
        raise InputError(f"{path} is not a readable Excel file ({error}).") from None


def read_file_cells(path: Path, sheet: int | str = 0, skip_rows: int = 0) -> Cells:
    """Return the cells of a file, indexed by row number from 1."""
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise InputError(f"{path} must end in {', '.join(_READERS)}; for text, use the format csv.")
    require_file(path)
    try:
        frame = _READERS[kind](path, sheet)
    except InputError:
        raise
    except OSError as error:
        raise unreadable(path, error) from None
    except Exception as error:  # the libraries can raise any exception for a damaged file
        why = f" ({error})" if str(error) else ""
        raise InputError(f"{path} is not a readable {kind} file{why}.") from None
    titles = tuple(map(str, frame.columns)) if kind not in _EXCEL else ()
    if not frame.shape[1]:
        return Cells(path, pd.DataFrame(), titles)
    cells = pd.concat([_as_text(frame.iloc[:, i]) for i in range(frame.shape[1])], axis=1)
    cells.columns = pd.RangeIndex(frame.shape[1])
    cells.index = pd.RangeIndex(1, len(frame) + 1)
    return Cells(path, cells[(cells != "").any(axis=1)].loc[skip_rows + 1 :], titles)


def _as_text(column: pd.Series[Any]) -> pd.Series[str]:
    """Return each value as text that is read back as the same number; None for a missing value."""
    if pd.api.types.is_float_dtype(column.dtype):
        text = column.astype("float64").map(repr)
    else:
        # In a column with mixed values, Excel stores a whole number as an integer: 3, not 3.0.
        text = column.map(lambda value: repr(value) if isinstance(value, float) else str(value))
    filled: pd.Series[str] = text.str.strip().mask(column.isna().to_numpy(bool), "").astype(object)
    return filled


def _excel(path: Path, sheet: int | str) -> pd.DataFrame:
    _check_excel(path)
    # Without an engine pandas takes whichever installed library reads the content.
    with pd.ExcelFile(path, engine="openpyxl") as book:
        try:
            return pd.read_excel(book, sheet_name=sheet, header=None, dtype=object)
        except ValueError as error:
            if "Worksheet" not in str(error):
                raise
            sheets = ", ".join(map(str, book.sheet_names))
            raise InputError(f"{path} has no sheet {sheet!r}; the sheets are {sheets}.") from None


def _pyarrow(path: Path, _sheet: int | str) -> pd.DataFrame:
    parquet = _load_module("pyarrow.parquet", "pyarrow", "parquet", path)
    if path.suffix.lower() == ".feather":
        return pd.read_feather(path)
    # A small file can have a constant column of any length, so check the size before reading.
    facts = parquet.read_metadata(path)
    if (size := 8 * facts.num_rows * facts.num_columns) > UNPACKED_LIMIT:
        raise InputError(f"{path} unpacks to {size} bytes, but ddr reads at most {UNPACKED_LIMIT}.")
    return pd.read_parquet(path, engine="pyarrow")


def _arff(path: Path, _sheet: int | str) -> pd.DataFrame:
    from scipy.io import arff

    try:
        rows, meta = arff.loadarff(io.StringIO(decoded_text(path)))
    except NotImplementedError as error:
        raise InputError(f"SciPy can't read {path} ({error}); save it as CSV.") from None
    frame = pd.DataFrame(rows)
    for name, kind in zip(meta.names(), meta.types(), strict=True):
        if kind == "nominal":
            frame[name] = frame[name].str.decode("utf-8")
    return frame


_EXCEL = (".xlsx", ".xlsm")
_READERS: Mapping[str, Callable[[Path, int | str], pd.DataFrame]] = {
    ".xlsx": _excel,
    ".xlsm": _excel,
    ".parquet": _pyarrow,
    ".feather": _pyarrow,
    ".arff": _arff,
}


def _load_module(module: str, package: str, extra: str, path: Path) -> Any:
    need = f"{path} is a {path.suffix} file, which needs the package {package}"
    return load_module(module, extra, need, ", or save it as CSV")
