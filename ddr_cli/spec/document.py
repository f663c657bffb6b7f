"""A YAML document whose keys and values know where they stand.

PyYAML alone forgets that, and keeps the last of two equal keys. Documents are bounded in size and
in the number of their values, so aliases that multiply are too.
"""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field
from typing import Any

import yaml

from ddr_cli.spec.nodes import (
    MAX_DEPTH,
    MAX_VALUES,
    TAG,
    UNPRINTABLE,
    compose,
    place_of_mark,
    place_of_offset,
    scalar_value,
)
from ddr_cli.spec.problems import KeyPath, Place, Problem, SpecError, dotted, shown

MAX_BYTES = 64 * 1024


@dataclass
class Document:
    """The values of a YAML document and where each of them stands.

    Parameters
    ----------
    source : str
        The file's name as shown in messages.
    data : Any
        Dictionaries, lists and scalars.
    places : dict
        For each path, where its key and where its value stand.
    problems : list of Problem
        Problems that don't keep the rest from being read: repeated keys.
    """

    source: str
    data: Any = None
    places: dict[KeyPath, tuple[Place, Place]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def place(self, path: KeyPath, *, key: bool = False) -> Place:
        """Return where the value (or the key) at `path` stands.

        A path that is not in the document stands where the mapping does that it should be in.
        """
        if path in self.places:
            return self.places[path][0 if key else 1]
        if not path:
            return Place((0, 1, 1), "")
        return self.place(path[:-1])

    def put(self, path: KeyPath, value: Any, place: Place) -> None:
        """Set the value at `path`, whose parent must be there, as if it stood at `place`."""
        self.remove(path)
        self._parent(path)[path[-1]] = value
        self.places[path] = (place, place)

    def open_up(self, path: KeyPath) -> None:
        """Turn the name at `path` into a mapping with that name."""
        key, place = self.places.get(path, (self.place(path),) * 2)
        self._parent(path)[path[-1]] = {"name": self._parent(path)[path[-1]]}
        self.places[(*path, "name")] = (key, place)

    def remove(self, path: KeyPath) -> None:
        """Take the value at `path` and its places away, if it is there."""
        self._parent(path).pop(path[-1], None)
        for known in [known for known in self.places if known[: len(path)] == path]:
            del self.places[known]

    def _parent(self, path: KeyPath) -> Any:
        parent = self.data
        for part in path[:-1]:
            parent = parent[part]
        return parent


def parse(raw: bytes, source: str) -> Document:
    """Read one YAML document.

    Parameters
    ----------
    raw : bytes
        UTF-8 text, with or without a byte-order mark.
    source : str
        What messages call it.

    Returns
    -------
    Document

    Raises
    ------
    InputError
        If it is not UTF-8, not YAML, more than one document, too large, or holds a value that a
        spec can't (an unknown tag, an infinite number, a key that is not text).
    """
    if len(raw) > MAX_BYTES:
        start = Place.in_file(source, 1, 1)
        raise SpecError([Problem(start, "", f"the file is larger than {MAX_BYTES} bytes.")], source)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        place = place_of_offset(raw[: error.start].decode("utf-8", "replace"), source)
        message = f"the byte 0x{raw[error.start]:02x} is not UTF-8 text; save the file as UTF-8."
        raise SpecError([Problem(place, "", message)], source) from None
    return _Builder(source).build(compose(text, source))


class _Builder:
    """Turns nodes into values, noting places; an alias is built anew wherever it is used."""

    def __init__(self, source: str) -> None:
        self.document = Document(source)
        self.fatal: list[Problem] = []
        self.count = 0

    def build(self, root: yaml.Node | None) -> Document:
        if root is not None:
            place = place_of_mark(root.start_mark, self.document.source)
            self.document.data = self._value(root, (), place)
        if self.fatal:
            raise SpecError([*self.fatal, *self.document.problems], self.document.source)
        return self.document

    def _value(self, node: yaml.Node, path: KeyPath, key: Place) -> Any:
        place = place_of_mark(node.start_mark, self.document.source)
        self._spend(place, path)
        self.document.places[path] = (key, place)
        if isinstance(node, yaml.MappingNode) and node.tag == f"{TAG}map":
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode) and node.tag == f"{TAG}seq":
            return [self._value(item, (*path, i), place) for i, item in enumerate(node.value)]
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node, path, place)
        return self._refuse(place, path, f"the tag {shown(node.tag)} is not supported here.")

    def _mapping(self, node: yaml.MappingNode, path: KeyPath) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merged: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            key = place_of_mark(key_node.start_mark, self.document.source)
            if key_node.tag == f"{TAG}merge":
                merged += self._sources_of_merge(value_node, path)
            elif not isinstance(key_node, yaml.ScalarNode) or key_node.tag != f"{TAG}str":
                self._refuse(key, path, "a key must be text; put it in quotes.")
            elif UNPRINTABLE.search(key_node.value):
                self._refuse(key, path, f"the key {shown(key_node.value)} can't be printed.")
            elif key_node.value in values:
                first = self.document.places[(*path, key_node.value)][0]
                _, line, column = first.order
                message = (
                    f"the key '{key_node.value}' is given twice; "
                    f"the first is at line {line}, column {column}."
                )
                repeated = Problem(key, dotted((*path, key_node.value)), message)
                self.document.problems.append(repeated)
            else:
                inner = (*path, key_node.value)
                values[key_node.value] = self._value(value_node, inner, key)
        for source in merged:
            for name, value in self._mapping(source, (*path, "<<")).items():
                if name not in values:
                    values[name] = value
                    self._adopt((*path, "<<", name), (*path, name))
        return values

    def _sources_of_merge(self, node: yaml.Node, path: KeyPath) -> list[yaml.MappingNode]:
        nodes = node.value if isinstance(node, yaml.SequenceNode) else [node]
        place = place_of_mark(node.start_mark, self.document.source)
        for _ in nodes:
            self._spend(place, (*path, "<<"))
        if all(isinstance(item, yaml.MappingNode) for item in nodes):
            return list(nodes)
        self._refuse(place, path, "'<<' takes a mapping, or a list of mappings.")
        return []

    def _adopt(self, old: KeyPath, new: KeyPath) -> None:
        for known in [known for known in self.document.places if known[: len(old)] == old]:
            self.document.places[new + known[len(old) :]] = self.document.places[known]

    def _scalar(self, node: yaml.ScalarNode, path: KeyPath, place: Place) -> Any:
        try:
            return scalar_value(node)
        except (ValueError, OverflowError) as error:
            return self._refuse(place, path, f"{shown(node.value)} {error}.")

    def _spend(self, place: Place, path: KeyPath) -> None:
        self.count += 1
        if self.count > MAX_VALUES or len(path) > MAX_DEPTH:
            message = "there are too many values, or an alias holds itself."
            raise SpecError([Problem(place, dotted(path), message)], self.document.source)

    def _refuse(self, place: Place, path: KeyPath, message: str) -> None:
        self.fatal.append(Problem(place, dotted(path), message))
