"""What the papers' words mean in numbers, the same for all of them: ``glossary.yaml``."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Annotated

from annotated_types import Ge, Gt
from pydantic import Field

from ddr_cli.core.validation import Frozen, validated
from ddr_cli.core.yaml_loader import read_document

GLOSSARY = Path(__file__).with_name("glossary.yaml")


class NumberRule(Frozen):
    """When a printed number is reproduced; `trivial` is how far above one class is no merit."""

    rate_tolerance: Annotated[float, Gt(0)]
    dimension_tolerance: Annotated[float, Gt(0)]
    trivial: Annotated[float, Ge(0)]
    means: str
    fixed: datetime
    was: str | None = None


class Term(Frozen):
    """A word with the predicate and the thresholds that it stands for, and when these were fixed.

    `was` says what its thresholds were before, if they ever changed.
    """

    predicate: str
    set: dict[str, float] = Field(default_factory=dict)
    means: str
    fixed: datetime
    was: str | None = None


class Glossary(Frozen):
    """The words of all papers; `seen` is when the first result of a spec was seen."""

    numbers: NumberRule
    terms: dict[str, Term]
    seen: dict[str, datetime]


@cache
def glossary() -> Glossary:
    """Return the glossary."""
    return validated(read_document(GLOSSARY), Glossary, "the glossary")
