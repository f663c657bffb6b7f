"""A sealed process: how it is started, called and ended."""

from __future__ import annotations

import builtins
import math
import os
import pickle
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from multiprocessing.reduction import send_handle
from typing import Any

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import GIVEN_FILE, display_name
from ddr_cli.core.processes import Context, copy_a_loaded_process, how_it_ended, may_have_children
from ddr_cli.core.sealed import messages
from ddr_cli.core.sealed.sandbox import VARIABLE, Boxed
from ddr_cli.core.sealed.server import serve

_SECONDS_TO_END = 10.0
_open: list[Sealed] = []
_dies_alike = False
_cpu_seconds = 0.0


class RemoteError(Exception):
    """An error of code in a sealed process; a subclass has the name of the original type."""

    traceback: str = ""


class Sealed:
    """A process that runs the code of one component.

    It ends by `end` or, unless it is `kept`, at the end of the `ended_after` block in which it
    started. It is a fork of the process that `template` returns, which has loaded only the
    component; in the sandbox it is a new process.
    """

    def __init__(
        self, name: str, *, kept: bool = False, template: Callable[[], Sealed] | None = None
    ) -> None:
        self._name = name
        self._connection, theirs = Pipe()
        # Variables named DDR_... would show the code where data, cache and results are.
        environment = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("DDR_") or key == GIVEN_FILE
        }
        with theirs:
            self._process = _started(name, theirs, environment, template)
        if not kept:
            _open.append(self)

    def ask(
        self,
        verb: str,
        *arguments: Any,
        object_of: Callable[[int], Any] = int,
        handle: int | None = None,
    ) -> Any:
        """Return the answer to a question that the server knows (see `server`).

        Raises an error with the type name that the component raised.
        """
        try:
            self._connection.send_bytes(pickle.dumps((verb, arguments), protocol=5))
            if handle is not None:
                send_handle(self._connection, handle, None)
            value, message = messages.receive(self._connection, object_of)
            texts = [(str(kind), str(text)) for kind, text in message["warnings"]]
            error, seconds = message["error"], float(message["cpu_seconds"])
            # A wrong value would distort the times of other methods.
            if not 0 <= seconds < math.inf:
                raise ValueError(f"{seconds} seconds")
        except (EOFError, OSError):
            self._report_death()
        except (messages.UnreadableError, LookupError, TypeError, ValueError) as broken:
            self.end()
            raise RemoteError(f"the process sent an unreadable message: {broken}") from None
        global _cpu_seconds
        _cpu_seconds += seconds
        for kind, text in texts:
            category = getattr(builtins, kind, None)
            if not (isinstance(category, type) and issubclass(category, Warning)):
                category, text = UserWarning, f"{kind}: {text}"
            warnings.warn(text, category, stacklevel=3)
        if error is not None:
            raise _as_error(*map(str, error))
        return value

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return bool(self._process.is_alive())

    def end(self) -> None:
        """Kill the process, with all of its threads."""
        if self in _open:
            _open.remove(self)
        self._connection.close()
        self._process.kill()
        self._process.join(_SECONDS_TO_END)

    def _report_death(self) -> None:
        """Raise an InputError; a worker process ends in the same way, which its parent handles."""
        # The process may have closed the connection without ending.
        self._process.kill()
        self._process.join(_SECONDS_TO_END)
        code = self._process.exitcode
        if _dies_alike:
            if code is not None and code < 0:
                signal.signal(-code, signal.SIG_DFL) if -code != signal.SIGKILL else None
                os.kill(os.getpid(), -code)
            os._exit(code or 0)
        self.end()
        raise InputError(f"The process of {display_name(self._name)} {how_it_ended(code)}.")


def cpu_time() -> float:
    """Return the CPU seconds of this process and of its sealed processes."""
    return time.process_time() + _cpu_seconds


def die_alike() -> None:
    """Make this process end in the same way if one of its sealed processes ends unexpectedly."""
    global _dies_alike
    _dies_alike = True


@contextmanager
def ended_after() -> Iterator[None]:
    """End the sealed processes that are started in the block."""
    before = list(_open)
    try:
        yield
    finally:
        for one in [one for one in _open if one not in before]:
            with suppress(OSError):
                one.end()


class _Copy:
    """A fork of a sealed process, with a part of the interface of `multiprocessing.Process`."""

    exitcode: int | None = None

    def __init__(self, template: Sealed, connection: Connection) -> None:
        self._template = template
        self._pid: int = template.ask("fork", handle=connection.fileno())

    def kill(self) -> None:
        # The system reuses a process id only after `join` has waited for the process.
        if self.is_alive():
            os.kill(self._pid, signal.SIGKILL)

    def join(self, _seconds: float) -> None:
        if self.is_alive():
            self.exitcode = self._template.ask("wait", self._pid)

    def is_alive(self) -> bool:
        return self.exitcode is None


def _started(
    name: str,
    connection: Connection,
    environment: dict[str, str],
    template: Callable[[], Sealed] | None,
) -> Any:
    if os.environ.get(VARIABLE):
        return Boxed(name, connection, environment)
    if template is not None and sys.platform == "linux":
        return _Copy(template(), connection)
    copy_a_loaded_process()
    process = Context().Process(target=serve, args=(connection, environment), daemon=True)
    with may_have_children():
        process.start()
    return process


def _as_error(kind: str, text: str, lines: str) -> Exception:
    if kind == "InputError":
        return InputError(text)
    if kind == "MemoryError":
        return MemoryError(text)
    named: type[RemoteError] = type(
        kind if kind.isidentifier() else "Exception", (RemoteError,), {}
    )
    error = named(text)
    error.traceback = lines
    return error
