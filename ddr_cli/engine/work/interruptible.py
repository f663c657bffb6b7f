"""Ctrl-C and requests to end, handled so that a run stops after what it is doing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible(wake: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Make Ctrl-C and requests to end (SIGTERM, SIGHUP) set a flag within the block.

    Yields a function that returns the flag. A second signal acts as without the block. `wake` is
    called to end the block's waiting. Only the main thread can handle signals; in other threads the
    flag is never set.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    stopped = False
    before: dict[int, object] = {}

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        restore()
        wake()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    for number in [getattr(signal, name) for name in names if hasattr(signal, name)]:
        # Signals that are ignored, for instance by nohup, stay ignored.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield lambda: stopped
    finally:
        restore()
