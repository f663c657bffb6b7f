"""What runs in a dask worker: each job goes to a process of its own, which can be ended.

A dask worker can't end a task that hangs, and dies with one that crashes. So it hands jobs on to
processes of `ddr_cli.engine.local`, one per thread, and only waits for them.
"""

from __future__ import annotations

import multiprocessing
import platform
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from ddr_cli.engine.dask_data import kept
from ddr_cli.engine.dask_files import Files, local_directory
from ddr_cli.engine.executor import Ending
from ddr_cli.engine.jobs import Job, JobResult, SplitJob, UnitJob
from ddr_cli.engine.local import LocalExecutor

_WAIT_SECONDS = 0.5
_IDLE_SECONDS = 120.0
# Numbers may differ in the last bits between versions of these.
_PACKAGES = ("ddr", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Setup:
    """What all jobs of a run have in common.

    Parameters
    ----------
    token : str
        Names the run.
    memory_limit : int or None
        Bytes of address space that each process may use.
    versions : mapping of str to str
        What `versions` returns where the run was begun.
    """

    token: str
    memory_limit: int | None
    versions: Mapping[str, str]


@dataclass(frozen=True)
class Answer:
    """How a job ended.

    Parameters
    ----------
    result : JobResult, optional
        What it returned.
    death : {"timeout", "killed"}, optional
        How its process died.
    reason : str
        Why.
    trace : bytes
        How far it was when its process died; see `ddr_cli.engine.trace`.
    unfit : str
        Why this worker can't do any job of the run; empty if it can.
    """

    result: JobResult | None = None
    death: Literal["timeout", "killed"] | None = None
    reason: str = ""
    trace: bytes = b""
    unfit: str = ""


@cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that numbers depend on."""
    found = {"Python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "none"
    return found


def unfit(setup: Setup) -> str:
    """Return why this worker can't do jobs of a run, or an empty string."""
    own = versions()
    differing = [
        f"{name} {own.get(name, 'none')} instead of {wanted}"
        for name, wanted in setup.versions.items()
        if own.get(name, "none") != wanted
    ]
    if not differing:
        return ""
    return (
        f"has {', '.join(differing)}, and numbers may depend on it; install the same versions there"
    )


@dataclass(frozen=True)
class Prepared:
    """A split that is ready for its units.

    Parameters
    ----------
    answer : Answer
        How the job ended.
    files : Files
        What it wrote, if it ended well.
    """

    answer: Answer
    files: Files

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + sys.getsizeof(self.files)


def prepare(setup: Setup, job: SplitJob, rows: Files, data: str) -> Prepared:
    """Have a split prepared by a process of this worker.

    Parameters
    ----------
    setup : Setup
        The run's.
    job : SplitJob
        The job; its paths are those of the machine where the run was begun.
    rows : Files
        The rows of the split; gets the arrays of the preparation too.
    data : str
        The name of the data set; see `ddr_cli.engine.dask_data`.
    """
    here = replace(job, data=kept(data).path, folder=rows.path)
    return Prepared(_done(setup, here), rows)


def answer_of(prepared: Prepared) -> Answer:
    """Return how the preparation of a split ended, without its arrays."""
    return prepared.answer


def work(setup: Setup, job: UnitJob, prepared: Prepared) -> Answer:
    """Have a unit done by a process of this worker, and return when it has ended."""
    before = prepared.answer
    if before.result is None or before.result.error:
        # The worker that had the split was lost, and preparing it again went wrong.
        return before
    return _done(setup, replace(job, folder=prepared.files.path))


def _done(setup: Setup, job: Job) -> Answer:
    problem = unfit(setup)
    if problem:
        return Answer(unfit=problem)
    with tempfile.TemporaryDirectory(prefix="ddr-", dir=local_directory()) as place:
        here = replace(job, trace=Path(place) / "trace")
        ending = _processes_of(setup.token).run(here, setup.memory_limit)
        trace = here.trace.read_bytes() if ending.death and here.trace.exists() else b""
    return Answer(ending.result, ending.death, ending.reason, trace)


def end(token: str) -> None:
    """End the processes of a run; jobs of it that come later are not done."""
    # The caller may be the worker's event loop, which must not wait for processes to end.
    threading.Thread(target=_processes_of(token).end, daemon=True).start()


class _Processes:
    """The processes of one run on this worker, one per thread that has a job at the same time."""

    def __init__(self) -> None:
        self._idle: list[tuple[LocalExecutor, threading.Timer]] = []
        self._lock = threading.Lock()
        self._ended = False

    def run(self, job: Job, memory_limit: int | None) -> Ending:
        ended = Ending(job, death="killed", reason="the run was ended")
        if self._ended:
            return ended
        executor = self._take(memory_limit)
        try:
            executor.submit(job)
            while not self._ended:
                endings = executor.wait(_WAIT_SECONDS)
                if endings:
                    self._give_back(executor)
                    return endings[0]
        except BaseException:
            executor.stop()
            raise
        executor.stop()
        return ended

    def end(self) -> None:
        self._ended = True
        with self._lock:
            idle, self._idle = self._idle, []
        for executor, timer in idle:
            timer.cancel()
            executor.stop()

    def _take(self, memory_limit: int | None) -> LocalExecutor:
        with self._lock:
            if self._idle:
                executor, timer = self._idle.pop()
                timer.cancel()
                return executor
        # dask marks its workers as daemons, which Python forbids to have processes. Ours end with
        # their parent, which is what the ban is to ensure.
        multiprocessing.current_process().daemon = False
        with _lock:
            return LocalExecutor(1, memory_limit)

    def _give_back(self, executor: LocalExecutor) -> None:
        # A run that was killed can't say that it has ended.
        timer = threading.Timer(_IDLE_SECONDS, self._drop, args=(executor,))
        timer.daemon = True
        with self._lock:
            if not self._ended:
                self._idle.append((executor, timer))
                timer.start()
                return
        executor.stop()

    def _drop(self, executor: LocalExecutor) -> None:
        with self._lock:
            dropped = [one for one in self._idle if one[0] is executor]
            self._idle = [one for one in self._idle if one[0] is not executor]
        for unused, _ in dropped:
            unused.stop()


_lock = threading.Lock()
_runs: dict[str, _Processes] = {}


def _processes_of(token: str) -> _Processes:
    with _lock:
        return _runs.setdefault(token, _Processes())
