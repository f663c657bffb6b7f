"""Pieces that exist in the running program alone: a notebook's classes, objects made of others.

A spec names them ``python:MyMethod``. What tells one from another, or from what it was before it
was edited, is a hash of its code: bytecode and constants, not text, so that comments are free. So
are functions, classes and values of the same notebook that it uses. Worker processes get a copy.
"""

from __future__ import annotations

import copy
import dis
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import cloudpickle

from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import GIVEN, source_of

_FILE = "DDR_GIVEN_CODE"
_NO_CODE = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__abstractmethods__", "_abc_impl"),
}
_offered: dict[str, tuple[Any, str]] = {}


def copies_of(original: Any) -> Callable[[], Any]:
    """Return what makes copies of an object whose parameters a spec can't hold: a pipeline, say."""

    def make() -> Any:
        return copy.deepcopy(original)

    make.__name__ = type(original).__name__
    for name in dir(type(original)):
        # What the object can do is asked of what makes it, as of a class.
        if not name.startswith("_") and hasattr(original, name):
            setattr(make, name, None)
    return make


def offer(factory: Any, source: str) -> str:
    """Return the name under which a spec finds a class, or copies of an object, by its hash."""
    name, module = factory.__name__, sys.modules.get(factory.__module__)
    if module is not None and isinstance(factory, type) and not _is_on_path(factory.__module__):
        cloudpickle.register_pickle_by_value(module)
    if _offered.get(name, ("", source))[1] != source:
        name = f"{name}_{source.rpartition(':')[2][:6]}"
    _offered[name] = factory, source
    return f"{GIVEN}:{name}"


@contextmanager
def offering() -> Iterator[Callable[[], None]]:
    """Forget in the end what is offered in the block; what it is given sends it to new processes.

    They read a file that an environment variable names.
    """
    with tempfile.TemporaryDirectory(prefix="ddr-given-") as folder:

        def send() -> None:
            path = Path(folder) / "pieces"
            try:
                path.write_bytes(cloudpickle.dumps(_offered))
            except Exception as error:  # an object may hold anything, such as an open file
                names = ", ".join(_offered)
                raise InputError(
                    f"{names} can't be copied to the processes that run it "
                    f"({type(error).__name__}: {error}); put its class in a file."
                ) from error
            os.environ[_FILE] = str(path)

        try:
            yield send
        finally:
            _offered.clear()
            os.environ.pop(_FILE, None)


def find(name: str) -> tuple[Any, str]:
    """Return the piece of a name, and its hash."""
    everything = _offered if name in _offered else _from_parent()
    if name not in everything:
        raise InputError(
            f"The piece {GIVEN}:{name} was given as an object in Python, and this is another "
            "program: run it where it was given, or put its class in a file."
        )
    return everything[name]


@cache
def _from_parent() -> Mapping[str, tuple[Any, str]]:
    path = os.environ.get(_FILE)
    if path is None:
        return {}
    found: dict[str, tuple[Any, str]] = cloudpickle.loads(Path(path).read_bytes())
    return found


def importable_name(piece: type) -> str | None:
    """Return ``package.module:Class`` of a class that another process can import, the shortest."""
    module, name = piece.__module__, piece.__qualname__
    if getattr(sys.modules.get(module), name, None) is not piece or not _is_on_path(module):
        return None
    parts = module.split(".")
    for length in range(1, len(parts) + 1):
        place = ".".join(parts[:length])
        if getattr(sys.modules.get(place), name, None) is piece:
            return f"{place}:{name}"
    return None


def _is_on_path(module: str) -> bool:
    """Tell whether another process can import a module of this one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or file is None:
        return False
    # A module that was loaded from its file under another name is not found by its name.
    place = Path(file).parent / Path(file).name.partition(".")[0]
    place = place.parent if place.name == "__init__" else place
    folder = place.parents[module.count(".")]
    return place.parts[-1 - module.count(".") :] == tuple(module.split(".")) and any(
        Path(each or ".").resolve() == folder.resolve() for each in sys.path
    )


def hash_of(piece: Any) -> str:
    """Return a hash of what an object, or the objects of a class, will do."""
    digest = sha256()
    for fact in _facts(piece, set()):
        digest.update(f"{len(fact)}:{fact}".encode())
    return f"sha256:{digest.hexdigest()[:16]}"


def _facts(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    if isinstance(value, type | FunctionType | property | classmethod | staticmethod):
        seen.add(id(value))
    if isinstance(value, type):
        yield from _of_class(value, seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(value, classmethod | staticmethod):
        yield from _facts(value.__func__, seen)
    elif isinstance(value, property):
        for each in (value.fget, value.fset):
            yield from _facts(each, seen)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _facts(each, seen)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield repr(key)
            yield from _facts(value[key], seen)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        yield from _facts(type(value), seen)
        yield from _facts(value.get_params(deep=False), seen)
    else:
        yield _hash(value)


def _of_class(piece: type, seen: set[int]) -> Iterator[str]:
    yield piece.__qualname__
    if piece.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return
    if (name := importable_name(piece)) is not None:
        yield source_of(name)
        return
    for base in piece.__bases__:
        yield from _facts(base, seen)
    for key in sorted(set(vars(piece)) - _NO_CODE):
        yield key
        yield from _facts(vars(piece)[key], seen)


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield function.__qualname__
    if getattr(sys.modules.get(function.__module__), function.__qualname__, None) is function and (
        function.__module__ != "__main__"
    ):
        return
    yield from _of_code(function.__code__)
    yield from _facts([function.__defaults__, function.__kwdefaults__], seen)
    for cell in function.__closure__ or ():
        yield from _facts(cell.cell_contents, seen)
    for name in sorted(set(_globals_of(function.__code__))):
        if name in function.__globals__:
            yield name
            yield from _facts(function.__globals__[name], seen)


def _of_code(code: CodeType) -> Iterator[str]:
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _of_code(constant)
        elif isinstance(constant, frozenset):
            yield repr(sorted(map(repr, constant)))
        else:
            yield repr(constant)


def _globals_of(code: CodeType) -> Iterator[str]:
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            yield str(instruction.argval)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _globals_of(constant)


def _hash(value: Any) -> str:
    import joblib

    try:
        return str(joblib.hash(value))
    except Exception:  # what can't be pickled, such as a lock, is told by its kind
        return type(value).__qualname__
