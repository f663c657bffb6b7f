"""The position of each value in a document, and the problems found there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.errors import InputError

KeyPath = tuple[str | int, ...]
"""The keys and indices that lead from the top of a document to one value."""

MOST_PROBLEMS = 100
_LONGEST_TEXT = 60


@dataclass(frozen=True, order=True)
class Place:
    """A line and column of a file, or an option of the command line.

    Positions are sorted by `order`: those of the file, ``(0, line, column)``, then the options as
    given, ``(1, index, 0)``. The text is what a message shows: ``x.yaml:3:12`` or ``--set
    split.seed=x``.
    """

    order: tuple[int, int, int]
    text: str

    @classmethod
    def in_option(cls, index: int, text: str) -> Place:
        """Return the position of the command line's option number `index`."""
        return cls((1, index, 0), text)

    @property
    def is_option(self) -> bool:
        """Whether it is an option of the command line."""
        return self.order[0] == 1


@dataclass(frozen=True, order=True)
class Problem:
    """One sentence on a problem with the setting `key` (empty: with the file) at a position."""

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place.text, self.key, self.message) if part)


class DocumentError(InputError):
    """A document with problems: each problem once, on its own line, sorted by position."""

    def __init__(self, problems: Iterable[Problem], source: str) -> None:
        self.problems = sorted(set(problems))[:MOST_PROBLEMS]
        n = len(self.problems)
        count = "1 problem" if n == 1 else f"{n} problems"
        count += " or more" * (n == MOST_PROBLEMS)
        super().__init__("\n  ".join([f"{count} in {source}:", *map(str, self.problems)]))


def dotted(path: KeyPath) -> str:
    """Return the keys of a path joined by dots.

    >>> dotted(("files", 0, "path")), dotted(())
    ('files.path', '')
    """
    return ".".join(part for part in path if isinstance(part, str))


@dataclass
class Document:
    """The values of a YAML document, and the positions of the key and the value of each path.

    `source` is the file's name in messages, and `name` returns how messages call the value at a
    path. `problems` are those that do not prevent reading the rest, such as repeated keys.
    """

    source: str
    data: Any = None
    places: dict[KeyPath, tuple[Place, Place]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    name: Callable[[KeyPath], str] = dotted

    def place(self, path: KeyPath, *, key: bool = False) -> Place:
        """Return the position of the value (or the key) at `path`.

        If it is not in the document, return the position of the mapping that should contain it.
        """
        if path in self.places:
            return self.places[path][0 if key else 1]
        return self.place(path[:-1]) if path else Place((0, 1, 1), "")

    def problem(self, path: KeyPath, message: str, *, key: bool = False) -> Problem:
        """Return a problem with the value (or the key) at `path`."""
        return Problem(self.place(path, key=key), self.name(path), message)

    def put(self, path: KeyPath, value: Any, place: Place) -> None:
        """Set the value at `path`, whose parent must exist, as if it had the position `place`."""
        self.remove(path)
        self._parent(path)[path[-1]] = value
        self.places[path] = (place, place)

    def open_up(self, path: KeyPath) -> None:
        """Turn the name at `path` into a mapping with that name."""
        key, place = self.places.get(path, (self.place(path),) * 2)
        self._parent(path)[path[-1]] = {"name": self._parent(path)[path[-1]]}
        self.places[(*path, "name")] = (key, place)

    def remove(self, path: KeyPath) -> None:
        """Remove the value at `path` and its positions, if it exists."""
        self._parent(path).pop(path[-1], None)
        for known in [known for known in self.places if known[: len(path)] == path]:
            del self.places[known]

    def _parent(self, path: KeyPath) -> Any:
        parent = self.data
        for part in path[:-1]:
            parent = parent[part]
        return parent


def as_clause(error: Exception) -> str:
    """Return an error's message as a clause after a colon."""
    text = str(error)
    return text[:1].lower() + text[1:]


def value_text(value: object) -> str:
    """Return a value as shown in a message: as YAML would write it, and short.

    >>> value_text(-1), value_text("heat"), value_text(True), value_text([1, 2]), value_text(None)
    ('-1', "'heat'", 'true', 'a list', 'empty')
    """
    if value is None:
        return "empty"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "a list" if value else "an empty list"
    if isinstance(value, dict):
        return "a mapping"
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 3]}..."
