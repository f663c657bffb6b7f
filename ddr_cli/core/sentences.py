"""Turn pydantic's errors into sentences for a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.problems import KeyPath, shown

_WANTED: Mapping[str, str] = {
    "bool_parsing": "true or false",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "float_type": "a number",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "greater than or equal to {ge:g}",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "int_type": "a whole number",
    "less_than": "less than {lt:g}",
    "less_than_equal": "less than or equal to {le:g}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_attributes_type": "a mapping",
    "model_type": "a mapping",
    "multiple_of": "a multiple of {multiple_of:g}",
    "string_pattern_mismatch": "text that matches the pattern {pattern}",
    "string_too_short": "text, and not empty",
    "string_type": "text",
    "tuple_type": "a list",
    "union_tag_invalid": "one of {expected_tags}",
}
_WHOLE: Mapping[str, str] = {
    "too_long": "has {actual_length} values, but at most {max_length} are allowed.",
    "too_short": "needs {min_length} or more values, but has {actual_length}.",
    "union_tag_not_found": "needs the key {discriminator}.",
}


@dataclass(frozen=True)
class Sentence:
    """What is wrong with one field.

    Parameters
    ----------
    path : tuple
        Where the field is, from the top of what was checked.
    kind : {"unknown", "missing", "wrong"}
        Whether the key should not be there, is not there, or has a wrong value.
    text : str
        The sentence.
    """

    path: KeyPath
    kind: str
    text: str


def field_of(detail: ErrorDetails) -> KeyPath:
    """Return the path of the field of a flat model that an error is about."""
    return detail["loc"][:1]


def sentences(
    error: ValidationError,
    *,
    unknown: Callable[[str], str],
    missing: Callable[[str], str],
    path_of: Callable[[ErrorDetails], KeyPath] = field_of,
) -> Iterator[Sentence]:
    """Yield one sentence for each field that `error` is about.

    Parameters
    ----------
    error : ValidationError
        What pydantic found.
    unknown, missing : callable
        Say what an unknown key and a missing one mean, in a sentence.
    path_of : callable
        Tells the field that a detail of the error is about, which is not all of its location: the
        branch of a union is no key. By default that of a model whose fields are plain values, or
        unions of them.
    """
    by_path: dict[KeyPath, list[ErrorDetails]] = {}
    for detail in error.errors():
        if _is_echo(detail):
            continue
        by_path.setdefault(path_of(detail), []).append(detail)
    for path, details in by_path.items():
        name = next((part for part in reversed(path) if isinstance(part, str)), "")
        named = name if name.isidentifier() else f"'{name}'"
        match details[0]["type"]:
            case "extra_forbidden":
                yield Sentence(path, "unknown", unknown(name))
            case "missing" if path[-1:] == (name,):
                yield Sentence(path, "missing", missing(name))
            case "missing":
                yield Sentence(path, "wrong", f"{named} has too few values.")
            case _:
                yield Sentence(path, "wrong", _wrong_value(named, details))


def unknown_key(key: str, owner: str, known: Iterable[str]) -> str:
    """Say that `owner` takes no `key`, and which it takes.

    Examples
    --------
    >>> unknown_key("betta", "ccdr", ["n_components", "beta"])
    "ccdr has no 'betta'. Did you mean 'beta'?"
    >>> unknown_key("gamma", "ccdr", ["n_components", "beta"])
    "ccdr has no 'gamma'; it takes n_components, beta."
    """
    names = list(known)
    hint = did_you_mean(key, names)
    if hint:
        return f"{owner} has no '{key}'.{hint}"
    takes = f"it takes {', '.join(names)}" if names else "it takes nothing"
    return f"{owner} has no '{key}'; {takes}."


def no_mapping(value: object, owner: str, keys: Iterable[str]) -> str:
    """Say that a file holds no mapping with `keys`, which `owner` is.

    Examples
    --------
    >>> no_mapping(["a"], "a card", ["name", "title"])
    'a card is a mapping with the keys name, title, but this file holds a list.'
    """
    what = "is empty" if value is None else f"holds {shown(value)}"
    return f"{owner} is a mapping with the keys {', '.join(keys)}, but this file {what}."


def _is_echo(detail: ErrorDetails) -> bool:
    """Return whether a list is called too short only because its items are wrong."""
    return detail["type"] == "too_short" and len(detail["input"]) >= detail["ctx"]["min_length"]


def _wrong_value(name: str, details: list[ErrorDetails]) -> str:
    for detail in details:
        reason = detail.get("ctx", {}).get("error")
        if reason is not None:
            return _finished(str(reason))
    whole = _WHOLE.get(details[0]["type"])
    if whole is not None:
        return f"{name} {whole.format(**details[0]['ctx'])}"
    value = details[0]["input"]
    if details[0]["type"] == "union_tag_invalid":
        name = f"the {details[0]['ctx']['discriminator']} of {name}".replace("'", "")
        value = details[0]["ctx"]["tag"]
    wanted = list(dict.fromkeys(_wanted(detail) for detail in details))
    if "a number" in wanted and "a whole number" in wanted:
        wanted.remove("a whole number")
    hint = ""
    if isinstance(value, str):
        words = [word for text in wanted for word in re.findall(r"'([^']*)'", text)]
        hint = did_you_mean(value, words)
    return f"{name} must be {' or '.join(wanted)}, but is {shown(value)}.{hint}"


def _wanted(detail: ErrorDetails) -> str:
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] in _WANTED:
        return _WANTED[detail["type"]].format(**context)
    return re.sub(r"^\w+ should (be|have) (a valid )?", "", detail["msg"])


def _finished(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."
