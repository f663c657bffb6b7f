"""The folder of a run's intermediate arrays, which never outlives the run for long.

One process writes a file there once, and every worker reads it without a copy of its own.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import joblib
import numpy as np
from filelock import FileLock, Timeout
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.core.errors import InputError
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.numerics.sharing import Shared

if TYPE_CHECKING:
    from ddr_cli.data import Dataset

_PREFIX = "ddr-scratch-"
_LOCK = "alive.lock"
_UNLOCKED_FOR_SECONDS = 3600.0
_SHUFFLING = 1


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of points beside their features.

    `y` is an index into `classes`; `subclasses`, the class of each point before classes were
    merged, one into `subclass_names`; `groups` says what is ranked together.
    """

    y: NDArray[np.int64]
    classes: tuple[str, ...]
    subclasses: NDArray[np.int64] | None = None
    subclass_names: tuple[str, ...] | None = None
    groups: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, data: Dataset) -> Self:
        """Return the labels of a data set's points."""
        return cls(data.y, data.target_names, data.subclasses, data.subclass_names, data.groups)

    def rows(self, rows: NDArray[np.intp]) -> Labels:
        """Return the labels of some of the points."""
        below = None if self.subclasses is None else self.subclasses[rows]
        together = None if self.groups is None else self.groups[rows]
        return Labels(self.y[rows], self.classes, below, self.subclass_names, together)


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points and what is known of them: of a data set, or of a split, its training part first.

    `neighbors` are those that were searched of a split, by what was searched; `places` say in which
    order the training points of a class are labelled, where only some are; `folds` are the training
    part divided once more, by how many labels of a class are known there; `categorical` are the
    columns of a data set that hold codes of categories.
    """

    points: Any
    labels: Labels
    n_train: int = 0
    neighbors: dict[str, Neighbors] = field(default_factory=dict)
    places: NDArray[np.intp] | None = None
    folds: dict[int | None, tuple[PointSet, ...]] = field(default_factory=dict)
    categorical: tuple[int, ...] = ()

    @cached_property
    def shared(self) -> Shared:
        """The training points, and what fits of them have in common."""
        return Shared(self.points[: self.n_train])

    def with_shuffled_labels(self, seed: int) -> PointSet:
        """Return the points with the labels of the training part, and of the rest, permuted."""
        # NumPy promises that a bit generator's raw stream never changes, of its shuffling it
        # doesn't; and the stream is not the one that methods of the same seed draw from.
        generator = np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(_SHUFFLING,)))
        keys = generator.random_raw(len(self.labels.y))
        second = np.arange(len(keys)) >= self.n_train
        y = self.labels.y[np.lexsort((keys, second))]
        return replace(self, labels=replace(self.labels, y=y))

    def save(self, path: Path) -> None:
        """Write everything to one file."""
        joblib.dump(self._parts(), path)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return what `save` wrote, as read-only views of the file."""
        return cls._of(_plain(joblib.load(path, mmap_mode="r")))

    def _parts(self) -> tuple[Any, ...]:
        points: Any = self.points
        if sparse.issparse(points):
            # A worker's read-only view can't be put in order any more.
            points = points.tocsr(copy=True)  # type: ignore[attr-defined]
            points.sum_duplicates()
            parts: Any = (points.data, points.indices, points.indptr, points.shape)
        else:
            parts = np.ascontiguousarray(points)
        found = {name: (one.indices, one.distances) for name, one in self.neighbors.items()}
        inner = {key: tuple(fold._parts() for fold in folds) for key, folds in self.folds.items()}
        return parts, vars(self.labels), self.n_train, found, self.places, inner, self.categorical

    @classmethod
    def _of(cls, stored: tuple[Any, ...]) -> Self:
        parts, labels, n_train, found, places, inner, categorical = stored
        if isinstance(parts, tuple):
            *arrays, shape = parts
            parts = sparse.csr_array(tuple(arrays), shape=shape, copy=False)
            parts.has_canonical_format = True
        neighbors = {name: Neighbors(*arrays) for name, arrays in found.items()}
        folds = {key: tuple(map(PointSet._of, each)) for key, each in inner.items()}
        return cls(parts, Labels(**labels), n_train, neighbors, places, folds, categorical)


def _plain(value: Any) -> Any:
    """Return memory maps as the plain arrays that they are to NumPy, which is quicker with them."""
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if isinstance(value, tuple):
        return tuple(_plain(item) for item in value)
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


class Scratch:
    """A temporary folder `path`, removed when the run ends; what a killed run left goes first.

    Where a cleaner of old files has removed it, another one takes its place.
    """

    def __init__(self) -> None:
        _remove_stale()
        self._make()

    def folder(self, name: str) -> Path:
        """Return a folder inside, making it if it is not there."""
        if not (self.path / _LOCK).exists():
            self._remove()
            self._make()
        with self.writing():
            folder = self.path / name
            folder.mkdir(exist_ok=True)
        return folder

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Turn what the disk refuses in the block into a sentence."""
        try:
            yield
        except OSError as error:
            raise self.refusal(error.strerror or str(error)) from error

    def refusal(self, reason: str) -> InputError:
        """Return the error that says why nothing can be written."""
        return InputError(
            f"The scratch folder {tempfile.gettempdir()} can't be written to ({reason}); make room "
            "or set TMPDIR to another folder, then run the same command."
        )

    def _make(self) -> None:
        while True:
            # Another run that starts may find it before it is locked, and remove it.
            with self.writing(), suppress(Timeout):
                # Never under the old name, which another user could have taken.
                self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
                self._lock = FileLock(self.path / _LOCK)
                self._lock.acquire(timeout=0)
                return

    def _remove(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._remove()


def _remove_stale() -> None:
    """Remove the scratch folders of runs that are no more: those whose lock nobody holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        lock = folder / _LOCK
        with suppress(OSError, Timeout):
            if not _is_own(folder):
                continue
            if not lock.exists():
                # Just made and about to be locked, unless it is old.
                if time.time() - folder.stat().st_mtime > _UNLOCKED_FOR_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            with FileLock(lock, timeout=0):
                shutil.rmtree(folder, ignore_errors=True)


def _is_own(folder: Path) -> bool:
    """Tell whether this user made a folder: in what others made nothing is opened or removed."""
    facts = folder.lstat()
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return mine and stat.S_ISDIR(facts.st_mode)
