"""Jobs on the workers of a dask cluster, on any number of machines."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import dask
from distributed import Client, KilledWorker

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.engine.work.dask import worker
from ddr_cli.engine.work.dask.worker import RunContext
from ddr_cli.engine.work.jobs import Executor, ExecutorError, Job, JobEnd, SplitJob
from ddr_cli.rows.manifest import number_versions

# Jobs per thread of the cluster that are submitted at a time: one to run and one to have ready.
_DEPTH = 2
_ANSWER_SECONDS = 5.0
_ALONE_SECONDS = 120.0
_LOST = (
    "The connection to the dask scheduler {} was lost ({}). Finished trials are saved: repeat "
    "the command when the scheduler is up."
)


class DaskExecutor(Executor):
    """Runs jobs on the workers of the dask cluster whose scheduler is at `address`."""

    def __init__(self, address: str, *, memory_limit: int | None = None) -> None:
        super().__init__()
        self._address = address
        self._context = RunContext(uuid.uuid4().hex, memory_limit, number_versions())
        self._submitted: dict[int, tuple[Job, Any]] = {}
        # Futures of data sets and prepared splits, by the path of the file on this machine. dask
        # sends their values to the workers that need them, and computes them again if those workers
        # die.
        self._values: dict[Path, Any] = {}
        self._tasks = 0
        self._threads = 0
        self._last_with_workers = time.monotonic()
        self._client = _connect(address)
        try:
            self._check_workers()
            self._count_threads()
        except BaseException:
            self._client.close()
            raise

    @property
    def capacity(self) -> int:
        """The number of submitted jobs that keeps every worker busy."""
        return _DEPTH * max(1, self._threads)

    def submit(self, job: Job) -> None:
        """Accept a job."""
        if isinstance(job, SplitJob):
            if job.data not in self._values:
                self._values[job.data] = self._task(bytes, job.data.read_bytes())
            split = self._task(worker.prepare, self._context, job, self._values[job.data])
            self._values[job.split] = split
            future = self._task(worker.end_of, split)
        else:
            future = self._task(worker.fit, self._context, job, self._values[job.split])
        number = self._tasks
        self._submitted[number] = (job, future)
        future.add_done_callback(lambda _: self._notify(number))

    def wait(self, seconds: float) -> list[JobEnd]:
        """Return the jobs that have ended since the last call; if none has, wait for one."""
        ends = []
        for number in self._take(seconds):
            if number not in self._submitted:
                continue
            job, future = self._submitted[number]
            if (end := self._end_of(job, future)) is None:
                self._notify(number)
                continue
            # A kept future would make dask do the job again if the worker with its result died.
            del self._submitted[number]
            future.release()
            ends.append(end)
        self._count_threads()
        return ends

    def release(self, path: Path) -> None:
        """Drop the cluster's copy of a file."""
        self._values.pop(path, None)

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that run them."""
        futures = [*(future for _, future in self._submitted.values()), *self._values.values()]
        self._submitted.clear()
        self._values.clear()
        # If the connection is lost, the cluster has already dropped the jobs.
        with suppress(Exception):
            self._check_connection()
            self._client.cancel(futures, force=True)
            self._client.run(worker.end_idle, on_error="ignore")

    def stop(self) -> None:
        """End all processes at once; the cluster stays."""
        self.discard()
        self._client.close(timeout=_ANSWER_SECONDS)

    def _task(self, function: Callable[..., object], *args: object) -> Any:
        self._check_connection()
        self._tasks += 1
        key = f"ddr-{self._context.token}-{function.__name__}-{self._tasks}"
        # dask warns of large arguments, such as a data set.
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1PB"}):
            return self._client.submit(function, *args, key=key, pure=False, retries=0)

    def _end_of(self, job: Job, future: Any) -> JobEnd | None:
        """Return how a job ended, or None if its result was lost and dask repeats it."""
        if future.status in ("cancelled", "lost"):
            raise ExecutorError(_LOST.format(self._address, "the scheduler has dropped the jobs"))
        try:
            end: JobEnd = future.result(timeout=_ANSWER_SECONDS)
            return replace(end, job=job)
        except TimeoutError:
            return None
        except DdrError:
            raise
        except KilledWorker as error:
            reason = f"the dask worker {error.last_worker.address} died during the job"
        except Exception as error:
            reason = f"the dask worker failed: {type(error).__name__}: {error}"
        return JobEnd(job, death="killed", reason=reason)

    def _count_threads(self) -> None:
        self._check_connection()
        try:
            self._threads = sum(self._client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise ExecutorError(_LOST.format(self._address, error)) from error
        if self._threads:
            self._last_with_workers = time.monotonic()
        elif time.monotonic() - self._last_with_workers > _ALONE_SECONDS:
            raise ExecutorError(
                f"The dask scheduler {self._address} has had no workers for {_ALONE_SECONDS:g} s. "
                "Finished trials are saved. Start workers and repeat the command."
            )

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise ExecutorError(_LOST.format(self._address, self._client.status))

    def _check_workers(self) -> None:
        try:
            self._client.wait_for_workers(1, timeout=_ANSWER_SECONDS)
        except TimeoutError:
            raise InputError(
                f"The dask scheduler {self._address!r} has no workers; start workers with "
                f"`dask worker {self._address}`."
            ) from None
        problems = self._client.run(worker.unfit, self._context.versions, on_error="return")
        for address, problem in problems.items():
            if isinstance(problem, BaseException):
                problem = f"can't run ddr ({problem}); install the same version there"
            if problem:
                raise InputError(f"The dask worker {address} {problem}.")


def _connect(address: str) -> Any:
    # dask logs a lost connection as a traceback, in addition to the error that is raised here.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    make: Any = Client  # dask's class is only partly typed
    try:
        return make(address, timeout=_ANSWER_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"The dask scheduler {address!r} can't be reached ({error}); run `dask scheduler`."
        ) from error
