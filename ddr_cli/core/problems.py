"""A problem in what a user wrote: where it is, what it is about, and one sentence that says it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ddr_cli.core.errors import InputError

KeyPath = tuple[str | int, ...]
"""The keys and indices that lead from the top of a document to one value."""

_LONGEST_SHOWN = 60


@dataclass(frozen=True, order=True)
class Place:
    """Where a value was written: a line and column of a file, or an option of the command line.

    Parameters
    ----------
    order : tuple of int
        Places sort by it: those of the file by line and column, then the options as given.
    text : str
        As shown, ``configs/x.yaml:3:12`` or ``--set reducer.beta=x``.
    """

    order: tuple[int, int, int]
    text: str

    @classmethod
    def in_file(cls, source: str, line: int, column: int) -> Place:
        """Return the place at a line and column, both counted from 1."""
        return cls((0, line, column), f"{source}:{line}:{column}")

    @classmethod
    def in_option(cls, index: int, text: str) -> Place:
        """Return the place that is the command line's option number `index`."""
        return cls((1, index, 0), text)

    @property
    def is_option(self) -> bool:
        """Whether it is an option of the command line."""
        return self.order[0] == 1


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong, sortable by place.

    Parameters
    ----------
    place : Place
        Where it is.
    key : str
        The dotted name of the setting; empty where the problem is the file's.
    message : str
        One sentence.
    """

    place: Place
    key: str
    message: str

    def __str__(self) -> str:
        return ": ".join(part for part in (self.place.text, self.key, self.message) if part)


class DocumentError(InputError):
    """A document that is wrong: every problem on its own line, in order of place.

    Parameters
    ----------
    problems : iterable of Problem
        What is wrong; repetitions are dropped.
    source : str
        What holds the problems, as shown.
    """

    def __init__(self, problems: Iterable[Problem], source: str) -> None:
        self.problems = sorted(set(problems))
        self.source = source
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n  ".join([f"{count} in {source}:", *map(str, self.problems)]))


def dotted(path: KeyPath) -> str:
    """Return a path's keys with dots between them.

    Examples
    --------
    >>> dotted(("files", 0, "path")), dotted(())
    ('files.path', '')
    """
    return ".".join(part for part in path if isinstance(part, str))


def as_clause(error: Exception) -> str:
    """Return an error's sentence as it stands after a colon."""
    text = str(error)
    return text[:1].lower() + text[1:]


def shown(value: object) -> str:
    """Return a value as a sentence names it, as YAML would write it and never long.

    Examples
    --------
    >>> shown(-1), shown("heat"), shown(True), shown([1, 2]), shown(None)
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
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}..."
