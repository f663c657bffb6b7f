"""The `libsvm` and `letor` formats: text with ``index:value`` pairs."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import decoded_text, read_bytes
from ddr_cli.data.formats import RawData, concatenate_rows, numeric_labels


@registered("format", "libsvm", "svmlight / LIBSVM text", endings=(".svm", ".svmlight"))
def read_libsvm(
    paths: Sequence[Path],
    *,
    n_features: Annotated[int, Ge(1)] | None = None,
    first_index: Literal[0, 1] | None = None,
    dense: bool = False,
) -> RawData:
    """Read svmlight / LIBSVM files, plain or gzip: ``label index:value ...`` on each line.

    Options
    -------
    n_features: The number of features, if it exceeds the largest index in the files.
    first_index: The index of the first feature; by default 0 if it occurs in a file, else 1.
    dense: Return a dense array instead of a sparse one.
    """
    blocks = _read_pairs(paths, n_features, first_index)
    return concatenate_rows(
        [
            RawData(X.toarray() if dense else X, numeric_labels(labels.tolist()))
            for X, labels, _ in blocks
        ]
    )


@registered("format", "letor", "LETOR query-document pairs: grade qid:N 1:v ... #docid")
def read_letor(
    paths: Sequence[Path],
    *,
    labels: Literal["relevance", "grade"] = "relevance",
    relevant_above: float = 0,
    n_features: Annotated[int, Ge(1)] | None = None,
    dense: bool = True,
) -> RawData:
    """Read LETOR files: ``grade qid:N 1:v 2:v ... #docid = D`` on each line.

    The queries are the `groups` of the result.

    Options
    -------
    labels: The class of a pair: ``relevant`` or ``non-relevant``, or the grade itself.
    relevant_above: A pair is relevant when its grade is larger than this.
    n_features: The number of features, if it exceeds the largest index in the files.
    dense: Return a dense array; LETOR files state every feature of every pair.
    """
    parts = []
    for X, grades, queries in _read_pairs(paths, n_features, 1):
        if (queries < 0).any():
            raise InputError("A LETOR file needs a query id, `qid:N`, on every line.")
        relevance = np.where(grades > relevant_above, "relevant", "non-relevant")
        classes = relevance if labels == "relevance" else numeric_labels(grades.tolist())
        parts.append(RawData(X.toarray() if dense else X, classes, groups=queries))
    return concatenate_rows(parts)


_ZERO = re.compile(rb"^[^#\n]*\s0:", re.MULTILINE)
_Block = tuple[Any, NDArray[np.float64], NDArray[np.int64]]


def _read_pairs(
    paths: Sequence[Path], n_features: int | None, first_index: int | None
) -> list[_Block]:
    """Return features, labels and queries (-1 where not stated) of each file."""
    if first_index is None:
        first_index = 0 if any(_ZERO.search(read_bytes(Path(path))) for path in paths) else 1
    blocks = [_read_file(Path(path), first_index) for path in paths]
    largest = max((X.shape[1] for X, _, _ in blocks), default=0)
    if n_features is not None and largest > n_features:
        raise InputError(
            f"n_features is {n_features}, but a file has feature {largest - 1 + first_index}."
        )
    for X, _, _ in blocks:
        X.resize((X.shape[0], n_features or largest))
    return blocks


def _read_file(path: Path, first_index: int) -> _Block:
    from sklearn.datasets import load_svmlight_file

    try:
        X, labels, queries = load_svmlight_file(
            io.BytesIO(read_bytes(path)), zero_based=first_index == 0, query_id=True
        )
    except (ValueError, OverflowError) as error:
        where = _first_bad_line(path, first_index) or f": {error}"
        raise InputError(f"{path}{where}.") from None
    if not len(labels):
        raise InputError(f"{path} contains no rows of data.")
    if not (np.isfinite(X.data).all() and np.isfinite(labels).all()):
        raise InputError(f"{path}: a label or feature value is not a finite number.")
    if not len(queries):
        queries = np.full(len(labels), -1)
    if len(queries) != len(labels):
        raise InputError(f"{path}: some lines have a query id, `qid:N`, but others have none.")
    return sp.csr_array(X), labels, queries.astype(np.int64)


def _first_bad_line(path: Path, first_index: int) -> str | None:
    """Return where and why reading the file failed, for the message."""
    for number, line in enumerate(decoded_text(path).splitlines(), start=1):
        label, *pairs = line.partition("#")[0].split() or ["0"]
        if not _is_number(label):
            return f", line {number}: the label '{label}' is not a number"
        before = first_index - 1
        for pair in pairs:
            index, _, value = pair.rpartition(":")
            if index == "qid" and _is_number(value):
                continue
            if not (index.isdecimal() and int(index) > before and _is_number(value)):
                return (
                    f", line {number}: '{pair}' must be index:number, with ascending indices (here "
                    f"at least {before + 1})"
                )
            before = int(index)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
