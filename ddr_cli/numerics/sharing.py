"""What several fits of the same points need is computed once.

A method that is fitted with many settings would find the span of the points, or the neighbours
inside classes, each time anew. Only who makes these fits knows that the points are not changed in
between, so nothing is kept except under `sharing`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")


class Shared:
    """What has been computed of one set of points, which must not be changed."""

    def __init__(self, points: Any) -> None:
        self.points = points
        self.results: dict[Hashable, Any] = {}


_shared: ContextVar[Shared | None] = ContextVar("shared", default=None)


@contextmanager
def sharing(shared: Shared) -> Iterator[None]:
    """Let the fits within the block use, and add to, what has been computed of their points."""
    token = _shared.set(shared)
    try:
        yield
    finally:
        _shared.reset(token)


def computed_once(compute: Callable[[], Result], points: Any, *key: Hashable) -> Result:
    """Return ``compute()``, or what it gave before with this key, which must tell all but `points`.

    Nothing may be written to the result.
    """
    shared = _shared.get()
    if shared is None or points is not shared.points:
        return compute()
    if key not in shared.results:
        shared.results[key] = compute()
    found: Result = shared.results[key]
    return found
