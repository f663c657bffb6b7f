"""The `table` format: Excel, Parquet, Feather and ARFF files, read by pandas and SciPy."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import decoded_text
from ddr_cli.data.formats import RawData
from ddr_cli.data.formats.table_columns import (
    MISSING_VALUES,
    Cells,
    Column,
    Columns,
    Missing,
    read_columns,
)


@registered(
    "format",
    "table",
    "Excel, Parquet, Feather or ARFF file, by its ending",
    endings=(".xlsx", ".xlsm", ".parquet", ".feather", ".arff"),
)
def read_table(
    paths: Sequence[Path],
    *,
    sheet: int | str = 0,
    header: bool | None = None,
    label: Column = -1,
    groups: Column | None = None,
    parts: Sequence[Column] = (),
    ignore: Sequence[Column] = (),
    categorical: Sequence[Column] | Literal["all"] = (),
    categories: Literal["columns", "codes"] = "columns",
    missing: Missing = "error",
    missing_values: Sequence[str] = MISSING_VALUES,
) -> RawData:
    """Read Excel (.xlsx), Parquet (.parquet), Feather (.feather) and ARFF (.arff) files.

    The ending of a file says of which kind it is. A column is named by its name or by its index;
    indices count from 0, negative ones from the end. Excel needs the extra ``excel``, Parquet and
    Feather need the extra ``parquet``.

    Options
    -------
    sheet: The sheet of an Excel file, by its name or by its number from 0.
    header: The first row of an Excel sheet holds the column names. By default, it does when
        `label`, `groups`, `parts`, `ignore` or `categorical` names a column. The other kinds of
        file always have names.
    label: The column of the class. When every label is a number, labels are compared as numbers.
    groups: The column of the groups, such as subjects; it is no feature.
    parts: Columns that hold a given split: each cell is ``train``, ``test`` or, for neither, empty;
        they are no features. A spec's ``split: {kind: given, column: NAME}`` takes one.
    ignore: Columns that are not read.
    categorical: Columns of text, whose values are categories.
    categories: What a categorical column becomes: ``columns``, one 0/1 column per value; or
        ``codes``, one column of numbers, for the step ``one_hot`` of a spec. Both follow the order
        (by code point) of the values in all files.
    missing: What happens to a missing value. ``keep``: it stays missing, for the step ``impute`` of
        a spec; among 0/1 columns it is a value of its own. ``drop_rows``, ``drop_columns``: rows or
        columns with one are left out. ``category``: it is a value of its own in a categorical
        column, an error in a numeric one.
    missing_values: Cells that mean a missing value.
    """
    columns = Columns(
        label, groups, parts, ignore, categorical, categories, missing, missing_values
    )
    files = [read_cells(Path(path), sheet) for path in paths]
    return read_columns(files, columns, header=header)


def read_cells(path: Path, sheet: int | str = 0) -> Cells:
    """Return the cells of a file, by the numbers of their rows from 1."""
    kind = path.suffix.lower()
    if kind not in _READERS:
        raise InputError(
            f"{path}: its ending is none of {', '.join(_READERS)}; text is read by the format csv."
        )
    try:
        frame = _READERS[kind](path, sheet)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    except Exception as error:  # libraries raise anything on a damaged file
        raise InputError(f"{path}: not a {kind} file that can be read ({error}).") from None
    titles = tuple(map(str, frame.columns)) if kind not in _EXCEL else ()
    cells = pd.concat([_as_text(frame.iloc[:, i]) for i in range(frame.shape[1])], axis=1)
    cells.columns = pd.RangeIndex(frame.shape[1])
    cells.index = pd.RangeIndex(1, len(frame) + 1)
    return Cells(path, cells[(cells != "").any(axis=1)], titles)


def _as_text(column: pd.Series[Any]) -> pd.Series[str]:
    """Return the text of each value, from which the same number is read; of a missing one none."""
    if pd.api.types.is_float_dtype(column.dtype):
        text = column.astype("float64").map(repr)
    else:
        # A whole number in a column of mixed values is one of its own to Excel: 3, not 3.0.
        text = column.map(lambda value: repr(value) if isinstance(value, float) else str(value))
    filled: pd.Series[str] = text.str.strip().mask(column.isna().to_numpy(bool), "").astype(object)
    return filled


def _excel(path: Path, sheet: int | str) -> pd.DataFrame:
    _load_library("openpyxl", path)
    try:
        return pd.read_excel(path, sheet_name=sheet, header=None, dtype=object)
    except ValueError as error:
        if "Worksheet" not in str(error):
            raise
        sheets = ", ".join(map(str, pd.ExcelFile(path).sheet_names))
        raise InputError(f"{path}: there is no sheet {sheet!r}; it has {sheets}.") from None


def _pyarrow(path: Path, _sheet: int | str) -> pd.DataFrame:
    _load_library("pyarrow", path)
    read = pd.read_feather if path.suffix.lower() == ".feather" else pd.read_parquet
    return read(path)


def _arff(path: Path, _sheet: int | str) -> pd.DataFrame:
    from scipy.io import arff

    try:
        rows, meta = arff.loadarff(io.StringIO(decoded_text(path)))
    except NotImplementedError as error:
        raise InputError(
            f"{path}: SciPy can't read this kind of ARFF file ({error}); save it as CSV."
        ) from None
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


_EXTRAS = {"openpyxl": "excel", "pyarrow": "parquet"}


def _load_library(package: str, path: Path) -> None:
    try:
        import_module(package)
    except ImportError:
        raise InputError(
            f"{path}: a {path.suffix} file needs the package {package}: pip install "
            f"'ddr[{_EXTRAS[package]}]', or save it as CSV."
        ) from None
