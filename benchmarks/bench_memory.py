"""Peak memory of whole runs, the parent and its processes together.

    python benchmarks/bench_memory.py [SPEC ...] [--jobs 2] [--repeats N] [--quick]

Without specs it runs those on the two largest sets of texts, News and TDT2. Each is run anew by the
program in a folder of its own while the proportional set size (shared pages counted once) of all
processes is sampled ten times a second, on Linux.
"""

from __future__ import annotations

import sys
import tempfile
import time
from contextlib import suppress

import psutil
from tables import options, write

SPECS = ("nmmp_news", "nmmp_news_unit", "dp_tdt2_same_class", "dp_tdt2_topology")
SAMPLE_SECONDS = 0.1


def used(parent: psutil.Process) -> tuple[float, float]:
    """Return the memory, in GB, of a process with all its children, and of the largest alone."""
    sizes = [0.0]
    with suppress(psutil.NoSuchProcess):
        for process in [parent, *parent.children(recursive=True)]:
            with suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
                sizes.append(process.memory_full_info().pss / 1e9)
    return sum(sizes), max(sizes)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("specs", nargs="*", default=SPECS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int)
    given = parser.parse_args()
    rows: list[dict[str, object]] = []
    specs, repeats = given.specs, given.repeats
    if given.quick:
        specs, repeats = ["balance_ccdr_beta"], 1
    for spec in specs:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, "-m", "ddr_cli.cli.app", "run", spec, "--quiet"]
            command += ["--jobs", str(given.jobs), "--out", out]
            command += ["--repeats", str(repeats)] if repeats else []
            began = time.monotonic()
            run = psutil.Popen(command)
            peak = largest = 0.0
            while run.poll() is None:
                total, one = used(run)
                peak, largest = max(peak, total), max(largest, one)
                time.sleep(SAMPLE_SECONDS)
        code = run.wait()
        row = {"spec": spec, "jobs": given.jobs, "repeats": repeats or "as it says"}
        row |= {"GB in all": round(peak, 2), "GB of the largest process": round(largest, 2)}
        row |= {"seconds": round(time.monotonic() - began), "exit code": code}
        rows.append(row)
        print(*row.values(), sep="  ", flush=True)
        write(rows, given, "memory")
    sys.exit(any(row["exit code"] for row in rows))


if __name__ == "__main__":
    main()
