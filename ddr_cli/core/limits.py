"""A time limit for a block, and the system's limits on processes."""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from ddr_cli.core.errors import InputError

# Files that this process has open, and files that each worker adds.
_OPEN_FILES, _OPEN_FILES_PER_WORKER = 24, 2


class TookTooLongError(Exception):
    """A block took longer than its limit."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise a `TookTooLongError` in the block after this many seconds.

    Only the main thread can be interrupted, and not on Windows; elsewhere there is no limit.
    """
    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or not hasattr(signal, "setitimer"):
        yield
        return

    def end(*_: object) -> None:
        raise TookTooLongError

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def require_workers(jobs: int) -> None:
    """Raise an error if the system has no resources for this many worker processes."""
    if sys.platform == "win32":
        return
    import resource

    allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = _OPEN_FILES + _OPEN_FILES_PER_WORKER * jobs
    if allowed != resource.RLIM_INFINITY and allowed < needed:
        fewer = "use fewer --jobs or " if jobs > 1 else ""
        raise InputError(
            f"--jobs {jobs} needs {needed} open files, but the system allows {allowed}: "
            f"{fewer}raise the limit (ulimit -n {needed})."
        )
    try:
        multiprocessing.get_context("fork").Lock()
    except OSError as error:
        raise InputError(
            f"Worker processes need semaphores, but the system provides none ({error.strerror}). "
            "On Linux, free some space in /dev/shm; in a container, use --tmpfs /dev/shm."
        ) from error
