"""Read the parts of a document into models, collecting every problem on the way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from ddr_cli.core.document import Document
from ddr_cli.core.problems import DocumentError, KeyPath, Problem, shown
from ddr_cli.core.sentences import sentences, unknown_key
from ddr_cli.spec.rules import setting

Model = TypeVar("Model", bound=BaseModel)


class Reader:
    """A document and the problems found in it so far.

    Parameters
    ----------
    document : Document
        What is read. The reader changes it only where told to.
    """

    def __init__(self, document: Document) -> None:
        self.document = document
        self.problems = list(document.problems)

    def problem(self, path: KeyPath, message: str, *, key: bool = False) -> None:
        """Note a problem with the value at `path`, or with its key."""
        place = self.document.place(path, key=key)
        self.problems.append(Problem(place, setting(path), message))

    def explain(
        self,
        error: ValidationError,
        path: KeyPath,
        *,
        unknown: Callable[[str], str],
        missing: Callable[[str], str],
    ) -> None:
        """Note one problem for each field of the mapping at `path` that `error` is about."""
        for sentence in sentences(error, unknown=unknown, missing=missing):
            inner = (*path, *sentence.path)
            self.problem(inner, sentence.text, key=sentence.kind == "unknown")

    def model(
        self, path: KeyPath, model: type[Model], values: Mapping[str, Any], owner: str
    ) -> Model | None:
        """Return `values` as a model, or None after noting what is wrong with them.

        Parameters
        ----------
        path : tuple
            Where the values stand.
        model : type
            A pydantic model.
        values : mapping
            The fields.
        owner : str
            What the fields belong to, in a sentence: "the split".
        """
        known = list(model.model_fields)
        try:
            return model(**values)
        except ValidationError as error:
            self.explain(
                error,
                path,
                unknown=lambda key: unknown_key(key, owner, known),
                missing=lambda key: f"{owner} needs {key}.",
            )
            return None

    def mapping(self, path: KeyPath, value: Any, owner: str) -> dict[str, Any] | None:
        """Return a value that must be a mapping, or None after noting that it is none."""
        if isinstance(value, dict):
            return value
        self.problem(path, f"{owner} must be a mapping, but is {shown(value)}.")
        return None

    def error(self) -> DocumentError:
        """Return all problems as one error."""
        return DocumentError(self.problems, self.document.source)
