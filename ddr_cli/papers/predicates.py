"""The predicates that a part of a claim may use, as data; `ddr_cli.verdicts.claims` tests them.

Thresholds come from the glossary, one for all papers; places and values, from the paper's sentence.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt
from pydantic import model_validator

from ddr_cli.core.validation import Frozen


class _Base(Frozen):
    needs_grid: ClassVar[bool] = False
    compares: ClassVar[bool] = False


class _OnGrid(_Base):
    needs_grid: ClassVar[bool] = True


class LevelAt(_OnGrid):
    """The value at `at` is within `tolerance` of `value`."""

    name: Literal["level_at"]
    at: float
    value: float
    tolerance: Annotated[float, Gt(0)]


class BelowAt(_OnGrid):
    """The value at `at` is below `value`."""

    name: Literal["below_at"]
    at: float
    value: float


class _Range(_OnGrid):
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _low_is_below_high(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"'low' is above 'high': {self.low:g} and {self.high:g}")
        return self


class MinimumIn(_OnGrid):
    """The smallest value of the series is at a place from `low` to `high`, both included."""

    name: Literal["minimum_in"]
    low: float
    high: float


class FlatIn(_Range):
    """From `low` to `high` (both included) the series varies by at most `tolerance`."""

    name: Literal["flat_in"]
    tolerance: Annotated[float, Gt(0)]


class StaysWithin(_OnGrid):
    """The series stays between `low - slack` and `high + slack` over a long enough range.

    The range is the longest run of neighbouring grid places inside the band, and its last place
    is at least `span` times its first.
    """

    name: Literal["stays_within"]
    low: float
    high: float
    slack: Annotated[float, Ge(0)] = 0.0
    span: Annotated[float, Gt(1)]


class RisesTowards(_OnGrid):
    """The series is higher at the `end` of its grid than at `start`, by at least `at_least`."""

    name: Literal["rises_towards"]
    end: Literal["low", "high"]
    start: float
    at_least: Annotated[float, Ge(0)] = 0.0


class RelativeGain(_Base):
    """The value is below the one it is compared with by at least this share of that one."""

    name: Literal["relative_gain"]
    at_least: Annotated[float, Gt(0)]
    compares: ClassVar[bool] = True


class Ahead(_Base):
    """The value is ahead of the one it is compared with, in the metric's direction."""

    name: Literal["ahead"]
    at_least: Annotated[float, Ge(0)] = 0.0
    compares: ClassVar[bool] = True


class NotBehind(_Base):
    """The value is behind the one it is compared with by at most `tolerance`, or ahead of it."""

    name: Literal["not_behind"]
    tolerance: Annotated[float, Gt(0)]
    compares: ClassVar[bool] = True


class AheadAlong(_Range):
    """From `low` to `high` the series is ahead of the one it is compared with.

    It is, in the metric's direction, at every place that both have, and by at least `at_least` on
    average. What it is compared with may also be one row without the parameter, which then counts
    everywhere.
    """

    name: Literal["ahead_along"]
    at_least: Annotated[float, Ge(0)] = 0.0
    compares: ClassVar[bool] = True


class AtLeastValue(_Base):
    """The value is at least `value`; an error rate, at most one less `value`."""

    name: Literal["at_least_value"]
    value: float


class AtMostValue(_Base):
    """The value is at most `value`."""

    name: Literal["at_most_value"]
    value: float


class WithinOf(_Base):
    """The value and the one it is compared with differ by at most `tolerance`."""

    name: Literal["within_of"]
    tolerance: Annotated[float, Gt(0)]
    compares: ClassVar[bool] = True


class Faster(_Base):
    """Its fits take at most one `times`-th of the CPU time of those it is compared with."""

    name: Literal["faster"]
    times: Annotated[float, Gt(1)]
    compares: ClassVar[bool] = True


Predicate = (
    LevelAt
    | BelowAt
    | MinimumIn
    | FlatIn
    | StaysWithin
    | RisesTowards
    | RelativeGain
    | Ahead
    | NotBehind
    | AheadAlong
    | AtLeastValue
    | AtMostValue
    | WithinOf
    | Faster
)
