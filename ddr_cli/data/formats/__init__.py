"""The file formats and generators that a card can name, and the arrays that they return.

A format is a function ``(paths, *, <options>) -> RawData`` in a module of this package, declared by
``@registered("format", name, summary, endings=..., version=...)``. Its options are its keyword
parameters; a card's options are checked against their annotations before any file is opened. A
generator is a function ``(*, <options>, random_state=0) -> RawData`` under
``@registered("generator", name, summary)``; the same options give the same arrays. Other packages
register theirs in the entry-point groups ``ddr.formats`` and ``ddr.generators``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import Entry, Registry, components

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

Features: TypeAlias = "NDArray[np.float64] | csr_array"

FORMATS = Registry("format", components("format", "ddr_cli.data"), "ddr.formats")
GENERATORS = Registry("generator", components("generator", "ddr_cli.data"), "ddr.generators")


@dataclass(frozen=True)
class RawData:
    """Arrays as a file or generator states them, before labels become 0..L-1."""

    X: Features
    """Sparse if the source is."""
    labels: NDArray[Any]
    """The class of each sample, of any type."""
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, int] | None = None
    """Height and width when each row is an image, its pixels row by row."""
    sizes: tuple[int, ...] | None = None
    """The number of rows from each path, in the order of the paths."""
    groups: NDArray[Any] | None = None
    """The group of each sample, such as the query of a query-document pair."""
    subclasses: NDArray[Any] | None = None
    """The class of each row before classes were merged."""
    parts: Mapping[str, NDArray[Any]] | None = None
    """For each given split, by its name: ``train``, ``test`` or, for neither, nothing per row."""
    unlabelled: NDArray[np.bool_] | None = None
    """The samples without a label; their values in `labels` mean nothing."""
    first_unlabelled: str = ""
    """The file and line of the first of them, for messages."""
    categorical: tuple[int, ...] = ()
    """The columns of X that hold codes of categories."""
    categories: tuple[tuple[str, ...], ...] = ()
    """The categories of each of these columns, in the order of their codes."""


def read_files(
    name: str, paths: Sequence[Path], options: Mapping[str, Any], card_name: str
) -> RawData:
    """Return what the format called `name` reads from files."""
    owner = f"The card '{card_name}': the format '{name}'"
    return call_checked(format_entry(name).load(), options, owner, list(paths))


def format_entry(name: str) -> Entry:
    """Return the entry of a format."""
    # Listing the formats of all installed packages takes longer than reading a small file.
    return FORMATS.ours.get(name) or FORMATS.get(name)


def call_checked(
    function: Callable[..., RawData], options: Mapping[str, Any], owner: str, *first: Any
) -> RawData:
    """Call a format or a generator with options that are checked against its annotations."""
    from pydantic import ConfigDict, ValidationError, validate_call

    from ddr_cli.core.validation import field_problems

    config = ConfigDict(strict=True, arbitrary_types_allowed=True)
    try:
        # YAML has no tuples, so a list may stand for one.
        checked = {name: _frozen(value) for name, value in options.items()}
        return validate_call(config=config)(function)(*first, **checked)
    except ValidationError as error:
        known = list(signature(function).parameters)[len(first) :]
        _, text, _ = next(field_problems(error, owner, known))
        raise InputError(text if text.startswith(owner) else f"{owner}: {text}") from None


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def numeric_labels(labels: Sequence[Any]) -> NDArray[Any]:
    """Return labels as integers or floats if all are numbers, otherwise unchanged."""
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
    """Return the rows of all parts in order; `sizes` has the number of rows of each."""
    import numpy as np
    import scipy.sparse as sp

    if not parts:
        raise InputError("The card lists no files; add files under 'files'.")
    first = parts[0]
    for number, part in enumerate(parts, start=1):
        if not part.X.shape[0]:
            raise InputError(f"File {number} of the data set contains no rows of data.")
        if part.X.shape[1] != first.X.shape[1] or part.image_shape != first.image_shape:
            raise InputError(
                f"File {number} has {part.X.shape[1]} features, but file 1 has {first.X.shape[1]}."
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
