"""CCDR at large n: exact and approximate neighbours, the whole problem and its subsampling.

    python benchmarks/bench_scale.py [--sizes 10000 100000 1000000] [--quick] [--out FOLDER]

Each fit runs once, in a process of its own, on one thread: its CPU seconds (the search alone, and
all), the peak memory of the process, the recall of the search, and the error of 3-NN in the
embedding on points held out. The points lie near a bent surface of 8 dimensions in 36 features, in
six classes that overlap; "full" says that the 36 dimensions are filled, where a search by walks
finds least. Exact neighbours are left out at 10^6, where they take 100 times those of 10^5. It
needs the extra `approximate`, 8 GB, and about a quarter of an hour; every row is written as it is
measured.
"""

from __future__ import annotations

import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from measure import THREADS
from tables import folder, options, write
from works import gaussians

HELD_OUT = 2000
NEIGHBORS, DIMENSIONS = 12, 14
MOST_EXACT = 100_000
WHOLE, SUBSAMPLES = "whole", (2000, 5000, 20_000)


def surface(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes near a bent surface of 8 dimensions in 36 features."""
    rng = np.random.default_rng(0)
    bend, mix, centres = (rng.standard_normal(shape) for shape in ((8, 72), (72, 36), (6, 8)))
    y = np.arange(n) % 6
    places = rng.standard_normal((n, 8)) + centres[y]
    return np.tanh(places @ bend / 3) @ mix / 4 + rng.normal(scale=0.1, size=(n, 36)), y


POINTS = {"surface": surface, "full": gaussians}


def measure(points: str, n: int, method: str, neighbors: str) -> dict[str, object]:
    """Fit once, and return a row of the table."""
    from sklearn.neighbors import KNeighborsClassifier

    from ddr_cli.reducers import CCDR, neighbor_graph

    X, y = POINTS[points](n + HELD_OUT)
    subsample = None if method == WHOLE else int(method.split()[-1])
    model = CCDR(
        DIMENSIONS,
        n_neighbors=NEIGHBORS,
        neighbors=neighbors,
        subsample=subsample,
        random_state=0,
    )
    neighbor_graph.load_library(neighbor_graph.LIBRARY)
    began = time.process_time()
    model.fit(X[:n], y[:n])
    spent = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    knn = KNeighborsClassifier(3).fit(model.embedding_, y[:n])
    error = 100 * np.mean(knn.predict(model.transform(X[n:])) != y[n:])
    row = {"points": points, "n": n, "method": method, "neighbours": neighbors}
    row |= {"seconds": round(spent, 2), "MB": round(peak), "error %": round(float(error), 2)}
    return row | {"recall": round(model.neighbor_recall_, 4)}


def cases(sizes: list[int]) -> list[tuple[str, int, str, str]]:
    """Return what is measured, the cheap before the dear."""
    found = []
    for n in sorted(sizes):
        found.append(("surface", n, WHOLE, "approximate"))
        if n <= MOST_EXACT:
            found += [("surface", n, WHOLE, "exact"), ("full", n, WHOLE, "approximate")]
        if n == MOST_EXACT or n == max(sizes) < MOST_EXACT:
            found += [
                ("surface", n, f"subsample {size}", "exact") for size in SUBSAMPLES if size < n
            ]
    return found


def draw(rows: pd.DataFrame, path) -> None:
    """Draw seconds over n, and the error over the seconds of the most points of all ways."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    growth, trade = figure.subplots(1, 2)
    whole = rows[rows["method"] == WHOLE]
    for (points, neighbors), group in whole.groupby(["points", "neighbours"], sort=False):
        growth.plot(group["n"], group["seconds"], marker="o", label=f"{points}, {neighbors}")
    growth.set(xscale="log", yscale="log", xlabel="points", ylabel="CPU seconds of a fit")
    growth.legend(fontsize="small")
    n = rows.loc[rows["method"] != WHOLE, "n"].max()
    shown = rows[(rows["n"] == n) & (rows["points"] == "surface")].sort_values("seconds")
    for place, (_, row) in enumerate(shown.iterrows()):
        trade.plot(row["seconds"], row["error %"], marker="o", color="C0")
        name = row["method"] if row["method"] != WHOLE else f"whole, {row['neighbours']}"
        # Above and below in turn: ways of nearly the same cost and error are neighbours here.
        offset = (0, 7 if place % 2 else -14)
        at = (row["seconds"], row["error %"])
        trade.annotate(name, at, offset, textcoords="offset points", ha="center", fontsize="small")
    trade.margins(x=0.3, y=0.15)
    trade.set(xscale="log", xlabel=f"CPU seconds of a fit, n = {n:,}", ylabel="error of 3-NN, %")
    figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))
    rows = []
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for case in cases([3000] if given.quick else given.sizes):
            rows.append(pool.submit(measure, *case).result())
            print(*rows[-1].values(), sep="  ", flush=True)
            write(rows, given, "scale")
    draw(pd.DataFrame(rows), folder(given) / "scale.svg")


if __name__ == "__main__":
    main()
