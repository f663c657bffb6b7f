"""What runs in a dask worker: each job goes to a process of its own, which can be ended.

A dask worker can't end a task that hangs, and dies with one that crashes. So it hands jobs on to
processes of `ddr_cli.engine.local`, one per thread, and only waits for them.
"""

from __future__ import annotations

import multiprocessing
import os
import platform
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from distributed import get_worker

from ddr_cli.core.errors import InputError
from ddr_cli.engine.jobs import FitJob, Job, JobEnd, SplitJob
from ddr_cli.engine.local import LocalExecutor

_WAIT_SECONDS = 0.5
# A run that was killed can't say that its processes have nothing to do any more.
_IDLE_SECONDS = 120.0
# Numbers may differ in the last bits between versions of these.
_PACKAGES = ("ddr", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class RunContext:
    """What all jobs of a run have in common; `token` names it."""

    token: str
    memory_limit: int | None
    versions: Mapping[str, str]


class SentFile:
    """A file that dask moves between machines as it moves any value.

    It lies in memory (also on the scheduler, which only passes it on) until `path` is used, and in
    the dask worker's local directory from then on until dask drops the value.
    """

    def __init__(self, content: bytes) -> None:
        self._content = content
        self._path: Path | None = None
        self._lock = threading.Lock()

    @property
    def path(self) -> Path:
        """Where it is on this machine."""
        with self._lock:
            if self._path is None:
                path = Path(_local_directory()) / f"ddr-{uuid.uuid4().hex}"
                weakref.finalize(self, path.unlink, missing_ok=True)
                path.write_bytes(self._content)
                self._path = path
            return self._path

    def __reduce__(self) -> tuple[Callable[[bytes], SentFile], tuple[bytes]]:
        return SentFile, (self._content,)

    def __sizeof__(self) -> int:
        # By this dask judges what it costs to move the value to another worker.
        return len(self._content)


def _local_directory() -> str:
    return os.fspath(get_worker().local_directory)


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


def unfit(context: RunContext) -> str:
    """Return why this worker can't do jobs of a run, or an empty string."""
    own = versions()
    differing = [
        f"{name} {own.get(name, 'none')} instead of {there}"
        for name, there in context.versions.items()
        if own.get(name, "none") != there
    ]
    if not differing:
        return ""
    return (
        f"has {', '.join(differing)}, and numbers may depend on it; install the same versions there"
    )


def prepare(context: RunContext, job: SplitJob, data: SentFile) -> tuple[JobEnd, SentFile | None]:
    """Have a split prepared; its file is None if that went wrong."""
    with tempfile.TemporaryDirectory(prefix="ddr-", dir=_local_directory()) as place:
        split = Path(place) / "split"
        end = _done(context, replace(job, data=data.path, split=split))
        good = end.result is not None and not end.result.error
        return end, SentFile(split.read_bytes()) if good else None


def end_of(prepared: tuple[JobEnd, SentFile | None]) -> JobEnd:
    """Return how the preparation of a split ended, without its arrays."""
    return prepared[0]


def fit(context: RunContext, job: FitJob, prepared: tuple[JobEnd, SentFile | None]) -> JobEnd:
    """Have a fit done, and return when it has ended."""
    end, split = prepared
    if split is None:
        # The worker that had the split was lost, and preparing it again went wrong.
        return end
    return _done(context, replace(job, split=split.path))


def _done(context: RunContext, job: Job) -> JobEnd:
    if problem := unfit(context):
        raise InputError(f"A dask worker {problem}.")
    with tempfile.TemporaryDirectory(prefix="ddr-", dir=_local_directory()) as place:
        job = replace(job, trace=Path(place) / "trace")
        executor = _take(context)
        try:
            executor.submit(job)
            while context.token not in _ended:
                if ends := executor.wait(_WAIT_SECONDS):
                    _give_back(context.token, executor)
                    return ends[0]
        except BaseException:
            executor.stop()
            raise
        executor.stop()
        return JobEnd(job, death="killed", reason="the run was ended")


_lock = threading.Lock()
# The processes that have no job, the run that they are of and since when they have none.
_idle: list[tuple[LocalExecutor, str, float]] = []
_ended: set[str] = set()


def end(token: str) -> None:
    """End the processes of a run; jobs of it that come later are not done."""
    _ended.add(token)
    # The caller may be the worker's event loop, which must not wait for processes to end.
    threading.Thread(target=_stop_idle, args=(token,), daemon=True).start()


def _take(context: RunContext) -> LocalExecutor:
    with _lock:
        for place, (executor, token, _) in enumerate(_idle):
            if token == context.token:
                del _idle[place]
                return executor
        # dask marks its workers as daemons, which Python forbids to have processes. Ours end with
        # their parent, which is what the ban is to ensure.
        multiprocessing.current_process().daemon = False
        executor = LocalExecutor(1, context.memory_limit)
        _ = executor.capacity  # starts the process
        return executor


def _give_back(token: str, executor: LocalExecutor) -> None:
    with _lock:
        _idle.append((executor, token, time.monotonic()))
    if token in _ended:
        _stop_idle(token)
        return
    timer = threading.Timer(_IDLE_SECONDS + 1, _stop_idle)
    timer.daemon = True
    timer.start()


def _stop_idle(token: str | None = None) -> None:
    """End the processes without a job that are of this run, or that have had none for long."""
    since = time.monotonic() - _IDLE_SECONDS
    with _lock:
        useless = [one for one in _idle if one[1] == token or one[2] < since]
        _idle[:] = [one for one in _idle if one not in useless]
    for executor, _, _ in useless:
        executor.stop()
