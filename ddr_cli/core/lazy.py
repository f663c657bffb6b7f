"""Imports on demand: names of our packages, and modules of others."""

from __future__ import annotations

import ast
import itertools
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from pathlib import Path
from types import ModuleType
from typing import Any


def lazy_names(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that imports names on first use.

    The package imports these names under ``if TYPE_CHECKING:`` in its `file`, which this function
    reads, so that each name is listed once. A name must differ from all module names, because
    importing such a module would replace it.
    """
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    blocks = [node.body for node in tree.body if isinstance(node, ast.If)]
    home = {
        alias.name: node.module
        for node in itertools.chain.from_iterable(blocks)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def get(name: str) -> Any:
        if name not in home:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(home[name]), name)

    return get, lambda: sorted(home)


def load_when_used(*modules: str) -> None:
    """Load modules when one of their names is first used, not when they are imported.

    This speeds up the start of a program: other packages import libraries that only some of their
    functions need.
    """
    sys.meta_path.insert(0, _Deferring(modules))


@contextmanager
def as_if_missing(module: str) -> Iterator[None]:
    """Make imports of a module fail within the block, unless it is already loaded.

    This is for libraries that other packages import only if they are installed.
    """
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # as the import system has it
    try:
        yield
    finally:
        del sys.modules[module]


class _Deferring:
    def __init__(self, modules: Iterable[str]) -> None:
        self._modules = set(modules)

    def find_spec(
        self, name: str, path: Any = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in self._modules else None
        if spec is not None and (loader := spec.loader) is not None:
            if name == "pandas":
                # Without pyarrow, pandas loads faster and selects from columns of text faster; it
                # can still read Parquet files.
                execute = as_if_missing("pyarrow")(loader.exec_module)
                loader.exec_module = execute  # type: ignore[method-assign]
            spec.loader = LazyLoader(loader)
        return spec
