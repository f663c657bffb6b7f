"""Components that a spec names by their code, or that a notebook gives as objects.

A spec names a class ``./mine.py:MyMethod`` or ``package.module:Class``. Loading it runs its code
with all the user's rights, so code that did not come with this program is loaded only if the user
trusts it (see `trust`). The scikit-learn classes of `ddr_cli.core.sklearn_names` need no trust. A
worker process may load what its parent process may load.

A class of a notebook, or an object that a spec can't express, is called ``python:MyMethod``; worker
processes get a copy. Its versions are distinguished by a hash of its source, including the
functions, classes and values of the notebook that it uses, or by its attribute `version`.
"""

from __future__ import annotations

import copy
import inspect
import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from importlib import import_module, metadata, util
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from platformdirs import user_state_path

from ddr_cli.core.errors import InputError, did_you_mean, unreadable
from ddr_cli.core.sklearn_names import LISTED, is_of_sklearn

GIVEN = "python"
GIVEN_FILE = "DDR_GIVEN_CODE"
_OF_EVERY_CLASS = {
    *("__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__"),
    *("__firstlineno__", "__static_attributes__", "__annotate__", "__annotate_func__"),
    *("__annotations_cache__", "__abstractmethods__", "_abc_impl"),
}
_trusted: set[str] = set()
_runs_here = False
_offered: dict[str, tuple[Any, str]] = {}


class UntrustedCodeError(InputError):
    """A component is named by code that the user has not trusted; `source` identifies the code."""

    def __init__(self, message: str, source: str) -> None:
        super().__init__(message)
        self.source = source


def is_code(name: str) -> bool:
    """Return whether a component is named by its code and not by its name in a registry."""
    return ":" in name


def located(name: str, base: Path | None) -> str:
    """Return a component's name with the absolute path of its file; specs have relative paths."""
    place, _, attribute = name.rpartition(":")
    if not place.endswith(".py"):
        return name
    return f"{((base or Path()) / Path(place).expanduser()).resolve()}:{attribute}"


def display_name(name: str) -> str:
    """Return a component's name without the folder of its file.

    >>> display_name("/home/me/mine.py:MyMethod"), display_name("sklearn.svm:SVC")
    ('./mine.py:MyMethod', 'sklearn.svm:SVC')
    """
    place, colon, attribute = name.rpartition(":")
    return f"./{Path(place).name}:{attribute}" if colon and place.endswith(".py") else name


def class_name(name: str) -> str:
    """Return the label of a component: the name of its class if it is named by its code."""
    return name.rpartition(":")[2]


def source_of(name: str) -> str:
    """Return a text that changes with a component's code: a hash, or its package's version."""
    place, _, attribute = name.rpartition(":")
    if place == GIVEN:
        return _given(attribute)[1]
    if place.endswith(".py"):
        return "sha256:" + sha256(_read(Path(place))).hexdigest()[:16]
    top = place.partition(".")[0]
    for distribution in _distributions().get(top, ()):
        return f"{distribution} {metadata.version(distribution)}"
    found = _find(place)
    return "sha256:" + sha256(_read(Path(found))).hexdigest()[:16] if found else place


def load_code(name: str) -> Any:
    """Import a component that is named by its code; an `InputError` states why this failed.

    This always requires the user's trust, also when the name comes from someone else's result
    folder.
    """
    require_trust(name)
    place, _, attribute = name.rpartition(":")
    if place == GIVEN:
        return _given(attribute)[0]
    try:
        module = _from_file(Path(place)) if place.endswith(".py") else import_module(place)
    except InputError:
        raise
    except (Exception, SystemExit) as error:
        raise InputError(
            f"{display_name(name)} can't be imported: {_told(error, place)}."
        ) from error
    if not hasattr(module, attribute):
        known = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and value.__module__.startswith(module.__name__)
        ]
        raise InputError(
            f"{display_name(name).rpartition(':')[0]} has no class '{attribute}'."
            f"{did_you_mean(attribute, known)} Its classes: {', '.join(known) or 'none'}."
        )
    piece = getattr(module, attribute)
    if not callable(piece):
        raise InputError(f"{display_name(name)} is not a class but {piece!r}.")
    return piece


def require_trust(name: str) -> None:
    """Raise UntrustedCodeError if the user has not trusted this component's code."""
    if name in LISTED or name.partition(":")[0] == GIVEN or is_trusted(source := source_of(name)):
        return
    what = (
        "is not on ddr's list of scikit-learn classes that only fit arrays"
        if is_of_sklearn(name)
        else "is code that doesn't come with ddr"
    )
    raise UntrustedCodeError(
        f"{display_name(name)} {what}. The code runs with all your permissions: inspect it, "
        "then use --trust.",
        source,
    )


def is_trusted(source: str) -> bool:
    """Return whether the user trusts this source, or all code."""
    return "*" in _trusted or source in _trusted or source in _remembered()


def trust(source: str = "*", *, remember: bool = False) -> None:
    """Trust a source, or all code that specs name in this process."""
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


def is_foreign(name: str) -> bool:
    """Return whether a component's code runs in a sealed process, and not in this one."""
    place, _, attribute = name.rpartition(":")
    known = is_of_sklearn(name) or (place == GIVEN and attribute in _offered)
    return not (_runs_here or known)


@contextmanager
def in_this_process() -> Iterator[None]:
    """Run foreign code in this process in the block."""
    global _runs_here
    before, _runs_here = _runs_here, True
    try:
        yield
    finally:
        _runs_here = before


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
        raise unreadable(path, error) from None


def _from_file(path: Path) -> ModuleType:
    content = _read(path)
    # The hash of the content is part of the name, so an edited file becomes a new module.
    name = f"ddr_own_{path.stem}_{sha256(os.fsencode(path) + content).hexdigest()[:16]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is not a Python file.")
    module = util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _told(error: BaseException, place: str) -> str:
    """Return an error with the line of the user's own file that raised it."""
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


# -- objects of the running program -------------------------------------------------------------


def copies_of(original: Any) -> Callable[[], Any]:
    """Return a factory of copies of an object with parameters that a spec can't express."""

    def make() -> Any:
        return copy.deepcopy(original)

    make.__name__ = type(original).__name__
    for name in dir(type(original)):
        # The rest of ddr asks a factory, as it asks a class, which methods its objects have.
        if not name.startswith("_") and hasattr(original, name):
            setattr(make, name, None)
    return make


def offer(factory: Any, source: str) -> str:
    """Return the name under which a spec finds a class, or copies of an object, by its hash."""
    name, module = factory.__name__, sys.modules.get(factory.__module__)
    if module is not None and isinstance(factory, type) and not _is_on_path(factory.__module__):
        import cloudpickle

        cloudpickle.register_pickle_by_value(module)
    if _offered.get(name, ("", source))[1] != source:
        name = f"{name}_{source.rpartition(':')[2][:6]}"
    _offered[name] = factory, source
    return f"{GIVEN}:{name}"


@contextmanager
def offering() -> Iterator[Callable[[], None]]:
    """Forget at the end of the block the components passed in it; new processes receive them.

    They read a file that an environment variable names.
    """
    with tempfile.TemporaryDirectory(prefix="ddr-given-") as folder:

        def send() -> None:
            import cloudpickle

            path = Path(folder) / "pieces"
            try:
                path.write_bytes(cloudpickle.dumps(_offered))
            except Exception as error:  # an object may hold anything, such as an open file
                names = ", ".join(_offered)
                raise InputError(
                    f"{names} can't be copied to the worker processes "
                    f"({type(error).__name__}: {error}); put the class in a file."
                ) from error
            os.environ[GIVEN_FILE] = str(path)

        try:
            yield send
        finally:
            _offered.clear()
            os.environ.pop(GIVEN_FILE, None)


def _given(name: str) -> tuple[Any, str]:
    """Return the component with this name, and its hash."""
    everything = _offered if name in _offered else _from_parent()
    if name not in everything:
        raise InputError(
            f"{GIVEN}:{name} is an object of another Python process; put its class in a file."
        )
    return everything[name]


@cache
def _from_parent() -> Mapping[str, tuple[Any, str]]:
    path = os.environ.get(GIVEN_FILE)
    if path is None:
        return {}
    import cloudpickle

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
    """Return whether another process can import a module of this one."""
    file = getattr(sys.modules.get(module), "__file__", None)
    if module == "__main__" or file is None:
        return False
    # Another process can't find a module that was loaded from its file under another name.
    place = Path(file).parent / Path(file).name.partition(".")[0]
    place = place.parent if place.name == "__init__" else place
    folder = place.parents[module.count(".")]
    return place.parts[-1 - module.count(".") :] == tuple(module.split(".")) and any(
        Path(each or ".").resolve() == folder.resolve() for each in sys.path
    )


def hash_of(piece: Any) -> str:
    """Return a hash of the source of a class or an object, and of what it uses.

    Raises an `InputError` if the source can't be found.
    """
    digest = sha256()
    for fact in _facts(piece, set()):
        digest.update(f"{len(fact)}:{fact}".encode())
    return f"sha256:{digest.hexdigest()[:16]}"


def _facts(value: Any, seen: set[int]) -> Iterator[str]:
    if id(value) in seen:
        return
    if isinstance(value, type | FunctionType):
        seen.add(id(value))
    if isinstance(value, type):
        yield from _of_class(value, seen)
    elif isinstance(value, FunctionType):
        yield from _of_function(value, seen)
    elif isinstance(value, classmethod | staticmethod):
        yield from _facts(value.__func__, seen)
    elif isinstance(value, property):
        yield from _facts([value.fget, value.fset], seen)
    elif isinstance(value, ModuleType):
        yield value.__name__
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _facts(each, seen)
    elif isinstance(value, dict):
        for key in sorted(value, key=repr):
            yield repr(key)
            yield from _facts(value[key], seen)
    elif hasattr(value, "get_params"):
        yield from _facts([type(value), value.get_params(deep=False)], seen)
    else:
        yield _value_hash(value)


def _of_class(piece: type, seen: set[int]) -> Iterator[str]:
    yield piece.__qualname__
    if piece.__module__.partition(".")[0] in sys.stdlib_module_names - {"__main__"}:
        return
    if (name := importable_name(piece)) is not None:
        yield source_of(name)
    elif isinstance(vars(piece).get("version"), int | str):
        yield f"version {piece.version}"  # type: ignore[attr-defined]
    else:
        # Hash the class by its members: Python finds the source of a notebook's functions, but not
        # of its classes.
        yield from _facts(piece.__bases__, seen)
        for key in sorted(vars(piece).keys() - _OF_EVERY_CLASS):
            yield key
            yield from _facts(vars(piece)[key], seen)


def _of_function(function: FunctionType, seen: set[int]) -> Iterator[str]:
    yield function.__qualname__
    module = sys.modules.get(function.__module__)
    if getattr(module, function.__qualname__, None) is function and (
        function.__module__ != "__main__"
    ):
        return
    try:
        yield inspect.getsource(function)
    except OSError:
        raise InputError(
            f"The source code of {function.__qualname__} can't be read; put the class in a file."
        ) from None
    known = function.__globals__
    used = {name: known[name] for name in _names(function.__code__) & known.keys()}
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    yield from _facts([function.__defaults__, function.__kwdefaults__, cells, used], seen)


def _names(code: CodeType) -> set[str]:
    inner = (_names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _value_hash(value: Any) -> str:
    import joblib

    try:
        return str(joblib.hash(value))
    except Exception:  # a value that can't be pickled, such as a lock, counts by its type
        return type(value).__qualname__
