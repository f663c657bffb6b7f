"""What runs in a dask worker: each job goes to a process of its own, which can be ended.

A dask worker can't end a task that hangs, and dies with one that crashes. So it hands jobs on to
processes of `ddr_cli.engine.local`, one per thread, and only waits for them.
"""

from __future__ import annotations

import multiprocessing
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Literal

from ddr_cli.engine.executor import Ending
from ddr_cli.engine.jobs import Job, JobResult
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
    unfit : str
        Why this worker can't do any job of the run; empty if it can.
    """

    result: JobResult | None = None
    death: Literal["timeout", "killed"] | None = None
    reason: str = ""
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


def unfit(setup: Setup, folder: Path, mark: str | None = None) -> str:
    """Return why a worker can't do jobs whose arrays are in `folder`, or an empty string.

    Parameters
    ----------
    setup : Setup
        The run's.
    folder : Path
        A folder that was made where the run was begun.
    mark : str, optional
        What the file ``mark`` in it must hold, lest another folder of the same name is taken for
        it.
    """
    own = versions()
    differing = [
        f"{name} {own.get(name, 'none')} instead of {wanted}"
        for name, wanted in setup.versions.items()
        if own.get(name, "none") != wanted
    ]
    if differing:
        return (
            f"has {', '.join(differing)}, and numbers may depend on it; install the same "
            "versions there"
        )
    seen = folder.is_dir() if mark is None else _read(folder / "mark") == mark
    if seen:
        return ""
    return (
        f"does not see the scratch folder {folder.parent}; set TMPDIR, where ddr is started, to a "
        "folder that all machines share under the same path"
    )


def work(setup: Setup, job: Job) -> Answer:
    """Have a job done by a process of this worker, and return when it has ended."""
    problem = unfit(setup, job.trace.parent)
    if problem:
        return Answer(unfit=problem)
    # A worker that died with this job left its trace, whose process would be missed here.
    job.trace.unlink(missing_ok=True)
    ending = _processes_of(setup.token).run(job, setup.memory_limit)
    return Answer(ending.result, ending.death, ending.reason)


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


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError:
        return ""
