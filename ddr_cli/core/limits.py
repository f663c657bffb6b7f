"""A limit on how long this program waits, for what has none of its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class TookTooLongError(Exception):
    """A block took longer than it may."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise a `TookTooLongError` in the block when it takes longer.

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
