"""Read YAML into documents that record the position of each value; write values as YAML.

PyYAML's parser gives the events. Its own loader would lose the positions, keep the last of two
equal keys and follow YAML 1.1, which reads ``1e-3`` as text and ``no`` as false; here the core
schema of YAML 1.2 defines the type of a scalar. Size, depth and the number of values are limited.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any, NoReturn

import yaml

from ddr_cli.core.errors import InputError, unreadable
from ddr_cli.core.positions import (
    MOST_PROBLEMS,
    Document,
    DocumentError,
    KeyPath,
    Place,
    Problem,
    dotted,
    value_text,
)

MAX_BYTES = 2**20
MAX_VALUES = 50_000
MAX_DEPTH = 20
_LARGEST_INTEGER = 2**63 - 1

# Characters that can't be printed, written to a file or used in a path.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_CORE_SCHEMA = {
    "null": re.compile(r"^(?:~|null|Null|NULL|)$"),
    "bool": re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"),
    "int": re.compile(r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$"),
    "float": re.compile(
        r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
        r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    ),
}
# PyYAML's C parser, which some builds lack, is several times as fast.
_FAST_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_document(path: Path, *, name: Callable[[KeyPath], str] = dotted) -> Document:
    """Return the YAML document in a file; messages name it by its relative path.

    Raises InputError if the file can't be read, and DocumentError as `parse` does.
    """
    return parse(*read_text(path), name=name)


def read_text(path: Path) -> tuple[bytes, str]:
    """Return the content of a file, up to the size limit of `parse`, and its name in messages."""
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise unreadable(path, error) from None
    here = Path.cwd()
    return raw, str(path.relative_to(here) if path.is_relative_to(here) else path)


def parse(raw: bytes, source: str, *, name: Callable[[KeyPath], str] = dotted) -> Document:
    """Return one YAML document of UTF-8 text; see `Document` for `source` and `name`.

    Raises DocumentError if it is not UTF-8, not YAML, more than one document, too large, or
    contains something that is not allowed: a tag, an infinite number, a key that is not text.
    """
    if len(raw) > MAX_BYTES:
        raise _error(source, (0, 0), f"the file is larger than {MAX_BYTES} bytes.")
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        before = raw[: error.start].decode("utf-8", "replace")
        message = f"the byte 0x{raw[error.start]:02x} is not UTF-8 text; save the file as UTF-8."
        raise _error(source, _end_of(before), message) from None
    if wrong := yaml.reader.Reader.NON_PRINTABLE.search(text):
        message = f"the character U+{ord(wrong[0]):04X} is not allowed in YAML."
        raise _error(source, _end_of(text[: wrong.start()]), message)
    # If the C parser fails, the Python parser may still succeed, or else gives a better message.
    for loader in (_FAST_LOADER, yaml.SafeLoader):
        try:
            return _Builder(Document(source, name=name), text, loader).document
        except (yaml.YAMLError, ValueError, OverflowError) as error:
            # The Python parser passes escapes to chr() unchecked: "\UFFFFFFFF" raises an
            # OverflowError, "\U00110000" a ValueError.
            failure = error
    mark = getattr(failure, "problem_mark", None) or getattr(failure, "context_mark", None)
    at = (mark.line, mark.column) if mark else (0, 0)
    if mark and text[mark.index : mark.index + 1] == "\t":
        raise _error(source, at, "a tab is not allowed here; indent YAML with spaces.")
    reason = getattr(failure, "problem", None) or failure
    if context := getattr(failure, "context", None):
        reason = f"{context}: {reason}"
    raise _error(source, at, f"this is not valid YAML: {reason}.")


def parse_value(text: str) -> Any:
    """Return the value of a word on the command line: ``-1`` a number, ``[a, b]`` a list.

    Raises InputError, whose message is a clause without a position, if it is not a value.
    """
    try:
        document = parse(text.encode("utf-8", "backslashreplace"), "")
        problems = document.problems
    except DocumentError as error:
        problems = error.problems
    if problems:
        raise InputError(" ".join(problem.message for problem in problems))
    return document.data


def _error(source: str, at: tuple[int, int], message: str) -> DocumentError:
    return DocumentError([Problem(_place(source, *at), "", message)], source)


def _place(source: str, line: int, column: int) -> Place:
    """Return the position of a line and column that are counted from 0, as in PyYAML."""
    return Place((0, line + 1, column + 1), f"{source}:{line + 1}:{column + 1}")


def _end_of(text: str) -> tuple[int, int]:
    return text.count("\n"), len(text.rpartition("\n")[2])


class _Builder:
    """Turns the events of one document into values, and records the position of each."""

    def __init__(self, document: Document, text: str, loader: Any) -> None:
        self.document = document
        self.events: Iterator[Any] = yaml.parse(text, Loader=loader)
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.count = 0
        for event in self.events:
            if isinstance(event, yaml.DocumentStartEvent):
                if () in document.places:
                    self.refuse(
                        event,
                        (),
                        "a second document starts here, but a file can have only one document.",
                    )
                first = next(self.events)
                document.data = self.value(first, (), self.place(first))

    def place(self, event: Any) -> Place:
        mark = event.start_mark
        return _place(self.document.source, mark.line, mark.column)

    def refuse(self, event: Any, path: KeyPath, message: str) -> NoReturn:
        place, name = self.place(event), self.document.name(path)
        raise DocumentError([Problem(place, name, message)], self.document.source)

    def value(self, event: Any, path: KeyPath, key: Place) -> Any:
        """Return the value that begins with `event`; its key is at the position `key`."""
        start = self.count
        self.count += 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in self.anchors:
                self.refuse(event, path, f"the anchor '&{event.anchor}' is not defined above.")
            value, size = self.anchors[event.anchor]
            # Count the size before copying the value: aliases of aliases can grow exponentially.
            self.count += size
        if self.count > MAX_VALUES or len(path) > MAX_DEPTH:
            limit = f"{MAX_VALUES} values" if self.count > MAX_VALUES else f"{MAX_DEPTH} levels"
            self.refuse(event, path, f"a file can have at most {limit}.")
        self.document.places[path] = (key, self.place(event))
        if isinstance(event, yaml.AliasEvent):
            return deepcopy(value)
        if event.tag is not None and event.tag != "!":
            self.refuse(event, path, f"the tag {value_text(event.tag)} is not supported here.")
        if isinstance(event, yaml.MappingStartEvent):
            value = self.mapping(path)
        elif isinstance(event, yaml.SequenceStartEvent):
            value = []
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                value.append(self.value(item, (*path, len(value)), self.place(item)))
        else:
            value = self.scalar(event, path)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, self.count - start)
        return value

    def mapping(self, path: KeyPath) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            place = self.place(event)
            # A key that is a number or a boolean becomes text: `1: red soil` has the key "1".
            if not isinstance(event, yaml.ScalarEvent) or self.scalar(event, path) is None:
                self.refuse(event, path, "a key must be text; put it in quotes.")
            inner = (*path, event.value)
            if event.value not in found:
                found[event.value] = self.value(next(self.events), inner, place)
                continue
            _, line, column = self.document.places[inner][0].order
            message = (
                f"the key '{event.value}' is given twice; the first is at line {line}, "
                f"column {column}."
            )
            self.document.problems.append(Problem(place, self.document.name(inner), message))
            if len(self.document.problems) >= MOST_PROBLEMS:
                raise DocumentError(self.document.problems, self.document.source)
            # The first value counts; the second is read to find where it ends.
            self.value(next(self.events), (*inner, "again"), place)
        return found

    def scalar(self, event: Any, path: KeyPath) -> Any:
        """Return the value of a scalar in YAML 1.2; in quotes, it is text."""
        text: str = event.value
        if _UNPRINTABLE.search(text):
            self.refuse(
                event, path, f"{value_text(text)} contains a character that can't be printed."
            )
        kind = next((k for k, form in _CORE_SCHEMA.items() if form.match(text)), "str")
        if kind == "str" or not event.implicit[0]:
            return text
        if kind in ("null", "bool"):
            return None if kind == "null" else text.lower() == "true"
        if kind == "int":
            base = {"0o": 8, "0x": 16}.get(text[:2], 10)
            value = int(text, base) if len(text) < 30 else math.inf
            if abs(value) > _LARGEST_INTEGER:
                self.refuse(event, path, f"{value_text(text)} is too large for a number.")
            return value
        number = math.inf if text[-1] in "fFnN" else float(text)
        if not math.isfinite(number):
            self.refuse(event, path, f"{value_text(text)} is not a finite number.")
        return number


class _Dumper(yaml.SafeDumper):
    """Puts text in quotes that YAML 1.1 or YAML 1.2 would read as another type."""


for _kind, _form in _CORE_SCHEMA.items():
    _Dumper.add_implicit_resolver(f"tag:yaml.org,2002:{_kind}", _form, None)


def dump(value: Any) -> str:
    """Return mappings, lists and scalars as YAML that is read back as the same values.

    >>> print(dump({"title": "1e5", "size": 3}), end="")
    title: '1e5'
    size: 3
    """
    return _dumped(value, width=100)


def flow(value: Any) -> str:
    """Return mappings, lists and scalars as YAML on one line.

    >>> flow({"name": "lfda", "reg": 0.0, "mode": "null", "gamma": None})
    "{name: lfda, reg: 0.0, mode: 'null', gamma: null}"
    >>> flow("no")
    "'no'"
    """
    text = _dumped(value, width=math.inf, default_flow_style=True)
    return text.removesuffix("...\n").strip()


def _dumped(value: Any, **style: Any) -> str:
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, **style)
    return text
