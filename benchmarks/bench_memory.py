"""Peak memory of whole runs, the parent and its processes together.

    python benchmarks/bench_memory.py [SPEC ...] [--jobs 2] [--repeats N] [--below 3.0]

Without specs it runs those on the two largest sets of texts, News and TDT2. Each is run anew by the
program in a folder of its own while the proportional set size (shared pages counted once) of all
processes is sampled ten times a second, on Linux. Exits with 1 if a run fails or takes more than
`--below` GB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import suppress

import psutil

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
    parser = argparse.ArgumentParser(description="Peak memory of whole runs")
    parser.add_argument("specs", nargs="*", default=SPECS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--repeats", type=int)
    parser.add_argument("--below", type=float, default=3.0)
    options = parser.parse_args()
    good = True
    for spec in options.specs:
        with tempfile.TemporaryDirectory() as out:
            command = [sys.executable, "-m", "ddr_cli.cli.app", "run", spec, "--quiet"]
            command += ["--jobs", str(options.jobs), "--out", out]
            command += ["--repeats", str(options.repeats)] if options.repeats else []
            began = time.monotonic()
            run = psutil.Popen(command)
            peak = largest = 0.0
            while run.poll() is None:
                total, one = used(run)
                peak, largest = max(peak, total), max(largest, one)
                time.sleep(SAMPLE_SECONDS)
        code = run.wait()
        good = good and code == 0 and peak < options.below
        print(
            f"{spec:20} {options.jobs} jobs: peak {peak:.2f} GB in all, {largest:.2f} GB the "
            f"largest process, {time.monotonic() - began:.0f} s, exit code {code} "
            f"(promised {options.below:g} GB)",
            flush=True,
        )
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
