"""Jobs in a dask worker: each thread passes its jobs to a process of its own and waits.

A dask worker cannot end a job that hangs, and it dies with one that crashes. A process of
`ddr_cli.engine.work.local` dies in both cases, and only its job is lost.
"""

from __future__ import annotations

import multiprocessing
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from distributed import get_worker

from ddr_cli.core.errors import InputError
from ddr_cli.engine.work.jobs import FitJob, Job, JobEnd, SplitJob, TuneJob
from ddr_cli.engine.work.local import LocalExecutor
from ddr_cli.rows.manifest import number_versions

_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class RunContext:
    """The common properties of all jobs of a run; `token` identifies the run."""

    token: str
    memory_limit: int | None
    versions: dict[str, str | None]


def unfit(versions: dict[str, str | None]) -> str:
    """Return why this worker cannot do jobs of a run with these versions, or an empty string."""
    own = number_versions()
    differing = sorted(versions.items() - own.items())
    names = ", ".join(f"{name} {own[name]} instead of {other}" for name, other in differing)
    return f"has {names}: results may differ, so install the same versions" if names else ""


def prepare(context: RunContext, job: SplitJob, data: bytes) -> tuple[JobEnd, bytes]:
    """Prepare a split from a data set's file; return the split's file, empty after a failure."""
    with _folder() as folder:
        split = folder / "split"
        (folder / "data").write_bytes(data)
        end = _done(context, replace(job, data=folder / "data", split=split), folder)
        good = end.result is not None and not end.result.error
        return end, split.read_bytes() if good else b""


def end_of(prepared: tuple[JobEnd, bytes]) -> JobEnd:
    """Return how the preparation of a split ended, without its arrays."""
    return prepared[0]


def fit(context: RunContext, job: FitJob | TuneJob, prepared: tuple[JobEnd, bytes]) -> JobEnd:
    """Do a fit, and return how it ended."""
    end, split = prepared
    if not split:
        # The prepared split was lost with its worker, and preparing it again failed.
        return end
    with _folder() as folder:
        (folder / "split").write_bytes(split)
        return _done(context, replace(job, split=folder / "split"), folder)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="ddr-", dir=get_worker().local_directory) as folder:
        yield Path(folder)


_lock = threading.Lock()
# The processes that have no job, by the token of their run.
_idle: dict[str, list[LocalExecutor]] = {}


def _done(context: RunContext, job: Job, folder: Path) -> JobEnd:
    if problem := unfit(context.versions):
        raise InputError(f"A dask worker {problem}.")
    dask_worker = get_worker()
    task = dask_worker.state.tasks[dask_worker.get_current_task()]
    executor = _process_for(context)
    executor.submit(replace(job, trace=folder / "trace"))
    # dask can't interrupt a task that is cancelled or whose run is killed; it only sets a state.
    while task.state == "executing":
        if ends := executor.wait(_WAIT_SECONDS):
            _idle.setdefault(context.token, []).append(executor)
            return ends[0]
    executor.stop()
    return JobEnd(job, death="killed", reason="the run was ended")


def _process_for(context: RunContext) -> LocalExecutor:
    with _lock:
        # A run that was killed may have left idle processes here.
        end_idle(besides=context.token)
        if idle := _idle.get(context.token):
            return idle.pop()
        # dask's workers are daemons, which Python does not let start processes, because these could
        # outlive them. Our processes end with their parent.
        multiprocessing.current_process().daemon = False
        executor = LocalExecutor(1, context.memory_limit)
        _ = executor.capacity  # starts the process
    return executor


def end_idle(besides: str = "") -> None:
    """End the processes without a job, except those of the run `besides`."""
    for token in set(_idle) - {besides}:
        for executor in _idle.pop(token, []):
            # The caller may be the worker's event loop, which must not wait for processes to end.
            threading.Thread(target=executor.stop, daemon=True).start()
