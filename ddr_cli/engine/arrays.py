"""Arrays that one process writes once and every worker reads without a copy of its own."""

from __future__ import annotations

import json
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
