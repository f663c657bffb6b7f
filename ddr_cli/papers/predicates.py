"""The predicates that a sub-claim may use, each with its test on our rows.

Thresholds come from the glossary, one for all papers; grid values and levels come from the claim
itself. A test returns whether the means meet the predicate, the numbers in words, and the p-value
of the intervals: one minus the level of the widest interval that meets the predicate throughout.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Literal, Self

import numpy as np
from annotated_types import Ge, Gt
from pydantic import model_validator

from ddr_cli.comparison.names import plain
from ddr_cli.core.validation import Frozen
from ddr_cli.papers.questions import EXACT, Outcome, UnansweredError

if TYPE_CHECKING:
    from ddr_cli.comparison.summary import Row
    from ddr_cli.papers.part_view import PartView, Series


class Predicate(Frozen):
    """A statement about our results; a call tests it for one view of the sub-claim."""

    @abstractmethod
    def __call__(self, view: PartView) -> Outcome: ...


class OnGrid(Predicate):
    """A statement about a series of rows along a parameter."""


class Compares(Predicate):
    """A statement about a row, or a series, in comparison with another one."""


class _Range(OnGrid):
    low: float | None = None
    high: float | None = None

    @model_validator(mode="after")
    def _low_is_below_high(self) -> Self:
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"'low' is above 'high': {self.low:g} and {self.high:g}")
        return self


# -- one row --------------------------------------------------------------------------------------


class AtLeastValue(Predicate):
    """The value is at least `value`; an error rate, at most one minus `value`."""

    name: Literal["at_least_value"]
    value: float

    def __call__(self, view: PartView) -> Outcome:
        row = view.row()
        level, words = view.level(row)
        text = f"the {view.metric} is {view.show_row(row)}{words}; the claim requires "
        if view.lower_is_better:
            return level.within(f"{text}at most {view.show(1 - self.value)}", below=1 - self.value)
        return level.within(f"{text}at least {view.show(self.value)}", above=self.value)


class AtMostValue(Predicate):
    """The value is at most `value`."""

    name: Literal["at_most_value"]
    value: float

    def __call__(self, view: PartView) -> Outcome:
        row = view.row()
        level, words = view.level(row)
        text = f"the {view.metric} is {view.show_row(row)}{words}; the claim requires at most "
        text += view.show(self.value)
        return level.within(text, below=self.value)


# -- two rows -------------------------------------------------------------------------------------


class Ahead(Compares):
    """The value is better than the one it is compared with, in the metric's direction."""

    name: Literal["ahead"]
    at_least: Annotated[float, Ge(0)] = 0.0

    def __call__(self, view: PartView) -> Outcome:
        ours, other = view.pair()
        gain, words = view.gain((ours, other))
        text = f"{view.show_pair(ours, other)}{words}; the claim requires the first value to be "
        text += "lower" if view.lower_is_better else "higher"
        text += f" by at least {view.amount(self.at_least)}" if self.at_least else ""
        found = gain.within(text, above=self.at_least)
        return found._replace(holds=found.holds and gain.mean > 0)


class NotBehind(Compares):
    """The value is worse than the one it is compared with by at most `tolerance`, or better."""

    name: Literal["not_behind"]
    tolerance: Annotated[float, Gt(0)]

    def __call__(self, view: PartView) -> Outcome:
        ours, other = view.pair()
        gain, words = view.gain((ours, other))
        text = f"{view.show_pair(ours, other)}{words}; the claim allows the first value to be "
        text += "higher" if view.lower_is_better else "lower"
        text += f" by at most {view.amount(self.tolerance)}"
        return gain.within(text, above=-self.tolerance)


class RelativeGain(Compares):
    """The value is lower than the other one by at least this fraction of the other one."""

    name: Literal["relative_gain"]
    at_least: Annotated[float, Gt(0)]

    def __call__(self, view: PartView) -> Outcome:
        ours, other = view.pair()
        gain, words = view.gain((ours, other))
        fraction = gain.mean / other["mean"]
        change = "reduction" if view.lower_is_better else "increase"
        return Outcome(
            fraction >= self.at_least - EXACT,
            f"{view.show_pair(ours, other)}{words}; relative {change}: {100 * fraction:.1f} %; "
            f"the claim requires at least {100 * self.at_least:g} %",
            gain.p(above=self.at_least * other["mean"]),
        )


class WithinOf(Compares):
    """The value and the one it is compared with differ by at most `tolerance`."""

    name: Literal["within_of"]
    tolerance: Annotated[float, Gt(0)]

    def __call__(self, view: PartView) -> Outcome:
        ours, other = view.pair()
        difference, words = view.difference((ours, other), what="difference (first minus second)")
        text = f"{view.show_pair(ours, other)}{words}; the claim allows a difference of at most "
        text += view.amount(self.tolerance)
        return difference.within(text, above=-self.tolerance, below=self.tolerance)


class Faster(Compares):
    """Its fits take at most one `times`-th of the CPU time of those it is compared with."""

    name: Literal["faster"]
    times: Annotated[float, Gt(1)]

    def __call__(self, view: PartView) -> Outcome:
        names = [row["reducer_label"] for row in view.pair()]
        ours, other = (row.trials["fit_seconds"].to_numpy(float) for row in view.pair())
        if min(ours.min(), other.min()) <= 0:
            raise UnansweredError("some fits were too short to be timed")
        ratio = float(other.mean() / ours.mean())
        p = float("nan")
        if view.rows.view == "resplits" and len(ours) == len(other) > 1:
            p = view.estimate(np.log(other) - np.log(ours)).p(above=np.log(self.times))
        text = f"a fit of {names[1]} takes {ratio:.3g} times as long as a fit of {names[0]}; the "
        text += f"claim requires at least {self.times:g} times as long"
        return Outcome(ratio >= self.times, text, p)


# -- a series along a parameter -------------------------------------------------------------------


class LevelAt(OnGrid):
    """The value at `at` is within `tolerance` of `value`."""

    name: Literal["level_at"]
    at: float
    value: float
    tolerance: Annotated[float, Gt(0)]

    def __call__(self, view: PartView) -> Outcome:
        place, row = view.at(self.at)
        level, words = view.level(row)
        low, high = self.value - self.tolerance, self.value + self.tolerance
        text = f"the {view.metric} is {view.show_at(place, row)}{words}; the paper prints "
        text += f"{view.show(self.value)}, and the claim requires {view.show(low)} to "
        text += view.show(high)
        return level.within(text, above=low, below=high)


class BelowAt(OnGrid):
    """The value at `at` is below `value`."""

    name: Literal["below_at"]
    at: float
    value: float

    def __call__(self, view: PartView) -> Outcome:
        place, row = view.at(self.at)
        level, words = view.level(row)
        text = f"the {view.metric} is {view.show_at(place, row)}{words}; the claim requires less "
        text += f"than {view.show(self.value)}"
        return Outcome(level.mean < self.value, text, level.p(below=self.value))


class MinimumIn(OnGrid):
    """The smallest value of the series lies from `low` to `high`, both included."""

    name: Literal["minimum_in"]
    low: float
    high: float

    def __call__(self, view: PartView) -> Outcome:
        found = view.series()
        place, row = min(found, key=_mean)
        inside = self.low <= place <= self.high
        # Compare with the minimum on the other side, inside or outside the range; the difference
        # shows how certain the minimum's position is.
        others = [item for item in found if (self.low <= item[0] <= self.high) != inside]
        if not others:
            raise UnansweredError("the grid needs values inside and outside the claimed range")
        other_place, other = min(others, key=_mean)
        meant = f"in the range from {view.place(self.low)} to {plain(self.high)}"
        if self.low == self.high:
            meant = f"at {view.place(self.low)}"
        side = "elsewhere on the grid" if inside else meant
        difference, words = view.difference((other, row), what="difference (second minus first)")
        text = f"the minimum of the {view.metric} is {view.show_at(place, row)}; {side}, the "
        text += f"minimum is {view.show_at(other_place, other)}{words}; the claim requires the "
        text += f"minimum {meant}"
        return Outcome(inside, text, difference.p(above=0))


class FlatIn(_Range):
    """From `low` to `high` (both included) the series varies by at most `tolerance`."""

    name: Literal["flat_in"]
    tolerance: Annotated[float, Gt(0)]

    def __call__(self, view: PartView) -> Outcome:
        found = view.series(self.low, self.high)
        if len(found) < 2:
            raise UnansweredError("the range of the claim contains fewer than two grid values")
        (low_place, low), (high_place, high) = min(found, key=_mean), max(found, key=_mean)
        spread, words = view.difference((high, low), what="largest minus smallest")
        return spread.within(
            f"the {view.metric} varies from {view.show_at(low_place, low)} to "
            f"{view.show_at(high_place, high)}{words}; the claim allows a variation of at most "
            f"{view.amount(self.tolerance)}",
            below=self.tolerance,
        )


class StaysWithin(OnGrid):
    """The series stays between `low - slack` and `high + slack` over a long enough range.

    The range is the longest run of neighbouring grid values inside the band, and its last grid
    value is at least `span` times its first.
    """

    name: Literal["stays_within"]
    low: float
    high: float
    slack: Annotated[float, Ge(0)] = 0.0
    span: Annotated[float, Gt(1)]

    def __call__(self, view: PartView) -> Outcome:
        low, high = self.low - self.slack, self.high + self.slack
        found = view.series()
        longest: Series = []
        current: Series = []
        for place, row in found:
            current = [*current, (place, row)] if low <= row["mean"] <= high else []
            if _ratio(current) > _ratio(longest):
                longest = current
        band = f"{view.show(low)} to {view.show(high)}"
        if not longest:
            text = f"at no grid value is the mean {view.metric} in the required range, {band}"
            return Outcome(False, text, 1.0)
        ends = f"{view.place(longest[0][0])} to {plain(longest[-1][0])}"
        means = [row["mean"] for _, row in longest]
        text = f"the {view.metric} is {view.show(min(means))} to {view.show(max(means))} from "
        text += f"{ends}; the claim requires {band} over a range whose largest grid value is at "
        text += f"least {self.span:g} times the smallest"
        inside = [view.level(row)[0].p(above=low, below=high) for _, row in found]
        # Of all ranges that are long enough, take the one whose intervals are deepest in the band.
        ranges = (slice(a, b) for a, b in combinations(range(len(found) + 1), 2))
        ps = [max(inside[part]) for part in ranges if _ratio(found[part]) >= self.span]
        return Outcome(_ratio(longest) >= self.span, text, min(ps, default=1.0))


class RisesTowards(OnGrid):
    """The series is higher at the `end` of its grid than at `start`, by at least `at_least`."""

    name: Literal["rises_towards"]
    end: Literal["low", "high"]
    start: float
    at_least: Annotated[float, Ge(0)] = 0.0

    def __call__(self, view: PartView) -> Outcome:
        end_place, end = view.series()[0 if self.end == "low" else -1]
        start_place, start = view.at(self.start)
        rise, words = view.difference((end, start), what="difference (second minus first)")
        text = f"the {view.metric} is {view.show_at(start_place, start)} and "
        text += f"{view.show_at(end_place, end)}{words}; the claim requires a rise"
        text += f" of at least {view.amount(self.at_least)}" if self.at_least else ""
        found = rise.within(text, above=self.at_least)
        return found._replace(holds=found.holds and rise.mean > 0)


class AheadAlong(_Range, Compares):
    """From `low` to `high` the series is better than the one it is compared with.

    It is better, in the metric's direction, at every grid value that both have, and by at least
    `at_least` on average. The other one may also be a single row without the parameter, which is
    then used everywhere.
    """

    name: Literal["ahead_along"]
    at_least: Annotated[float, Ge(0)] = 0.0

    def __call__(self, view: PartView) -> Outcome:
        found = view.common(self.low, self.high)
        if not found:
            raise UnansweredError(
                "in the claim's parameter range, the two curves share no grid value"
            )
        sign = -1 if view.lower_is_better else 1
        gains = [sign * (ours["mean"] - other["mean"]) for _, ours, other in found]
        ahead = sum(gain > 0 for gain in gains)
        _, ours, other = found[min(range(len(found)), key=gains.__getitem__)]
        average, words = view.gain(*((ours, other) for _, ours, other in found))
        side = "lower" if view.lower_is_better else "higher"
        asked = f", and by at least {view.amount(self.at_least)} on average"
        return Outcome(
            ahead == len(found) and average.mean >= self.at_least - EXACT,
            f"at the grid value least favourable to the claim, {view.show_pair(ours, other)}; the "
            f"first value is {side} at {ahead} of {len(found)} grid values{words}; the claim "
            f"requires the first value to be {side} at every grid value"
            f"{asked if self.at_least else ''}",
            average.p(above=self.at_least),
        )


def _mean(item: tuple[float, Row]) -> float:
    return float(item[1]["mean"])


def _ratio(places: Series) -> float:
    return places[-1][0] / places[0][0] if places else 0.0


AnyPredicate = (
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
