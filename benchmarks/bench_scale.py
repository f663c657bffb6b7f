"""CCDR at large n: exact and approximate neighbours, the whole problem and its subsampling.

    python benchmarks/bench_scale.py [--sizes 10000 100000 1000000] [--quick] [--out FOLDER]

Each fit runs once, in a process of its own, on one thread: its CPU seconds, the peak memory of the
process, the recall of the search, and the error of 3-NN in the embedding on points held out. The
points lie near a bent surface of 8 dimensions in 36 features, in six classes that overlap; "full"
says that the 36 dimensions are filled, where a search among near cells finds least. Exact
neighbours are left out at 10^6, where they take 100 times those of 10^5. It needs the extra
`approximate`, 8 GB, and about a quarter of an hour. The sizes named are measured anew and the other
rows stay; a row is written as soon as it is there. The exponents are those of n, fitted over all
sizes.
"""

from __future__ import annotations

import os
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pandas as pd
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator
from measure import THREADS
from tables import exponent, folder, goal_text, is_met, options, write
from works import Goal, gaussians

HELD_OUT = 2000
NEIGHBORS, DIMENSIONS = 12, 14
MOST_EXACT = 100_000
WHOLE, SUBSAMPLES = "whole", (2000, 5000, 20_000)
GOALS = (Goal(100_000, seconds=20), Goal(1_000_000, seconds=480, megabytes=8000, exponent=1.2))


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
    """Return what is measured, the cheap before the dear."""
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
    """Return the rows in order, with exponents and with the goals of the approximate search."""
    rows = rows.assign(exponent=np.nan, goal="", met="").sort_values("n", kind="stable")
    rows = rows.reset_index(drop=True)
    for (_, method, neighbors), group in rows.groupby(["points", "method", "neighbours"]):
        rows.loc[group.index[-1], "exponent"] = exponent(group["n"], group["seconds"])
        goals = [goal for goal in GOALS if (method, neighbors) == (WHOLE, "approximate")]
        for goal in goals:
            for place in group.index[group["n"] == goal.n]:
                rows.loc[place, "goal"] = goal_text(goal)
                rows.loc[place, "met"] = "yes" if is_met(goal, rows.loc[place]) else "no"
    return rows.round({"exponent": 2})


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
    trade.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    trade.xaxis.set_major_formatter("{x:g}")
    trade.minorticks_off()
    with rc_context({"svg.hashsalt": "scale"}):  # The same table makes the same picture.
        figure.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    given = parser.parse_args()
    os.environ.update(dict.fromkeys(THREADS, "1"))
    path = folder(given) / "scale.csv"
    table = pd.read_csv(path) if path.is_file() else pd.DataFrame()
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        for case in cases([3000] if given.quick else given.sizes):
            row = pool.submit(measure, *case).result()
            print(*row.values(), sep="  ", flush=True)
            table = pd.concat([table, pd.DataFrame([row])])
            table = table.drop_duplicates(["points", "n", "method", "neighbours"], keep="last")
            table = with_goals(table)
            write(table, given, "scale")
    draw(table, path.with_suffix(".svg"))


if __name__ == "__main__":
    main()
