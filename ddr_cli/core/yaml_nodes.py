"""YAML text becomes nodes and scalars values, by the core schema of YAML 1.2; values become text.

PyYAML alone reads ``1e-3`` as text, ``no`` as false and ``12:30`` as a number. Text is bounded in
depth and in the number of its values, and PyYAML's errors become sentences.
"""

from __future__ import annotations

import math
import re
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import yaml

from ddr_cli.core.problems import DocumentError, Place, Problem, shown

TAG = "tag:yaml.org,2002:"
# Text that can't be printed, written to a file or used in a path.
UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_LARGEST_INTEGER = 2**63 - 1

Resolvers = dict[str, list[tuple[str, re.Pattern[str]]]]


def _core_schema() -> Resolvers:
    resolvers: Resolvers = {}
    for name, pattern, first in (
        ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
        ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
        ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", list("-+0123456789")),
        (
            "float",
            r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
            r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
            list("-+.0123456789"),
        ),
        ("merge", r"<<", ["<"]),
    ):
        for character in first:
            resolver = (TAG + name, re.compile(rf"^(?:{pattern})$"))
            resolvers.setdefault(character, []).append(resolver)
    return resolvers


_CORE_SCHEMA = _core_schema()

if TYPE_CHECKING:
    _Fast = yaml.SafeLoader
else:
    # The parser in C is several times as fast, where PyYAML was built with it.
    _Fast = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Bounded(yaml.composer.Composer):
    """Composes nodes of the core schema, as many and as deep as is allowed."""

    yaml_implicit_resolvers = _CORE_SCHEMA
    _depth = 0
    _count = 0

    def root(self, max_values: int, max_depth: int) -> yaml.Node | None:
        self._max_values = max_values
        self._max_depth = max_depth
        return self.get_single_node()

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        self._depth += 1
        self._count += 1
        too_deep = self._depth > self._max_depth
        if too_deep or self._count > self._max_values:
            bound = f"{self._max_depth} levels" if too_deep else f"{self._max_values} values"
            mark = self.peek_event().start_mark  # type: ignore[attr-defined] # the parser's
            raise yaml.composer.ComposerError(None, None, f"it has more than {bound}", mark)
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


class _Loader(_Bounded, yaml.SafeLoader):
    pass


class _FastLoader(_Bounded, _Fast):
    def __init__(self, text: str) -> None:
        _Bounded.__init__(self)
        _Fast.__init__(self, text)


def compose(text: str, source: str, *, max_values: int, max_depth: int) -> yaml.Node | None:
    """Return the root node of a text's one document, None if it is empty.

    Parameters
    ----------
    text : str
        The document.
    source : str
        What messages call it.
    max_values, max_depth : int
        How many nodes it may have, and how deep they may lie.

    Raises
    ------
    DocumentError
        If it is not YAML, more than one document, or too large.
    """
    with suppress(yaml.YAMLError, ValueError, OverflowError):
        return _FastLoader(text).root(max_values, max_depth)
    # The parser in Python says better what is wrong. What both accept they read alike.
    return _compose_or_explain(text, source, max_values, max_depth)


def _compose_or_explain(
    text: str, source: str, max_values: int, max_depth: int
) -> yaml.Node | None:
    loader = None
    try:
        loader = _Loader(text)
        return loader.root(max_values, max_depth)
    except yaml.reader.ReaderError as error:
        place = place_of_offset(text[: error.position], source)
        message = f"the character U+{ord(text[error.position]):04X} is not allowed in YAML."
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = place_of_mark(mark, source)
        message = _yaml_message(error, text[mark.index : mark.index + 1] if mark else "")
    except (ValueError, OverflowError):
        # PyYAML turns an escape such as "\UFFFFFFFF" into a character without looking.
        place = place_of_mark(loader.get_mark() if loader else None, source)
        message = "this is not valid YAML: an escape names no character."
    raise DocumentError([Problem(place, "", message)], source)


def _yaml_message(error: yaml.MarkedYAMLError, character: str) -> str:
    if character == "\t":
        return "a tab stands here; YAML is indented with spaces."
    if error.problem == "but found another document":
        return "a second document starts here; a file holds one."
    context = ""
    if error.context and error.context_mark:
        context = f" {error.context} (line {error.context_mark.line + 1}):"
    return f"this is not valid YAML:{context} {error.problem}."


def place_of_mark(mark: Any, source: str) -> Place:
    """Return the place of PyYAML's mark, or the start where there is none."""
    return (
        Place.in_file(source, mark.line + 1, mark.column + 1)
        if mark
        else Place.in_file(source, 1, 1)
    )


def place_of_offset(before: str, source: str) -> Place:
    """Return the place that comes after the text `before`."""
    return Place.in_file(source, before.count("\n") + 1, len(before) - before.rfind("\n"))


def scalar_value(node: yaml.ScalarNode) -> Any:
    """Return what a scalar means in YAML 1.2.

    Raises
    ------
    ValueError
        If no document may hold it: an infinite number, a tag of its own, text that can't be
        printed. The message continues a sentence that begins with the text.
    """
    text: str = node.value
    match node.tag.removeprefix(TAG):
        case "str":
            if UNPRINTABLE.search(text):
                raise ValueError("holds a character that can't be printed")
            return text
        case "null":
            return None
        case "bool" if text.lower() in ("true", "false"):
            return text.lower() == "true"
        case "int":
            return _integer(text)
        case "float":
            return _number(text)
        case "merge":
            return text
    raise ValueError(f"has the tag {shown(node.tag)}, which is not supported here")


def _integer(text: str) -> int:
    base = {"0o": 8, "0x": 16}.get(text[:2], 10)
    try:
        value = int(text, base)
    except ValueError:
        raise ValueError("is not a whole number") from None
    if abs(value) > _LARGEST_INTEGER:
        raise ValueError("is too large a number")
    return value


def _number(text: str) -> float:
    try:
        value = float(re.sub(r"\.(inf|nan)", r"\1", text, flags=re.IGNORECASE))
    except ValueError:
        raise ValueError("is not a number") from None
    if not math.isfinite(value):
        raise ValueError("is not a finite number")
    return value


class _Dumper(yaml.SafeDumper):
    """Puts text in quotes that YAML 1.1 or YAML 1.2 takes for something else."""


for _first, _resolvers in _CORE_SCHEMA.items():
    for _tag, _pattern in _resolvers:
        _Dumper.add_implicit_resolver(_tag, _pattern, [_first])


def dump(value: Any) -> str:
    """Return mappings, lists and scalars as YAML that reads as the same values.

    Examples
    --------
    >>> print(dump({"title": "1e5", "size": 3}), end="")
    title: '1e5'
    size: 3
    """
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return text
