"""What a format or a generator hands to the loader: arrays as the source has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Features: TypeAlias = "NDArray[np.float64] | csr_array"


@dataclass(frozen=True)
class RawData:
    """Arrays as a source states them, before labels become 0..L-1.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), float64
        The features; what the source holds sparse stays sparse.
    labels : ndarray of shape (n_samples,)
        The class of each row, of any type.
    feature_names : tuple of str, optional
        One name per column.
    image_shape : (int, int), optional
        Height and width when each row is an image, its pixels row by row.
    sizes : tuple of int, optional
        How many rows came from each path, in the order of the paths.
    groups : ndarray of shape (n_samples,), optional
        What belongs together, such as the query of a query-document pair.
    subclasses : ndarray of shape (n_samples,), optional
        The class of each row before classes were merged.
    """

    X: Features
    labels: NDArray[Any]
    feature_names: tuple[str, ...] | None = None
    image_shape: tuple[int, int] | None = None
    sizes: tuple[int, ...] | None = None
    groups: NDArray[Any] | None = None
    subclasses: NDArray[Any] | None = None


def take_rows(raw: RawData, kept: NDArray[np.bool_]) -> RawData:
    """Return the rows of `raw` where the mask `kept` is true, in their order.

    `sizes` counts the rows that are left of each path.
    """
    sizes = raw.sizes
    if sizes is not None:
        ends = np.cumsum(sizes)[:-1]
        sizes = tuple(int(part.sum()) for part in np.split(kept, ends))
    return replace(
        raw,
        X=raw.X[np.flatnonzero(kept)],
        labels=raw.labels[kept],
        sizes=sizes,
        groups=None if raw.groups is None else raw.groups[kept],
        subclasses=None if raw.subclasses is None else raw.subclasses[kept],
    )


def keep_classes(raw: RawData, labels: Sequence[object]) -> RawData:
    """Return only the rows whose label is one of `labels`, in their order.

    Labels are compared as text, so that a card may write ``1`` for a file's ``1.0`` or ``"1"``.

    Raises
    ------
    InputError
        If a label of `labels` is in no row.
    """
    names = label_names(raw.labels)
    wanted = [_as_name(label) for label in labels]
    _check_present(wanted, names)
    return take_rows(raw, np.isin(names, wanted))


def merge_classes(raw: RawData, groups: Mapping[str, Sequence[object]]) -> RawData:
    """Return `raw` with several classes made one; rows of classes in no group are left out.

    Parameters
    ----------
    raw : RawData
        The data; its labels become the `subclasses` of the result.
    groups : mapping of str to sequence
        For each new class its name and the old labels in it, as in
        ``{"A or C": ["A", "C"], "B": ["B"]}``.

    Raises
    ------
    InputError
        If an old label is in two groups, or in no row.
    """
    new_name: dict[str, str] = {}
    for group, members in groups.items():
        for member in map(_as_name, members):
            if member in new_name:
                raise InputError(
                    f"The class '{member}' can't be in both '{new_name[member]}' and '{group}'."
                )
            new_name[member] = group
    kept = keep_classes(raw, list(new_name))
    merged = np.array([new_name[name] for name in label_names(kept.labels)], dtype=str)
    return replace(kept, labels=merged, subclasses=kept.labels)


def _as_name(label: object) -> str:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return str(label)


def label_names(labels: NDArray[Any]) -> NDArray[np.str_]:
    """Return labels of any type as text: 1, 1.0 and "1" are all "1"."""
    values, inverse = np.unique(labels, return_inverse=True)
    return np.array([_as_name(value) for value in values], dtype=str)[inverse]


def _check_present(wanted: Sequence[str], names: NDArray[np.str_]) -> None:
    present = np.unique(names).tolist()
    absent = [name for name in wanted if name not in present]
    if absent:
        raise InputError(
            f"There is no class '{absent[0]}' in the data.{did_you_mean(absent[0], present)} "
            f"Its classes are {', '.join(present[:40])}."
        )
