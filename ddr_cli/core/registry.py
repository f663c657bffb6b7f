"""A lazy table of named pieces: ours by module path, third parties' by entry point.

Listing names imports none of the pieces, so `ddr list` and shell completion
stay fast; a piece is imported when it is asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from ddr_cli.core.errors import InputError, did_you_mean


@dataclass(frozen=True)
class Entry:
    """One registered piece.

    Parameters
    ----------
    name : str
        The name used in specs.
    target : str
        ``"package.module:attribute"``.
    summary : str
        One line for `ddr list`.
    origin : str
        The distribution that provides it.
    """

    name: str
    target: str
    summary: str
    origin: str = "ddr"

    def load(self) -> Any:
        """Import the piece.

        Raises
        ------
        InputError
            If the module can't be imported or has no such attribute.
        """
        module, _, attribute = self.target.partition(":")
        try:
            return getattr(import_module(module), attribute)
        except Exception as error:  # another package's module may fail in any way
            raise InputError(
                f"'{self.name}' (from {self.origin}) can't be imported from {self.target}: "
                f"{type(error).__name__}: {error}."
            ) from error


class Registry:
    """Named pieces of one kind.

    Parameters
    ----------
    kind : str
        What a piece is called in messages, such as ``"reducer"``.
    builtin : iterable of Entry
        The pieces that ship with ddr.
    group : str
        Entry-point group in which other packages offer theirs.
    listed_as : str, optional
        What `ddr list` calls them; the plural of `kind` if not given.
    """

    def __init__(
        self, kind: str, builtin: Iterable[Entry], group: str, listed_as: str | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self.listed_as = listed_as or f"{kind}s"
        self._builtin = {entry.name: entry for entry in builtin}

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        entries = dict(self._builtin)
        for point in entry_points(group=self.group):
            origin = point.dist.name if point.dist else point.value
            if point.name in entries:
                raise InputError(
                    f"The {self.kind} '{point.name}' is offered by both "
                    f"{entries[point.name].origin} and {origin}; uninstall or rename one."
                )
            entries[point.name] = Entry(point.name, point.value, f"from {origin}", origin)
        return entries

    def names(self) -> list[str]:
        """Return all names, ours first, then third parties'."""
        return list(self._entries)

    def entries(self) -> list[Entry]:
        """Return all entries without importing any of them."""
        return list(self._entries.values())

    def get(self, name: str) -> Entry:
        """Return the entry called `name`.

        Raises
        ------
        InputError
            If there is none; the message names the nearest one.
        """
        try:
            return self._entries[name]
        except KeyError:
            raise InputError(
                f"There is no {self.kind} called '{name}'.{did_you_mean(name, self._entries)} "
                f"'ddr list {self.listed_as}' shows all."
            ) from None

    def load(self, name: str) -> Any:
        """Import and return the piece called `name`."""
        return self.get(name).load()
