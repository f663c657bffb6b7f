"""How processes of this program start, and how they end when their parent ends.

This module is imported in a new process before NumPy is, and must not import it.
"""

from __future__ import annotations

import atexit
import ctypes
import multiprocessing
import os
import signal
import sys
import threading
import types
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import connection, parent_process
from typing import Any

# Loading the libraries takes seconds: on Linux, one process loads them and the others are forks.
if sys.platform == "linux":
    from multiprocessing import forkserver
    from multiprocessing.context import ForkServerContext as _BaseContext
    from multiprocessing.context import ForkServerProcess as _BaseProcess
else:
    from multiprocessing.context import SpawnContext as _BaseContext
    from multiprocessing.context import SpawnProcess as _BaseProcess

_ONE_THREAD = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
_COMPONENTS = ("ddr_cli.reducers.", "ddr_cli.evaluation.")
_PR_SET_PDEATHSIG = 1


class _Process(_BaseProcess):
    def start(self) -> None:
        # multiprocessing imports the parent's main module again in each child. This wastes time for
        # the `ddr` program; a script that calls run_spec without a __main__ guard would run again.
        main = sys.modules["__main__"]
        sys.modules["__main__"] = types.ModuleType("__main__")
        try:
            super().start()
        finally:
            sys.modules["__main__"] = main


class Context(_BaseContext):
    """Starts processes that do not import the main module."""

    Process = _Process


def copy_a_loaded_process() -> None:
    """Make new processes forks of one that has already loaded the libraries for jobs."""
    if sys.platform == "linux":
        # Jobs use the components that planning has imported, so these are loaded in advance, too.
        components = [name for name in sys.modules if name.startswith(_COMPONENTS)]
        forkserver.set_forkserver_preload(["ddr_cli.engine.work.preloaded", *components])
        # Register it once, whatever the number of pools.
        atexit.unregister(_end_fork_server)
        atexit.register(_end_fork_server)


@contextmanager
def may_have_children() -> Iterator[None]:
    """Allow a daemonic process to start others within the block, which multiprocessing forbids."""
    config: dict[str, Any] = multiprocessing.current_process()._config  # type: ignore[attr-defined]
    before = config.get("daemon")
    config["daemon"] = False
    try:
        yield
    finally:
        config["daemon"] = before


def _end_fork_server() -> None:
    """Wait for the process that the workers are forks of, so that `time` counts their CPU time."""
    # The program is ending, perhaps by Ctrl-C; another Ctrl-C must not print a traceback.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # multiprocessing has no public name for the server.
    server: Any = getattr(forkserver, "_forkserver", None)
    with suppress(AttributeError, TypeError, OSError):
        os.kill(server._forkserver_pid, signal.SIGTERM)
        os.waitpid(server._forkserver_pid, 0)


def begin(environment: Mapping[str, str]) -> None:
    """Prepare a process that runs methods: signals, variables, one thread, and no use of stdout.

    Stdout belongs to the command, whose output may be JSON; what methods print goes to stderr.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # With the default handler, SIGTERM ends the process at once, even inside compiled code.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.environ.clear()
    os.environ.update(environment)
    use_one_thread()
    with suppress(OSError):  # stderr may be closed
        os.dup2(2, 1)
    sys.stdout = sys.stderr


def use_one_thread() -> None:
    """Make libraries that are loaded later use one thread; threadpoolctl limits the others."""
    os.environ.update(dict.fromkeys(_ONE_THREAD, "1"))


def end_with_parent() -> None:
    """Make sure that this process is killed when its parent dies, for whatever reason."""
    parent = parent_process()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif parent is not None:

        def follow() -> None:
            connection.wait([parent.sentinel])
            os._exit(1)

        threading.Thread(target=follow, daemon=True).start()
    if parent is not None and not parent.is_alive():
        os._exit(1)


def machine_memory() -> int | None:
    """Return the bytes of memory of this machine, None if unknown."""
    with suppress(ValueError, OSError, AttributeError):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return None


def how_it_ended(code: int | None) -> str:
    """Return how a process with this exit code ended (minus the signal if it was killed)."""
    if code is None or code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = f"signal {-code}"
    hint = " (by a user, or by the system for lack of memory)" if name == "SIGKILL" else ""
    return f"was killed by {name}{hint}"
