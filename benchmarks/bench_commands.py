"""What the commands themselves cost: the start of a run, and a journal of 100,000 rows.

    python benchmarks/bench_commands.py [--runs 5] [--jobs 2] [--quick]

Each command is run as a user does, with its processes counted: CPU seconds, and the peak of the
largest process. The run to start has 50 trials that do next to nothing; beside it stands what
loading scikit-learn costs a process. The journal is that of a real run, which is made once
(minutes).
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from measure import Measured, compile_ddr, summary
from tables import options, write

DDR = (sys.executable, "-m", "ddr_cli")
PEER = (sys.executable, "-c", "import sklearn.neighbors, sklearn.discriminant_analysis")

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
    """Run a command to its end; a failure ends the benchmark with what it printed."""
    words = [str(word) for word in arguments]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert run.stdout is not None
    said = run.stdout.read()
    _, status, used = os.wait4(run.pid, 0)
    run.returncode = os.waitstatus_to_exitcode(status)
    if run.returncode:
        raise SystemExit(f"{' '.join(words)}: exit {run.returncode}\n{said.decode()}")
    return Measured(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, None)


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
        of_import = rows[0]["seconds"]
        rows[-1]["imports of scikit-learn"] = round(rows[-1]["seconds"] / of_import, 2)
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
        add("import of scikit-learn", "", starts[2])
        add("run of 50 trials that do next to nothing", "≤ 2 imports", starts[0])
        add("plan of the same", "≤ 1 import", starts[1])

        results = ("--out", home / "results")
        again = [*DDR, "run", large, "--quiet", *results]
        command([*again, "--jobs", str(given.jobs)])
        folder = home / "results" / "large"
        n = (folder / "trials.csv").read_bytes().count(b"\n") - 1
        add(f"run, {n:,} rows, nothing to do", "≤ 3 s, 250 MB", [command(again) for _ in fresh])
        command([*DDR, "report", home / "results"])  # Draws what stays as it is.
        for name, where in (("report", home / "results"), ("compare", folder)):
            several = [command([*DDR, name, where]) for _ in fresh]
            add(f"{name}, {n:,} rows", "≤ 4 s", several)


if __name__ == "__main__":
    main()
