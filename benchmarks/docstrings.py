"""Check the docstrings of what users import with numpydoc; print each fault.

`make lint` runs it. A method without a docstring of its own has that of its base class, as in
`help`. The accepted codes are in pyproject.toml, each with its reason.
"""

from __future__ import annotations

import inspect
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

from ddr_cli.core.registry import components

ROOT = Path(__file__).resolve().parents[1]
COMPONENTS = {
    "reducer": "ddr_cli.reducers",
    "classifier": "ddr_cli.evaluation",
    "measure": "ddr_cli.evaluation",
    "preprocessor": "ddr_cli.evaluation",
}
OTHERS = ("ddr_cli", "ddr_cli.data", "ddr_cli.numerics")
"""Packages whose names are all public; in those of `COMPONENTS` the registered classes are."""


class Inherited(Validator):
    """numpydoc's validator, which also sees the docstring that a method inherits."""

    def __init__(self, obj_name: str) -> None:
        super().__init__(get_doc_object(Validator._load_obj(obj_name)))
        self.raw_doc = self.raw_doc or inspect.getdoc(self.obj) or ""


def public_names() -> Iterator[str]:
    """Yield the full name of each public class and function, and of the classes' own methods."""
    found: list[Any] = [
        entry.load() for kind, package in COMPONENTS.items() for entry in components(kind, package)
    ]
    for package in map(import_module, OTHERS):
        names = [name for name in dir(package) if not name.startswith("_")]
        values = (getattr(package, name) for name in names)
        found += [value for value in values if inspect.isclass(value) or inspect.isroutine(value)]
    for each in found:
        yield f"{each.__module__}.{each.__qualname__}"
        for name, kind, home, _ in inspect.classify_class_attrs(each) if inspect.isclass(each) else ():
            if kind != "data" and not name.startswith("_") and home.__module__.startswith("ddr_cli"):
                yield f"{home.__module__}.{home.__qualname__}.{name}"


def main() -> int:
    """Print the faults; return 1 if there is one."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    accepted = settings["tool"]["numpydoc_validation"]["checks"]
    names = sorted(set(public_names()))
    faults = [
        f"{name}: {code} {message}"
        for name in names
        for code, message in validate(name, Inherited)["errors"]
        if code not in accepted
    ]
    print(*faults, f"{len(names)} docstrings, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
