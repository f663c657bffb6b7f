"""From a table of cells to features: missing values and one-hot columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.data.raw import RawData

Missing = Literal["error", "drop_rows", "drop_columns", "mean", "most_frequent", "category"]

# The value that a missing cell of a categorical column becomes under missing="category".
MISSING_CATEGORY = "(missing)"


@dataclass(frozen=True)
class Table:
    """The cells of the feature columns, before they become features.

    Parameters
    ----------
    numbers : ndarray of shape (n_rows, n_numeric)
        The numeric columns, NaN where a value is missing.
    texts : sequence of tuple
        For each row the cells of the categorical columns, None where a value is missing.
    labels : sequence of str
        The class of each row.
    numeric, categorical : tuple of int
        The columns' places in the file; features keep the file's order.
    names : tuple of str or None
        The names of all columns of the file.
    sizes : tuple of int
        Rows of each file.
    """

    numbers: NDArray[np.float64]
    texts: Sequence[tuple[str | None, ...]]
    labels: Sequence[str]
    numeric: tuple[int, ...]
    categorical: tuple[int, ...]
    names: tuple[str, ...] | None
    sizes: tuple[int, ...]


def encode_table(table: Table, *, missing: Missing) -> RawData:
    """Return the features of a table: numbers as they are, one 0/1 column per category.

    Parameters
    ----------
    table : Table
        The cells.
    missing : {"error", "drop_rows", "drop_columns", "mean", "most_frequent", "category"}
        ``error``: none is there (the reader has refused it). ``drop_rows``, ``drop_columns``: rows
        or columns with a missing value are left out. ``mean``: the column's mean, in a categorical
        column its most frequent value. ``most_frequent``: the column's most frequent value, of
        equally frequent ones the smallest. ``category``: a value of its own in a categorical
        column, an error in a numeric one. Means and frequencies are taken over all rows.

    Raises
    ------
    InputError
        If nothing is left, or the choice doesn't fit a column.
    """
    if missing == "drop_rows":
        table = _without_gaps(table)
    order = (*table.numeric, *table.categorical)
    titles = [f"x{index}" if table.names is None else table.names[index] for index in order]
    gaps = _gaps(table)
    kept: NDArray[np.bool_] = np.ones(len(order), dtype=bool)
    if missing == "drop_columns":
        kept = np.asarray(~gaps.any(axis=0))
        if not kept.any():
            raise InputError("Every column has a missing value: `drop_columns` leaves none.")

    blocks: dict[int, tuple[NDArray[np.float64], list[str]]] = {}
    n_numeric = len(table.numeric)
    for place in np.flatnonzero(kept).tolist():
        title = titles[place]
        if place < n_numeric:
            column = _filled_numbers(table.numbers[:, place], gaps[:, place], missing, title)
            blocks[order[place]] = (column[:, None], [title])
        else:
            cells = _filled_texts([row[place - n_numeric] for row in table.texts], missing, title)
            values = sorted(set(cells))
            codes = np.searchsorted(np.array(values), np.array(cells))
            hot = np.equal.outer(codes, np.arange(len(values))).astype(np.float64)
            blocks[order[place]] = (hot, [f"{title}={value}" for value in values])

    in_order = [blocks[index] for index in sorted(blocks)]
    named = table.names is not None or bool(table.categorical)
    return RawData(
        np.hstack([block for block, _ in in_order]),
        numeric_labels(table.labels),
        feature_names=tuple(name for _, names in in_order for name in names) if named else None,
        sizes=table.sizes,
    )


def numeric_labels(labels: Sequence[str]) -> NDArray[Any]:
    """Return labels as integers or floats when all are numbers, else as they are."""
    text = np.array(labels, dtype=str)
    try:
        numbers = text.astype(np.float64)
    except ValueError:
        return text
    if not np.isfinite(numbers).all():
        return text
    whole = numbers.astype(np.int64)
    return whole if np.array_equal(whole, numbers) else numbers


def _gaps(table: Table) -> NDArray[np.bool_]:
    texts = np.array([[cell is None for cell in row] for row in table.texts], dtype=bool)
    return np.hstack(
        [np.isnan(table.numbers), texts.reshape(len(table.labels), len(table.categorical))]
    )


def _without_gaps(table: Table) -> Table:
    whole = np.asarray(~_gaps(table).any(axis=1))
    if not whole.any():
        raise InputError("Every row has a missing value: `drop_rows` leaves none.")
    ends = np.cumsum(table.sizes)[:-1]
    return replace(
        table,
        numbers=table.numbers[whole],
        texts=[row for row, keep in zip(table.texts, whole, strict=True) if keep],
        labels=[label for label, keep in zip(table.labels, whole, strict=True) if keep],
        sizes=tuple(int(part.sum()) for part in np.split(whole, ends)),
    )


def _filled_numbers(
    column: NDArray[np.float64], gaps: NDArray[np.bool_], missing: Missing, title: str
) -> NDArray[np.float64]:
    if not gaps.any():
        return column
    if missing == "category":
        raise InputError(
            f"The numeric column '{title}' has missing values, which can't be a category of their "
            f"own: choose mean, most_frequent, drop_rows or drop_columns."
        )
    present = column[~gaps]
    if not present.size:
        raise InputError(f"The column '{title}' holds no value at all: name it in `ignore`.")
    if missing == "mean":
        fill = float(present.mean())
    else:
        values, counts = np.unique(present, return_counts=True)
        fill = float(values[counts.argmax()])
    return np.where(gaps, fill, column)


def _filled_texts(column: Sequence[str | None], missing: Missing, title: str) -> list[str]:
    present = [cell for cell in column if cell is not None]
    if len(present) == len(column):
        return present
    fill = MISSING_CATEGORY
    if missing != "category":
        if not present:
            raise InputError(f"The column '{title}' holds no value at all: name it in `ignore`.")
        counts = Counter(present)
        fill = min(counts, key=lambda value: (-counts[value], value))
    return [fill if cell is None else cell for cell in column]
