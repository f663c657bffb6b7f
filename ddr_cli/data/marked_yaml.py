"""YAML with positions: every value's file, line and column, and no repeated keys.

PyYAML alone reads ``1e-3`` as text and ``no`` as false, and keeps the last of two equal keys; this
reader does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    _Base = yaml.SafeLoader
else:
    # The parser in C, ten times as fast, where PyYAML was built with it.
    _Base = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_Base):
    """SafeLoader with YAML 1.2's core scalars."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012 (PyYAML's own declaration)


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?(?:0|[1-9][0-9]*)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?|[-+]?[0-9]+[eE][-+]?[0-9]+",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_name}", re.compile(rf"^(?:{_pattern})$"), _first
    )


@dataclass(frozen=True)
class MarkedYaml:
    """The content of a YAML file and where each part of it stands.

    Parameters
    ----------
    path : Path
        The file.
    value : object
        Its content as Python's own types.
    """

    path: Path
    value: Any
    _root: yaml.Node | None

    def where(self, location: Sequence[str | int] = ()) -> str:
        """Return ``file:line:column`` of the deepest part of `location` that is in the file.

        Parameters
        ----------
        location : sequence of str or int
            Keys and list positions from the top, as in pydantic's errors. What is no key there
            (pydantic names the branch of a union) is passed over.
        """
        node, mark = self._root, self._root.start_mark if self._root else None
        for part in location:
            found = _child(node, part)
            if found is not None:
                node, mark = found
        if mark is None:
            return f"{self.path}:1:1"
        return f"{self.path}:{mark.line + 1}:{mark.column + 1}"


def read_marked_yaml(path: Path) -> MarkedYaml:
    """Read a YAML file.

    Raises
    ------
    InputError
        If it can't be read, is not YAML, repeats a key or uses an alias (which can multiply).
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{path}: can't be read: {reason}.") from None
    loader = _Loader(text)
    try:
        root = loader.get_single_node()
        problems = [
            f"{path}:{node.start_mark.line + 1}:{node.start_mark.column + 1}: {problem}"
            for node, problem in _problems(root, set())
        ]
        value = loader.construct_document(root) if root is not None and not problems else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        place = f":{mark.line + 1}:{mark.column + 1}" if mark else ""
        problem = getattr(error, "problem", None) or str(error)
        raise InputError(f"{path}{place}: not valid YAML: {problem}.") from None
    finally:
        loader.dispose()
    if problems:
        raise InputError("\n".join(problems))
    return MarkedYaml(path, value, root)


def parse_value(text: str) -> Any:
    """Return what a word of the command line means: ``-1`` a number, ``[a, b]`` a list, ...

    Raises
    ------
    InputError
        If it is not YAML.
    """
    loader = _Loader(text)
    try:
        return loader.get_single_data()
    except yaml.YAMLError:
        raise InputError(
            f"'{text}' is not a value as YAML writes it; put text in quotes."
        ) from None
    finally:
        loader.dispose()


def _child(node: yaml.Node | None, part: str | int) -> tuple[yaml.Node, yaml.Mark] | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == str(part):
                return value, key.start_mark
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        child = node.value[part]
        return child, child.start_mark
    return None


def _problems(node: yaml.Node | None, seen: set[int]) -> Iterator[tuple[yaml.Node, str]]:
    if node is None:
        return
    if id(node) in seen:
        yield node, "an alias repeats this; write it out where it is wanted."
        return
    seen.add(id(node))
    if isinstance(node, yaml.SequenceNode):
        for child in node.value:
            yield from _problems(child, seen)
    elif isinstance(node, yaml.MappingNode):
        keys = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in keys:
                    yield key, f"the key '{key.value}' is here a second time; keep one."
                keys.add(key.value)
            yield from _problems(value, seen)
