"""Measure the CPU seconds and the peak memory of single fits, each in its own process.

A `Worker` is a process of one Python environment, with its libraries loaded and a fixed number of
threads. It forks for each fit, so that no fit affects the next. `python measure.py` is this
process; it needs only the standard library.
"""

from __future__ import annotations

import compileall
import json
import os
import pickle
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
LONG = 60.0  # Longer fits, in seconds, have only FEW runs.
FEW = 2


@dataclass(frozen=True)
class Measured:
    """One fit: its CPU seconds, the megabytes that it adds to the peak, and its result."""

    seconds: float
    megabytes: float
    answer: Any


Limits = tuple[float, float]
"""CPU seconds, and megabytes that a fit may add."""


class LimitError(RuntimeError):
    """A fit exceeded a limit."""


def cpu_seconds() -> float:
    """Return the CPU time of this process and of its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def compile_ddr() -> None:
    """Compile ddr's modules, as an installation does, so that no command's time includes it."""
    import ddr_cli

    compileall.compile_dir(Path(ddr_cli.__file__).parent, quiet=1)


def fit_once(work: str, method: str, n: int) -> Measured:
    """Fit once and measure it."""
    from works import points, work_of

    given, fit = points(work, n), work_of(work).methods[method].fit
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    answer = fit(*given)
    spent = time.process_time() - began
    added = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    return Measured(spent, added / 1024, answer)


def _set(limits: Limits) -> None:
    """Limit the CPU time of this process and the memory that it may add."""
    seconds, megabytes = limits
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds)))
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    allowed = pages * resource.getpagesize() + int(megabytes * 1024**2)
    resource.setrlimit(resource.RLIMIT_AS, (allowed, allowed))


def _in_a_copy(work: str, method: str, n: int, limits: Limits | None) -> tuple[bool | str, Any]:
    """Measure a fit in a forked process.

    Return True and the measurement, ``"limit"`` and the exceeded limit, or False and the error.
    """
    from works import points

    points(work, n)  # The fork inherits the samples, so the fit's memory excludes them.
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            if limits is not None:
                _set(limits)
            found: tuple[bool | str, Any] = (True, fit_once(work, method, n))
        except MemoryError:
            found = ("limit", f"more than {limits[1]:,.0f} MB") if limits else (False, "no memory")
        except Exception as error:
            found = (False, f"{type(error).__name__}: {error}")
        with os.fdopen(writes, "wb") as pipe:
            pickle.dump(found, pipe)
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads, "rb") as pipe:
        sent = pipe.read()
    status = os.waitpid(child, 0)[1]
    # At the hard limit, the system may send SIGKILL instead.
    if limits is not None and status & 0x7F in (signal.SIGXCPU, signal.SIGKILL):
        return "limit", f"more than {limits[0]:g} s"
    return pickle.loads(sent) if sent else (False, f"the process died (status {status})")


class Worker:
    """A process that measures with the libraries of one Python environment."""

    def __init__(
        self, python: str | Path = sys.executable, *, warm: bool = True, threads: int = 1
    ) -> None:
        # numba's other threading layers do not support forks.
        settings = {**dict.fromkeys(THREADS, str(threads)), "NUMBA_THREADING_LAYER": "workqueue"}
        self._process = subprocess.Popen(
            [str(python), "-W", "ignore", __file__, *(["--warm"] if warm else [])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, **settings},
        )

    def measure(self, work: str, method: str, n: int, limits: Limits | None = None) -> Measured:
        """Measure one fit; raise LimitError, or RuntimeError if the fit failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([work, method, n, limits]).encode() + b"\n")
        self._process.stdin.flush()
        good, found = pickle.load(self._process.stdout)
        if good == "limit":
            raise LimitError(found)
        if not good:
            raise RuntimeError(f"{work}, {method}, n = {n}: {found}")
        return Measured(*found)

    def close(self) -> None:
        self._process.communicate()


def serve(*, warm: bool) -> None:
    """Answer a `Worker`'s requests, one per line; `warm` adds an unmeasured fit per method."""
    from works import work_of

    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # Libraries may print; only answers go to the pipe.
    ready = set()
    for line in sys.stdin:
        work, method, n, limits = json.loads(line)
        try:
            if warm and (work, method) not in ready:
                fit_once(work, method, work_of(work).least)
                ready.add((work, method))
            good, found = _in_a_copy(work, method, n, limits)
        except Exception as error:
            good, found = False, f"{type(error).__name__}: {error}"
        if good is True:
            found = (found.seconds, found.megabytes, found.answer)
        pickle.dump((good, found), answers)
        answers.flush()


def in_turn(
    workers: Mapping[str, Worker], work: str, n: int, runs: int
) -> dict[str, Sequence[Measured]]:
    """Measure the methods of a work in turn, `runs` times.

    If a fit takes longer than `LONG`, there are only `FEW` runs.
    """
    found: dict[str, list[Measured]] = {method: [] for method in workers}
    while len(found[next(iter(found))]) < runs:
        for method, worker in workers.items():
            found[method].append(worker.measure(work, method, n))
        if max(of[0].seconds for of in found.values()) > LONG:
            runs = min(runs, FEW)
    return found


def summary(runs: Sequence[Measured]) -> dict[str, float | int]:
    """Return the median seconds, the maximum of the megabytes, and the number of runs."""
    return {
        "seconds": round(median(run.seconds for run in runs), 4),
        "MB": round(max(run.megabytes for run in runs), 1),
        "runs": len(runs),
    }


if __name__ == "__main__":
    serve(warm="--warm" in sys.argv)
