"""Read YAML into documents whose keys and values know where they stand.

PyYAML alone forgets that, and keeps the last of two equal keys. Documents are bounded in size and
in the number of their values, so aliases that multiply are too.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml

from ddr_cli.core.document import Document, Rules
from ddr_cli.core.errors import InputError
from ddr_cli.core.problems import DocumentError, KeyPath, Place, Problem, shown
from ddr_cli.core.yaml_nodes import (
    TAG,
    UNPRINTABLE,
    compose,
    place_of_mark,
    place_of_offset,
    scalar_value,
)

_DEFAULT = Rules()


def read_document(path: Path, rules: Rules = _DEFAULT) -> Document:
    """Read the YAML document in a file.

    Parameters
    ----------
    path : Path
        The file; messages call it by its path from the current folder, if it is below that.
    rules : Rules, optional
        What it may hold.

    Raises
    ------
    InputError
        If the file can't be read; as a `DocumentError`, as `parse` does.
    """
    try:
        with path.open("rb") as file:
            raw = file.read(rules.max_bytes + 1)
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}.") from None
    here = Path.cwd()
    return parse(raw, str(path.relative_to(here) if path.is_relative_to(here) else path), rules)


def parse(raw: bytes, source: str, rules: Rules = _DEFAULT) -> Document:
    """Read one YAML document.

    Parameters
    ----------
    raw : bytes
        UTF-8 text, with or without a byte-order mark.
    source : str
        What messages call it.
    rules : Rules, optional
        What it may hold.

    Raises
    ------
    DocumentError
        If it is not UTF-8, not YAML, more than one document, too large, or holds a value that is
        not allowed (an unknown tag, an infinite number, a key that is not text).
    """
    if len(raw) > rules.max_bytes:
        message = f"the file is larger than {rules.max_bytes} bytes."
        raise DocumentError([Problem(Place.in_file(source, 1, 1), "", message)], source)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = place_of_offset(raw[: error.start].decode("utf-8", "replace"), source)
        message = f"the byte 0x{raw[error.start]:02x} is not UTF-8 text; save the file as UTF-8."
        raise DocumentError([Problem(place, "", message)], source) from None
    root = compose(text, source, max_values=rules.max_values, max_depth=rules.max_depth)
    return _Builder(source, rules).build(root)


def parse_value(text: str) -> Any:
    """Return what a word of the command line means: ``-1`` a number, ``[a, b]`` a list.

    Raises
    ------
    InputError
        If it is no value; the message is a clause that says why, with no place.
    """
    try:
        document = parse(text.encode("utf-8", "backslashreplace"), "")
    except DocumentError as error:
        problems: Sequence[Problem] = error.problems
    else:
        if not document.problems:
            return document.data
        problems = document.problems
    raise InputError(" ".join(problem.message for problem in problems))


_Pair = tuple[str, Place, yaml.Node]


class _Builder:
    """Turns nodes into values, noting places; an alias is built anew wherever it is used."""

    def __init__(self, source: str, rules: Rules) -> None:
        self.document = Document(source)
        self.rules = rules
        self.fatal: list[Problem] = []
        self.count = 0
        numbers = (f"{TAG}int", f"{TAG}float", f"{TAG}bool") if rules.any_key else ()
        self._key_tags = {f"{TAG}str", *numbers}

    def build(self, root: yaml.Node | None) -> Document:
        if root is not None:
            self.document.data = self._value(root, (), self._place(root))
        if self.fatal:
            raise DocumentError([*self.fatal, *self.document.problems], self.document.source)
        return self.document

    def _value(self, node: yaml.Node, path: KeyPath, key: Place) -> Any:
        place = self._place(node)
        self._spend(place, path, len(path))
        self.document.places[path] = (key, place)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{TAG}map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
            items = enumerate(node.value)
            return [self._value(item, (*path, i), self._place(item)) for i, item in items]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path, place)
        return self._refuse(place, path, f"the tag {shown(node.tag)} is not supported here.")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        return {
            name: self._value(value_node, (*path, name), key)
            for name, key, value_node in self._pairs(node, path, len(path))
        }

    def _pairs(self, node: yaml.MappingNode, path: KeyPath, depth: int) -> Iterator[_Pair]:
        """Yield a mapping's own pairs, then those merged into it that it has not itself."""
        first: dict[str, Place] = {}
        merged: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            place = self._place(key_node)
            if depth > len(path):
                self._spend(place, path, depth)
            if key_node.tag == f"{TAG}merge":
                merged += self._sources_of_merge(value_node, path, depth)
                continue
            name = self._key(key_node, place, path)
            if name in first:
                self._note_repeated((*path, name), place, first[name])
            elif name is not None:
                first[name] = place
                yield name, place, value_node
        for source in merged:
            for name, place, value_node in self._pairs(source, path, depth + 1):
                if name not in first:
                    first[name] = place
                    yield name, place, value_node

    def _key(self, node: yaml.Node, place: Place, path: KeyPath) -> str | None:
        if not isinstance(node, yaml.ScalarNode) or node.tag not in self._key_tags:
            self._refuse(place, path, "a key must be text; put it in quotes.")
            return None
        if UNPRINTABLE.search(node.value):
            self._refuse(place, path, f"the key {shown(node.value)} can't be printed.")
            return None
        return str(node.value)

    def _note_repeated(self, path: KeyPath, place: Place, first: Place) -> None:
        _, line, column = first.order
        message = (
            f"the key '{path[-1]}' is given twice; the first is at line {line}, column {column}."
        )
        self.document.problems.append(Problem(place, self.rules.name(path), message))

    def _sources_of_merge(
        self, node: yaml.Node, path: KeyPath, depth: int
    ) -> list[yaml.MappingNode]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        place = self._place(node)
        for _ in nodes:
            self._spend(place, path, depth + 1)
        if all(isinstance(item, yaml.MappingNode) for item in nodes):
            return list(nodes)
        self._refuse(place, path, "'<<' takes a mapping, or a list of mappings.")
        return []

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath, place: Place) -> Any:
        try:
            return scalar_value(node)
        except (ValueError, OverflowError) as error:
            return self._refuse(place, path, f"{shown(node.value)} {error}.")

    def _place(self, node: yaml.Node) -> Place:
        return place_of_mark(node.start_mark, self.document.source)

    def _spend(self, place: Place, path: KeyPath, depth: int) -> None:
        self.count += 1
        if self.count > self.rules.max_values or depth > self.rules.max_depth:
            message = "there are too many values, or an alias holds itself."
            problem = Problem(place, self.rules.name(path), message)
            raise DocumentError([problem], self.document.source)

    def _refuse(self, place: Place, path: KeyPath, message: str) -> None:
        self.fatal.append(Problem(place, self.rules.name(path), message))
