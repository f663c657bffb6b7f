"""Approximate search for nearest neighbours, by faiss (extra `approximate`)."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from threadpoolctl import threadpool_limits

from ddr_cli.core.extras import load_library
from ddr_cli.numerics.neighbors import Floats, Neighbors, kneighbors, nearest_among
from ddr_cli.numerics.sharing import computed_once

Search = Literal["exact", "approximate", "auto"]

LIBRARY = "faiss-cpu"
MOST_EXACT = 50_000
"""Up to this number of samples "auto" searches exactly."""

# The samples are divided into cells around means. The neighbours of each are searched for in the
# cells nearest to it. Their number is the first of `_PROBES` that finds enough of the true
# neighbours of some samples. All were chosen on the data of `benchmarks/bench_scale.py`.
_PROBES = (16, 24, 32, 48, 64, 80)
_ENOUGH = 0.99
_PAYS = 8  # if more than one cell in this many is searched, the exact search is as fast
_STEPS, _POINTS_OF_A_MEAN = 4, 32  # of k-means
_SPARE = 4  # candidates more than k: the sample itself, and errors of single precision
_ASKED = 2**13  # samples in one call of faiss
_SAMPLE = 1000  # samples on which the recall is measured
_LOW_RECALL = 0.9


def search_library(search: Search) -> str | None:
    """Return the distribution that a method's traits must name for this search."""
    return None if search == "exact" else LIBRARY


def search_neighbors(
    X: Any, k: int, search: Literal["approximate", "auto"]
) -> tuple[Neighbors, float]:
    """Return the `k` nearest neighbours of each sample, and the recall.

    "auto" searches exactly up to `MOST_EXACT` samples. A recall below 90 % gives a warning.
    """
    is_sparse = bool(sp.issparse(X))
    if search == "approximate" and is_sparse:
        raise ValueError(
            "neighbors='approximate' needs dense data; use neighbors='exact' for sparse data."
        )
    large = X.shape[0] > MOST_EXACT and not is_sparse
    if search == "auto" and not large:
        return kneighbors(X, k), 1.0
    neighbors, recall = computed_once(
        lambda: approximate_neighbors(X, k), X, "approximate neighbors", k
    )
    if recall < _LOW_RECALL:
        warnings.warn(
            f"The approximate search found {recall:.0%} of the {k} nearest neighbours of the "
            "samples.",
            stacklevel=4,
        )
    return neighbors, recall


def approximate_neighbors(X: Floats, k: int) -> tuple[Neighbors, float]:
    """Return the `k` nearest neighbours that faiss finds in nearby cells, and the recall.

    The recall is the fraction of true neighbours found, measured on up to 1000 samples. Neighbours
    are sorted by their exact distances, with ties as in `kneighbors`. One thread is used, so that
    the same data give the same neighbours.
    """
    n = len(X)
    n_cells = round(n**0.7 / 3)
    if n_cells < _PAYS * _PROBES[0]:
        return kneighbors(X, k), 1.0
    X = np.asarray(X, dtype=np.float64)
    points = X - X.mean(axis=0)
    points = (points / (np.abs(points).max() or 1.0)).astype(np.float32)
    sample = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    farthest = _exact(X, sample, k).distances[:, -1:]
    indices = np.empty((n, k), dtype=np.intp)
    distances = np.empty((n, k))

    def search(rows: Any) -> Neighbors:
        _, candidates = index.search(points[rows], k + _SPARE)
        return nearest_among(X, rows, candidates, k)

    with threadpool_limits(1):
        index, cell = _cells(points, n_cells)
        for probes in _PROBES:
            index.nprobe = probes
            if np.mean(search(sample).distances <= farthest) >= _ENOUGH:
                break
        if n_cells < _PAYS * probes:
            return kneighbors(X, k), 1.0
        # Samples of the same cell read the same memory, so they are searched together.
        together = np.argsort(cell, kind="stable")
        for start in range(0, n, _ASKED):
            rows = together[start : start + _ASKED]
            found = search(rows)
            indices[rows], distances[rows] = found.indices, found.distances
    # Samples whose nearby cells hold fewer than k others.
    (lost,) = np.nonzero(~np.isfinite(distances[:, -1]))
    if len(lost):
        found = _exact(X, lost, k)
        indices[lost], distances[lost] = found.indices, found.distances
    recall = float(np.mean(distances[sample] <= farthest))
    indices.flags.writeable = distances.flags.writeable = False  # shared between fits
    return Neighbors(indices, distances), recall


def _cells(points: Any, n_cells: int) -> tuple[Any, Any]:
    """Return faiss's index of the samples by cells, and the cell of each sample."""
    faiss = load_library(LIBRARY)
    n, d = points.shape
    means = faiss.IndexFlatL2(d)
    index = faiss.IndexIVFFlat(means, d, n_cells)
    index.cp.niter, index.cp.max_points_per_centroid = _STEPS, _POINTS_OF_A_MEAN
    index.cp.min_points_per_centroid = 1  # for few points, without a warning
    index.train(points)
    cell = means.search(points, 1)[1].ravel()
    index.add_core(n, faiss.swig_ptr(points), None, faiss.swig_ptr(cell))
    return index, cell


def _exact(X: Floats, rows: Any, k: int) -> Neighbors:
    """Return the exact `k` nearest neighbours of some rows; no row is its own neighbour."""
    return nearest_among(X, rows, kneighbors(X, k + 1, queries=X[rows]).indices, k)
