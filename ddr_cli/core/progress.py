"""A progress bar for long work with a known number of steps."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable
from typing import TypeVar

ItemT = TypeVar("ItemT")


def progress_bar(items: Collection[ItemT], what: str) -> Iterable[ItemT]:
    """Return items to go through, with a bar and the time left on a terminal's standard error."""
    if not sys.stderr.isatty():
        return items
    from rich.console import Console
    from rich.progress import track

    return track(items, what, console=Console(stderr=True), transient=True)
