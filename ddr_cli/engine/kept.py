"""`kept.npz`: what trials predicted and where methods placed points, for scores asked for later.

Its arrays are called ``<group>/<what>``. A group is a split, or a split under shuffled labels,
which has other true classes. ``train`` and ``test`` are numbers of rows of the data set, ``seed``
is that of methods; ``trials`` are ids, row i of ``predicted`` is what trial i said of the test
part, and ``y`` what is true of both (indices into the classes). ``points`` are the points whose
places are kept, numbered as the training part followed by the test part; trial i of ``placed`` has
the first ``width`` columns (all if 0) of the array ``places-<embedding>``, which has no rows where
a method leaves the points where they are.

While a run goes on, what comes is written to files in ``kept/``, before the rows of the journal on
it: whatever ends the run, a trial that has a row has its predictions. The end of a session merges
them, and so does the end of the next one if that was killed.
"""

from __future__ import annotations

import base64
import io
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.atomic import atomic_open, clear_messages
from ddr_cli.core.errors import InputError

KEPT = "kept.npz"
PARTS = "kept"
SHUFFLED = "+shuffled_labels"

Arrays = Mapping[str, NDArray[Any]]


def packed(**arrays: NDArray[Any]) -> str:
    """Return arrays as text, which a worker's trace can hold."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)  # type: ignore[arg-type]  # its keywords are arrays
    return base64.b64encode(buffer.getvalue()).decode()


def unpacked(text: str) -> dict[str, NDArray[Any]]:
    """Return what `packed` was given."""
    with np.load(io.BytesIO(base64.b64decode(text))) as arrays:
        return dict(arrays)


@dataclass
class KeptGroup:
    """What is kept of the trials of a split; see the head of this module for its parts."""

    train: NDArray[np.intp]
    test: NDArray[np.intp]
    y: NDArray[np.int64]
    points: NDArray[np.intp]
    seed: int
    predicted: dict[str, NDArray[np.int64]] = field(default_factory=dict)
    placed: dict[str, tuple[int, int]] = field(default_factory=dict)
    places: list[NDArray[Any]] = field(default_factory=list)
    prototypes: list[NDArray[Any]] = field(default_factory=list)

    @property
    def y_train(self) -> NDArray[np.int64]:
        """The classes of the training part."""
        return self.y[: len(self.train)]

    @property
    def y_test(self) -> NDArray[np.int64]:
        """The classes of the test part."""
        return self.y[len(self.train) :]

    def place(self, trial_id: str, width: int | None, packed_places: str) -> None:
        """Keep the embedding of a trial; without one, it has that of the trial before it."""
        if packed_places:
            arrays = unpacked(packed_places)
            self.places.append(arrays["places"])
            self.prototypes.append(arrays["prototypes"])
        if self.places:
            self.placed[trial_id] = len(self.places) - 1, width or 0

    def without_trials(self) -> KeptGroup:
        """Return the same split with nothing on it."""
        return KeptGroup(self.train, self.test, self.y, self.points, self.seed)

    def add(self, other: KeptGroup) -> None:
        """Add what another one has; of a trial that both have, the other's counts."""
        self.predicted |= other.predicted
        first = len(self.places)
        self.placed |= {one: (first + i, width) for one, (i, width) in other.placed.items()}
        self.places += other.places
        self.prototypes += other.prototypes
        if len(other.points):
            self.points = other.points

    def _arrays(self) -> dict[str, Any]:
        used = sorted({embedding for embedding, _ in self.placed.values()})
        number = {embedding: i for i, embedding in enumerate(used)}
        found: dict[str, Any] = {
            "train": self.train,
            "test": self.test,
            "y": _small(self.y),
            "points": self.points,
            "seed": np.asarray(self.seed),
            "trials": np.asarray(list(self.predicted), dtype=str),
            "predicted": _small(np.asarray(list(self.predicted.values()), dtype=np.int64)),
            "placed": np.asarray(list(self.placed), dtype=str),
            "embedding": np.asarray([number[one] for one, _ in self.placed.values()], dtype=int),
            "width": np.asarray([width for _, width in self.placed.values()], dtype=int),
        }
        for embedding, i in number.items():
            found |= {
                f"places-{i}": self.places[embedding],
                f"prototypes-{i}": self.prototypes[embedding],
            }
        return found

    @classmethod
    def _of(cls, arrays: Arrays) -> KeptGroup:
        trials, placed = arrays["trials"].tolist(), arrays["placed"].tolist()
        pairs = zip(arrays["embedding"].tolist(), arrays["width"].tolist(), strict=True)
        count = sum(name.startswith("places-") for name in arrays)
        return cls(
            arrays["train"],
            arrays["test"],
            arrays["y"].astype(np.int64),
            arrays["points"],
            int(arrays["seed"]),
            dict(zip(trials, arrays["predicted"].astype(np.int64), strict=True)),
            dict(zip(placed, pairs, strict=True)),
            [arrays[f"places-{i}"] for i in range(count)],
            [arrays[f"prototypes-{i}"] for i in range(count)],
        )


def write_part(folder: Path, groups: Mapping[str, KeptGroup]) -> None:
    """Write what has just come to a file of its own."""
    parts = folder / PARTS
    with clear_messages(parts):
        parts.mkdir(exist_ok=True)
        number = max((int(path.stem) for path in parts.glob("*.npz")), default=0) + 1
        _save(parts / f"{number:08d}.npz", groups)


def has_kept(folder: Path) -> bool:
    """Return whether a run has kept anything."""
    return (folder / KEPT).is_file() or (folder / PARTS).is_dir()


def is_merged(folder: Path) -> bool:
    """Return whether nothing has come since the last merge."""
    return not (folder / PARTS).is_dir()


def merge_parts(folder: Path) -> None:
    """Put what came into one file."""
    if not is_merged(folder):
        with clear_messages(folder / KEPT):
            _save(folder / KEPT, read_kept(folder))
            # If this does not happen, the same parts are merged once more, to the same end.
            shutil.rmtree(folder / PARTS)


def read_kept(folder: Path) -> dict[str, KeptGroup]:
    """Return what a run has kept so far, by group."""
    groups: dict[str, KeptGroup] = {}
    for path in (folder / KEPT, *sorted((folder / PARTS).glob("*.npz"))):
        if path.is_file():
            for name, group in _load(path).items():
                if name in groups:
                    groups[name].add(group)
                else:
                    groups[name] = group
    return groups


def _save(path: Path, groups: Mapping[str, KeptGroup]) -> None:
    arrays = {
        f"{name}/{what}": values
        for name, group in groups.items()
        for what, values in group._arrays().items()
    }
    with atomic_open(path, durable=True) as file:
        np.savez_compressed(file, **arrays)


def _load(path: Path) -> dict[str, KeptGroup]:
    by_group: dict[str, dict[str, NDArray[Any]]] = {}
    try:
        with np.load(path) as arrays:
            for key in arrays.files:
                name, _, what = key.rpartition("/")
                by_group.setdefault(name, {})[what] = arrays[key]
        return {name: KeptGroup._of(arrays) for name, arrays in by_group.items()}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path} is damaged ({error}); restore it, or run the spec again with --fresh."
        ) from None


def _small(codes: NDArray[np.int64]) -> NDArray[Any]:
    """Return codes of classes, which may be -1, in as few bytes as they need."""
    return codes.astype(np.min_scalar_type(-1 - int(codes.max(initial=0))))
