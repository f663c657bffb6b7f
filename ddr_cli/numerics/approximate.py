"""Approximate search for nearest neighbours, by faiss (extra `approximate`)."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from ddr_cli.core.extras import load_library
from ddr_cli.numerics.neighbors import Floats, Neighbors, is_sparse, kneighbors, nearest_among
from ddr_cli.numerics.sharing import computed_once

Search = Literal["exact", "approximate", "auto"]

LIBRARY = "faiss-cpu"
MOST_EXACT = 50_000
"""Up to this number of samples "auto" searches exactly."""

# faiss links each sample to near ones in a graph (HNSW). A search starts at the sample itself and
# follows the links. Its effort is the first of `_EFFORTS` whose recall on some samples is at least
# `_ENOUGH`. All values were chosen on the data of `benchmarks/bench_scale.py`.
_LINKS, _BUILD_EFFORT = 24, 30
_EFFORTS = (16, 32, 64)
_ENOUGH = 0.98
_PAYS = 15_000  # for fewer samples the exact search is faster
_STEPS, _POINTS_OF_A_MEAN = 4, 32  # k-means: number of iterations, and samples used per centroid
_STRIDE, _TOGETHER = 10, 1000  # see `_linked`
_SPARE = 4  # candidates in addition to k, for the sample itself and for errors of single precision
_ASKED = 2**13  # samples in one call of faiss
_SAMPLE = 1000  # samples on which the recall is measured
_LOW_RECALL = 0.9


def search_neighbors(
    X: Any, k: int, search: Literal["approximate", "auto"]
) -> tuple[Neighbors, float]:
    """Return the `k` nearest neighbours of each sample, and the recall.

    "auto" searches exactly up to `MOST_EXACT` samples. A recall below 90 % gives a warning.
    """
    if search == "approximate" and is_sparse(X):
        raise ValueError("neighbors='approximate' needs dense data; use neighbors='exact'.")
    large = X.shape[0] > MOST_EXACT and not is_sparse(X)
    if search == "auto" and not large:
        return kneighbors(X, k), 1.0
    neighbors, recall = computed_once(
        lambda: approximate_neighbors(X, k), X, "approximate neighbors", k
    )
    if recall < _LOW_RECALL:
        warnings.warn(
            f"The approximate search found only {recall:.0%} of the {k} nearest neighbours.",
            stacklevel=4,
        )
    return neighbors, recall


def approximate_neighbors(X: Floats, k: int) -> tuple[Neighbors, float]:
    """Return the `k` nearest neighbours that faiss finds in a graph of links, and the recall.

    The recall is the fraction of true neighbours found, measured on up to 1000 samples. Neighbours
    are sorted by their exact distances, with ties as in `kneighbors`. One thread is used, so that
    the same data give the same neighbours.
    """
    n = len(X)
    if n < _PAYS:
        return kneighbors(X, k), 1.0
    X = np.asarray(X, dtype=np.float64)
    sample = np.linspace(0, n - 1, min(n, _SAMPLE)).astype(np.intp)
    farthest = _exact(X, sample, k).distances[:, -1:]
    indices = np.empty((n, k), dtype=np.intp)
    distances = np.empty((n, k))
    asked = min(n, k + _SPARE)
    with threadpool_limits(1):
        index, points, order = _linked(X)

        def search(positions: Any) -> Neighbors:
            found = _search_from_itself(index, points, positions, asked)
            return nearest_among(X, order[positions], np.where(found < 0, -1, order[found]), k)

        sampled = np.argsort(order)[sample]
        for effort in _EFFORTS:
            index.hnsw.efSearch = max(effort, asked)  # with less, faiss finds fewer than `asked`
            if np.mean(search(sampled).distances <= farthest) >= _ENOUGH:
                break
        for start in range(0, n, _ASKED):
            positions = np.arange(start, min(n, start + _ASKED))
            found = search(positions)
            rows = order[positions]
            indices[rows], distances[rows] = found.indices, found.distances
    # From these samples, the links lead to fewer than k others.
    (lost,) = np.nonzero(~np.isfinite(distances[:, -1]))
    if len(lost):
        found = _exact(X, lost, k)
        indices[lost], distances[lost] = found.indices, found.distances
    recall = float(np.mean(distances[sample] <= farthest))
    indices.flags.writeable = distances.flags.writeable = False  # shared between fits
    return Neighbors(indices, distances), recall


def _linked(X: Floats) -> tuple[Any, Any, Any]:
    """Return faiss's index of links, the samples as it holds them, and their row numbers.

    Samples near each other are linked one after the other and stay next to each other in memory,
    which takes half the time of an arbitrary order. The first `1 / _STRIDE` of them come from all
    regions, so that later ones can be reached. faiss shuffles the samples of one call, so a call
    adds only a few.
    """
    faiss = load_library(LIBRARY)
    n, d = X.shape
    points = X - X.mean(axis=0)
    points = (points / (np.abs(points).max() or 1.0)).astype(np.float32)
    means = faiss.IndexFlatL2(d)
    clusters = faiss.Clustering(d, round(n**0.5))
    clusters.niter, clusters.max_points_per_centroid = _STEPS, _POINTS_OF_A_MEAN
    clusters.min_points_per_centroid = 1  # otherwise faiss warns of too few samples
    clusters.train(points, means)
    order = np.argsort(means.search(points, 1)[1].ravel(), kind="stable")
    order = np.concatenate([order[::_STRIDE], np.delete(order, np.s_[::_STRIDE])])
    points = points[order]
    index = faiss.IndexHNSWFlat(d, _LINKS)
    index.hnsw.efConstruction = _BUILD_EFFORT
    first = -(-n // _STRIDE)
    for start, stop in [(0, first), *((at, at + _TOGETHER) for at in range(first, n, _TOGETHER))]:
        index.add(points[start:stop])
    return index, points, order


def _search_from_itself(index: Any, points: Any, positions: Any, k: int) -> Any:
    """Return the positions of `k` samples near each of some samples, -1 where there are fewer."""
    swig_ptr = load_library(LIBRARY).swig_ptr
    shape = len(positions), k
    near, start = np.empty(shape, dtype=np.int64), positions.astype(np.int32)
    gaps, zero = np.empty(shape, dtype=np.float32), np.zeros(len(positions), dtype=np.float32)
    asked = points[positions]
    arrays = (swig_ptr(array) for array in (start, zero, gaps, near))
    index.search_level_0(len(positions), swig_ptr(asked), k, *arrays)
    return near


def _exact(X: Floats, rows: Any, k: int) -> Neighbors:
    """Return the exact `k` nearest neighbours of some rows; no row is its own neighbour."""
    return nearest_among(X, rows, kneighbors(X, k + 1, queries=X[rows]).indices, k)
