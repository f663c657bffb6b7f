"""Jobs in processes on this machine, by pebble.

This module is imported in a new process before NumPy is, and must not import it.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing import connection
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from ddr_cli.core.errors import InputError
from ddr_cli.core.limits import require_workers
from ddr_cli.core.processes import (
    Context,
    begin,
    copy_a_loaded_process,
    end_with_parent,
    how_it_ended,
)
from ddr_cli.engine.work.jobs import Executor, ExecutorError, Job, JobEnd, JobResult, last_seen

_RESTARTS = 3
# Jobs per process that are submitted at a time: one to run and one to have ready.
_DEPTH = 2
_GRACE_SECONDS = 60.0
_MEGABYTE = 10**6
# With less memory than this, the first allocations fail even for a small data set.
_ROOM_TO_WORK = 128 * _MEGABYTE
_thread_limits: list[object] = []


@dataclass
class _Submitted:
    job: Job
    future: Future[JobResult]
    looked_dead: bool = False


class LocalExecutor(Executor):
    """A pool of `jobs` processes with one thread each, which survives the death of any of them.

    Each may use `memory_limit` bytes of address space. The processes start, and `started` is
    called, when the capacity is first read: runs with nothing to do start none.
    """

    def __init__(
        self,
        jobs: int,
        memory_limit: int | None = None,
        started: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__()
        self.jobs = jobs
        self._memory_limit = memory_limit
        self._started = started
        self._submitted: dict[int, _Submitted] = {}
        self._numbers = 0
        self._restarts = 0
        self._pool: ProcessPool | None = None

    @property
    def capacity(self) -> int:
        """The number of submitted jobs that keeps every process busy."""
        if self._pool is None:
            self._pool = self._start()
            self._started()
        return _DEPTH * self.jobs

    def submit(self, job: Job) -> None:
        """Accept a job."""
        pool = self._pool
        if pool is None or not pool.active:
            pool = self._restart()
        number = self._numbers = self._numbers + 1
        limit = None
        if job.timeout is not None:
            # pebble ends a job that its own alarm does not end, after the limits of all its stages.
            limit = job.timeout * job.stages + _GRACE_SECONDS
        future = pool.schedule(_do, args=(job,), timeout=limit)
        self._submitted[number] = _Submitted(job, future)
        future.add_done_callback(lambda _: self._notify(number))

    def wait(self, seconds: float) -> list[JobEnd]:
        """Return the jobs that have ended since the last call; if none has, wait for one."""
        numbers = self._take(seconds)
        ends = []
        for number in numbers:
            submitted = self._submitted.get(number)
            if submitted is None:
                continue
            end = _end_of(submitted)
            if end is None:
                self._restart()
                break
            del self._submitted[number]
            ends.append(end)
            self._restarts = 0
        if self._submitted and not ends and self._pool is not None and not self._pool.active:
            # A pool that has stopped forgets its waiting jobs, so submit them to a new one.
            self._restart()
        return ends if numbers else self._lost()

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that run them."""
        # pebble might end a process that has just taken a later job, so all processes are ended.
        self.stop()

    def stop(self) -> None:
        """End all processes at once."""
        self._submitted.clear()
        self._end_pool()

    def _start(self) -> ProcessPool:
        require_workers(self.jobs)
        copy_a_loaded_process()
        if self._memory_limit is not None:
            _check_memory_limit(self._memory_limit)
        try:
            pool = ProcessPool(
                max_workers=self.jobs,
                initializer=_start_worker,
                initargs=(self._memory_limit, dict(os.environ)),
                context=Context(),
            )
            # This starts the processes, which load their libraries while the data is read.
            assert pool.active
        except (BrokenProcessPool, OSError) as error:
            raise ExecutorError(
                f"Worker processes cannot start ({error.__cause__ or error}): lower --jobs "
                f"{self.jobs}, or raise ulimit -n and -u. If a path is too long, shorten TMPDIR."
            ) from error
        return pool

    def _end_pool(self) -> None:
        if self._pool is not None:
            pool: Any = self._pool  # pebble's class is only partly typed
            pool.stop()
            pool.join()
            self._pool = None

    def _restart(self) -> ProcessPool:
        """Replace a pool that no longer works; pebble's stops when an idle process is killed."""
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise ExecutorError(
                "Worker processes crash on start-up: see the messages above; omit --memory-limit."
            )
        self._end_pool()
        pool = self._pool = self._start()
        again = [submitted.job for submitted in self._submitted.values()]
        self._submitted.clear()
        for job in again:
            # The old trace names the dead process; with it, the repeated job would count as dead.
            job.trace.unlink(missing_ok=True)
            self.submit(job)
        return pool

    def _lost(self) -> list[JobEnd]:
        """Return jobs whose process has ended without the pool noticing.

        pebble treats an exit with code 0 as a worker's planned end and leaves its job open.
        """
        lost = []
        for number, submitted in list(self._submitted.items()):
            pid = last_seen(submitted.job.trace).pid
            if pid is None or submitted.future.done() or _is_alive(pid):
                continue
            if submitted.looked_dead:
                del self._submitted[number]
                submitted.future.cancel()
                reason = "the worker process ended without a result"
                lost.append(_dead(submitted.job, reason))
            # The result may still arrive: look again after the next wait.
            submitted.looked_dead = True
        return lost


def _do(job: Job) -> JobResult:
    from ddr_cli.engine.work.fitting import do

    return do(job)


def _end_of(submitted: _Submitted) -> JobEnd | None:
    """Return how a job ended, or None if the whole pool broke."""
    job = submitted.job
    try:
        return JobEnd(job, result=submitted.future.result(timeout=0))
    except (BrokenProcessPool, CancelledError):
        return None
    except ProcessExpired as error:
        code = error.exitcode
        if code == -signal.SIGALRM and job.timeout is not None:
            return _timed_out(job)
        return _dead(job, f"the worker process {how_it_ended(code)}")
    except TimeoutError:
        return _timed_out(job)
    except Exception as error:
        return _dead(job, f"the worker's answer cannot be read: {error}")


def _dead(job: Job, reason: str) -> JobEnd:
    return JobEnd(job, death="killed", reason=reason, seen=last_seen(job.trace))


def _timed_out(job: Job) -> JobEnd:
    reason = f"took longer than {job.timeout:g} s"
    return JobEnd(job, death="timeout", reason=reason, seen=last_seen(job.trace))


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError as error:
        return isinstance(error, PermissionError)
    return True


def _check_memory_limit(limit: int) -> None:
    """Refuse a limit that a process exceeds before it gets a job."""
    if sys.platform != "linux":
        return
    ours, theirs = connection.Pipe(duplex=False)
    with ours, theirs:
        process = Context().Process(target=_tell_size, args=(theirs,), daemon=True)
        process.start()
        taken = ours.recv()
        process.join()
    least = (taken + _ROOM_TO_WORK) // _MEGABYTE + 1
    if limit < least * _MEGABYTE:
        raise InputError(
            f"--memory-limit {limit / _MEGABYTE:.0f}MB is too low; use {least}MB or more."
        )


def _tell_size(to: connection.Connection) -> None:
    import ddr_cli.engine.work.fitting  # noqa: F401

    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    to.send(pages * os.sysconf("SC_PAGE_SIZE"))


def _start_worker(memory_limit: int | None, environment: dict[str, str]) -> None:
    """Prepare this process: one thread, no orphan, limited address space.

    An allocation beyond the limit fails, and with it the trial.
    """
    begin(environment)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    end_with_parent()
    from threadpoolctl import threadpool_limits

    import ddr_cli.engine.work.fitting  # noqa: F401  loads the libraries before memory is limited
    from ddr_cli.core import own_code
    from ddr_cli.core.sealed.process import die_alike

    # A worker gets only code that its parent process was allowed to load.
    own_code.trust()
    die_alike()
    _thread_limits.append(threadpool_limits(1))
    import numpy

    numpy.random.seed()  # noqa: NPY002  copies would draw the same numbers
    if memory_limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))
