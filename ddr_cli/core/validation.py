"""Documents checked against pydantic models; every problem is a sentence with its position."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import (
    MOST_PROBLEMS,
    Document,
    DocumentError,
    KeyPath,
    as_clause,
    value_text,
)

_EXPECTED: Mapping[str, str] = {
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
    "string_too_short": "non-empty text",
    "string_type": "text",
    "tuple_type": "a list",
    "union_tag_invalid": "one of {expected_tags}",
}
_LENGTHS: Mapping[str, str] = {
    "too_long": "has {actual_length} values, but at most {max_length} are allowed.",
    "too_short": "needs {min_length} or more values, but has {actual_length}.",
    "union_tag_not_found": "needs the key {discriminator}.",
}


class Frozen(BaseModel):
    """An immutable record that accepts no unknown key."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def validated(document: Document, model: type[Model], owner: str, context: object = None) -> Model:
    """Return the content of a document as a model; `owner` names the document, such as "a card".

    Raises DocumentError with every problem of the document. The model's validators see `context`.
    """
    problems = list(document.problems)
    if not isinstance(document.data, dict):
        required = [name for name, info in model.model_fields.items() if info.is_required()]
        raise not_a_mapping(document, required)
    try:
        checked = model.model_validate(document.data, context=context)
    except ValidationError as error:
        problems += [
            document.problem(path, text, key=is_key)
            for path, text, is_key in islice(
                _explained(error, document.data, model, owner), MOST_PROBLEMS
            )
        ]
    else:
        if not problems:
            return checked
    raise DocumentError(problems, document.source)


def not_a_mapping(document: Document, keys: Iterable[str]) -> DocumentError:
    """Return the error of a document that is not a mapping."""
    what = "is empty" if document.data is None else f"holds {value_text(document.data)}"
    message = f"expected a mapping with the keys {', '.join(keys)}; the file {what}."
    return DocumentError([document.problem((), message)], document.source)


def problem_at(path: KeyPath, message: str, *, key: bool = False) -> InitErrorDetails:
    """Return a problem with the value (or the key) at a path below the validated value."""
    problem = PydanticCustomError("wrong_key" if key else "wrong", "{text}", {"text": message})
    return InitErrorDetails(type=problem, loc=path, input=None)


def error_at(path: KeyPath, message: str) -> ValidationError:
    """Return the error, to raise in a validator, for one problem with the value at a path."""
    return ValidationError.from_exception_data("", [problem_at(path, message)])


def refuse(problems: Iterable[InitErrorDetails]) -> None:
    """Raise these problems, if there are any, from within a validator."""
    if found := list(problems):
        raise ValidationError.from_exception_data("", found)


@contextmanager
def as_problem() -> Iterator[None]:
    """Turn an error in the block, inside a validator, into a problem of the validated value."""
    try:
        yield
    except DocumentError as error:
        refuse(problem_at((), str(problem)) for problem in error.problems)
    except (InputError, OSError, RuntimeError) as error:
        raise ValueError(as_clause(error)) from None


def field_problems(
    error: ValidationError, owner: str, known: Iterable[str]
) -> Iterator[tuple[KeyPath, str, bool]]:
    """Yield the field of each problem of a flat model, a sentence, and whether the key is wrong."""
    for field, details in _grouped((detail["loc"][:1], detail) for detail in error.errors()):
        yield _problem(field, details, owner, known)


def unknown_key(key: str, owner: str, known: Iterable[str]) -> str:
    """Return a sentence that `owner` has no `key`, and the keys that it has.

    >>> unknown_key("betta", "ccdr", ["n_components", "beta"])
    "ccdr has no 'betta'. Did you mean 'beta'?"
    >>> unknown_key("gamma", "ccdr", ["n_components", "beta"])
    "ccdr has no 'gamma'; ccdr takes n_components, beta."
    """
    names = list(known)
    hint = did_you_mean(key, names)
    return f"{owner} has no '{key}'" + (
        f".{hint}" if hint else f"; {owner} takes {', '.join(names) or 'nothing'}."
    )


def _explained(
    error: ValidationError, data: Any, model: type[BaseModel], owner: str
) -> Iterator[tuple[KeyPath, str, bool]]:
    """Yield the path of each problem, its sentence, and whether the key is wrong."""
    standard: list[tuple[KeyPath, ErrorDetails]] = []
    for detail in error.errors():
        path = _path_of(detail, data, model)
        kind, context = detail["type"], detail.get("ctx", {})
        if kind in ("wrong", "wrong_key"):
            yield path, context["text"], kind == "wrong_key"
        # Two kinds of errors only follow from other errors: a default that depends on a wrong
        # value, and a list that pydantic calls too short because its items are wrong.
        elif kind == "default_factory_not_called":
            continue
        elif kind != "too_short" or len(detail["input"]) < context["min_length"]:
            standard.append((path, detail))
    for path, details in _grouped(standard):
        whose = path[-2] if len(path) > 1 else owner
        if isinstance(whose, int):
            whose = f"an item of {path[-3]}"
        yield _problem(path, details, whose, _keys_at(model, path[:-1]))


def _grouped(
    located: Iterable[tuple[KeyPath, ErrorDetails]],
) -> Iterable[tuple[KeyPath, list[ErrorDetails]]]:
    """Return the problems by path; each branch of a union reports a problem in its own way."""
    by_path: dict[KeyPath, list[ErrorDetails]] = {}
    for path, detail in located:
        by_path.setdefault(path, []).append(detail)
    return by_path.items()


def _problem(
    path: KeyPath, details: list[ErrorDetails], owner: str, known: Iterable[str]
) -> tuple[KeyPath, str, bool]:
    key = next((part for part in reversed(path) if isinstance(part, str)), "")
    if details[0]["type"] in ("extra_forbidden", "unexpected_keyword_argument"):
        return path, unknown_key(key, owner, known), True
    if details[0]["type"] in ("missing", "missing_keyword_only_argument") and path[-1] == key:
        return path, f"{owner} needs {key}.", False
    return path, sentence(key if key.isidentifier() else f"'{key}'", details), False


def _path_of(detail: ErrorDetails, value: Any, model: type[BaseModel]) -> KeyPath:
    """Return an error's location without branches of unions and names of models."""
    path: KeyPath = ()
    for i, part in enumerate(detail["loc"], start=1):
        if isinstance(value, dict):
            known = part in value or (i == len(detail["loc"]) and part in _keys_at(model, path))
            value = value.get(part, value)
        else:
            known = isinstance(value, list) and part in range(len(value))
            value = value[part] if known else value
            known = known or (detail["type"] == "missing" and i == len(detail["loc"]))
        if known:
            path = (*path, part)
    return path


def _keys_at(model: type[BaseModel], path: KeyPath) -> list[str]:
    """Return the keys that the model at a path accepts; for a union, those of all members."""
    models = [model]
    for part in path:
        inner = [m.model_fields[part].annotation for m in models if part in m.model_fields]
        models = [found for annotation in inner for found in _models_in(annotation)] or models
    return list(dict.fromkeys(key for found in models for key in found.model_fields))


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [found for part in get_args(annotation) for found in _models_in(part)]


def sentence(name: str, details: list[ErrorDetails]) -> str:
    """Return the problem with the value called `name`; each branch of a union has its detail."""
    for detail in details:
        reason = detail.get("ctx", {}).get("error")
        if reason is not None:
            text = str(reason)
            return text if text.endswith((".", "?")) else f"{text}."
    first = details[0]
    if first["type"] == "missing":
        return f"{name} has too few values."
    if first["type"] in _LENGTHS:
        return f"{name} {_LENGTHS[first['type']].format(**first['ctx'])}"
    value = first["input"]
    if first["type"] == "union_tag_invalid":
        name = f"the {first['ctx']['discriminator']} of {name}".replace("'", "")
        value = first["ctx"]["tag"]
    expected = list(dict.fromkeys(_expected(detail) for detail in details))
    if "a number" in expected and "a whole number" in expected:
        expected.remove("a whole number")
    hint = ""
    if isinstance(value, str):
        words = [word for text in expected for word in re.findall(r"'([^']*)'", text)]
        hint = did_you_mean(value, words)
    return f"{name} must be {' or '.join(expected)}, but is {value_text(value)}.{hint}"


def _expected(detail: ErrorDetails) -> str:
    if detail["type"] in _EXPECTED:
        return _EXPECTED[detail["type"]].format(**detail.get("ctx", {}))
    return re.sub(r"^\w+ should (be|have) (a valid )?", "", detail["msg"])
