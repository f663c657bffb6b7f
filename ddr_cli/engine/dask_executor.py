"""Jobs on the workers of a dask cluster."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from distributed import Client, KilledWorker

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.engine import dask_data, dask_worker
from ddr_cli.engine.dask_files import Files
from ddr_cli.engine.dask_worker import Answer, Setup
from ddr_cli.engine.executor import Ending, ExecutorError, Tickets
from ddr_cli.engine.jobs import Job, SplitJob

# Jobs per thread of the cluster that are submitted at a time: one to run and one to have ready.
_DEPTH = 2
_CONNECT_SECONDS = 5.0
_CHECK_SECONDS = 5.0
_ALONE_SECONDS = 120.0
_LOST = (
    "The connection to the dask scheduler {} was lost ({}). What had ended is saved: run the same "
    "command again when the scheduler is up."
)


@dataclass
class _Submitted:
    job: Job
    future: Any


class DaskExecutor:
    """Runs jobs on the workers of a running dask cluster.

    Each thread of each worker has one job at a time, in a process of its own with one BLAS thread
    (see `ddr_cli.engine.dask_worker`), so a job that hangs or crashes costs neither its worker nor
    other jobs. A job whose *worker* dies is given to another one by dask; after as many deaths as
    the scheduler's ``distributed.scheduler.allowed-failures`` says, the job is ``killed``.

    A data set is sent to each worker once. A split stays where it was prepared: dask sends it to
    another worker that has a job on it, and makes it again if the workers that had it die. Nothing
    but the connection is shared with the machine that ddr runs on.

    Parameters
    ----------
    address : str
        The scheduler's, such as ``tcp://host:8786``.
    memory_limit : int, optional
        Bytes of address space that each process may use.

    Raises
    ------
    InputError
        If the scheduler can't be reached or has no workers, or a worker has other versions of what
        numbers depend on.
    """

    def __init__(self, address: str, *, memory_limit: int | None = None) -> None:
        self._address = address
        self._setup = Setup(uuid.uuid4().hex, memory_limit, dask_worker.versions())
        self._submitted: dict[int, _Submitted] = {}
        # The data sets and prepared splits on the cluster, by their folder here.
        self._data: dict[Path, str] = {}
        self._splits: dict[Path, Any] = {}
        self._tickets = self._tasks = 0
        self._ended = Tickets()
        self._client = _connect(address)
        try:
            self._threads = self._count_threads()
            self._check_workers()
            dask_data.drop_stale(self._client)
        except BaseException:
            self._client.close()
            raise
        self._checked = self._last_with_workers = time.monotonic()

    @property
    def capacity(self) -> int:
        """How many submitted jobs keep every worker busy."""
        return _DEPTH * max(1, self._threads)

    def submit(self, job: Job) -> None:
        """Have a job done."""
        if isinstance(job, SplitJob):
            prepared = self._task(
                dask_worker.prepare, self._setup, job, Files.read(job.folder), self._sent(job.data)
            )
            self._splits[job.folder] = prepared
            future = self._task(dask_worker.answer_of, prepared)
        else:
            future = self._task(dask_worker.work, self._setup, job, self._splits[job.folder])
        ticket = self._tickets = self._tickets + 1
        self._submitted[ticket] = _Submitted(job, future)
        future.add_done_callback(lambda _: self._ended.put(ticket))

    def wait(self, seconds: float) -> list[Ending]:
        """Return the jobs that have ended since the last call, waiting for one if there is none.

        Raises
        ------
        InputError
            If a worker that came later can't do jobs of the run.
        ExecutorError
            If the connection is lost, or there are no workers any more.
        """
        tickets = self._ended.take(seconds)
        endings = []
        for ticket in tickets:
            submitted = self._submitted.get(ticket)
            if submitted is None:
                continue
            ending = self._ending(submitted)
            if ending is None:
                self._ended.put(ticket)
                continue
            # Were it kept, dask would do the job again if the worker with its result died.
            del self._submitted[ticket]
            submitted.future.release()
            endings.append(ending)
        self._look_after_workers()
        return endings

    def release(self, folder: Path) -> None:
        """Drop what the cluster holds of a scratch folder."""
        self._splits.pop(folder, None)
        if folder in self._data:
            # Without a connection there is nothing to drop.
            with suppress(Exception):
                dask_data.drop(self._client, self._data.pop(folder))

    def wake(self) -> None:
        """Make `wait` return at once; may be called from a signal handler."""
        self._ended.wake()

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that are on one."""
        futures = [submitted.future for submitted in self._submitted.values()]
        futures += self._splits.values()
        self._submitted.clear()
        self._splits.clear()
        ended, self._setup = (
            self._setup,
            Setup(uuid.uuid4().hex, self._setup.memory_limit, self._setup.versions),
        )
        # Without a connection there is nothing to forget; idle processes end by themselves.
        with suppress(Exception):
            if self._client.status == "running":
                self._client.cancel(futures, force=True)
                self._client.run(dask_worker.end, ended.token, on_error="ignore")

    def stop(self) -> None:
        """End all processes at once; the cluster goes on."""
        self.discard()
        self._client.close(timeout=_CHECK_SECONDS)

    def _task(self, function: Callable[..., object], *args: object) -> Any:
        self._check_connection()
        self._tasks += 1
        key = f"ddr-{self._setup.token}-{function.__name__}-{self._tasks}"
        return self._client.submit(function, *args, key=key, pure=False, retries=0)

    def _sent(self, folder: Path) -> str:
        """Return the name of the data set of a scratch folder on the cluster, sending it once."""
        if folder not in self._data:
            self._check_connection()
            self._data[folder] = dask_data.send(self._client, folder, self._tasks)
        return self._data[folder]

    def _ending(self, submitted: _Submitted) -> Ending | None:
        """Return how a job ended, or None if its result was lost and dask does it again."""
        job, future = submitted.job, submitted.future
        if future.status in ("cancelled", "lost"):
            raise ExecutorError(_LOST.format(self._address, "it has dropped the jobs"))
        try:
            answer: Answer = future.result(timeout=_CHECK_SECONDS)
        except TimeoutError:
            return None
        except KilledWorker as error:
            reason = f"the dask worker {_address_of(error.last_worker)} died while it had the job"
            return Ending(job, death="killed", reason=reason)
        except DdrError:
            raise
        except Exception as error:
            reason = f"the dask worker failed: {type(error).__name__}: {error}"
            return Ending(job, death="killed", reason=reason)
        if answer.unfit:
            raise InputError(f"A dask worker {answer.unfit}.")
        if answer.trace:
            job.trace.write_bytes(answer.trace)
        return Ending(job, result=answer.result, death=answer.death, reason=answer.reason)

    def _look_after_workers(self) -> None:
        now = time.monotonic()
        if now - self._checked < _CHECK_SECONDS:
            return
        self._checked = now
        self._threads = self._count_threads()
        if self._threads:
            self._last_with_workers = now
        elif now - self._last_with_workers > _ALONE_SECONDS:
            raise ExecutorError(
                f"The dask scheduler {self._address} has had no workers for {_ALONE_SECONDS:g} s. "
                "What had ended is saved: start workers and run the same command again."
            )

    def _check_connection(self) -> None:
        if self._client.status != "running":
            raise ExecutorError(_LOST.format(self._address, self._client.status))

    def _count_threads(self) -> int:
        self._check_connection()
        try:
            return sum(self._client.nthreads().values())
        except (OSError, TimeoutError) as error:
            raise ExecutorError(_LOST.format(self._address, error)) from error

    def _check_workers(self) -> None:
        found = self._client.run(dask_worker.unfit, self._setup, on_error="return")
        for worker, problem in found.items():
            if isinstance(problem, ModuleNotFoundError):
                problem = f"has no {problem.name}; install ddr there, in the same version"
            elif isinstance(problem, BaseException):
                problem = f"can't run ddr: {type(problem).__name__}: {problem}"
            if problem:
                raise InputError(f"The dask worker {worker} {problem}.")


def _connect(address: str) -> Any:
    # It logs a lost connection as a traceback, beside the sentence that is raised here.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    try:
        make: Any = Client  # partly untyped
        client = make(address, timeout=_CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError, TimeoutError) as error:
        raise InputError(
            f"The dask scheduler {address!r} can't be reached ({error}); start one with "
            "`dask scheduler`, and give the address that it prints."
        ) from error
    try:
        client.wait_for_workers(1, timeout=_CONNECT_SECONDS)
    except TimeoutError as error:
        client.close()
        raise InputError(
            f"The dask scheduler {address!r} has no workers; start some with "
            f"`dask worker {address}`."
        ) from error
    return client


def _address_of(worker: Any) -> str:
    return str(getattr(worker, "address", worker))
