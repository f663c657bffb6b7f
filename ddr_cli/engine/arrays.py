"""Arrays that one process writes once and every worker reads without a copy of its own."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.numerics.neighbors import Neighbors


def save_matrix(folder: Path, name: str, matrix: Any) -> None:
    """Write a dense or sparse matrix to `folder`.

    A sparse one is written as CSR in canonical form (sorted, no duplicates), because a worker's
    read-only view of it can't be put in order any more.
    """
    if not sparse.issparse(matrix):
        np.save(folder / f"{name}.npy", np.ascontiguousarray(matrix))
        return
    rows = matrix.tocsr(copy=True)  # type: ignore[attr-defined]
    rows.sum_duplicates()
    for part in ("data", "indices", "indptr"):
        np.save(folder / f"{name}.{part}.npy", getattr(rows, part))
    (folder / f"{name}.shape.json").write_text(json.dumps(rows.shape))


def load_matrix(folder: Path, name: str) -> Any:
    """Return a matrix that `save_matrix` wrote, as a read-only view of the file."""
    shape = folder / f"{name}.shape.json"
    if not shape.exists():
        return load_array(folder, name)
    parts = tuple(load_array(folder, f"{name}.{part}") for part in ("data", "indices", "indptr"))
    rows: Any = sparse.csr_array(parts, shape=tuple(json.loads(shape.read_text())), copy=False)
    rows.has_canonical_format = True
    return rows


def load_array(folder: Path, name: str) -> NDArray[Any]:
    """Return ``<name>.npy`` as a read-only view of the file."""
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


@dataclass(frozen=True, eq=False)
class Labels:
    """What is known of points beside their features.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Class of each point, an index into `classes`.
    classes : tuple of str
        The classes' names.
    subclasses : ndarray of shape (n,), optional
        The class of each point before classes were merged, an index into `subclass_names`.
    subclass_names : tuple of str, optional
        Their names.
    groups : ndarray of shape (n,), optional
        What is ranked together.
    """

    y: NDArray[np.int64]
    classes: tuple[str, ...]
    subclasses: NDArray[np.int64] | None = None
    subclass_names: tuple[str, ...] | None = None
    groups: NDArray[np.int64] | None = None

    def rows(self, rows: NDArray[np.intp]) -> Labels:
        """Return the labels of some of the points."""
        below = None if self.subclasses is None else self.subclasses[rows]
        together = None if self.groups is None else self.groups[rows]
        return Labels(self.y[rows], self.classes, below, self.subclass_names, together)


def save_labels(folder: Path, labels: Labels) -> None:
    """Write the labels of the points in `folder`."""
    np.save(folder / "y.npy", labels.y)
    names = {"classes": labels.classes, "subclass_names": labels.subclass_names}
    (folder / "names.json").write_text(json.dumps(names))
    for name in ("subclasses", "groups"):
        if getattr(labels, name) is not None:
            np.save(folder / f"{name}.npy", getattr(labels, name))


def load_labels(folder: Path) -> Labels:
    """Return what `save_labels` wrote."""
    names = json.loads((folder / "names.json").read_text())
    y, subclasses, groups = (
        load_array(folder, name) if (folder / f"{name}.npy").exists() else None
        for name in ("y", "subclasses", "groups")
    )
    assert y is not None, "save_labels writes it"
    below = names["subclass_names"]
    classes = tuple(names["classes"])
    return Labels(y, classes, subclasses, None if below is None else tuple(below), groups)


def save_neighbors(folder: Path, name: str, neighbors: Neighbors) -> None:
    """Write the neighbours of the points `name`."""
    np.save(folder / f"{name}.neighbors.npy", neighbors.indices)
    np.save(folder / f"{name}.distances.npy", neighbors.distances)


def load_neighbors(folder: Path, name: str) -> Neighbors | None:
    """Return the neighbours of the points `name`, or None if none were searched."""
    if not (folder / f"{name}.neighbors.npy").exists():
        return None
    return Neighbors(
        indices=load_array(folder, f"{name}.neighbors"),
        distances=load_array(folder, f"{name}.distances"),
    )
