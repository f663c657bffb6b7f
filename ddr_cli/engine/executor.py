"""What the scheduler needs of something that runs jobs; a new back end is a class with these."""

from __future__ import annotations

import queue
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from ddr_cli.core.errors import DdrError
from ddr_cli.engine.jobs import Job, JobResult


class ExecutorError(DdrError):
    """What runs the jobs can't run any more, neither of this run nor of another."""


@dataclass(frozen=True)
class Ending:
    """How a job ended.

    Parameters
    ----------
    job : SplitJob or UnitJob
        The job, the object that was submitted.
    result : JobResult, optional
        What it returned; None if its process died.
    death : {"timeout", "killed"}, optional
        How its process died.
    reason : str
        Why.
    """

    job: Job
    result: JobResult | None = None
    death: Literal["timeout", "killed"] | None = None
    reason: str = ""


class Tickets:
    """The numbers of jobs as they end, told from any thread."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def put(self, ticket: int) -> None:
        """Tell that a job has ended."""
        self._queue.put(ticket)

    def wake(self) -> None:
        """Make `take` return at once; may be called from a signal handler."""
        self._queue.put(None)

    def take(self, seconds: float) -> list[int]:
        """Return what was told since the last call, waiting for so long if there is nothing."""
        told: list[int | None] = []
        with suppress(queue.Empty):
            told.append(self._queue.get(timeout=seconds))
            while True:
                told.append(self._queue.get_nowait())
        return [ticket for ticket in told if ticket is not None]


class Executor(Protocol):
    """Runs jobs in other processes, one per core, and survives their deaths."""

    @property
    def capacity(self) -> int:
        """How many submitted jobs keep every process busy."""

    def submit(self, job: Job) -> None:
        """Have a job done. It ends exactly once, whatever becomes of its process."""

    def wait(self, seconds: float) -> list[Ending]:
        """Return the jobs that have ended since the last call, waiting for one if there is none."""

    def release(self, folder: Path) -> None:
        """Hear that no more jobs will come on a data set or split, named by its folder."""

    def wake(self) -> None:
        """Make `wait` return at once; may be called from a signal handler."""

    def discard(self) -> None:
        """Forget all jobs that have not ended, and end the processes that are on one."""

    def stop(self) -> None:
        """End all processes at once."""
