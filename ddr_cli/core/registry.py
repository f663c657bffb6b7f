"""What there is by name: pieces (ours by module path, third parties' by entry point), files.

Listing names imports none of the pieces, so `ddr list` and shell completion
stay fast; a piece is imported when it is asked for.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.own_code import is_code, load_code, shown, source_of

_PACKAGE = Path(__file__).resolve().parent.parent


def shipped(folder: str) -> Path:
    """Return the folder of shipped files: ``"configs"``, ``"suites"`` or ``"datasets"``.

    In a checkout it is at the top, in a wheel inside the package.
    """
    installed = _PACKAGE / f"_{folder}"
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def shipped_yaml(folder: str) -> dict[str, Path]:
    """Return every shipped YAML file of `folder` by its name without the ending, sorted."""
    return {path.stem: path for path in sorted(shipped(folder).glob("*.yaml"))}


@dataclass(frozen=True)
class Entry:
    """One piece: its name in specs, ``"package.module:attribute"``, a line for `list`.

    `origin` is the distribution, or the user's file, that provides it.
    """

    name: str
    target: str
    summary: str
    origin: str = "ddr"

    @property
    def source(self) -> str:
        """What changes when the code of a piece that is not ours does; empty for ours."""
        if is_code(self.name):
            return source_of(self.name)
        try:
            return "" if self.origin == "ddr" else f"{self.origin} {version(self.origin)}"
        except PackageNotFoundError:
            return self.origin

    def load(self) -> Any:
        """Import the piece; InputError says why it can't be."""
        if is_code(self.name):
            return load_code(self.name)
        module, _, attribute = self.target.partition(":")
        try:
            # What is there already is had much faster so, and specs ask for it often.
            return getattr(sys.modules.get(module) or import_module(module), attribute)
        except (Exception, SystemExit) as error:  # another package's module may fail in any way
            raise InputError(
                f"'{self.name}' (from {self.origin}) can't be imported from {self.target}: "
                f"{type(error).__name__}: {error}."
            ) from error


class Registry:
    """Named pieces of one kind, and those that other packages offer in an entry-point group.

    `kind` is what messages call a piece, and `listed_as` what `ddr list` calls them (by default
    its plural).
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
        """Return the entry called `name`; InputError, if there is none, names the nearest.

        A name with a colon is that of code: ``package.module:Class``, ``/path/to/file.py:Class``.
        """
        if is_code(name):
            return Entry(name, name, "", shown(name).partition(":")[0])
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
