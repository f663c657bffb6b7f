"""The predicates that a claim may use, as data; `ddr_cli.verdicts.claims` holds their tests.

The thresholds stand in the paper's file, set before any run and the same for every method.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from ddr_cli.core.validation import Frozen


class _Base(Frozen):
    needs_grid: ClassVar[bool] = False
    compares: ClassVar[bool] = False


class _OnGrid(_Base):
    needs_grid: ClassVar[bool] = True


class ValueNear(_OnGrid):
    """The value at `at` is within `tolerance` of `value`, or better."""

    name: Literal["value_near"]
    at: float
    value: float
    tolerance: Annotated[float, Gt(0)] = 0.01


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


class BetterThan(_Base):
    """The value is better than the one it is compared with, in the metric's direction."""

    name: Literal["better_than"]
    at_least: Annotated[float, Ge(0)] = 0.0
    compares: ClassVar[bool] = True


class BetterAlong(_Range):
    """From `low` to `high` the series is better than the one it is compared with.

    It is by at least `at_least`, in the metric's direction, at no less than the share `share` of
    the places that both have. What it is compared with may also be one row without the parameter,
    which then counts everywhere.
    """

    name: Literal["better_along"]
    share: Annotated[float, Gt(0), Le(1)] = 1.0
    at_least: Annotated[float, Ge(0)] = 0.0
    compares: ClassVar[bool] = True


class AtLeastValue(_Base):
    """The value is `value` or better, in the metric's direction."""

    name: Literal["at_least_value"]
    value: float


class WithinOf(_Base):
    """The value and the one it is compared with differ by at most `tolerance`."""

    name: Literal["within_of"]
    tolerance: Annotated[float, Gt(0)]
    compares: ClassVar[bool] = True


Predicate = (
    ValueNear
    | BelowAt
    | MinimumIn
    | FlatIn
    | StaysWithin
    | RisesTowards
    | RelativeGain
    | BetterThan
    | BetterAlong
    | AtLeastValue
    | WithinOf
)
