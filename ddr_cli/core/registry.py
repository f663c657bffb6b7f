"""The components that specs and cards can name, from `ddr` and other packages, and shipped files.

A component of `ddr` is a class or function under ``@registered``; other packages register theirs by
entry points. Listing the names imports none of them, so `ddr list` and shell completion stay fast.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from importlib.metadata import PackageNotFoundError, entry_points, version
from pathlib import Path
from typing import Any, Literal, TypeVar, cast, dataclass_transform

from ddr_cli.core.errors import InputError, did_you_mean, shortage
from ddr_cli.core.own_code import (
    display_name,
    is_code,
    is_foreign,
    load_code,
    require_trust,
    source_of,
)

PACKAGE = Path(__file__).resolve().parent.parent
_REGISTERED = re.compile(r"^@registered(\(.*?\))\n(?:class|def) (\w+)", re.MULTILINE | re.DOTALL)
_T = TypeVar("_T")


def shipped(folder: str) -> Path:
    """Return the folder of shipped files: ``"configs"``, ``"suites"`` or ``"datasets"``.

    In a checkout it is at the top level, in a wheel inside the package.
    """
    installed = PACKAGE / f"_{folder}"
    return installed if installed.is_dir() else PACKAGE.parent / folder


@cache
def shipped_yaml(folder: str) -> Mapping[str, Path]:
    """Return every shipped YAML file of `folder` by its name without the ending, sorted."""
    return {path.stem: path for path in sorted(shipped(folder).glob("*.yaml"))}


def spec_word(name: str) -> str:
    """Return how `ddr run` names the spec of a result folder: a shipped name, or a path."""
    return name if name in shipped_yaml("configs") else f"{name}.yaml"


def paper_files() -> dict[str, Path]:
    """Return the file of each paper by the paper's name, sorted."""
    found = sorted((PACKAGE / "papers").glob("*.yaml"))
    return {path.stem: path for path in found if path.stem != "glossary"}


@dataclass(frozen=True)
class Scale:
    """The properties of the numbers of a metric or a measure.

    Parameters
    ----------
    name : str
        The name used in specs and the column of the journal.
    title : str
        The name on an axis or in a table's head.
    better : {"lower", "higher"} or None
        The direction in which it improves; None if it has none.
    rate : bool
        Whether it is a fraction in 0..1, shown in percent.
    of_points : bool
        Whether it is the fraction of the test samples for which something holds.
    """

    name: str
    title: str
    better: Literal["lower", "higher"] | None
    rate: bool = True
    of_points: bool = False


@dataclass(frozen=True)
class Entry:
    """One component: its name in specs, ``"package.module:attribute"``, a line for `ddr list`.

    `origin` is the distribution, or the user's file, that provides it. The other fields are those
    of `registered`.
    """

    name: str
    target: str
    summary: str
    origin: str = "ddr"
    label: str = ""
    look: tuple[str, str] | None = None
    endings: tuple[str, ...] = ()
    version: int = 1
    scale: Scale | None = None

    @property
    def source(self) -> str:
        """Return a text that changes with the code of a foreign component; empty for ours."""
        if is_code(self.name):
            return source_of(self.name)
        try:
            return "" if self.origin == "ddr" else f"{self.origin} {version(self.origin)}"
        except PackageNotFoundError:
            return self.origin

    def load(self) -> Any:
        """Import the component; InputError states why it can't be imported."""
        if is_code(self.name):
            return load_component(self.name)
        module, _, attribute = self.target.partition(":")
        try:
            # Specs load components often, and finding a loaded module is much faster than
            # importing.
            return getattr(sys.modules.get(module) or import_module(module), attribute)
        except (Exception, SystemExit) as error:  # another package's module may fail in any way
            if shortage(error):
                raise
            raise InputError(
                f"'{self.name}' (from {self.origin}) can't be imported from {self.target}: "
                f"{type(error).__name__}: {error}."
            ) from error


def load_component(name: str) -> Any:
    """Return the class that is named by its code or, for foreign code, its stand-in.

    Raises InputError if it cannot be imported or, as UntrustedCodeError, if the user has not
    trusted it.
    """
    require_trust(name)
    return _stand_in(name, source_of(name)) if is_foreign(name) else load_code(name)


def _stand_in(name: str, source: str) -> Any:
    from ddr_cli.core.sealed.stand_in import stand_in

    return stand_in(name, source)


@dataclass_transform(eq_default=False)
def registered(
    kind: str,  # noqa: ARG001 (`components` reads all of them in the text)
    name: str,
    summary: str,  # noqa: ARG001
    *,
    label: str = "",  # noqa: ARG001
    look: tuple[str, str] | None = None,  # noqa: ARG001
    endings: tuple[str, ...] = (),  # noqa: ARG001
    version: int = 1,  # noqa: ARG001
    scale: Mapping[str, Any] | None = None,
) -> Callable[[_T], _T]:
    """Register the function below it, or the class, and make the class a dataclass.

    The fields of the dataclass are the estimator's parameters. The registries read this call from
    the text of the file without importing it, so it must be directly above the class, and its
    arguments must be literals.

    Parameters
    ----------
    kind : str
        Such as ``"reducer"`` or ``"measure"``.
    name : str
        What specs or cards call it.
    summary : str
        The line of ``ddr list``.
    label : str, optional
        The usual spelling, for tables and figures (default: the name, with blanks).
    look : tuple of two str, optional
        Its colour (a name in `ddr_cli.charts.style`) and matplotlib's marker, the same in every
        figure. No other component of this kind has the same pair. (Default: those that a figure has
        left.)
    endings : tuple of str, optional
        The endings of the files that a format reads, such as ``".npz"``.
    version : int, optional
        Raised when a format gives other arrays for the same files.
    scale : mapping, optional
        For a measure, the arguments of its `Scale`. Its name is given only if the column of the
        journal is not called like the measure.
    """

    def register(component: _T) -> _T:
        made: Any = component
        if isinstance(component, type):
            made = dataclass(eq=False, repr=False)(component)
            if scale is not None:
                made.scale = Scale(**{"name": name, **scale})
        return cast("_T", made)

    return register


@cache
def _components(package: str) -> dict[str, list[Entry]]:
    """Return the registered components in the files of a package, by kind, without imports."""
    found: dict[str, list[Entry]] = {}
    folder = PACKAGE.parent.joinpath(*package.split("."))
    for path in sorted(folder.rglob("*.py")):
        module = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for call, attribute in _REGISTERED.findall(path.read_text(encoding="utf-8")):
            parsed = cast("ast.Call", ast.parse(f"registered{call}", mode="eval").body)
            kind, name, summary = map(ast.literal_eval, parsed.args)
            options = {str(each.arg): ast.literal_eval(each.value) for each in parsed.keywords}
            if "scale" in options:
                options["scale"] = Scale(**{"name": name, **options["scale"]})
            entry = Entry(name, f"{module}:{attribute}", summary, **options)
            found.setdefault(kind, []).append(entry)
    return found


def components(kind: str, package: str) -> Iterator[Entry]:
    """Yield the components of `ddr` of a kind that are in a package, sorted by name."""
    yield from sorted(_components(package).get(kind, []), key=lambda entry: entry.name)


class Registry:
    """Named components of one kind, and those that other packages register in an entry-point group.

    `kind` is what messages call a component, and `listed_as` what `ddr list` calls them (by
    default its plural). The classes of other packages run in sealed processes if it `is_sealed`.
    """

    def __init__(
        self,
        kind: str,
        builtin: Iterable[Entry],
        group: str,
        listed_as: str | None = None,
        *,
        is_sealed: bool = False,
    ) -> None:
        self.kind = kind
        self.group = group
        self.listed_as = listed_as or f"{kind}s"
        self._builtin = builtin
        self._is_sealed = is_sealed

    @cached_property
    def ours(self) -> dict[str, Entry]:
        """The components of `ddr` by name."""
        return {entry.name: entry for entry in self._builtin}

    @cached_property
    def _entries(self) -> dict[str, Entry]:
        entries = dict(self.ours)
        for point in entry_points(group=self.group):
            origin = point.dist.name if point.dist else point.value
            if point.name in entries:
                raise InputError(
                    f"Both {entries[point.name].origin} and {origin} register the {self.kind} "
                    f"'{point.name}'; uninstall one of these packages."
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
        """Return the entry called `name`; otherwise the InputError suggests a similar name.

        A name with a colon names code: ``package.module:Class``, ``/path/to/file.py:Class``.
        """
        if is_code(name):
            return Entry(name, name, "", display_name(name).partition(":")[0])
        try:
            return self._entries[name]
        except KeyError:
            raise InputError(
                f"There is no {self.kind} called '{name}'.{did_you_mean(name, self._entries)} "
                f"'ddr list {self.listed_as}' lists all {self.listed_as}."
            ) from None

    def load(self, name: str) -> Any:
        """Return the component called `name` or, for foreign code, its stand-in."""
        entry = self.get(name)
        is_offered = self._is_sealed and entry.origin != "ddr" and not is_code(name)
        if is_offered and is_foreign(entry.target):
            return _stand_in(entry.target, entry.source)
        return entry.load()

    def is_foreign(self, name: str) -> bool:
        """Return whether a component's code comes neither with `ddr` nor with scikit-learn."""
        entry = self.get(name)
        return is_foreign(name) if is_code(name) else entry.origin != "ddr"
