"""From a source's arrays to a data set as its card describes it, and whether it is that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.core.errors import DataUnavailableError, InputError, did_you_mean
from ddr_cli.data.card_model import Card, CardFile, Expect
from ddr_cli.data.dataset import Dataset, PredefinedSplit
from ddr_cli.data.fingerprint import canonical, fingerprint_of
from ddr_cli.data.raw import RawData, keep_classes, label_names, merge_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray


class DataMismatchError(DataUnavailableError):
    """Files are there, but they are not the data set that the card describes."""


def assemble(card: Card, raw: RawData, files: Sequence[CardFile] = ()) -> Dataset:
    """Return the data set that a card makes of a source's arrays.

    Parameters
    ----------
    card : Card
        Says which classes are kept, merged and how they are named, and what the split is.
    raw : RawData
        The source's arrays.
    files : sequence of CardFile
        The files that they came from, for a split by file.

    Raises
    ------
    InputError
        If the card names classes that are not in the data, or the arrays don't fit together.
    """
    _check_shapes(card, raw)
    if card.names is not None:
        raw = replace(raw, labels=_renamed(raw.labels, card.names, card.name))
    if card.keep is not None:
        raw = keep_classes(raw, card.keep)
    if card.merge is not None:
        raw = merge_classes(raw, card.merge)
    X: Any = canonical(raw.X)
    if card.decimals is not None:
        _round(X, card.decimals)
        X = canonical(X)
    y, target_names = _encode(raw.labels, card)
    split = _split_by_file(raw, files) if card.split == "by_file" else None
    groups = subclasses = subclass_names = None
    if raw.groups is not None:
        groups = np.unique(raw.groups, return_inverse=True)[1].astype(np.int64)
    if raw.subclasses is not None:
        subclass_names, subclasses = _natural(label_names(raw.subclasses))
    dataset = Dataset(
        name=card.name,
        title=card.title,
        X=X,
        y=y,
        target_names=target_names,
        fingerprint="",
        split=split,
        image_shape=raw.image_shape or card.image_shape,
        feature_names=raw.feature_names,
        groups=groups,
        subclasses=subclasses,
        subclass_names=subclass_names,
    )
    return replace(dataset, fingerprint=fingerprint_of(dataset))


def differences(dataset: Dataset, expect: Expect) -> list[str]:
    """Return in what a data set is not what its card says, as clauses of a sentence."""
    found = []
    if expect.samples not in (None, dataset.n_samples):
        found.append(f"it has {dataset.n_samples} samples, not {expect.samples}")
    if expect.features not in (None, dataset.n_features):
        found.append(f"it has {dataset.n_features} features, not {expect.features}")
    if expect.classes is not None:
        found += _class_differences(dataset.class_counts, expect.classes)
    if expect.split is not None:
        sizes = (expect.split.train, expect.split.test)
        there = (len(dataset.split.train), len(dataset.split.test)) if dataset.split else (0, 0)
        if there != sizes:
            found.append(
                f"its split is {there[0]} to {there[1]} rows, not {sizes[0]} to {sizes[1]}"
            )
    if not found and expect.fingerprint not in (None, dataset.fingerprint):
        found.append(
            f"the counts are right but the values differ (fingerprint {dataset.fingerprint}, "
            f"not {expect.fingerprint})"
        )
    return found


def _class_differences(there: dict[str, int], expected: dict[str, int]) -> list[str]:
    if list(there) != list(expected):
        return [f"its classes are {', '.join(there)}, not {', '.join(expected)}"]
    return [
        f"class '{name}' has {there[name]} samples, not {count}"
        for name, count in expected.items()
        if there[name] != count
    ]


def _check_shapes(card: Card, raw: RawData) -> None:
    n_samples = raw.X.shape[0]
    if raw.X.ndim != 2 or n_samples == 0 or raw.X.shape[1] == 0:
        raise InputError(f"The data set '{card.name}' is empty: its shape is {raw.X.shape}.")
    if len(raw.labels) != n_samples:
        raise InputError(
            f"The data set '{card.name}' has {n_samples} rows but {len(raw.labels)} labels."
        )
    shape = raw.image_shape or card.image_shape
    if shape is not None and shape[0] * shape[1] != raw.X.shape[1]:
        raise InputError(
            f"The card '{card.name}' says images of {shape[0]} x {shape[1]} pixels, "
            f"but there are {raw.X.shape[1]} features."
        )


def _round(X: Any, decimals: int) -> None:
    values = X if isinstance(X, np.ndarray) else X.data
    np.round(values, decimals, out=values)


def _renamed(labels: NDArray[Any], new: Mapping[str, str], card_name: str) -> NDArray[np.str_]:
    names = label_names(labels)
    unnamed = set(np.unique(names).tolist()) - new.keys()
    if unnamed:
        raise InputError(
            f"The card '{card_name}' gives no name for the label '{min(unnamed)}'."
            f"{did_you_mean(min(unnamed), new)}"
        )
    return np.array([new[name] for name in names.tolist()], dtype=str)


def _encode(labels: NDArray[Any], card: Card) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each row's class as an index, and the classes in the order that the card gives."""
    names = label_names(labels)
    order = card.merge or card.keep or (card.names.values() if card.names else ())
    if order:
        return _in_order(names, tuple(dict.fromkeys(order)))
    target_names, y = _natural(names)
    return y, target_names


def _in_order(
    names: NDArray[np.str_], order: tuple[str, ...]
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    there = set(names.tolist())
    target_names = tuple(name for name in order if name in there)
    index = {name: position for position, name in enumerate(target_names)}
    return np.array([index[name] for name in names.tolist()], dtype=np.int64), target_names


def _natural(names: NDArray[np.str_]) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the distinct names, numbers by value and else as text, and each row's index."""
    there = np.unique(names).tolist()
    try:
        there.sort(key=float)
    except ValueError:
        there.sort()
    y, target_names = _in_order(names, tuple(there))
    return target_names, y


def _split_by_file(raw: RawData, files: Sequence[CardFile]) -> PredefinedSplit:
    if raw.sizes is None or len(raw.sizes) != len(files):
        raise InputError("This format does not tell which rows are from which file: no split.")
    roles = np.repeat([file.role or "" for file in files], raw.sizes)
    return PredefinedSplit(
        train=np.flatnonzero(roles == "train").astype(np.int64),
        test=np.flatnonzero(roles == "test").astype(np.int64),
    )
