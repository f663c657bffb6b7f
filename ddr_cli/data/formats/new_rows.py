"""New rows of a table that a method was fitted to: columns found by name, labels not needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.data.formats.frames import is_table
from ddr_cli.data.formats.frames import read_cells as read_frame
from ddr_cli.data.formats.tables import MISSING_CATEGORY, MISSING_VALUES, Missing, Table
from ddr_cli.data.formats.text_tables import read_text

_MOST_NAMED = 5


def read_new_rows(
    path: Path,
    options: Mapping[str, Any],
    *,
    n_features: int,
    names: Sequence[str] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    note: Callable[[str], object] = lambda _: None,
) -> NDArray[np.float64]:
    """Return the features of the rows in a file.

    Parameters
    ----------
    path : Path
        A text table, one of the kinds that the format ``table`` reads, or a NumPy array (.npy).
    options : mapping
        How the table was read that the features are of: the options of its card's format.
    n_features : int
        How many there are.
    names : sequence of str, optional
        Their names, by which columns are found; by their order where there are none.
    categories : mapping of str to sequence of str, optional
        What the codes of each categorical column stand for. A value that is not among them is -1.
    note : callable, optional
        Told, a line per column, in how many rows there is such a value.

    Raises
    ------
    InputError
        If the file can't be read, or lacks a feature.
    """
    if not path.is_file():
        raise InputError(f"There is no file {path}.")
    if path.suffix == ".npy":
        return _array(path, n_features)
    table = _table(path, options, n_features, names)
    missing: Missing = "category" if options.get("missing") == "category" else "keep"
    columns, lacking = [], []
    seen: dict[str, pd.Series[bool]] = {}
    for place in range(n_features):
        name = names[place] if names is not None and table.titles else None
        index = place if name is None else _index(table, name)
        if index is None:
            lacking.append(name)
        elif name is not None and table.titles[index] != name:
            # One of the 0/1 columns that a column of text became: ``site=north``.
            cells, title = table.cells[index], table.titles[index]
            cells = cells.mask(table.gaps[index], MISSING_CATEGORY)
            here = cells == name.removeprefix(f"{title}=")
            seen[title] = here | seen[title] if title in seen else here
            columns.append(here.astype(float))
        elif (values := (categories or {}).get(name or "")) is not None:
            table.values[index] = tuple(values)
            columns.append(table.codes(index, missing))
            seen[table.titles[index]] = columns[-1] != -1
        else:
            columns.append(_numbers(table, index, keep=options.get("missing") == "keep"))
    if lacking:
        named = ", ".join(f"'{name}'" for name in lacking[:_MOST_NAMED])
        more = f" and {len(lacking) - _MOST_NAMED} more" if len(lacking) > _MOST_NAMED else ""
        raise InputError(
            f"{path} lacks columns that the model was fitted to: {named}{more}."
            f"{did_you_mean(str(lacking[0]), table.titles)}"
        )
    for title, known in seen.items():
        if n := int((~known).sum()):
            rows = "1 row has a value" if n == 1 else f"{n} rows have values"
            note(f"{rows} of '{title}' that the model never saw")
    return np.column_stack([column.to_numpy(np.float64) for column in columns])


def _array(path: Path, n_features: int) -> NDArray[np.float64]:
    try:
        found = np.asarray(np.load(path, allow_pickle=False), dtype=np.float64)
    except (OSError, ValueError, TypeError) as error:
        raise InputError(f"{path}: no array of numbers that can be read ({error}).") from None
    if found.ndim != 2 or found.shape[1] != n_features:
        raise InputError(f"{path}: its shape is {found.shape}, not (rows, {n_features}).")
    return found


def _table(
    path: Path, options: Mapping[str, Any], n_features: int, names: Sequence[str] | None
) -> Table:
    if is_table(path):
        cells = read_frame(path, options.get("sheet", 0))
    else:
        separator = options.get("separator", "tab" if path.suffix == ".tsv" else "comma")
        how = {
            key: options[key]
            for key in ("comment", "skip_lines", "encoding", "decimal")
            if key in options
        }
        cells = read_text(path, separator, **how)
    frame, titles = cells.frame, list(cells.titles)
    if not titles and names is not None and not frame.empty:
        first = frame.iloc[0].tolist()
        if any(name == cell or name.startswith(f"{cell}=") for cell in first for name in names):
            titles, frame = first, frame.iloc[1:]
        elif len(options.get("names", ())) == frame.shape[1]:
            titles = list(options["names"])
    if frame.empty:
        raise InputError(f"{path}: the file holds no rows of data.")
    if not titles and frame.shape[1] != n_features:
        known = "" if names is None else f", and none is called '{names[0]}' or another of theirs"
        raise InputError(
            f"{path}: {frame.shape[1]} columns where the model takes {n_features} features{known}."
        )
    table = Table([path], pd.concat([frame], keys=[0]), titles, header=bool(titles))
    table.gaps = table.cells.isin(options.get("missing_values", MISSING_VALUES))
    return table


def _index(table: Table, name: str) -> int | None:
    """Return the column of a feature: that of its name, or the one that it was made of."""
    if name in table.titles:
        return table.titles.index(name)
    sources = [title for title in table.titles if title and name.startswith(f"{title}=")]
    return table.titles.index(max(sources, key=len)) if sources else None


def _numbers(table: Table, index: int, *, keep: bool) -> pd.Series[float]:
    column = table.numbers(index, "keep")
    if not keep and column.isna().any():
        raise InputError(f"{table.place(column.isna().idxmax(), index)}: the value is missing.")
    return column
