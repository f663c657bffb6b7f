"""What a worker process does before its first job.

This module is imported in a new process before NumPy is, and must not import it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import connection, parent_process

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_PR_SET_PDEATHSIG = 1
_kept: list[object] = []


def start_worker(memory_limit: int | None) -> None:
    """Prepare this process: one thread, no orphan, no more memory than allowed.

    Parameters
    ----------
    memory_limit : int, optional
        Bytes of address space; beyond them an allocation fails, which fails the trial.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The system ends the process at once, also in the middle of a call into compiled code.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
    end_with_parent()
    # Libraries read these when they are loaded; threadpoolctl sets those that are loaded already.
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))
    from threadpoolctl import threadpool_limits

    import ddr_cli.engine.work  # noqa: F401  loads the libraries before memory is limited

    _kept.append(threadpool_limits(1))
    if memory_limit is not None:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory_limit, memory_limit))


def memory_limit_text() -> str:
    """Return how much memory this process may use, for messages."""
    try:
        import resource
    except ImportError:
        return "no limit"
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return "no limit" if limit == resource.RLIM_INFINITY else f"limit {limit / 1e9:.3g} GB"


def end_with_parent() -> None:
    """See to it that this process is killed when its parent dies, however that happens."""
    parent = parent_process()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif parent is not None:
        threading.Thread(target=_wait_for, args=(parent.sentinel,), daemon=True).start()
    if parent is not None and not parent.is_alive():
        os._exit(1)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """End this process with SIGALRM if the block takes longer.

    No Python code has to run for that, so it also ends a call into compiled code that never
    returns.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _wait_for(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
