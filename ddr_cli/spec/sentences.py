"""Turn pydantic's errors into sentences for a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from ddr_cli.core.errors import did_you_mean
from ddr_cli.spec.problems import shown

_WANTED: Mapping[str, str] = {
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "greater than {gt:g}",
    "greater_than_equal": "greater than or equal to {ge:g}",
    "int_type": "a whole number",
    "less_than": "less than {lt:g}",
    "less_than_equal": "less than or equal to {le:g}",
    "list_type": "a list",
    "literal_error": "{expected}",
    "model_type": "a mapping",
    "multiple_of": "a multiple of {multiple_of:g}",
    "string_too_short": "text, and not empty",
    "string_type": "text",
    "tuple_type": "a list",
}


@dataclass(frozen=True)
class Sentence:
    """What is wrong with one field.

    Parameters
    ----------
    field : str
        Its name.
    kind : {"unknown", "missing", "wrong"}
        Whether the key should not be there, is not there, or has a wrong value.
    text : str
        The sentence.
    """

    field: str
    kind: str
    text: str


def sentences(
    error: ValidationError, *, unknown: Callable[[str], str], missing: Callable[[str], str]
) -> Iterator[Sentence]:
    """Yield one sentence for each field that `error` is about.

    Parameters
    ----------
    error : ValidationError
        Of a model whose fields are plain values, or unions of them.
    unknown, missing : callable
        Say what an unknown key and a missing one mean, in a sentence.
    """
    by_field: dict[str, list[ErrorDetails]] = {}
    for detail in error.errors():
        by_field.setdefault(str(detail["loc"][0]), []).append(detail)
    for field, details in by_field.items():
        match details[0]["type"]:
            case "extra_forbidden":
                yield Sentence(field, "unknown", unknown(field))
            case "missing":
                yield Sentence(field, "missing", missing(field))
            case _:
                yield Sentence(field, "wrong", _wrong_value(field, details))


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


def _wrong_value(field: str, details: list[ErrorDetails]) -> str:
    for detail in details:
        reason = detail.get("ctx", {}).get("error")
        if reason is not None:
            return _finished(str(reason))
    value = details[0]["input"]
    wanted = list(dict.fromkeys(_wanted(detail) for detail in details))
    if "a number" in wanted and "a whole number" in wanted:
        wanted.remove("a whole number")
    hint = ""
    if isinstance(value, str):
        words = [word for text in wanted for word in re.findall(r"'([^']*)'", text)]
        hint = did_you_mean(value, words)
    return f"{field} must be {' or '.join(wanted)}, but is {shown(value)}.{hint}"


def _wanted(detail: ErrorDetails) -> str:
    context: dict[str, Any] = detail.get("ctx", {})
    if detail["type"] in _WANTED:
        return _WANTED[detail["type"]].format(**context)
    return re.sub(r"^Input should (be|have) (a valid )?", "", detail["msg"])


def _finished(text: str) -> str:
    return text if text.endswith((".", "?")) else f"{text}."
