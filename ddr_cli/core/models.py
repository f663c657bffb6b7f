"""Documents checked against pydantic models: every problem at once, each with its place."""

from __future__ import annotations

from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from ddr_cli.core.document import Document
from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.problems import DocumentError, KeyPath, Problem, dotted
from ddr_cli.core.sentences import no_mapping, sentences


class Frozen(BaseModel):
    """A record that takes no unknown key and never changes."""

    model_config = ConfigDict(extra="forbid", frozen=True)


Model = TypeVar("Model", bound=BaseModel)


def validated(document: Document, model: type[Model], owner: str) -> Model:
    """Return what a document holds as a model.

    Parameters
    ----------
    document : Document
        What was read.
    model : type
        A pydantic model, which may hold others.
    owner : str
        What such a document is called, in a sentence: "a card".

    Raises
    ------
    DocumentError
        With every problem of the document.
    """
    problems = list(document.problems)
    if not isinstance(document.data, dict):
        required = [name for name, info in model.model_fields.items() if info.is_required()]
        message = no_mapping(document.data, owner, required)
        raise DocumentError([Problem(document.place(()), "", message)], document.source)
    try:
        checked = model.model_validate(document.data)
    except ValidationError as error:
        problems += _explained(error, document, model)
    else:
        if not problems:
            return checked
    raise DocumentError(problems, document.source)


def _explained(error: ValidationError, document: Document, model: type[BaseModel]) -> list[Problem]:
    found = sentences(
        error,
        unknown=lambda key: f"there is no key '{key}' here.{did_you_mean(key, _all_keys(model))}",
        missing=lambda key: f"the key '{key}' is missing.",
        path_of=lambda detail: _path_of(detail, document),
    )
    return [
        Problem(document.place(item.path, key=item.kind == "unknown"), dotted(item.path), item.text)
        for item in found
    ]


def _path_of(detail: ErrorDetails, document: Document) -> KeyPath:
    """Return an error's location without what is no key: branches of unions, models' names."""
    path: KeyPath = ()
    value: Any = document.data
    for i, part in enumerate(detail["loc"], start=1):
        known = isinstance(value, dict) and part in value
        known = known or (isinstance(value, list) and part in range(len(value)))
        if known:
            value = value[part]
        if known or (detail["type"] == "missing" and i == len(detail["loc"])):
            path = (*path, part)
    return path


def _all_keys(model: type[BaseModel]) -> list[str]:
    """Return the keys of a model and of all models in it."""
    schema = model.model_json_schema()
    parts = (schema, *schema.get("$defs", {}).values())
    return sorted({key for part in parts for key in part.get("properties", {})})
