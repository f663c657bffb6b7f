"""Twenty random `kill -9` of a run's parent process, and what the journal is like in the end.

    python benchmarks/bench_kills.py [--kills 20] [--jobs 2] [--seed 0] [--quick]

The run is killed at random moments, one kill in four while it starts and the others after a random
number of new rows, then resumed with another number of processes, and compared row by row with a
run that was left alone: no row twice, none missing, no torn line, the same metrics to the last bit.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tables import options, write

from ddr_cli.engine import read_trials

SPEC = """
dataset: digits
split: {kind: fraction, train: 0.5, repeats: REPEATS}
reducers: [{name: ccdr, n_components: 9, n_neighbors: 4, mode: transductive}, none]
classifiers: [{name: knn, n_neighbors: 3}, linear]
sweep: {reducer.beta: {log: [0.01, 10, 7]}}
"""


def start(spec: Path, out: Path, jobs: int) -> subprocess.Popen[bytes]:
    """Start the run as a user does, in a session of its own."""
    command = [sys.executable, "-m", "ddr_cli.cli.app", "run", str(spec), "--quiet"]
    return subprocess.Popen([*command, "--jobs", str(jobs), "--out", str(out)])


def rows_in(journal: Path) -> int:
    """Return how many whole lines a journal has after its header."""
    return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    kills = 3 if given.quick else given.kills
    generator = random.Random(given.seed)
    with tempfile.TemporaryDirectory() as place:
        spec = Path(place) / "killed.yaml"
        spec.write_text(SPEC.replace("REPEATS", "2" if given.quick else "60"))
        whole, torn = Path(place) / "whole", Path(place) / "torn"
        begun = time.perf_counter()
        assert start(spec, whole, 1).wait() == 0
        alone = time.perf_counter() - begun
        journal = torn / "killed" / "trials.csv"
        total = len(read_trials(whole / "killed"))
        kept = [0]
        for number in range(kills):
            run = start(spec, torn, given.jobs)
            wanted = kept[-1] + generator.randint(1, max(1, total // kills))
            until = time.monotonic() + generator.uniform(0.1, 2.5)
            while run.poll() is None:
                if time.monotonic() > until if number % 4 == 0 else rows_in(journal) >= wanted:
                    time.sleep(generator.uniform(0, 0.02))
                    run.kill()
                    break
                time.sleep(0.001)
            run.wait()
            kept.append(rows_in(journal))
        assert start(spec, torn, 1).wait() == 0
        print(f"rows after each kill: {kept[1:]} of {total}")
        same = ["trial_id", "split", "split_hash", "reducer", "classifier", "error", "status"]
        one, other = (read_trials(folder / "killed")[same] for folder in (whole, torn))
        assert one.equals(other), "the two journals differ"
        assert other["trial_id"].is_unique
        row = {"kills": kills, "jobs": given.jobs, "rows": len(other), "rows twice or missing": 0}
        row |= {"rows that differ": 0, "seconds of the run left alone": round(alone, 1)}
        write([row], given, "kills")
        print(f"{len(other)} rows, each once, all bit-identical to those of the run left alone")


if __name__ == "__main__":
    main()
