"""A data set: its arrays, how a card's files become arrays, and their fingerprint.

Mirrors repack archives, so the checksum of a file says little. The fingerprint is a hash of the
arrays in one canonical form (little-endian, C order, -0.0 as 0.0, one NaN, CSR without duplicates
or stored zeros), which is the same for every packing and on every platform.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.core.errors import DataUnavailableError, InputError, did_you_mean
from ddr_cli.data.card import Card, CardFile, Expect, Options
from ddr_cli.data.formats import Features, RawData

if TYPE_CHECKING:
    from hashlib import _Hash

    from numpy.typing import NDArray


# This is part of every fingerprint: a new canonical form must change all fingerprints.
_FORM = b"ddr data set, canonical form 1"
_KEY_ROWS = 1000
_BLOCK_ROWS = 1024
_MOST_SHOWN = 10


@dataclass(frozen=True)
class PredefinedSplit:
    """The split into training and test set that comes with a data set.

    Parameters
    ----------
    train, test : ndarray of int64
        Row numbers, ascending, without common rows.
    """

    train: NDArray[np.int64]
    test: NDArray[np.int64]


@dataclass(frozen=True, repr=False)
class Dataset:
    """A loaded and verified data set.

    Parameters
    ----------
    name, title : str
        As in the card.
    X : ndarray or csr_array of shape (n_samples, n_features), float64
        The features. A CSR array has sorted indices, no duplicates and no stored zeros.
    y : ndarray of shape (n_samples,), int64
        The class of each sample, an index into `target_names`; -1 if it has no label.
    target_names : tuple of str
        The classes' names.
    fingerprint : str
        ``"sha256:<hex>"`` over the arrays and the names of classes and subclasses.
    split : PredefinedSplit, optional
        The split that the data set comes with.
    image_shape : (int, int), optional
        Height and width in pixels when each row is an image, its pixels row by row.
    feature_names : tuple of str, optional
        One name per column.
    groups : ndarray of shape (n_samples,), int64, optional
        The group of each sample, such as the query of a query-document pair: an index into
        `group_names`.
    subclasses : ndarray of shape (n_samples,), int64, optional
        The class of each row before classes were merged, an index into `subclass_names`.
    subclass_names : tuple of str, optional
        The names of the classes before they were merged.
    group_names : tuple of str, optional
        The names of the groups.
    parts : mapping of str to PredefinedSplit, optional
        The given splits of a table, by the names of their columns.
    categorical : tuple of int
        The columns of X that hold codes of categories.
    categories : tuple of tuple of str
        The categories of each of these columns, in the order of their codes.
    """

    name: str
    title: str
    X: Features
    y: NDArray[np.int64]
    target_names: tuple[str, ...]
    fingerprint: str
    split: PredefinedSplit | None = None
    image_shape: tuple[int, int] | None = None
    feature_names: tuple[str, ...] | None = None
    groups: NDArray[np.int64] | None = None
    subclasses: NDArray[np.int64] | None = None
    subclass_names: tuple[str, ...] | None = None
    group_names: tuple[str, ...] | None = None
    parts: Mapping[str, PredefinedSplit] | None = None
    categorical: tuple[int, ...] = ()
    categories: tuple[tuple[str, ...], ...] = ()

    @property
    def n_unlabelled(self) -> int:
        """The number of samples without a label."""
        return int((self.y < 0).sum())

    @property
    def n_missing(self) -> int:
        """The number of missing values in X."""
        return int(np.isnan(self.X if isinstance(self.X, np.ndarray) else self.X.data).sum())

    def __repr__(self) -> str:
        return f"<Dataset {self.name}: {self._size}; {self._classes}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows."""
        facts = {"data set": f"{self.name}: {self.title}", "size": self._size}
        facts |= {"classes": self._classes, "fingerprint": self.fingerprint}
        rows = "".join(
            f"<tr><th>{key}</th><td>{escape(text)}</td></tr>" for key, text in facts.items()
        )
        return f"<table>{rows}</table>"

    @property
    def _size(self) -> str:
        kind = "" if isinstance(self.X, np.ndarray) else ", sparse"
        return f"{self.n_samples} samples x {self.n_features} features{kind}"

    @property
    def _classes(self) -> str:
        counts = [f"{name} {count}" for name, count in self.class_counts.items()]
        left = len(counts) - _MOST_SHOWN
        return ", ".join(counts[:_MOST_SHOWN]) + (f" and {left} more classes" if left > 0 else "")

    @property
    def n_samples(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """The number of features."""
        return int(self.X.shape[1])

    @property
    def class_counts(self) -> dict[str, int]:
        """The number of samples of each class."""
        counts = np.bincount(self.y[self.y >= 0], minlength=len(self.target_names)).tolist()
        return dict(zip(self.target_names, counts, strict=True))


def canonical(X: Any) -> Features:
    """Return a copy as float64: C-ordered, or CSR as in `Dataset.X`, with -0.0 as 0.0."""
    if not hasattr(X, "tocsr"):
        dense = np.array(X, dtype=np.float64, order="C")
        dense += 0.0  # turns -0.0 into 0.0
        return dense
    from scipy.sparse import csr_array

    sparse = csr_array(X, dtype=np.float64, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    sparse.sort_indices()
    return sparse


def fingerprint(dataset: Dataset) -> str:
    """Return the fingerprint of the arrays of a data set."""
    X: Any = dataset.X
    digest = sha256(_FORM)
    if isinstance(X, np.ndarray):
        _add(digest, "dense", str(X.shape).encode())
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            digest.update(_float_bytes(X[start : start + _BLOCK_ROWS]))
    else:
        _add(digest, "csr", str(tuple(map(int, X.shape))).encode())
        _add(digest, "indptr", _integer_bytes(X.indptr))
        _add(digest, "indices", _integer_bytes(X.indices))
        _add(digest, "data", _float_bytes(X.data))
    _add(digest, "y", _integer_bytes(dataset.y))
    # The order of the class names is hashed, too, because it decides ties.
    _add(digest, "target_names", *(name.encode() for name in dataset.target_names))
    split = dataset.split
    if split is not None:
        _add(digest, "split", _integer_bytes(split.train), _integer_bytes(split.test))
    if dataset.groups is not None:
        _add(digest, "groups", _integer_bytes(dataset.groups))
    if dataset.subclasses is not None:
        names = (name.encode() for name in dataset.subclass_names or ())
        _add(digest, "subclasses", _integer_bytes(dataset.subclasses))
        _add(digest, "subclass_names", *names)
    for column, given in (dataset.parts or {}).items():
        rows = _integer_bytes(given.train), _integer_bytes(given.test)
        _add(digest, "part", column.encode(), *rows)
    if dataset.categorical:
        _add(digest, "categorical", str(dataset.categorical).encode())
    return f"sha256:{digest.hexdigest()}"


def order_key(X: Any) -> int:
    """Return a number that depends on the features of rows spread over a data set, in order."""
    rows = X[np.unique(np.linspace(0, X.shape[0] - 1, _KEY_ROWS).astype(int))]
    values = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return int.from_bytes(sha256(b"ddr order" + _float_bytes(values)).digest()[:16], "little")


def _add(digest: _Hash, label: str, *parts: bytes) -> None:
    # Each part's length is hashed too: ("ab", "c") must differ from ("a", "bc").
    digest.update(f"|{label}:{len(parts)}".encode())
    for part in parts:
        digest.update(f":{len(part)}:".encode())
        digest.update(part)


def _integer_bytes(values: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(values, dtype="<i8").tobytes()


def _float_bytes(values: NDArray[Any]) -> bytes:
    block = np.ascontiguousarray(values, dtype="<f8")
    missing = np.isnan(block)
    if missing.any():
        block = np.where(missing, np.nan, block)
    return block.tobytes()


_COUNTED = {
    "samples": "samples",
    "features": "features",
    "groups": "groups",
    "unlabelled": "rows without a label",
    "missing": "missing values",
}
_NONE = "\x00none"  # stands for the class of a sample without a label


class DataMismatchError(DataUnavailableError):
    """The files exist, but they do not hold the data set that the card describes."""


def assemble(card: Card, raw: RawData, files: Sequence[CardFile] = ()) -> Dataset:
    """Return the data set that a card defines, from the arrays of a file or generator."""
    _check_shapes(card, raw)
    raw = replace(raw, labels=_class_names(card, raw))
    if card.names is not None:
        raw = replace(raw, labels=_renamed(raw.labels, card.names, card.name))
    if card.keep is not None:
        raw = keep_classes(raw, card.keep)
    if card.merge is not None:
        raw = merge_classes(raw, card.merge)
    X: Any = canonical(raw.X)
    if card.decimals is not None:
        values = X if isinstance(X, np.ndarray) else X.data
        np.round(values, card.decimals, out=values)
        X = canonical(X)
    order = card.merge or card.keep or (card.names.values() if card.names else ())
    y, target_names = _encode(raw.labels, order)
    split = groups = group_names = subclasses = subclass_names = None
    if card.split == "by_file":
        if raw.sizes is None or len(raw.sizes) != len(files):
            raise InputError(
                "The card's format does not support `split: by_file`; remove this key."
            )
        split = _split_of(np.repeat([file.role or "" for file in files], raw.sizes))
    if raw.groups is not None:
        found, codes = np.unique(raw.groups, return_inverse=True)
        groups, group_names = codes.astype(np.int64), tuple(map(str, found.tolist()))
    if raw.subclasses is not None:
        subclasses, subclass_names = _encode(label_names(raw.subclasses))
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
        group_names=group_names,
        parts=None if raw.parts is None else _splits_by_column(card, raw.parts),
        categorical=raw.categorical,
        categories=raw.categories,
    )
    return replace(dataset, fingerprint=fingerprint(dataset))


def _check_shapes(card: Card, raw: RawData) -> None:
    n_samples = raw.X.shape[0]
    if raw.X.ndim != 2 or n_samples == 0 or raw.X.shape[1] == 0:
        raise InputError(f"The data set '{card.name}' is empty: the shape of X is {raw.X.shape}.")
    if len(raw.labels) != n_samples:
        raise InputError(f"'{card.name}' has {n_samples} samples but {len(raw.labels)} labels.")
    shape = raw.image_shape or card.image_shape
    if shape is not None and shape[0] * shape[1] != raw.X.shape[1]:
        raise InputError(
            f"The card '{card.name}' describes images of {shape[0]} x {shape[1]} pixels, but the "
            f"data have {raw.X.shape[1]} features."
        )


def _class_names(card: Card, raw: RawData) -> NDArray[np.str_]:
    """Return the class of each sample, `_NONE` if it has no label."""
    names = label_names(raw.labels)
    unknown = np.zeros(len(names), dtype=bool) if raw.unlabelled is None else raw.unlabelled
    if raw.labels.dtype.kind == "f":
        unknown = unknown | np.isnan(raw.labels)
    if card.unlabelled:
        unknown = unknown | (names == "-1")
    elif unknown.any():
        place = raw.first_unlabelled or f"The data set '{card.name}'"
        raise InputError(f"{place}: the label is missing; set `unlabelled: keep` in the card.")
    if unknown.all():
        raise InputError(f"The data set '{card.name}' has no row with a label.")
    return np.where(unknown, _NONE, names)


def label_names(labels: NDArray[Any]) -> NDArray[np.str_]:
    """Return labels of any type as text: 1, 1.0 and "1" are all "1"."""
    values, inverse = np.unique(labels, return_inverse=True)
    whole = [int(v) if isinstance(v, float) and v.is_integer() else v for v in values.tolist()]
    return np.array(list(map(str, whole)), dtype=str)[inverse]


def _renamed(names: NDArray[np.str_], new: Mapping[str, str], card_name: str) -> NDArray[np.str_]:
    new = {_NONE: _NONE, **new}
    unnamed = set(np.unique(names).tolist()) - new.keys()
    if unnamed:
        raise InputError(
            f"In the card '{card_name}', 'names' has no entry for the label '{min(unnamed)}'."
            f"{did_you_mean(min(unnamed), new)}"
        )
    return np.array([new[name] for name in names.tolist()], dtype=str)


def keep_classes(raw: RawData, classes: Collection[str]) -> RawData:
    """Return only the rows of some classes, in their order; labels are compared as text."""
    names = label_names(raw.labels)
    present = [name for name in np.unique(names).tolist() if name != _NONE]
    for name in classes:
        if name not in present:
            raise InputError(
                f"There is no class '{name}' in the data.{did_you_mean(name, present)} "
                f"The classes are {', '.join(present[:40])}."
            )
    kept = np.isin(names, [*classes, _NONE])
    sizes = raw.sizes
    if sizes is not None:
        sizes = tuple(int(part.sum()) for part in np.split(kept, np.cumsum(sizes)[:-1]))
    return replace(
        raw,
        X=raw.X[np.flatnonzero(kept)],
        labels=names[kept],
        sizes=sizes,
        groups=None if raw.groups is None else raw.groups[kept],
        subclasses=None if raw.subclasses is None else raw.subclasses[kept],
        parts=raw.parts and {name: column[kept] for name, column in raw.parts.items()},
    )


def merge_classes(raw: RawData, groups: Mapping[str, Collection[str]]) -> RawData:
    """Return `raw` with some classes merged, as in ``{"A or C": ["A", "C"], "B": ["B"]}``.

    Rows of classes in no group are left out; the old labels become the `subclasses`.
    """
    new_name: dict[str, str] = {}
    for group, members in groups.items():
        for member in members:
            if member in new_name:
                raise InputError(
                    f"'merge' puts the class '{member}' into both '{new_name[member]}' and "
                    f"'{group}'; remove the class from one of them."
                )
            new_name[member] = group
    kept = keep_classes(raw, new_name)
    new_name[_NONE] = _NONE
    merged = np.array([new_name[name] for name in kept.labels.tolist()], dtype=str)
    return replace(kept, labels=merged, subclasses=kept.labels)


def _encode(
    names: NDArray[np.str_], order: Collection[str] = ()
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Return each row's class as an index, and the classes: in `order`, or by value or text."""
    there = [name for name in np.unique(names).tolist() if name != _NONE]
    if order:
        classes = [name for name in dict.fromkeys(order) if name in there]
    else:
        try:
            classes = sorted(there, key=float)
        except ValueError:
            classes = sorted(there)
    index = {name: position for position, name in enumerate(classes)} | {_NONE: -1}
    return np.array([index[name] for name in names.tolist()], dtype=np.int64), tuple(classes)


def _splits_by_column(card: Card, parts: Mapping[str, NDArray[Any]]) -> dict[str, PredefinedSplit]:
    splits = {name: _split_of(column) for name, column in parts.items()}
    for name, split in splits.items():
        for part in ("train", "test"):
            if not len(getattr(split, part)):
                raise InputError(
                    f"'{card.name}' has no row with '{part}' in its split column '{name}'."
                )
    return splits


def _split_of(roles: NDArray[Any]) -> PredefinedSplit:
    return PredefinedSplit(
        train=np.flatnonzero(roles == "train").astype(np.int64),
        test=np.flatnonzero(roles == "test").astype(np.int64),
    )


def verify(card: Card, dataset: Dataset, chosen: Options, source: str) -> Dataset:
    """Return the data set if it matches its card; messages name `source` as its origin."""
    found = differences(dataset, card.expected(chosen))
    if found:
        remedy = (
            f" If you changed the files on purpose, update the card: 'ddr new data {card.path} "
            "--force'."
        )
        raise DataMismatchError(
            f"The {source} do not match the card '{card.name}': "
            f"{'; '.join(found)}."
            + (remedy if card.path and not (card.shipped or card.embedded) else "")
        )
    return dataset


def differences(dataset: Dataset, expect: Expect) -> list[str]:
    """Return how a data set differs from its card, as clauses of a sentence."""
    facts, counts = _facts(dataset), dataset.class_counts
    found = [
        f"they have {facts[key]} {what}, not {expected}"
        for key, what in _COUNTED.items()
        if (expected := getattr(expect, key)) not in (None, facts[key])
    ]
    if expect.classes is not None and list(counts) != list(expect.classes):
        found.append(f"the classes are {', '.join(counts)}, not {', '.join(expect.classes)}")
    elif expect.classes is not None:
        found += [
            f"class '{name}' has {counts[name]} samples, not {count}"
            for name, count in expect.classes.items()
            if counts[name] != count
        ]
    if expect.split is not None and (split := facts["split"]) != expect.split.model_dump():
        wanted = f"{expect.split.train} and {expect.split.test}"
        found.append(
            f"the split has {split['train']} training and {split['test']} test rows, not {wanted}"
        )
    if not found and expect.fingerprint not in (None, dataset.fingerprint):
        found.append(
            f"the values differ (fingerprint {dataset.fingerprint}, not {expect.fingerprint})"
        )
    return found


def _facts(dataset: Dataset) -> dict[str, Any]:
    """Return the properties of a data set that `Expect` can state."""
    split = dataset.split
    return {
        "samples": dataset.n_samples,
        "features": dataset.n_features,
        "classes": dataset.class_counts,
        "groups": 0 if dataset.groups is None else int(dataset.groups.max()) + 1,
        "unlabelled": dataset.n_unlabelled,
        "missing": dataset.n_missing,
        "split": {
            "train": len(split.train) if split else 0,
            "test": len(split.test) if split else 0,
        },
        "fingerprint": dataset.fingerprint,
    }


def expect_of(card: Card, dataset: Dataset) -> dict[str, Any]:
    """Return the part of a card that states the properties of the arrays."""
    facts = _facts(dataset)
    absent = {key for key in ("groups", "unlabelled", "missing") if not facts[key]}
    absent -= {"missing"} if card.has_missing else set()
    absent |= {"split"} if dataset.split is None else set()
    return {key: value for key, value in facts.items() if key not in absent}
