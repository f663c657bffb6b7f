"""Measure how a run's throughput grows with the workers of a Dask cluster, and what limits it.

    python benchmarks/bench_cluster.py [--workers 1 2] [--runs 3] [--quick] [--out FOLDER]

The scheduler and each worker are separate processes on this machine. Each trial fits a reducer on
digits and classifies with 3-NN. The script subtracts the cost of a small run from that of a large
run, which removes the start-up. Isomap's trials give the throughput from the wall time; the minimum
over the runs counts, because other work on the machine only adds time. LFDA's trials are short and
give the cost of transport: the CPU time of the `ddr` process, which sends jobs and writes rows, and
of the scheduler. The busier of these two limits a run if all workers together complete a trial in
the time that it needs for one.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client
from tables import options, write

from ddr_cli.engine import read_trials, run_spec
from ddr_cli.engine.work.dask import DaskExecutor
from ddr_cli.spec import Spec, make_spec

NEIGHBOURS = range(5, 15)
LONG, SHORT = ("isomap", 1, 6), ("lfda", 2, 22)
"""The reducer, and the number of splits of the small and of the large run."""
START_SECONDS = 60.0


def spec_of(reducer: str, splits: int) -> Spec:
    """Return a spec with this many splits, in which no two trials share a fit."""
    return make_spec(
        name=f"{reducer}{splits}",
        dataset="digits",
        split={"kind": "fraction", "train": 0.5, "repeats": splits},
        reducers=[{"name": reducer, "n_components": 9}],
        classifiers=[{"name": "knn", "n_neighbors": 3}],
        sweep={"reducer.n_neighbors": list(NEIGHBOURS)},
        controls=[],
    )


@contextmanager
def cluster(workers: int, folder: Path) -> Iterator[Client]:
    """Start a scheduler and workers with one thread each, and yield their client."""
    file = folder / "scheduler.json"
    processes = []

    def start(command: str, *words: str) -> None:
        code = [sys.executable, "-m", f"distributed.cli.dask_{command}", "--no-dashboard"]
        code += ["--scheduler-file", str(file), *words]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        processes.append(subprocess.Popen(code, cwd=folder, **quiet))

    start("scheduler", "--port", "0")
    for i in range(workers):
        place = str(folder / str(i))
        start("worker", "--nthreads", "1", "--no-nanny", "--local-directory", place)
    try:
        end = time.monotonic() + START_SECONDS
        while not file.exists() and time.monotonic() < end:
            time.sleep(0.05)
        with Client(json.loads(file.read_text())["address"], set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=START_SECONDS)
            yield client
    finally:
        for process in processes:
            process.kill()
            process.wait()


def costs(client: Client, executor: DaskExecutor, reducer: str, splits: int) -> np.ndarray:
    """Run a spec; return wall seconds, and CPU seconds of ddr, of the scheduler, and of trials."""

    def clocks() -> np.ndarray:
        scheduler = client.run_on_scheduler(time.process_time)
        return np.array([time.perf_counter(), time.process_time(), scheduler])

    with tempfile.TemporaryDirectory() as out:
        before = clocks()
        folder = run_spec(spec_of(reducer, splits), out=out, executor=executor).folder
        spent = clocks() - before
        rows = read_trials(folder)
    return np.append(spent, rows["fit_seconds"].sum() + rows["eval_seconds"].sum())


def measured(workers: int, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, cluster(workers, Path(folder)) as client:
        executor = DaskExecutor(client.scheduler.address)
        costs(client, executor, *SHORT[:2])  # makes the workers load their libraries

        def per_trial(reducer: str, small: int, large: int) -> np.ndarray:
            pairs = [
                costs(client, executor, reducer, large) - costs(client, executor, reducer, small)
                for _ in range(runs)
            ]
            return np.min(pairs, axis=0) / ((large - small) * len(NEIGHBOURS))

        wall, *_, own = per_trial(*LONG)
        _, parent, scheduler, _ = per_trial(*SHORT)
        executor.stop()
    transport = max(parent, scheduler)
    return {
        "workers": workers,
        "trials per second": round(1 / wall, 2),
        "ms of a trial": round(1000 * own, 1),
        "ms of ddr per trial": round(1000 * parent, 2),
        "ms of the scheduler per trial": round(1000 * scheduler, 2),
        "limit in trials per second": int(1 / transport),
        "limit in workers": int(own / transport),
        "runs": runs,
    }


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    rows = []
    for workers in [1] if given.quick else given.workers:
        rows.append(measured(workers, 1 if given.quick else given.runs))
        print(*rows[-1].values(), sep="  ", flush=True)
    write(rows, given, "cluster")


if __name__ == "__main__":
    main()
