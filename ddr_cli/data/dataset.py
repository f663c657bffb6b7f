"""A data set: its arrays and their fingerprint.

Mirrors repack archives, so the checksum of a file says little. The fingerprint is a hash of the
arrays in one canonical form (little-endian, C order, -0.0 as 0.0, one NaN, CSR without duplicates
or stored zeros), which is the same for every packing and on every platform.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli.data.formats import Features

if TYPE_CHECKING:
    from hashlib import _Hash

    from numpy.typing import NDArray

# Part of the hash: a change of the canonical form must change every fingerprint.
_FORM = b"ddr data set, canonical form 1"
_BLOCK_ROWS = 1024
_MOST_SHOWN = 10


@dataclass(frozen=True)
class PredefinedSplit:
    """The split into training and test set that a data set comes with.

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
    group_names : tuple of str, optional
        The names of the groups.
    parts : mapping of str to PredefinedSplit, optional
        The given splits of a table, by the names of their columns.
    subclasses : ndarray of shape (n_samples,), int64, optional
        The class of each row before classes were merged, an index into `subclass_names`.
    subclass_names : tuple of str, optional
        The names of the classes before they were merged.
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
        """Return what a notebook shows."""
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
        dense += 0.0  # makes -0.0 into 0.0
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
    # The order of the names counts because it decides ties.
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
