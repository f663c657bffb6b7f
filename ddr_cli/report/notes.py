"""The papers' numbers and ratings for the figure of a run; loads no drawing library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class QuotedNumber:
    """A number that a paper prints, drawn as a star next to our row that it is compared with.

    `value` is in the metric's unit, `text` is the label (``paper: 8.6 %``); `at` is the value of
    the swept parameter that the paper gives, None if it is the row's.
    """

    row: int
    value: float
    text: str
    at: float | None = None


@dataclass(frozen=True)
class Notes:
    """The papers' numbers and ratings for a run, for its figure.

    `marks` has, by a method's label, the properties that it preserves according to the table of
    ratings and to our results.
    """

    quoted: Sequence[QuotedNumber] = ()
    marks: Mapping[str, str] = field(default_factory=dict)


NO_NOTES = Notes()
