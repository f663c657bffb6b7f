"""How cost grows with the number of points: CPU seconds and memory, ours beside a peer's.

    python benchmarks/bench_sizes.py [WORK ...] [--sizes 500 1000 2000 4000] [--runs 5]

Each fit is done in a process of its own, a copy of this one with its libraries loaded, on one
thread; ours and the peer's take turns, and medians are told. The points are Gaussian classes in 36
dimensions. Memory is what the fit adds to the process at most. `make bench` draws the result.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.manifold import Isomap, SpectralEmbedding
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from ddr_cli import reducers
from ddr_cli.numerics.neighbors import kneighbors

Fit = Callable[[np.ndarray, np.ndarray], Any]

FEATURES, CLASSES = 36, 6


def exact(X: np.ndarray, _: np.ndarray) -> Any:
    return kneighbors(X, 12)


def brute(X: np.ndarray, y: np.ndarray) -> Any:
    search = NearestNeighbors(n_neighbors=12, algorithm="brute").fit(X, y)
    return search.kneighbors()


def spectral(X: np.ndarray, y: np.ndarray) -> Any:
    return SpectralEmbedding(14, affinity="nearest_neighbors", n_neighbors=12).fit(X, y)


WORKS: dict[str, tuple[tuple[str, Fit], tuple[str, Fit]]] = {
    "12 neighbours": (
        ("ddr", exact),
        ("scikit-learn, brute force", brute),
    ),
    "graph embedding": (
        ("CCDR", lambda X, y: reducers.CCDR(14, n_neighbors=12).fit(X, y)),
        ("SpectralEmbedding", spectral),
    ),
    "Isomap": (
        ("ddr", lambda X, y: reducers.Isomap(2, n_neighbors=12).fit(X, y)),
        ("scikit-learn", lambda X, y: Isomap(n_components=2, n_neighbors=12).fit(X, y)),
    ),
    "linear, supervised": (
        ("LFDA", lambda X, y: reducers.LFDA(5).fit(X, y)),
        ("scikit-learn's LDA", lambda X, y: LinearDiscriminantAnalysis(n_components=5).fit(X, y)),
    ),
    "trace ratio": (
        ("NMMP", lambda X, y: reducers.NMMP(5).fit(X, y)),
        ("scikit-learn's PCA", lambda X, y: PCA(5).fit(X, y)),
    ),
}


def points(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    y = np.arange(n) % CLASSES
    # Classes overlap: their graph is connected, which not all peers check.
    return rng.standard_normal((n, FEATURES)) + rng.standard_normal((CLASSES, FEATURES))[y] / 2, y


def measure(work: str, place: int, n: int) -> tuple[float, float]:
    """Return the CPU seconds of one fit and the megabytes that it adds at most."""
    X, y = points(n)
    before = resource.getrusage(resource.RUSAGE_SELF)
    began = time.process_time()
    WORKS[work][place][1](X, y)
    spent = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF)
    return spent, (after.ru_maxrss - before.ru_maxrss) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("works", nargs="*", choices=[*WORKS, []], default=[])
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 4000])
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--csv", type=Path, default=Path("results/benchmarks/sizes.csv"))
    given = parser.parse_args()
    rows = []
    context = multiprocessing.get_context("fork")
    for work in given.works or WORKS:
        for place in (0, 1):
            measure(work, place, 200)  # loads what it needs
    with threadpool_limits(1), context.Pool(1, maxtasksperchild=1) as pool:
        for work in given.works or WORKS:
            for n in given.sizes:
                found: list[list[tuple[float, float]]] = [[], []]
                for _ in range(given.runs):
                    for place in (0, 1):
                        found[place].append(pool.apply(measure, (work, place, n)))
                for place, role in enumerate(("ours", "peer")):
                    seconds, added = zip(*found[place], strict=True)
                    row = {"work": work, "of": role, "method": WORKS[work][place][0], "n": n}
                    row |= {"seconds": round(median(seconds), 4), "MB": round(max(added), 1)}
                    rows.append({**row, "runs": given.runs})
                    print(*rows[-1].values(), sep="  ", flush=True)
    given.csv.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(rows).to_csv(given.csv, index=False, lineterminator="\n")


if __name__ == "__main__":
    main()
