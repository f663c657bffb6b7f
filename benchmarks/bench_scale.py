"""Measure CCDR at large n: exact and approximate neighbours, the whole problem and subsampling.

    python benchmarks/bench_scale.py [--sizes 10000 100000 1000000] [--points sheets] [--quick]

Each fit runs once, in its own process, on one thread. The table has its CPU seconds, the peak
memory of the process, the recall of the neighbour search, and the error of 3-NN in the embedding on
unlabelled samples. There are four data sets:

- "surface" is a bent 8-dimensional surface in 36 features, with six overlapping classes;
- "full" has Gaussian classes that fill the 36 dimensions;
- "sheets" has a noisy 6-dimensional sheet per class;
- "noise" is Gaussian noise.

CCDR uses 12 neighbours on "surface" and "full", and 3-NN classifies new samples. On "sheets" and
"noise", CCDR uses 4 neighbours and 70 % of the samples have labels. A prototype, a short script
with faiss's HNSW and ARPACK, embeds these two data sets as well. On "noise" it finds half of the
neighbours; a second prototype searches longer, and finds as many as ddr. "ratio" is ddr's seconds
divided by the seconds of the prototype (of two, the second) in the same run; "peer recall" is the
recall of this prototype. "angle" is the largest principal angle, in degrees, between the embedding
and the exact one. "angle of 5" is the same for the first 5 dimensions, which separate the 6
classes.

At 10^6 samples, the script skips exact neighbours, which take 100 times as long as at 10^5. It
needs the extra `approximate`, 8 GB, and about half an hour. It measures the named sizes again,
keeps the other rows, and writes rows as soon as it has them. The exponents of n are fitted over
all sizes.
"""

from __future__ import annotations

import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from measure import THREADS
from scipy.linalg import subspace_angles
from tables import exponent, folder, goal_text, is_met, options, write
from works import Goal, gaussians

HELD_OUT = 2000
NEIGHBORS, DIMENSIONS = 12, 14
MOST_EXACT = 100_000
WHOLE, SUBSAMPLES = "whole", (2000, 5000, 20_000)
EXACT, APPROXIMATE, PROTOTYPE = "exact", "approximate", "prototype"
LONGER = "prototype, longer search"
SEARCHES = {PROTOTYPE: (12, 40, 24), LONGER: (16, 40, 128)}
"""Links, efConstruction and efSearch of faiss's HNSW."""
GOALS = (Goal(100_000, seconds=20), Goal(1_000_000, seconds=180, megabytes=4000))


def surface(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return overlapping classes near a bent 8-dimensional surface in 36 features."""
    rng = np.random.default_rng(0)
    bend, mix, centres = (rng.standard_normal(shape) for shape in ((8, 72), (72, 36), (6, 8)))
    y = np.arange(n) % 6
    places = rng.standard_normal((n, 8)) + centres[y]
    return np.tanh(places @ bend / 3) @ mix / 4 + rng.normal(scale=0.1, size=(n, 36)), y


def sheets(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a noisy 6-dimensional sheet per class in 36 features; all contain the origin."""
    rng = np.random.default_rng(0)
    y, places = rng.integers(0, 6, n), rng.uniform(-1, 1, (n, 6))
    bases = np.stack([np.linalg.qr(rng.standard_normal((36, 6)))[0].T for _ in range(6)])
    X = rng.normal(scale=0.1, size=(n, 36))
    for label, basis in enumerate(bases):
        X[y == label] += places[y == label] @ basis
    return X, y


def noise(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gaussian noise with random labels."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 36)), rng.integers(0, 6, n)


POINTS = {"surface": surface, "full": gaussians}
PARTLY_LABELLED = {"sheets": sheets, "noise": noise}
PROTOTYPES = {"sheets": [PROTOTYPE], "noise": [PROTOTYPE, LONGER]}


def prototype(
    X: np.ndarray, y: np.ndarray, search: tuple[int, int, int]
) -> tuple[np.ndarray, np.ndarray]:
    """Return the prototype's embedding and the neighbours it uses."""
    import faiss
    import scipy.sparse as sp
    from scipy.sparse.linalg import eigsh

    faiss.omp_set_num_threads(1)
    n, k = len(X), 4
    index = faiss.IndexHNSWFlat(X.shape[1], search[0])
    index.hnsw.efConstruction, index.hnsw.efSearch = search[1:]
    points = X.astype(np.float32)
    index.add(points)
    found = index.search(points, k + 1)[1]
    rows = np.repeat(np.arange(n), k + 1)
    other = (found.ravel() != rows) & (found.ravel() >= 0)
    W = sp.csr_array((np.ones(other.sum()), (rows[other], found.ravel()[other])), shape=(n, n))
    (labelled,) = np.nonzero(y >= 0)
    C = sp.csr_array((np.ones(len(labelled)), (y[labelled], labelled)), shape=(y.max() + 1, n))
    G = sp.csr_array(sp.block_array([[None, C], [C.T, 0.5 * W.maximum(W.T)]]))
    scale = sp.diags_array(1 / np.sqrt(np.maximum(G.sum(axis=1), 1e-12)))
    _, U = eigsh(scale @ G @ scale, k=DIMENSIONS + 1, which="LA", ncv=45, tol=1e-5)
    return (scale @ U[:, ::-1])[len(C.indptr) - 1 :, 1:], found


def against_prototype(points: str, n: int, method: str, neighbors: str) -> tuple[dict, np.ndarray]:
    """Fit on partly labelled samples, and return a row of the table and the embedding."""
    from sklearn.neighbors import KNeighborsClassifier

    from ddr_cli.core.extras import load_library
    from ddr_cli.numerics.approximate import LIBRARY
    from ddr_cli.numerics.neighbors import kneighbors
    from ddr_cli.reducers import CCDR

    X, y = PARTLY_LABELLED[points](n)
    hidden = np.random.default_rng(1).random(n) >= 0.7
    given = np.where(hidden, -1, y)
    load_library(LIBRARY)
    began = time.process_time()
    if method in SEARCHES:
        embedding, found = prototype(X, given, SEARCHES[method])
    else:
        model = CCDR(DIMENSIONS, n_neighbors=4, neighbors=neighbors).fit(X, given)
        embedding = model.embedding_
    spent = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if method in SEARCHES:
        sample = np.linspace(0, n - 1, 1000).astype(int)
        true = kneighbors(X, 5, queries=X[sample]).indices[:, 1:]
        recall = (true[:, :, None] == found[sample][:, None]).any(axis=2).mean()
    else:
        recall = model.neighbor_recall_
    knn = KNeighborsClassifier(3).fit(embedding[~hidden], y[~hidden])
    (asked,) = np.nonzero(hidden)
    error = 100 * np.mean(knn.predict(embedding[asked[:HELD_OUT]]) != y[asked[:HELD_OUT]])
    row = {"points": points, "n": n, "method": method, "neighbours": neighbors}
    row |= {"seconds": round(spent, 2), "MB": round(peak), "error %": round(float(error), 2)}
    return row | {"recall": round(float(recall), 4)}, embedding if n <= MOST_EXACT else None


def compare(pool: ProcessPoolExecutor, points: str, n: int) -> list[dict]:
    """Return the rows of ddr and of the prototypes, with their ratio and their angles."""
    ways = [(each, APPROXIMATE) for each in (*PROTOTYPES[points], WHOLE)]
    rows, found = [], []
    for way in [*ways, *[(WHOLE, EXACT)] * (n <= MOST_EXACT)]:
        row, embedding = pool.submit(against_prototype, points, n, *way).result()
        print(*row.values(), sep="  ", flush=True)
        rows.append(row)
        found.append(embedding)
    peer, own = rows[len(ways) - 2 : len(ways)]
    own |= {"ratio": round(own["seconds"] / peer["seconds"], 2), "peer recall": peer["recall"]}
    if n <= MOST_EXACT:
        for row, embedding in zip(rows[:-1], found[:-1], strict=True):
            for name, m in (("angle", DIMENSIONS), ("angle of 5", 5)):
                angle = np.degrees(subspace_angles(embedding[:, :m], found[-1][:, :m]).max())
                row[name] = round(float(angle), 2)
    return rows


def measure(points: str, n: int, method: str, neighbors: str) -> dict[str, object]:
    """Fit once and return a row of the table."""
    from sklearn.neighbors import KNeighborsClassifier

    from ddr_cli.core.extras import load_library
    from ddr_cli.numerics.approximate import LIBRARY
    from ddr_cli.reducers import CCDR

    X, y = POINTS[points](n + HELD_OUT)
    subsample = None if method == WHOLE else int(method.split()[-1])
    model = CCDR(
        DIMENSIONS,
        n_neighbors=NEIGHBORS,
        neighbors=neighbors,
        subsample=subsample,
        random_state=0,
    )
    load_library(LIBRARY)
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
    """Return what to measure, the cheapest first."""
    found = []
    for n in sorted(sizes):
        found.append(("surface", n, WHOLE, "approximate"))
        if n <= MOST_EXACT:
            found += [("surface", n, WHOLE, "exact"), ("full", n, WHOLE, "approximate")]
            found.append(("full", n, WHOLE, "exact"))
        if n == MOST_EXACT or n == max(sizes) < MOST_EXACT:
            found += [
                ("surface", n, f"subsample {size}", "exact") for size in SUBSAMPLES if size < n
            ]
    return found


def with_goals(rows: pd.DataFrame) -> pd.DataFrame:
    """Sort the rows, and add exponents and the goals of the approximate search."""
    rows = rows.reindex(
        columns=[*dict.fromkeys([*rows.columns, "ratio", "peer recall", "angle", "angle of 5"])]
    )
    rows = rows.assign(exponent=np.nan, goal="", met="").sort_values("n", kind="stable")
    rows = rows.reset_index(drop=True)
    for (points, method, neighbors), group in rows.groupby(["points", "method", "neighbours"]):
        rows.loc[group.index[-1], "exponent"] = exponent(group["n"], group["seconds"])
        goals = [goal for goal in GOALS if (method, neighbors) == (WHOLE, "approximate")]
        for goal in goals:
            if points in PARTLY_LABELLED:
                goal = replace(goal, times=1, peer=PROTOTYPE)
            for place in group.index[group["n"] == goal.n]:
                rows.loc[place, "goal"] = goal_text(goal)
                rows.loc[place, "met"] = "yes" if is_met(goal, rows.loc[place]) else "no"
    return rows.round({"exponent": 2})


def draw(rows: pd.DataFrame, path) -> None:
    """Plot seconds against n, and the error against seconds at the largest n with subsampling."""
    figure = Figure(figsize=(8, 3.4), layout="constrained")
    growth, trade = figure.subplots(1, 2)
    whole = rows[rows["method"] == WHOLE]
    for (points, neighbors), group in whole.groupby(["points", "neighbours"], sort=False):
        growth.plot(group["n"], group["seconds"], marker="o", label=f"{points}, {neighbors}")
    growth.set(xscale="log", yscale="log", xlabel="points", ylabel="CPU seconds of a fit")
    growth.legend(fontsize="small")
    of_surface = rows[rows["points"] == "surface"]
    n = of_surface.loc[of_surface["method"] != WHOLE, "n"].max()
    shown = of_surface[of_surface["n"] == n].sort_values("seconds")
    for place, (_, row) in enumerate(shown.iterrows()):
        trade.plot(row["seconds"], row["error %"], marker="o", color="C0")
        name = row["method"] if row["method"] != WHOLE else f"whole, {row['neighbours']}"
        # Labels alternate above and below their markers, so that close ones do not overlap.
        offset = (0, 7 if place % 2 else -14)
        at = (row["seconds"], row["error %"])
        trade.annotate(name, at, offset, textcoords="offset points", ha="center", fontsize="small")
    trade.margins(x=0.3, y=0.15)
    trade.set(xscale="log", xlabel=f"CPU seconds of a fit, n = {n:,}", ylabel="error of 3-NN, %")
    trade.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    trade.xaxis.set_major_formatter("{x:g}")
    trade.minorticks_off()
    with rc_context({"svg.hashsalt": "scale"}):  # A fixed salt makes equal files from equal tables.
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    every = [*PARTLY_LABELLED, *POINTS]
    parser.add_argument("--points", choices=every, nargs="+", default=every)
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))
    path = folder(given) / "scale.csv"
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame()
    sizes = sorted([6000] if given.quick else given.sizes)
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:

        def keep(rows: list[dict]) -> None:
            nonlocal table
            table = pd.concat([table, pd.DataFrame(rows)])
            table = table.drop_duplicates(["points", "n", "method", "neighbours"], keep="last")
            table = with_goals(table)
            write(table, given, "scale")

        for n in sizes:
            for points in PARTLY_LABELLED:
                if points in given.points:
                    keep(compare(pool, points, n))
        for case in cases(sizes):
            if case[0] in given.points:
                row = pool.submit(measure, *case).result()
                print(*row.values(), sep="  ", flush=True)
                keep([row])
    draw(table, path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
