"""Ctrl-C and requests to end, handled so that a run stops after what it is doing."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible(wake: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Have Ctrl-C and requests to end (SIGTERM, SIGHUP) set a flag within the block.

    A second one of them acts as if the block were not there. `wake` ends what the block waits for.
    What the block is given says whether it has been told to stop; outside the main thread, which
    alone can handle signals, it never has.
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
        # What is ignored, as by nohup, stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield lambda: stopped
    finally:
        restore()
