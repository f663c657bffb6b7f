"""What sharing work saves: CPU time of the engine against one fit per trial, in paired runs.

    python benchmarks/bench_engine.py [beta] [dim] [grid] [faces] [usps] [overhead] [plan] [jobs]
                                      [share] [--splits N] [--quick]

`beta`, `dim` and `grid` are CCDR's figures and table on Landsat; `faces` and `usps` are rows of
NMMP's Table 4 with six classifiers (they need those data sets); `jobs` is the spec of that USPS row
with one and with two processes; `share` is how much of whole shipped runs is fits and evaluation.
Without names, all but `faces`, `usps`, `jobs` and `share` are run. Rows of other works stay.

The two sides use the same estimators, splits and settings, one thread and one process, one after
the other. The engine's side is the whole of `run_spec`: plan, journal, scratch files and the start
of the worker process. The plain loop fits preprocessing, reducer and classifier anew for every
trial, as a scikit-learn pipeline does. Where a loop over all trials would take hours it does a
random sample of them and the rest is in proportion; the table says so. Errors are compared trial by
trial, and every trial that differs is named: the engine takes lower dimensions from one wider fit,
which may round a tie the other way.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measure import compile_ddr, cpu_seconds
from tables import options, renew
from threadpoolctl import threadpool_limits

from ddr_cli.data import Dataset, load_dataset
from ddr_cli.engine import make_plan, read_trials, run_spec
from ddr_cli.evaluation.evaluators import CLASSIFIERS, PREPROCESSORS
from ddr_cli.evaluation.splits import make_split
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.spec import Spec, load_spec, make_spec

CCDR = {"name": "ccdr", "n_components": 14, "n_neighbors": 4, "beta": 0.5, "mode": "transductive"}
LANDSAT = {
    "dataset": "landsat",
    "split": {"kind": "resample"},
    "reducers": [CCDR],
    "classifiers": [{"name": "knn", "n_neighbors": 3}, "linear"],
}
UNIT = [{"name": "rescale", "by": "all"}, "unit_length"]
BETAS = {"log": [0.01, 10, 13]}
DIMENSIONS = {"range": [1, 20, 1]}


@dataclass(frozen=True)
class Case:
    """A figure or table to compute both ways.

    Parameters
    ----------
    base : dict
        The spec but for its sweep and repeats.
    sweep : dict
        The spec's sweep.
    sample : int, optional
        How many trials of each split the plain loop does; all if not given.
    wanted : float
        The ratio that is promised.
    least_splits : int
        Fewer splits would measure the start of the worker process.
    """

    base: dict[str, Any]
    sweep: dict[str, Any]
    sample: int | None
    wanted: float
    least_splits: int = 1

    def spec(self, name: str, splits: int) -> Spec:
        """Return the spec with so many random splits."""
        split = {**self.base["split"], "repeats": splits}
        return make_spec(name=name, **{**self.base, "split": split}, sweep=self.sweep)


def nmmp_row(dataset: str, per_class: int, lda: int, steps: Sequence[Any] = ()) -> dict[str, Any]:
    """Return a row of NMMP's Table 4 as a spec, with the methods that are not iterative."""
    return {
        "dataset": dataset,
        "split": {"kind": "per_class", "train": per_class},
        "preprocess": [*steps, {"name": "pca", "n_components": "full"}],
        "reducers": [
            "none",
            {"name": "lda", "n_components": lda},
            {"name": "nmmp", "n_components": 60},
        ],
        "classifiers": [*({"name": "knn", "n_neighbors": k} for k in (1, 3, 5, 7, 9)), "linear"],
    }


CASES = {
    "beta": Case(LANDSAT, {"reducer.beta": BETAS}, None, 2),
    "dim": Case(LANDSAT, {"reducer.n_components": DIMENSIONS}, None, 8),
    # Table I's grid, thinned in beta and k: what is left out is shared no less.
    "grid": Case(
        LANDSAT,
        {
            "reducer.beta": [0.1, 0.5, 2.0],
            "reducer.n_neighbors": [3, 4, 8],
            "reducer.n_components": DIMENSIONS,
            "classifier.n_neighbors": {"range": [1, 15, 1]},
        },
        40,
        40,
    ),
    "faces": Case(nmmp_row("orl", 5, 39), {}, None, 3),
    "usps": Case(nmmp_row("usps_1234", 20, 3, UNIT), {}, None, 3, least_splits=40),
}


Row = dict[str, object]


def row(work: str, ours: str, beside: str, goal: str, is_met: bool) -> Row:
    """Return a row of the table, in the order of its columns."""
    met = "yes" if is_met else "no"
    print(f"{work}: {ours}; {beside} (goal: {goal})", flush=True)
    return {"work": work, "ours": ours, "beside": beside, "goal": goal, "met": met}


@contextmanager
def timed(clock: Callable[[], float]) -> Iterator[Callable[[], float]]:
    """Give a function that says how long the block took."""
    start = clock()
    end: list[float] = []
    yield lambda: end[0] - start
    end.append(clock())


def plain_trial(data: Dataset, spec: Spec, trial: Any) -> float:
    """Return the error of one trial that shares nothing with any other."""
    own = data.split
    split = make_split(
        trial.split.kind,
        data.y,
        index=trial.split.index,
        seed=spec.split.seed,
        dataset=data.name,
        predefined=None if own is None else (own.train, own.test),
        train=spec.split.train,
    )
    train, test, y = data.X[split.train], data.X[split.test], data.y[split.train]
    for step in spec.preprocess:
        made = PREPROCESSORS.load(step.name)(**step.params)
        train, test = made.fit_transform(train), made.transform(test)
    reducer = REDUCERS.load(trial.reducer.name)(**trial.reducer.params)
    if trial.reducer.mode == "transductive":
        labels = np.concatenate([y, np.full(len(test), -1)])
        both = reducer.fit_transform(np.vstack([train, test]), labels)
        train, test = both[: len(train)], both[len(train) :]
    else:
        train, test = reducer.fit_transform(train, y), reducer.transform(test)
    classifier = CLASSIFIERS.load(trial.evaluator.name)(**trial.evaluator.params)
    return float(np.mean(classifier.fit(train, y).predict(test) != data.y[split.test]))


def compare(name: str, case: Case, splits: int) -> Row:
    """Run a case both ways, print the trials that differ and return the ratio."""
    data = load_dataset(case.base["dataset"])
    spec = case.spec(name, splits)
    plan = make_plan(spec)
    with tempfile.TemporaryDirectory() as out:
        with timed(cpu_seconds) as engine:
            folder = run_spec(spec, out=out).folder
        errors = read_trials(folder, which="all").set_index("trial_id")["error"].to_dict()
    trials = list(plan.trials.items())
    done = trials
    if case.sample is not None and case.sample * splits < len(trials):
        done = random.Random(0).sample(trials, case.sample * splits)
    plain: dict[str, float] = {}
    with threadpool_limits(1), timed(cpu_seconds) as loop:
        for trial_id, trial in done:
            plain[trial_id] = plain_trial(data, spec, trial)
    total = loop() * len(trials) / len(done)
    ratio = total / engine()
    sampled = "" if len(done) == len(trials) else f" (from {len(done)} of them)"
    differ = [(name, trial) for name, trial in done if plain[name] != errors[name]]
    print(f"      {len(done) - len(differ)} of {len(done)} errors are equal")
    for trial_id, trial in differ:
        swept = {
            key: (trial.reducer if key.startswith("reducer") else trial.evaluator).params.get(
                key.partition(".")[2]
            )
            for key in spec.sweep
        }
        print(
            f"      {trial.split.name} {trial.evaluator.name} {swept}: "
            f"engine {errors[trial_id]:.6f}, plain {plain[trial_id]:.6f}"
        )
    return row(
        f"{name}: {len(trials)} trials, {plan.n_fits} fits, {splits} splits",
        f"{engine():.1f} s",
        f"a loop that shares nothing: {total:.1f} s{sampled}, {ratio:.1f} times",
        f"{case.wanted:g} times",
        ratio >= case.wanted,
    )


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
    """Return what a trial that does nothing costs, each with a fit of its own, journal included."""
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
        "a trial that does nothing",
        f"{cpu:.2f} ms CPU, {wall:.2f} ms wall",
        f"{1000 * took[2200][1] / 2200:.2f} ms CPU with the start of the process",
        "5 ms",
        cpu <= 5,
    )


def plan() -> Row:
    """Return how long it takes to plan 10,000 trials."""
    spec = Case(LANDSAT, {"reducer.beta": {"log": [0.01, 10, 100]}}, None, 1).spec("plan", 50)
    make_plan(spec)
    with timed(time.process_time) as cpu:
        made = make_plan(spec)
    return row(f"plan of {len(made.trials)} trials", f"{cpu():.2f} s", "", "1 s", cpu() <= 1)


def jobs() -> Row:
    """Return how much faster two processes are than one on the USPS row of NMMP's Table 4."""
    took: dict[int, list[float]] = {1: [], 2: []}
    # In turn, and the quickest of each: what else the machine does only ever adds.
    for _ in range(3):
        for count, walls in took.items():
            with tempfile.TemporaryDirectory() as out, timed(time.perf_counter) as wall:
                run_spec(load_spec("nmmp_usps"), out=out, jobs=count)
            walls.append(wall())
    one, two = min(took[1]), min(took[2])
    return row(
        "two processes against one, wall",
        f"{two:.1f} s",
        f"one: {one:.1f} s, {one / two:.2f} times",
        "1.8 times on an idle machine",
        one / two >= 1.8,
    )


SHARES = {"nmmp_faces": 60, "landsat_ccdr_beta": 85, "lfda_resplits_letter": 95}
"""Shipped specs, and how many percent of `ddr run`'s CPU time are to be fits and evaluation."""


def share(spec: str, wanted: int) -> Row:
    """Return what of a whole run's CPU time, its start and figure included, is the methods' own."""
    compile_ddr()
    with tempfile.TemporaryDirectory() as out:
        command = [sys.executable, "-m", "ddr_cli", "run", spec, "--quiet", "--out", out]
        with timed(cpu_seconds) as whole:
            subprocess.run(command, check=True)
        trials = read_trials(Path(out) / spec, which="all")
    # Rows that share a fit have its seconds each.
    fits = trials.drop_duplicates(["split", "reducer", "fit_seconds"])["fit_seconds"].sum()
    own = fits + trials["eval_seconds"].sum()
    percent = 100 * own / whole()
    return row(
        f"{spec}: share of fits and evaluation",
        f"{percent:.0f} %",
        f"fits and evaluation {own:.1f} s, the whole run {whole():.1f} s",
        f"{wanted} %",
        percent >= wanted,
    )


def main() -> None:
    parser = options(__doc__)
    names = [*CASES, "overhead", "plan", "jobs", "share"]
    usual = [name for name in names if name not in ("faces", "usps", "jobs", "share")]
    parser.add_argument("names", nargs="*", choices=[*names, []], default=[])
    parser.add_argument("--splits", type=int, default=6)
    given = parser.parse_args()
    names, rows = ["plan"] if given.quick else given.names or usual, []
    # Overhead is first: installed packages are looked up once per process.
    for name in sorted(names, key=lambda name: name != "overhead"):
        case = CASES.get(name)
        if name == "share":
            rows += [share(*one) for one in SHARES.items()]
        elif case is None:
            rows.append({"overhead": overhead, "plan": plan, "jobs": jobs}[name]())
        else:
            rows.append(compare(name, case, max(given.splits, case.least_splits)))
        renew(rows, given, "engine")


if __name__ == "__main__":
    main()
