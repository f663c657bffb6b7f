"""Texts in CSV files that a spreadsheet would run as formulas."""

from __future__ import annotations

import re
from typing import TypeVar

_T = TypeVar("_T")

# OWASP's "CSV Injection" lists these signs; East Asian spreadsheets accept full-width ones, too.
_SIGNS = (
    "=+@\N{FULLWIDTH EQUALS SIGN}\N{FULLWIDTH PLUS SIGN}"
    "\N{FULLWIDTH COMMERCIAL AT}\N{FULLWIDTH HYPHEN-MINUS}-"
)
_FORMULA = re.compile(rf"'*(?:[\t\r\n]|\s*[{_SIGNS}])")
_ONE = r"[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|inf|nan)"
_NUMBERS = re.compile(rf"{_ONE}(?: to {_ONE})?", re.IGNORECASE)


def as_cell(value: _T) -> _T | str:
    """Return a value as a cell, with an apostrophe before a text that starts a formula.

    >>> as_cell("=1+1"), as_cell("-2 to 3"), as_cell(-2)
    ("'=1+1", '-2 to 3', -2)
    """
    return f"'{value}" if isinstance(value, str) and _begins_formula(value) else value


def from_cell(text: str) -> str:
    """Return the text from which `as_cell` made a cell."""
    return text[1:] if text.startswith("'") and _begins_formula(text[1:]) else text


def _begins_formula(text: str) -> bool:
    return _FORMULA.match(text) is not None and not _NUMBERS.fullmatch(text)
