"""Measure the CPU time and the peak memory of ddr's commands.

    python benchmarks/bench_commands.py [--runs 5] [--jobs 2] [--quick]

The script runs each command as a user does. It counts the CPU seconds of all processes and the peak
memory of the largest process. The report, the suite's tables and pages, the plan of all specs and
a comparison run on a copy of this repository's results. "From scratch" means that the output does
not exist yet; "nothing new" means that it is up to date. Two lower bounds are the import of
scikit-learn, pandas and Matplotlib, and the time pandas takes to read all trial logs.

The small run has 50 trials that take almost no time. The large run has 100,000 rows; the script
computes it once, which takes minutes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from measure import Measured, compile_ddr, summary
from tables import options, write

DDR = (sys.executable, "-m", "ddr_cli")
PEER = (sys.executable, "-c", "import sklearn.neighbors, pandas, matplotlib.figure")
READ = "import sys, pandas; [pandas.read_csv(path) for path in sys.argv[1:]]"
HOME = Path(__file__).parents[1]

SMALL = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: 50}
reducers: [none]
classifiers: [{name: knn, n_neighbors: 3}]
controls: []
"""
LARGE = """
dataset: iris
split: {kind: fraction, train: 0.5, repeats: REPEATS}
reducers: [{name: pca}, {name: lfda}]
classifiers: [knn]
sweep: {reducer.n_components: [1, 2, 3, 4], classifier.n_neighbors: {range: [1, 25, 1]}}
controls: []
"""


def command(arguments: Sequence[str | Path]) -> Measured:
    """Run a command; if it fails, end the benchmark with its output."""
    words = [str(word) for word in arguments]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.stdout is not None
    said = run.stdout.read()
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"{' '.join(words)}: exit {run.returncode}\n{said.decode()}")
    return Measured(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, None)


def repository(copy: Path, runs: int, add: Callable[[str, str, Sequence[Measured]], None]) -> None:
    """Measure the commands on a copy of this repository's results."""
    kept = shutil.ignore_patterns("figure.*", "shuffled_labels.*", "report", "previous")
    shutil.copytree(HOME / "results", copy, ignore=kept)
    again = range(runs)
    journals = sorted(copy.rglob("trials.csv"))
    reading = [command([sys.executable, "-c", READ, *journals]) for _ in again]
    add(f"lower bound: pandas reads {len(journals)} trial logs", "", reading)
    report, out = [*DDR, "report", copy], ("--out", copy)
    add("report, from scratch", "≤ 30 s", [command(report)])
    add("report, nothing new", "≤ 5 s", [command(report) for _ in again])
    page = [*DDR, "suite", "page", "lite", *out]
    add("suite page, from scratch", "≤ 10 s", [command(page)])
    add("suite page, nothing new", "≤ 10 s", [command(page) for _ in again])
    # These commands store their output in the cache.
    os.environ["DDR_CACHE"] = str(copy / "cache")
    for work, more in (
        ("suite table", ["suite", "table", "lite"]),
        ("suite status", ["status", "lite"]),
        ("suite status with costs", ["status", "lite", "--hours", "1"]),
    ):
        shown = [*DDR, *more, *out]
        add(f"{work}, from scratch", "≤ 3 s", [command(shown)])
        add(f"{work}, nothing new", "≤ 3 s", [command(shown) for _ in again])
    nmmp = sorted(copy.glob("nmmp_*"))
    for work, goal, words in (
        ("plan, all specs", "≤ 3 s", ["plan", *sorted(HOME.glob("configs/*.yaml"))]),
        (f"compare, {len(nmmp)} runs", "≤ 2.5 s", ["compare", *nmmp]),
    ):
        add(work, goal, [command([*DDR, *words]) for _ in again])


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    runs, repeats = (1, 2) if given.quick else (given.runs, 500)
    rows: list[dict[str, Any]] = []
    compile_ddr()

    def add(work: str, goal: str, several: Sequence[Measured]) -> None:
        rows.append({"work": work, **summary(several), "goal": goal})
        rows[-1]["floors"] = round(rows[-1]["seconds"] / rows[0]["seconds"], 2)
        print(*rows[-1].values(), sep="  ", flush=True)
        write(rows, given, "commands")

    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        small, large = home / "small.yaml", home / "large.yaml"
        small.write_text(SMALL)
        large.write_text(LARGE.replace("REPEATS", str(repeats)))
        fresh = [("--out", home / str(number)) for number in range(runs)]
        starts: list[list[Measured]] = [[], [], []]
        for out in fresh:
            starts[0].append(command([*DDR, "run", small, "--quiet", *out]))
            starts[1].append(command([*DDR, "plan", small]))
            starts[2].append(command(PEER))
        add("lower bound: import of scikit-learn, pandas and Matplotlib", "", starts[2])
        add("run of 50 trials that take almost no time", "≤ 2 imports", starts[0])
        add("plan of the run of 50 trials", "≤ 1 import", starts[1])

        repository(home / "repository", runs, add)

        results = ("--out", home / "results")
        again = [*DDR, "run", large, "--quiet", *results]
        command([*again, "--jobs", str(given.jobs)])
        folder = home / "results" / "large"
        n = (folder / "trials.csv").read_bytes().count(b"\n") - 1
        add(f"run, {n:,} rows, nothing to do", "≤ 3 s, 250 MB", [command(again) for _ in fresh])
        report = [*DDR, "report", home / "results"]
        add(f"report, {n:,} rows, from scratch", "≤ 4 s", [command(report)])
        add(f"report, {n:,} rows, nothing new", "≤ 2 s", [command(report) for _ in fresh])
        several = [command([*DDR, "compare", folder]) for _ in fresh]
        add(f"compare, {n:,} rows", "≤ 4 s", several)


if __name__ == "__main__":
    main()
