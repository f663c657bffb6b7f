"""A document read from YAML: its values, and where each of them was written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ddr_cli.core.problems import KeyPath, Place, Problem, dotted


@dataclass(frozen=True)
class Rules:
    """What one kind of document may hold.

    Parameters
    ----------
    max_bytes, max_values, max_depth : int
        How large it may be.
    any_key : bool
        A key that is a number or true or false stands for its text as written, so that
        ``1: red soil`` has the key ``"1"``; else such a key is a problem.
    name : callable
        What a problem calls the value at a path.
    """

    max_bytes: int = 64 * 1024
    max_values: int = 5_000
    max_depth: int = 20
    any_key: bool = False
    name: Callable[[KeyPath], str] = dotted


@dataclass
class Document:
    """The values of a YAML document and where each of them stands.

    Parameters
    ----------
    source : str
        The file's name as shown in messages.
    data : Any
        Dictionaries, lists and scalars.
    places : dict
        For each path, where its key and where its value stand.
    problems : list of Problem
        Problems that don't keep the rest from being read: repeated keys.
    """

    source: str
    data: Any = None
    places: dict[KeyPath, tuple[Place, Place]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: KeyPath, *, key: bool = False) -> Place:
        """Return where the value (or the key) at `path` stands.

        A path that is not in the document stands where the mapping does that it should be in.
        """
        if path in self.places:
            return self.places[path][0 if key else 1]
        if not path:
            return Place((0, 1, 1), "")
        return self.place(path[:-1])

    def put(self, path: KeyPath, value: Any, place: Place) -> None:
        """Set the value at `path`, whose parent must be there, as if it stood at `place`."""
        self.remove(path)
        self._parent(path)[path[-1]] = value
        self.places[path] = (place, place)

    def open_up(self, path: KeyPath) -> None:
        """Turn the name at `path` into a mapping with that name."""
        key, place = self.places.get(path, (self.place(path),) * 2)
        self._parent(path)[path[-1]] = {"name": self._parent(path)[path[-1]]}
        self.places[(*path, "name")] = (key, place)

    def remove(self, path: KeyPath) -> None:
        """Take the value at `path` and its places away, if it is there."""
        self._parent(path).pop(path[-1], None)
        for known in [known for known in self.places if known[: len(path)] == path]:
            del self.places[known]

    def _parent(self, path: KeyPath) -> Any:
        parent = self.data
        for part in path[:-1]:
            parent = parent[part]
        return parent
