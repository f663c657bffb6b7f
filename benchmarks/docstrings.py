"""Check the docstrings of what users import with numpydoc, and print each fault.

`make lint` runs this script. A method without a docstring inherits that of its base class, as in
`help`. pyproject.toml lists the codes that are ignored, each with its reason.
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
from ddr_cli.data import Card

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("ddr_cli", "ddr_cli.data", "ddr_cli.numerics", "ddr_cli.reducers")
KINDS = ("classifier", "measure", "preprocessor")
"""Kinds of components whose registered classes users import from `ddr_cli.evaluation`."""


class Inherited(Validator):
    """numpydoc's validator, which also sees inherited docstrings of methods."""

    def __init__(self, obj_name: str) -> None:
        super().__init__(get_doc_object(Validator._load_obj(obj_name)))
        self.raw_doc = self.raw_doc or f"{inspect.getdoc(self.obj) or ''}\n"


def public_objects() -> Iterator[Any]:
    """Yield the classes and functions that users import."""
    for package in map(import_module, PACKAGES):
        for name in dir(package):
            value = getattr(package, name)
            is_object = inspect.isclass(value) or inspect.isroutine(value)
            # The generated reference of cards describes their fields.
            if is_object and not name.startswith("_") and value is not Card:
                yield value
    for kind in KINDS:
        yield from (entry.load() for entry in components(kind, "ddr_cli.evaluation"))


def public_names() -> set[str]:
    """Return the full names of these objects and of the methods that `ddr` defines."""
    names = set()
    for each in public_objects():
        names.add(f"{each.__module__}.{each.__qualname__}")
        for name, kind, home, _ in (
            inspect.classify_class_attrs(each) if inspect.isclass(each) else ()
        ):
            # scikit-learn generates methods such as set_fit_request.
            is_ours = home.__module__.startswith("ddr_cli") and not name.endswith("_request")
            if is_ours and kind != "data" and not name.startswith("_"):
                names.add(f"{home.__module__}.{home.__qualname__}.{name}")
    return names


def main() -> int:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    accepted = settings["tool"]["numpydoc_validation"]["checks"]
    names = public_names()
    faults = [
        f"{name}: {code} {message}"
        for name in sorted(names)
        for code, message in validate(name, Inherited)["errors"]
        if code not in accepted
    ]
    print(*faults, f"{len(names)} docstrings, {len(faults)} faults", sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
