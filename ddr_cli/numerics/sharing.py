"""Intermediate results that several fits of the same data share.

Without sharing, a method that is fitted with many settings computes the span of the data, or the
neighbours inside classes, for each of them. Only the caller knows that the data do not change
between fits, so results are kept only within a `sharing` block.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")


class Shared:
    """The results computed from one data matrix, which must not be changed."""

    def __init__(self, points: Any) -> None:
        self.points = points
        self.results: dict[Hashable, Any] = {}


_shared: ContextVar[Shared | None] = ContextVar("shared", default=None)


@contextmanager
def sharing(shared: Shared) -> Iterator[None]:
    """Let the fits within the block use and extend these results."""
    token = _shared.set(shared)
    try:
        yield
    finally:
        _shared.reset(token)


def computed_once(compute: Callable[[], Result], points: Any, *key: Hashable) -> Result:
    """Return ``compute()``, or its earlier result for the same `points` and key.

    The key must contain everything except `points` that the result depends on. The result must not
    be modified.
    """
    shared = _shared.get()
    if shared is None or points is not shared.points:
        return compute()
    if key not in shared.results:
        shared.results[key] = compute()
    found: Result = shared.results[key]
    return found
