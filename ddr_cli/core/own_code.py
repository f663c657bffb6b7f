"""Pieces that a spec names by their code: ``./mine.py:MyMethod`` or ``package.module:Class``.

Loading one runs it, with all that the user may do. Code that did not come with this program is
therefore loaded only when the user has said so, see `trust`; scikit-learn's own estimators need no
such word. A worker process loads what the one that started it was allowed to.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module, metadata, util
from pathlib import Path
from types import ModuleType
from typing import Any

from platformdirs import user_state_path

from ddr_cli.core.errors import InputError, did_you_mean

_SAFE = "sklearn"
GIVEN = "python"
_trusted: set[str] = set()


class UntrustedCodeError(InputError):
    """A piece is named by code that nobody has said may be run; `source` tells its text."""

    def __init__(self, message: str, source: str) -> None:
        super().__init__(message)
        self.source = source


def is_code(name: str) -> bool:
    """Tell whether a piece is named by its code and not by what it is called in a registry."""
    return ":" in name


def located(name: str, base: Path | None) -> str:
    """Return a piece's name with its file's whole path, which the spec gives relative to itself."""
    place, _, attribute = name.rpartition(":")
    if not place.endswith(".py"):
        return name
    return f"{((base or Path()) / Path(place).expanduser()).resolve()}:{attribute}"


def shown(name: str) -> str:
    """Return a piece's name without the folder that its file is in.

    >>> shown("/home/me/mine.py:MyMethod"), shown("sklearn.svm:SVC"), shown("lda")
    ('./mine.py:MyMethod', 'sklearn.svm:SVC', 'lda')
    """
    place, colon, attribute = name.rpartition(":")
    return f"./{Path(place).name}:{attribute}" if colon and place.endswith(".py") else name


def class_name(name: str) -> str:
    """Return what a piece is called in a label: its class if it is named by its code."""
    return name.rpartition(":")[2]


def source_of(name: str) -> str:
    """Return what changes when a piece's code does: its file's hash, or its package's version."""
    place, _, attribute = name.rpartition(":")
    if place == GIVEN:
        return given(attribute)[1]
    if place.endswith(".py"):
        return "sha256:" + sha256(_read(Path(place))).hexdigest()[:16]
    top = place.partition(".")[0]
    for distribution in _distributions().get(top, ()):
        return f"{distribution} {metadata.version(distribution)}"
    found = _find(place)
    return "sha256:" + sha256(_read(Path(found))).hexdigest()[:16] if found else place


def given(name: str) -> tuple[Any, str]:
    """Return a piece that was given as an object of the running program, and its hash."""
    from ddr_cli.core.given_code import find

    return find(name)


def load_code(name: str) -> Any:
    """Import the piece that is named by its code; an `InputError` says why it can't be.

    Whoever asks, a stranger's result folder too, it is only done with the user's word.
    """
    require_trust(name)
    place, _, attribute = name.rpartition(":")
    if place == GIVEN:
        return given(attribute)[0]
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else import_module(place)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(f"{shown(name)} can't be imported: {_told(error, place)}.") from error
    if not hasattr(module, attribute):
        known = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and value.__module__.startswith(module.__name__)
        ]
        raise InputError(
            f"{shown(name).rpartition(':')[0]} has no class '{attribute}'."
            f"{did_you_mean(attribute, known)} It has {', '.join(known) or 'none'}."
        )
    piece = getattr(module, attribute)
    if not callable(piece):
        raise InputError(f"{shown(name)} is no class that can be made, but {piece!r}.")
    return piece


def require_trust(name: str) -> None:
    """Raise UntrustedCodeError if nobody has said that this piece's code may be run."""
    if name.partition(".")[0] == _SAFE or name.partition(":")[0] == GIVEN:
        return
    source = source_of(name)
    if "*" in _trusted or source in _trusted or source in _remembered():
        return
    raise UntrustedCodeError(
        f"{shown(name)} is code that doesn't come with ddr. Reading what names it runs it with all "
        "your rights: look at it first, then say --trust.",
        source,
    )


def trust(source: str = "*", *, remember: bool = False) -> None:
    """Let code be loaded: that of a source, or of all that specs name in this process."""
    _trusted.add(source)
    if remember:
        path = _memory()
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{source}\n")


@contextmanager
def trusting(allowed: bool) -> Iterator[None]:
    """Trust all code within the block, if that is `allowed`."""
    before = set(_trusted)
    if allowed:
        trust()
    try:
        yield
    finally:
        _trusted.intersection_update(before)


def _remembered() -> set[str]:
    try:
        return set(_memory().read_text(encoding="utf-8").split("\n")) - {""}
    except OSError:
        return set()


def _memory() -> Path:
    return user_state_path("ddr") / "trusted_code"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        reason = "it is not there" if isinstance(error, FileNotFoundError) else error.strerror
        raise InputError(f"The file {path} can't be read: {reason}.") from None


def _from_file(path: Path) -> ModuleType:
    content = _read(path)
    # The text is part of the name, so that an edited file is another module.
    name = f"ddr_own_{path.stem}_{sha256(os.fsencode(path) + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file.")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _told(error: BaseException, place: str) -> str:
    """Return an error with the line of the user's own file that it came from."""
    if isinstance(error, SyntaxError):
        return f"line {error.lineno}: {error.msg}"
    own = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == place]
    line = f"line {own[-1].lineno}: " if own else ""
    return f"{line}{type(error).__name__}: {error}"


def _find(module: str) -> str | None:
    try:
        found = util.find_spec(module)
    except (ImportError, ValueError):
        return None
    return found.origin if found else None


@cache
def _distributions() -> dict[str, list[str]]:
    return dict(metadata.packages_distributions())
