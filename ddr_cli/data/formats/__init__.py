"""The formats a card can name, and what they share: opening a file, and what they return.

A format is a function ``(paths, *, <options>) -> RawData``. Its options are its keyword
parameters; a card's ``options:`` are checked against their annotations before any file is opened.
Other packages add formats in the entry-point group ``ddr.formats``.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.registry import Entry, Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from ddr_cli.data.card import Layout

Features: TypeAlias = "NDArray[np.float64] | csr_array"

# Larger than any data set of the papers by far; a gzip file can claim a thousand times its size.
UNPACKED_LIMIT = 2 * 1024**3

# Name: module and function in this package, summary.
_OURS = {
    "csv": (
        "text_tables:read_csv",
        "text table: separated by commas, tabs, blanks or another sign; plain or gz",
    ),
    "columns": (
        "columns:read_sample_columns",
        "text table with one sample per column, its title in the first line; plain or gz",
    ),
    "table": ("frames:read_table", "Excel, Parquet, Feather or ARFF file, by its ending"),
    "npz": ("npz:read_npz", "NumPy archive of X and y"),
    "idx": ("idx:read_idx", "IDX files, as MNIST's: samples, then their labels; plain or gz"),
    "mat": ("mat:read_mat", "MATLAB file, v5 or v7.3"),
    "mat_cells": (
        "mat:read_mat_cells",
        "MATLAB file with a cell array of images, one row of cells per class",
    ),
    "libsvm": ("svmlight:read_libsvm", "svmlight / LIBSVM text"),
    "letor": (
        "svmlight:read_letor",
        "LETOR query-document pairs: grade qid:N 1:v ... #docid",
    ),
    "images": ("images:read_images", "folder or archive of image files"),
    "text": ("text:read_text", "folder or archive of text files, one folder per class"),
}
FORMATS = Registry(
    "format",
    [Entry(name, f"{__name__}.{target}", summary) for name, (target, summary) in _OURS.items()],
    "ddr.formats",
)


@dataclass(frozen=True)
class RawData:
    """Arrays as a source states them, before labels become 0..L-1."""

    X: Features
    """What the source holds sparse stays sparse."""
    labels: NDArray[Any]
    """The class of each row, of any type."""
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, int] | None = None
    """Height and width when each row is an image, its pixels row by row."""
    sizes: tuple[int, ...] | None = None
    """How many rows came from each path, in the order of the paths."""
    groups: NDArray[Any] | None = None
    """What belongs together, such as the query of a query-document pair."""
    subclasses: NDArray[Any] | None = None
    """The class of each row before classes were merged."""
    parts: Mapping[str, NDArray[Any]] | None = None
    """By the name of a split, of which part each row is: ``train``, ``test`` or neither, empty."""
    unlabelled: NDArray[np.bool_] | None = None
    """The rows that the source has no label of; what `labels` says of them means nothing."""
    first_unlabelled: str = ""
    """Where the first of them stands, for messages."""
    categorical: tuple[int, ...] = ()
    """The columns of X that hold codes of categories."""
    categories: tuple[tuple[str, ...], ...] = ()
    """What the codes of each of these columns stand for."""


def read_files(
    layout: Layout, paths: Sequence[Path], chosen: Mapping[str, Any], card_name: str
) -> RawData:
    """Return what is in the files of a layout, read with the card's and the chosen options."""
    name = layout.format.name
    options = {**layout.format.options, **chosen}
    owner = f"The card '{card_name}': the format '{name}'"
    return call_checked(_reader(name), options, owner, list(paths))


def _reader(name: str) -> Callable[..., RawData]:
    # Ours without a look at all installed packages, which takes longer than reading a small file.
    if name in _OURS:
        module, _, function = _OURS[name][0].partition(":")
        ours: Callable[..., RawData] = getattr(import_module(f"{__name__}.{module}"), function)
        return ours
    theirs: Callable[..., RawData] = FORMATS.load(name)
    return theirs


def call_checked(
    function: Callable[..., RawData], options: Mapping[str, Any], owner: str, *first: Any
) -> RawData:
    """Call a format or a generator, its options checked against its annotations."""
    from pydantic import ConfigDict, ValidationError, validate_call

    config = ConfigDict(strict=True, arbitrary_types_allowed=True)
    try:
        # YAML has no tuples: what it writes as a list may be wanted as one.
        checked = {name: _frozen(value) for name, value in options.items()}
        return validate_call(config=config)(function)(*first, **checked)
    except ValidationError as error:
        problem = error.errors()[0]
        name = str(problem["loc"][0])
        if problem["type"] == "unexpected_keyword_argument":
            known = list(signature(function).parameters)[len(first) :]
            raise InputError(
                f"{owner} has no option '{name}'.{did_you_mean(name, known)} "
                f"Its options are {', '.join(known)}."
            ) from None
        raise InputError(
            f"{owner} can't take {name}: {options.get(name)!r}: {problem['msg']}."
        ) from None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def read_bytes(path: Path, *, limit: int = UNPACKED_LIMIT) -> bytes:
    """Return the content of a file, unpacked if it is a gzip file whatever its name."""
    require_file(path)
    try:
        with path.open("rb") as file:
            if file.read(2) != b"\x1f\x8b":
                return path.read_bytes()
        with gzip.open(path) as unpacked:
            content = unpacked.read(limit + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the gzip file is damaged or cut short ({error}).") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    if len(content) > limit:
        raise InputError(f"{path}: unpacks to more than {limit} bytes; it is not read.")
    return content


def decoded_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the content of a text file, plain or gzip."""
    content = read_bytes(path)
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(
            f"{path}: not text in the encoding {encoding} ({error}); state `encoding`."
        ) from None


def numeric_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Return labels as integers or floats when all are numbers, else as they are."""
    import numpy as np

    text = np.array(labels, dtype=str)
    try:
        numbers = text.astype(np.float64)
    except ValueError:
        return text
    if not np.isfinite(numbers).all():
        return text
    whole = numbers.astype(np.int64)
    return whole if np.array_equal(whole, numbers) else numbers


def concatenate_rows(parts: Sequence[RawData]) -> RawData:
    """Return the rows of all parts, one after the other; `sizes` says how many each gave."""
    import numpy as np
    import scipy.sparse as sp

    if not parts:
        raise InputError("The data set names no file.")
    first = parts[0]
    for number, part in enumerate(parts, start=1):
        if not part.X.shape[0]:
            raise InputError(f"File {number} of the data set holds no rows of data.")
        if part.X.shape[1] != first.X.shape[1] or part.image_shape != first.image_shape:
            raise InputError(
                f"File {number} of the data set has {part.X.shape[1]} features, the first "
                f"{first.X.shape[1]}: they can't be one data set."
            )
    blocks: list[Any] = [part.X for part in parts]
    if any(sp.issparse(block) for block in blocks):
        X: Any = sp.csr_array(sp.vstack(blocks, format="csr"), dtype=np.float64)
    else:
        X = np.concatenate(blocks, dtype=np.float64)
    groups = [part.groups for part in parts if part.groups is not None]
    return RawData(
        X,
        np.concatenate([part.labels for part in parts]),
        feature_names=first.feature_names,
        image_shape=first.image_shape,
        sizes=tuple(int(part.X.shape[0]) for part in parts),
        groups=np.concatenate(groups) if len(groups) == len(parts) else None,
    )


def find_named(path: Path, found: Mapping[str, Any], name: str, kind: str) -> Any:
    """Return one of the arrays (or what `kind` calls them) that were found in a file."""
    if name not in found:
        raise InputError(
            f"{path}: there is no {kind} '{name}'; it holds {', '.join(found) or 'none'}."
            f"{did_you_mean(name, found)} The format's options data and label name another."
        )
    return found[name]
