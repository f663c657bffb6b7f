"""Jobs in processes on this machine, by pebble.

This module is imported in every new worker process and must stay light.
"""

from __future__ import annotations

import os
import signal
import sys
import types
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnContext, SpawnProcess
from pathlib import Path
from typing import Any

from pebble import ProcessExpired, ProcessPool

from ddr_cli.engine.executor import Ending, ExecutorError, Tickets
from ddr_cli.engine.jobs import Job, JobResult, UnitJob
from ddr_cli.engine.trace import last_seen
from ddr_cli.engine.worker import start_worker

_RESTARTS = 3
# Jobs per process that are submitted at a time: one to run and one to have ready.
_DEPTH = 2
_GRACE_SECONDS = 60.0


@dataclass
class _Submitted:
    job: Job
    future: Future[JobResult]
    looked_dead: bool = False


class LocalExecutor:
    """A pool of processes that outlives the death of any of them.

    Parameters
    ----------
    jobs : int
        Number of processes; each uses one thread.
    memory_limit : int, optional
        Bytes of address space that each may use.
    """

    def __init__(self, jobs: int, memory_limit: int | None = None) -> None:
        self._jobs = jobs
        self._memory_limit = memory_limit
        self._submitted: dict[int, _Submitted] = {}
        self._tickets = 0
        self._restarts = 0
        self._ended = Tickets()
        self._pool = self._start()

    @property
    def capacity(self) -> int:
        """How many submitted jobs keep every process busy."""
        return _DEPTH * self._jobs

    def submit(self, job: Job) -> None:
        """Have a job done."""
        if not self._pool.active:
            self._restart()
        ticket = self._tickets = self._tickets + 1
        future = self._pool.schedule(_do, args=(job,), timeout=_outer_limit(job))
        self._submitted[ticket] = _Submitted(job, future)
        future.add_done_callback(lambda _: self._ended.put(ticket))

    def wait(self, seconds: float) -> list[Ending]:
        """Return the jobs that have ended since the last call, waiting for one if there is none.

        Raises
        ------
        ExecutorError
            If processes die again and again without having done anything.
        """
        tickets = self._ended.take(seconds)
        endings = []
        for ticket in tickets:
            submitted = self._submitted.get(ticket)
            if submitted is None:
                continue
            ending = _ending(submitted)
            if ending is None:
                self._restart()
                break
            del self._submitted[ticket]
            endings.append(ending)
            self._restarts = 0
        return endings if tickets else self._lost()

    def release(self, folder: Path) -> None:
        """Do nothing: what the folder holds is the scheduler's."""

    def wake(self) -> None:
        """Make `wait` return at once; may be called from a signal handler."""
        self._ended.wake()

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that are on one."""
        for submitted in self._submitted.values():
            submitted.future.cancel()
        self._submitted.clear()

    def stop(self) -> None:
        """End all processes at once."""
        self._submitted.clear()
        _end(self._pool)

    def _start(self) -> ProcessPool:
        pool = ProcessPool(
            max_workers=self._jobs,
            initializer=start_worker,
            initargs=(self._memory_limit,),
            context=_Context(),
        )
        # Asking starts the processes, which load their libraries while the data is read.
        assert pool.active
        return pool

    def _restart(self) -> None:
        """Replace a pool that has given up, which pebble's does when an idle process is killed."""
        self._restarts += 1
        if self._restarts > _RESTARTS:
            raise ExecutorError(
                "The worker processes end as soon as they start. See the messages above; if a "
                "memory limit is set, it may be too low."
            )
        _end(self._pool)
        self._pool = self._start()
        again = [submitted.job for submitted in self._submitted.values()]
        self._submitted.clear()
        for job in again:
            # By its trace, a job is taken for that of the process which died.
            job.trace.unlink(missing_ok=True)
            self.submit(job)

    def _lost(self) -> list[Ending]:
        """Return jobs whose process is no more although the pool has not noticed.

        pebble takes an exit with code 0 for a worker's planned end and leaves its job open.
        """
        lost = []
        for ticket, submitted in list(self._submitted.items()):
            pid = last_seen(submitted.job.trace).pid
            if pid is None or submitted.future.done() or _is_alive(pid):
                continue
            if submitted.looked_dead:
                del self._submitted[ticket]
                submitted.future.cancel()
                reason = "the worker process ended itself without a result"
                lost.append(Ending(submitted.job, death="killed", reason=reason))
            # The result may still be on its way: look again after the next wait.
            submitted.looked_dead = True
        return lost


def _end(pool: Any) -> None:
    pool.stop()
    pool.join()


def _do(job: Job) -> JobResult:
    from ddr_cli.engine.work import do

    return do(job)


def _ending(submitted: _Submitted) -> Ending | None:
    """Return how a job ended, or None if the whole pool broke."""
    job = submitted.job
    try:
        return Ending(job, result=submitted.future.result(timeout=0))
    except (BrokenProcessPool, CancelledError):
        return None
    except ProcessExpired as error:
        code = error.exitcode
        if code == -signal.SIGALRM and job.timeout is not None:
            return Ending(job, death="timeout", reason=_took_longer(job))
        return Ending(job, death="killed", reason=_how_it_ended(code))
    except TimeoutError:
        return Ending(job, death="timeout", reason=_took_longer(job))
    except Exception as error:
        return Ending(job, death="killed", reason=f"the worker's answer can't be read: {error}")


def _took_longer(job: Job) -> str:
    return f"took longer than {job.timeout:g} s"


def _how_it_ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"the worker process ended itself with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (by hand, or by the system for lack of memory)" if name == "SIGKILL" else ""
    return f"the worker process was killed by {name}{hint}"


def _outer_limit(job: Job) -> float | None:
    """Return when the parent ends a job whose own alarm did not: all its stages at their limits."""
    if job.timeout is None:
        return None
    stages = 1 + len(job.widths) + len(job.evaluations) if isinstance(job, UnitJob) else 1
    return job.timeout * stages + _GRACE_SECONDS


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextmanager
def _no_main_module() -> Iterator[None]:
    # multiprocessing imports the parent's main module anew in each child: a waste for the `ddr`
    # program, and for a script that calls run_spec without a __main__ guard, a run in each worker.
    main = sys.modules["__main__"]
    sys.modules["__main__"] = types.ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


class _Process(SpawnProcess):
    def start(self) -> None:
        with _no_main_module():
            super().start()


class _Context(SpawnContext):
    Process = _Process
