"""The back ends by name, and when they start."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.engine.executor import Ending, Executor
from ddr_cli.engine.jobs import Job

BACKENDS = ("local", "dask")


def make_executor(
    backend: str = "local",
    jobs: int = 1,
    memory_limit: int | None = None,
    scheduler: str | None = None,
) -> Executor:
    """Return what runs jobs; who asked for it calls its `stop` in the end.

    Parameters
    ----------
    backend : {"local", "dask"}
        Processes on this machine, or the workers of a dask cluster.
    jobs : int
        Number of processes, for ``local``; a dask cluster has as many as its workers have threads.
    memory_limit : int, optional
        Bytes of address space that each process may use.
    scheduler : str, optional
        The dask scheduler's address, for ``dask``.

    Raises
    ------
    InputError
        If there is no such back end, `scheduler` is missing or given in vain, or ``distributed`` is
        not installed or the cluster can't be used; see
        `ddr_cli.engine.dask_executor.DaskExecutor`.
    """
    if backend == "dask":
        if not scheduler:
            raise InputError(
                "The dask back end needs the scheduler's address, such as tcp://host:8786."
            )
        try:
            from ddr_cli.engine.dask_executor import DaskExecutor
        except ModuleNotFoundError as error:
            if error.name not in ("dask", "distributed"):
                raise
            raise InputError(
                "The dask back end needs the package distributed: pip install 'ddr[dask]'."
            ) from error
        return DaskExecutor(scheduler, memory_limit=memory_limit)
    if backend != "local":
        names = " or ".join(BACKENDS)
        raise InputError(
            f"There is no back end {backend!r}; it is {names}.{did_you_mean(backend, BACKENDS)}"
        )
    if scheduler:
        raise InputError("A scheduler's address is for the dask back end only.")
    from ddr_cli.engine.local import LocalExecutor

    return LocalExecutor(jobs, memory_limit)


class Deferred:
    """An executor that starts when the first job comes; runs with nothing to do start none.

    Parameters
    ----------
    start : callable
        Returns the executor.
    """

    def __init__(self, start: Callable[[], Executor]) -> None:
        self._start = start
        self._started: Executor | None = None

    @property
    def capacity(self) -> int:
        """How many submitted jobs keep every process busy."""
        return self._executor().capacity

    def submit(self, job: Job) -> None:
        """Have a job done."""
        self._executor().submit(job)

    def wait(self, seconds: float) -> list[Ending]:
        """Return the jobs that have ended since the last call."""
        return self._executor().wait(seconds)

    def release(self, folder: Path) -> None:
        """Hear that no more jobs will come on a data set or split."""
        if self._started is not None:
            self._started.release(folder)

    def wake(self) -> None:
        """Make `wait` return at once."""
        if self._started is not None:
            self._started.wake()

    def discard(self) -> None:
        """Forget all jobs that have not ended."""
        if self._started is not None:
            self._started.discard()

    def stop(self) -> None:
        """End all processes at once, if any were started."""
        if self._started is not None:
            self._started.stop()

    def _executor(self) -> Executor:
        if self._started is None:
            self._started = self._start()
        return self._started
