"""Packages whose names are imported when they are asked for, so that importing one is quick."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, homes: Mapping[str, Iterable[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package with lazy names.

    The package imports the same names under ``TYPE_CHECKING``, and makes these two under its
    ``else``: a type checker then knows each name, and no other. `homes` has, for each module of
    `package`, the names that are found there. No name may be a module's: importing that module
    would put it in the name's place.

    >>> get, names = lazy_names("ddr_cli.core", {"errors": ["InputError", "nearest"]})
    >>> get("InputError").__module__
    'ddr_cli.core.errors'
    >>> names()
    ['InputError', 'nearest']
    """
    home = {name: module for module, names in homes.items() for name in names}

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{home[name]}"), name)

    def names() -> list[str]:
        return sorted(home)

    return get, names
