"""Samples, of a data set or of a split, and the file from which all workers read them.

One process writes the file once. The others map it into memory, without a copy of their own.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.core.atomic import atomic_open
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.numerics.sharing import Shared

if TYPE_CHECKING:
    from ddr_cli.data import Dataset

_SHUFFLING = 1
_ORDER = 2


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of samples.

    `y` are indices into `classes`; `subclasses`, the classes before some were merged, are indices
    into `subclass_names`; samples of one of the `groups` are ranked together.
    """

    y: NDArray[np.int64]
    classes: tuple[str, ...]
    subclasses: NDArray[np.int64] | None = None
    subclass_names: tuple[str, ...] | None = None
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the labels of a data set's samples."""
        return cls(data.y, data.target_names, data.subclasses, data.subclass_names, data.groups)

    def rows(self, rows: NDArray[np.intp]) -> Labels:
        """Return the labels of some of the samples."""
        below = None if self.subclasses is None else self.subclasses[rows]
        together = None if self.groups is None else self.groups[rows]
        return Labels(self.y[rows], self.classes, below, self.subclass_names, together)


@dataclass(frozen=True, eq=False)
class Samples:
    """The samples of a data set, or of a split with its training set first, and their labels.

    `neighbors` are the neighbours that were searched in a split, by kind of search. `label_order`
    is the order in which the training samples of a class are labelled, if only some are. `folds`
    are inner splits of the training set, by the number of labels per class. `categorical` are the
    columns of a data set that hold codes of categories. `order` are the positions of the samples in
    the split; methods get them in another order.
    """

    X: Any
    labels: Labels
    n_train: int = 0
    neighbors: dict[str, Neighbors] = field(default_factory=dict)
    label_order: NDArray[np.intp] | None = None
    folds: dict[int | None, tuple[Samples, ...]] = field(default_factory=dict)
    categorical: tuple[int, ...] = ()
    order: NDArray[np.intp] | None = None

    def checksum(self) -> int:
        """Return a checksum of the arrays, which shows whether anything wrote to their file."""
        X: Any = self.X
        own = (X.data, X.indices, X.indptr) if sparse.issparse(self.X) else (X,)
        total = 0
        for array in (*own, self.labels.y, self.labels.subclasses, self.labels.groups):
            if array is not None:
                content: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
                total = zlib.crc32(content, total)
        for fold in chain.from_iterable(self.folds.values()):
            total = zlib.crc32(fold.checksum().to_bytes(4, "little"), total)
        return total

    @cached_property
    def shared(self) -> Shared:
        """The training set, and the properties that its fits share."""
        return Shared(self.X[: self.n_train])

    def with_labels(self, y: NDArray[np.int64]) -> Samples:
        """Return the same samples with other labels; fits share results that only depend on X."""
        changed = replace(self, labels=replace(self.labels, y=y))
        changed.__dict__["shared"] = self.shared
        return changed

    def with_shuffled_labels(self, seed: int) -> Samples:
        """Return the samples with the labels permuted within the training and the test set."""
        # NumPy guarantees that the raw stream of a bit generator never changes, but not its
        # shuffling. The spawn key makes this stream differ from that of methods with the same seed.
        generator = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_SHUFFLING,)))
        keys = generator.random_raw(len(self.labels.y))
        second = np.arange(len(keys)) >= self.n_train
        assert self.order is not None
        y = self.labels.y[np.argsort(self.order)][np.lexsort((keys, second))][self.order]
        return replace(self, labels=replace(self.labels, y=y))

    def in_drawn_order(self, seed: int) -> Samples:
        """Return the samples with the training set in an order drawn from `seed`.

        If some training samples are unlabelled, their order must not reveal their classes. The seed
        is public, the order of the test samples is not.
        """
        assert self.order is not None
        key = sha256(self.order.astype("<i8").tobytes()).digest()[:16]
        words = [seed, int.from_bytes(key, "little")]
        generator = np.random.PCG64(np.random.SeedSequence(words, spawn_key=(_ORDER,)))
        n, last = self.n_train, len(self.labels.y)
        rows = np.concatenate([np.argsort(generator.random_raw(n)), np.arange(n, last)])
        return replace(
            self,
            X=self.X[rows],
            labels=self.labels.rows(rows),
            order=self.order[rows],
            # Equally near neighbours are ordered by row, so the new order needs new searches.
            neighbors={},
            label_order=None if self.label_order is None else self.label_order[rows[:n]],
        )

    def save(self, path: Path) -> None:
        """Write everything to one file, which appears when it is complete.

        Another process may be reading a file of this name, which a cleaner then removes.
        """
        with atomic_open(path) as file:
            joblib.dump(self._parts(), file)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote, as read-only views of the file."""
        return cls._of(_plain(joblib.load(path, mmap_mode="r")))

    def _parts(self) -> tuple[Any, ...]:
        X: Any = self.X
        if sparse.issparse(X):
            # Workers get a read-only view and can't sort its entries, so sort them here.
            X = X.tocsr(copy=True)  # type: ignore[attr-defined]
            X.sum_duplicates()
            parts: Any = (X.data, X.indices, X.indptr, X.shape)
        else:
            parts = np.ascontiguousarray(X)
        found = {name: (one.indices, one.distances) for name, one in self.neighbors.items()}
        inner = {key: tuple(fold._parts() for fold in folds) for key, folds in self.folds.items()}
        orders = self.order, self.label_order
        return parts, vars(self.labels), self.n_train, found, orders, inner, self.categorical

    @classmethod
    def _of(cls, stored: tuple[Any, ...]) -> Self:
        parts, labels, n_train, found, (order, label_order), inner, categorical = stored
        if isinstance(parts, tuple):
            *arrays, shape = parts
            parts = sparse.csr_array(tuple(arrays), shape=shape, copy=False)
            parts.has_canonical_format = True
        neighbors = {name: Neighbors(*arrays) for name, arrays in found.items()}
        folds = {key: tuple(map(Samples._of, each)) for key, each in inner.items()}
        shown = Labels(**labels)
        return cls(parts, shown, n_train, neighbors, label_order, folds, categorical, order)


def _plain(value: Any) -> Any:
    """Return memory maps as plain arrays, for which NumPy is faster."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
