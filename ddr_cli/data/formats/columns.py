"""The `columns` format: text tables with one sample per column, as spectra and chips come."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, MinLen

from ddr_cli.core.errors import InputError
from ddr_cli.data.formats import RawData, concatenate_rows, numeric_labels
from ddr_cli.data.formats.folders import pattern_labeller
from ddr_cli.data.formats.tables import as_numbers
from ddr_cli.data.formats.text_tables import read_text


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
    any value, such as after a last separator, is passed over.

    Options
    -------
    label: A regular expression with one group that is searched for in a sample's title; the group
        is its class.
    groups: The same for what belongs together, such as the measurements of one subject.
    names: How many columns at the start are no samples; the last of them names the features.
    ignore: Columns whose title matches this regular expression as a whole are no samples.
    separator: ``comma``, ``tab``, ``semicolon``, ``whitespace``, or the one sign itself.
    encoding: The text encoding.
    """
    how = (label, groups, names, ignore, separator, encoding)
    files = [_read_one(Path(path), *how) for path in paths]
    for path, file in zip(paths, files, strict=True):
        if file.feature_names != files[0].feature_names:
            raise InputError(f"{path}: other features than in the first file.")
    return concatenate_rows(files)


def _read_one(
    path: Path,
    label: str,
    groups: str | None,
    names: int,
    ignore: str | None,
    separator: str,
    encoding: str,
) -> RawData:
    cells = read_text(path, separator, encoding=encoding).frame
    if len(cells) < 2 or cells.shape[1] <= names:
        raise InputError(
            f"{path}: a line of titles, lines of features and, after the first {names} columns, "
            f"samples were expected (is the separator right?)."
        )
    titles, rows = cells.iloc[0], cells.iloc[1:]
    samples = [
        column
        for column in cells.columns[names:]
        if not (ignore and re.fullmatch(ignore, titles[column])) and (rows[column] != "").any()
    ]
    if not samples:
        raise InputError(f"{path}: no column is left for the samples.")
    values: Any = rows[samples].apply(as_numbers)
    if not np.isfinite(values).all(axis=None):
        line, column = (~np.isfinite(values)).stack().idxmax()
        raise InputError(
            f"{path}, line {line}, column '{titles[column]}': '{rows.loc[line, column]}' is not a "
            f"finite number."
        )
    told = titles[samples]
    return RawData(
        values.to_numpy(np.float64).T,
        numeric_labels(told.map(pattern_labeller(label)).tolist()),
        feature_names=tuple(rows[names - 1]),
        groups=None
        if groups is None
        else numeric_labels(list(map(pattern_labeller(groups), told))),
    )
