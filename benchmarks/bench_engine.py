"""Measure the cost of the engine: per trial, per plan, with two processes, and in whole runs.

    python benchmarks/bench_engine.py [overhead] [plan] [jobs] [share] [--quick]

`overhead` measures trials that do nothing, each with its own fit. `plan` measures the planning of
10,000 trials. `jobs` runs the spec of NMMP's USPS row with one and with two processes. `share`
measures the fraction of the CPU time of shipped specs that fits (also of preprocessing steps) and
evaluation take. Without names, the script runs `overhead` and `plan`. Other rows of the table stay.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from measure import compile_ddr, cpu_seconds
from tables import options, renew

from ddr_cli.data.load import load_dataset
from ddr_cli.engine import make_plan, read_trials, run_spec
from ddr_cli.engine.work.draws import Draws
from ddr_cli.engine.work.fitting import preprocessed
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.spec import load_spec, make_spec

Row = dict[str, object]


def row(work: str, ours: str, beside: str, goal: str, is_met: bool) -> Row:
    """Print and return a row of the table."""
    met = "yes" if is_met else "no"
    print(f"{work}: {ours}; {beside} (goal: {goal})", flush=True)
    return {"work": work, "ours": ours, "beside": beside, "goal": goal, "met": met}


@contextmanager
def timed(clock: Callable[[], float]) -> Iterator[Callable[[], float]]:
    """Yield a function that returns how long the block took."""
    start = clock()
    end: list[float] = []
    yield lambda: end[0] - start
    end.append(clock())


PLUGIN = """
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
import numpy as np


class Nothing(TransformerMixin, BaseEstimator):
    def __init__(self, value: float = 0.0):
        self.value = value

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X


class Constant(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
"""


def overhead() -> Row:
    """Measure a trial that does nothing, including its own fit and its row in the trial log."""
    with tempfile.TemporaryDirectory() as place:
        info = Path(place) / "noop-1.0.dist-info"
        info.mkdir()
        (Path(place) / "noop_plugin.py").write_text(PLUGIN)
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: noop\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(
            "[ddr.reducers]\nnoop = noop_plugin:Nothing\n"
            "[ddr.classifiers]\nnoop = noop_plugin:Constant\n"
        )
        sys.path.insert(0, place)
        took = {}
        for count in (200, 2200):
            spec = make_spec(
                name=f"noop{count}",
                dataset="iris",
                split={"kind": "fraction", "train": 0.5, "repeats": 10},
                reducers=["noop"],
                classifiers=["noop"],
                sweep={"reducer.value": [float(i) for i in range(count // 10)]},
            )
            with timed(time.perf_counter) as wall, timed(cpu_seconds) as cpu:
                run_spec(spec, out=Path(place) / "results")
            took[count] = (wall(), cpu())
        sys.path.remove(place)
    wall, cpu = (1000 * (took[2200][i] - took[200][i]) / 2000 for i in (0, 1))
    return row(
        "overhead of a trial",
        f"{cpu:.2f} ms CPU, {wall:.2f} ms wall",
        f"{1000 * took[2200][1] / 2200:.2f} ms CPU with the start of the process",
        "5 ms",
        cpu <= 5,
    )


def plan() -> Row:
    """Measure the time to plan 10,000 trials."""
    spec = make_spec(
        dataset="landsat",
        split={"kind": "resample", "repeats": 50},
        reducers=[{"name": "ccdr", "n_neighbors": 4, "mode": "transductive"}],
        classifiers=[{"name": "knn", "n_neighbors": 3}, "linear"],
        sweep={"reducer.beta": {"log": [0.01, 10, 100]}},
    )
    make_plan(spec)
    with timed(time.process_time) as cpu:
        made = make_plan(spec)
    return row(f"plan of {len(made.trials)} trials", f"{cpu():.2f} s", "", "1 s", cpu() <= 1)


def jobs() -> Row:
    """Measure the speed-up by two processes on the USPS row of NMMP's Table 4."""
    took: dict[int, list[float]] = {1: [], 2: []}
    # One and two processes alternate; the minimum counts, as other work only adds time.
    for _ in range(3):
        for count, walls in took.items():
            with tempfile.TemporaryDirectory() as out, timed(time.perf_counter) as wall:
                run_spec(load_spec("nmmp_usps"), out=out, jobs=count)
            walls.append(wall())
    one, two = min(took[1]), min(took[2])
    return row(
        "two processes compared with one, wall time",
        f"{two:.1f} s",
        f"one: {one:.1f} s, {one / two:.2f} times",
        "1.8 times on an idle machine",
        one / two >= 1.8,
    )


SHARES = {"nmmp_faces": 90, "landsat_ccdr_beta": 85, "lfda_resplits_letter": 90}
"""Shipped specs, with the goal for the percentage of CPU time in fits and evaluation."""


def preprocessing(name: str) -> float:
    """Measure the CPU time of a spec's preprocessing on all of its splits, which no row has."""
    spec = load_spec(name)
    data, planned = load_dataset(spec.dataset.name), make_plan(spec)
    draws = Draws(planned, data)
    with timed(time.process_time) as spent:
        for key in planned.fits:
            split = draws(key).split
            steps = [PREPROCESSORS.load(step.name)(**step.params) for step in spec.preprocess]
            parts = data.X[split.train], data.X[split.test]
            preprocessed(*parts, data.y[split.train], steps, data.categorical)
    return spent()


def share(spec: str, wanted: int) -> Row:
    """Measure the fraction of a whole run's CPU time that fits and evaluation take."""
    compile_ddr()
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "ddr_cli", "run", spec, "--quiet", "--out", out]
        with timed(cpu_seconds) as whole:
            subprocess.run(command, check=True)
        trials = read_trials(Path(out) / spec, which="all")
    # Each row of a shared fit has the seconds of the whole fit.
    fits = trials.drop_duplicates(["split", "reducer", "fit_seconds"])["fit_seconds"].sum()
    own = fits + trials["eval_seconds"].sum() + preprocessing(spec)
    percent = 100 * own / whole()
    return row(
        f"{spec}: share of fits and evaluation",
        f"{percent:.1f} %",
        f"fits and evaluation {own:.1f} s, the whole run {whole():.1f} s",
        f"{wanted} %",
        percent >= wanted,
    )


def shares() -> list[Row]:
    return [share(*one) for one in SHARES.items()]


def main() -> None:
    # `overhead` is first: a process searches the installed packages for plugins only once.
    works = {"overhead": overhead, "plan": plan, "jobs": jobs, "share": shares}
    parser = options(__doc__)
    parser.add_argument("names", nargs="*", choices=[*works, []], default=[])
    given = parser.parse_args()
    rows: list[Row] = []
    for name, measured in works.items():
        if name in (["plan"] if given.quick else given.names or ["overhead", "plan"]):
            found = measured()
            rows += found if isinstance(found, list) else [found]
            renew(rows, given, "engine")


if __name__ == "__main__":
    main()
