"""A part of a claim through one view: its rows, and the test behind each predicate.

A test says whether the means meet the predicate, with the numbers, and the intervals' p-value: one
less the level of the widest interval that lies wholly where the predicate asks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ddr_cli.comparison.names import (
    difference_text,
    family_name,
    lower_is_better,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.pairing import difference_interval, paired
from ddr_cli.comparison.summary import MEAN_LEVEL, Row
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import t_above, t_quantile
from ddr_cli.papers import predicates
from ddr_cli.papers.schema import Part
from ddr_cli.verdicts.rows import Lookup, NotSweptError, UnansweredError, nearest_place

Places = list[tuple[float, Row]]
"""A series: places on a grid in ascending order, and the row at each."""

EXACT = 1e-9
"""A difference of 1.00 points is not above one point for a rounding error."""


class Estimate(NamedTuple):
    """A mean and the interval of level 95 % that it has over `n` splits; nan where it has none."""

    mean: float
    low: float
    high: float
    n: int

    def p(self, *, above: float | None = None, below: float | None = None) -> float:
        """Return one less the level of the widest interval above or below a bound.

        It is 1 where the mean itself is not, and nan where there is no interval.
        """
        distance = self.mean - above if above is not None else (below or 0.0) - self.mean
        # Of a rate at the edge of 0 to 100 % one end is cut off; the other tells the width.
        half = max(self.mean - self.low, self.high - self.mean)
        if np.isnan(half):
            return float("nan")
        if half <= 0:
            return 0.0 if distance >= 0 else 1.0
        ratio = distance / half * t_quantile((1 + MEAN_LEVEL) / 2, self.n - 1)
        return min(1.0, 2 * t_above(ratio, self.n - 1))


class Outcome(NamedTuple):
    """Whether the means meet a predicate, with the numbers, and the p-value of the intervals."""

    holds: bool
    detail: str
    p: float


@dataclass(frozen=True)
class PartView:
    """A part of a claim through one view: its rows, and what a comparison of two of them shows.

    What has no answer in our results raises an `UnansweredError`.
    """

    part: Part
    rows: Lookup

    def row(self) -> Row:
        """Return the part's row."""
        return self.rows.row(self.part.select)

    def pair(self) -> tuple[Row, Row]:
        """Return the part's row and the one that it is compared with."""
        assert self.part.than is not None  # which the paper's file has been checked for
        return self.row(), self.rows.row(self.part.than)

    def series(self, low: float | None = None, high: float | None = None) -> Places:
        """Return the part's rows along its parameter, from `low` to `high`, both included."""
        return [
            (place, row)
            for place, row in self.rows.series(self.part.select, self.part.along or "")
            if (low is None or place >= low) and (high is None or place <= high)
        ]

    def common(self, low: float | None, high: float | None) -> list[tuple[float, Row, Row]]:
        """Return the places of the series that the other one has too, and both rows.

        Where the other one has no such parameter it is the same everywhere.
        """
        assert self.part.than is not None  # which the paper's file has been checked for
        ours = self.series(low, high)
        try:
            others = self.rows.series(self.part.than, self.part.along or "")
        except NotSweptError:
            level = self.rows.row(self.part.than)
            return [(place, row, level) for place, row in ours]
        # A grid of dividing steps has its places to the last digit only within one spec.
        return [
            (place, row, other)
            for place, row in ours
            for at, other in others
            if np.isclose(place, at, rtol=1e-9, atol=0.0)
        ]

    def at(self, target: float) -> tuple[float, Row]:
        """Return the place of the series nearest to the target, and its row."""
        places = dict(self.series())
        place = nearest_place(places, target)
        return place, places[place]

    def gain(self, *pairs: tuple[Row, Row]) -> tuple[Estimate, str]:
        """Return how far the first rows are ahead of the second on average, and the words."""
        if lower_is_better(self.part.metric):
            pairs = tuple((second, first) for first, second in pairs)
        return self.difference(*pairs)

    def difference(self, *pairs: tuple[Row, Row]) -> tuple[Estimate, str]:
        """Return the mean of first - second, several pairs averaged, and the words.

        Only over re-splits it has an interval, and must have one.
        """
        try:
            if self.rows.view == "own":
                means = [paired(first, second).values.mean() for first, second in pairs]
                return Estimate(float(np.mean(means)), np.nan, np.nan, 1), ""
            found = difference_interval(*pairs)
        except InputError as error:
            raise UnansweredError(str(error).rstrip(".")) from None
        if found is None:
            raise UnansweredError("an interval needs two re-splits or more")
        what = "difference" if len(pairs) == 1 else "average difference"
        return Estimate(found.mean, found.low, found.high, found.n), (
            f"; {what} {self.points(found.mean)}, {100 * MEAN_LEVEL:g} % interval "
            f"{self.points(found.low, unit=False)} to {self.points(found.high, unit=False)} over "
            f"{family_name(pairs[0][0].family, found.n)}, {found.name}"
        )

    def level(self, row: Row) -> tuple[Estimate, str]:
        """Return a row's mean, over re-splits with its interval, and the words for that."""
        if self.rows.view == "own":
            return Estimate(float(row["mean"]), np.nan, np.nan, 1), ""
        if np.isnan(row["mean_low"]):
            raise UnansweredError("an interval needs two re-splits or more")
        return Estimate(float(row["mean"]), row["mean_low"], row["mean_high"], int(row["n"])), (
            f" ({100 * MEAN_LEVEL:g} % interval {self.show(row['mean_low'])} to "
            f"{self.show(row['mean_high'])} over {family_name(row.family, row['n'])}, "
            f"{row['mean_interval']})"
        )

    def show(self, value: float) -> str:
        """Return a value of the part's metric as text."""
        return number(value, self.part.metric)

    def points(self, difference: float, *, unit: bool = True) -> str:
        """Return a difference of two values as text."""
        return difference_text(difference, self.part.metric, unit=unit)

    def place(self, value: float) -> str:
        """Return a place as text, such as ``β = 0.562``."""
        return f"{parameter_name(self.part.along or '', short=True)} = {plain(value)}"

    def show_at(self, place: float, row: Row) -> str:
        """Return a row's mean with its place."""
        return f"{self.show(row['mean'])} at {self.place(place)}"

    def show_row(self, row: Row) -> str:
        """Return a row's mean with its method."""
        return f"{self.show(row['mean'])} ({row.title})"


# -- the test behind each predicate -----------------------------------------------------------


def _ahead(view: PartView, test: predicates.Ahead) -> Outcome:
    ours, other = view.pair()
    gain, words = view.gain((ours, other))
    holds = gain.mean > 0 and gain.mean >= test.at_least - EXACT
    asked = f"; asked: {view.points(test.at_least)} or more" if test.at_least else ""
    text = f"{view.show_row(ours)} against {view.show_row(other)}{words}{asked}"
    return Outcome(holds, text, gain.p(above=test.at_least))


def _not_behind(view: PartView, test: predicates.NotBehind) -> Outcome:
    ours, other = view.pair()
    gain, words = view.gain((ours, other))
    text = f"{view.show_row(ours)} beside {view.show_row(other)}{words}; asked: behind by "
    text += f"{view.points(test.tolerance).lstrip('+')} at most"
    holds = gain.mean >= -test.tolerance - EXACT
    return Outcome(holds, text, gain.p(above=-test.tolerance))


def _relative_gain(view: PartView, test: predicates.RelativeGain) -> Outcome:
    ours, other = view.pair()
    gain, words = view.gain((ours, other))
    share = gain.mean / other["mean"]
    return Outcome(
        share >= test.at_least - EXACT,
        f"{100 * share:.1f} % gained, {100 * test.at_least:g} % asked: "
        f"{view.show_row(ours)} against {view.show_row(other)}{words}",
        gain.p(above=test.at_least * other["mean"]),
    )


def _level_at(view: PartView, test: predicates.LevelAt) -> Outcome:
    place, row = view.at(test.at)
    level, words = view.level(row)
    low, high = test.value - test.tolerance, test.value + test.tolerance
    return Outcome(
        low - EXACT <= level.mean <= high + EXACT,
        f"{view.show_at(place, row)}{words}; the paper says {view.show(test.value)}, "
        f"near is {view.show(low)} to {view.show(high)}",
        max(level.p(above=low), level.p(below=high)),
    )


def _below_at(view: PartView, test: predicates.BelowAt) -> Outcome:
    place, row = view.at(test.at)
    level, words = view.level(row)
    text = f"{view.show_at(place, row)}{words}; asked: below {view.show(test.value)}"
    return Outcome(level.mean < test.value, text, level.p(below=test.value))


def _minimum_in(view: PartView, test: predicates.MinimumIn) -> Outcome:
    found = view.series()
    place, row = min(found, key=_mean)
    inside = test.low <= place <= test.high
    # The best on the other side of the border shows how much the minimum's place means.
    others = [item for item in found if (test.low <= item[0] <= test.high) != inside]
    if not others:
        raise UnansweredError("the grid lies on one side of the range")
    other_place, other = min(others, key=_mean)
    if test.low == test.high:
        side = "elsewhere" if inside else "there"
    else:
        side = f"{'outside' if inside else 'within'} {plain(test.low)} to {plain(test.high)}"
    text = f"minimum {view.show_at(place, row)}; best {side}: {view.show_at(other_place, other)}"
    difference, words = view.difference((other, row))
    return Outcome(inside, text + words, difference.p(above=0))


def _flat_in(view: PartView, test: predicates.FlatIn) -> Outcome:
    found = view.series(test.low, test.high)
    if len(found) < 2:
        raise UnansweredError("the grid has fewer than two places there")
    (low_place, low), (high_place, high) = min(found, key=_mean), max(found, key=_mean)
    spread, words = view.difference((high, low))
    return Outcome(
        spread.mean <= test.tolerance + EXACT,
        f"from {view.show(low['mean'])} ({view.place(low_place)}) to "
        f"{view.show(high['mean'])} ({view.place(high_place)}), {view.points(spread.mean)} where "
        f"at most {view.points(test.tolerance)} count as flat{words}",
        spread.p(below=test.tolerance),
    )


def _ahead_along(view: PartView, test: predicates.AheadAlong) -> Outcome:
    found = view.common(test.low, test.high)
    if not found:
        raise UnansweredError("the two have no place in common there")
    sign = -1 if lower_is_better(view.part.metric) else 1
    gains = [sign * (ours["mean"] - other["mean"]) for _, ours, other in found]
    ahead = sum(gain > 0 for gain in gains)
    place, ours, other = found[min(range(len(found)), key=gains.__getitem__)]
    average, words = view.gain(*((ours, other) for _, ours, other in found))
    asked = f"; asked: {view.points(test.at_least)} on average" if test.at_least else ""
    return Outcome(
        ahead == len(found) and average.mean >= test.at_least - EXACT,
        f"ahead at {ahead} of {len(found)} places, by {view.points(average.mean)} on average; "
        f"least so {view.show(ours['mean'])} against {view.show_at(place, other)}{words}{asked}",
        average.p(above=test.at_least),
    )


def _at_least_value(view: PartView, test: predicates.AtLeastValue) -> Outcome:
    row = view.row()
    level, words = view.level(row)
    lower = lower_is_better(view.part.metric)
    bound = 1 - test.value if lower else test.value
    asked = f"{view.show(bound)} or {'less' if lower else 'more'}"
    holds = level.mean <= bound + EXACT if lower else level.mean >= bound - EXACT
    p = level.p(below=bound) if lower else level.p(above=bound)
    return Outcome(holds, f"{view.show_row(row)}{words}; asked: {asked}", p)


def _at_most_value(view: PartView, test: predicates.AtMostValue) -> Outcome:
    row = view.row()
    level, words = view.level(row)
    text = f"{view.show_row(row)}{words}; asked: {view.show(test.value)} or less"
    return Outcome(level.mean <= test.value + EXACT, text, level.p(below=test.value))


def _within_of(view: PartView, test: predicates.WithinOf) -> Outcome:
    ours, other = view.pair()
    difference, words = view.difference((ours, other))
    return Outcome(
        abs(difference.mean) <= test.tolerance + EXACT,
        f"{view.show_row(ours)} and {view.show_row(other)}: {view.points(difference.mean)} apart "
        f"where at most {view.points(test.tolerance)} count as alike{words}",
        max(difference.p(above=-test.tolerance), difference.p(below=test.tolerance)),
    )


def _stays_within(view: PartView, test: predicates.StaysWithin) -> Outcome:
    low, high = test.low - test.slack, test.high + test.slack
    found = view.series()
    longest: Places = []
    current: Places = []
    for place, row in found:
        current = [*current, (place, row)] if low <= row["mean"] <= high else []
        if _ratio(current) > _ratio(longest):
            longest = current
    band = f"{view.show(low)} to {view.show(high)}"
    if not longest:
        return Outcome(False, f"nowhere within {band}", 1.0)
    ends = f"{view.place(longest[0][0])} to {plain(longest[-1][0])}"
    means = [row["mean"] for _, row in longest]
    text = f"{view.show(min(means))} to {view.show(max(means))} from {ends}; band {band}"
    levels = [view.level(row)[0] for _, row in found]
    inside = [max(level.p(above=low), level.p(below=high)) for level in levels]
    # The stretch of the asked length whose intervals are deepest inside the band.
    p = min(
        (
            max(inside[first : last + 1])
            for first in range(len(found))
            for last in range(first, len(found))
            if _ratio(found[first : last + 1]) >= test.span
        ),
        default=1.0,
    )
    return Outcome(_ratio(longest) >= test.span, text, p)


def _rises_towards(view: PartView, test: predicates.RisesTowards) -> Outcome:
    found = view.series()
    end_place, end = found[0] if test.end == "low" else found[-1]
    start_place, start = view.at(test.start)
    rise, words = view.difference((end, start))
    holds = rise.mean > 0 and rise.mean >= test.at_least - EXACT
    asked = f"; asked: {view.points(test.at_least)} or more" if test.at_least else ""
    text = f"{view.show_at(start_place, start)}, {view.show_at(end_place, end)}{words}{asked}"
    return Outcome(holds, text, rise.p(above=test.at_least))


def _faster(view: PartView, test: predicates.Faster) -> Outcome:
    ours, other = (row.trials["fit_seconds"].to_numpy(float) for row in view.pair())
    if min(ours.min(), other.min()) <= 0:
        raise UnansweredError("some fits took no time that could be measured")
    ratio = float(other.mean() / ours.mean())
    p = float("nan")
    if view.rows.view == "resplits" and len(ours) == len(other) > 1:
        # Times of different splits share nothing: the plain t-interval is theirs.
        logs = np.log(other) - np.log(ours)
        error = float(logs.std(ddof=1) / np.sqrt(len(logs)))
        half = t_quantile((1 + MEAN_LEVEL) / 2, len(logs) - 1) * error
        mean = float(logs.mean())
        p = Estimate(mean, mean - half, mean + half, len(logs)).p(above=np.log(test.times))
    names = [row["reducer_label"] for row in view.pair()]
    text = f"a fit of {names[1]} takes {ratio:.3g} times as long as one of {names[0]}; asked: "
    return Outcome(ratio >= test.times, f"{text}{test.times:g} times or more", p)


def _mean(item: tuple[float, Row]) -> float:
    return float(item[1]["mean"])


def _ratio(places: Places) -> float:
    return places[-1][0] / places[0][0] if places else 0.0


TESTS: Mapping[type, Callable[[PartView, Any], Outcome]] = {
    predicates.LevelAt: _level_at,
    predicates.BelowAt: _below_at,
    predicates.MinimumIn: _minimum_in,
    predicates.FlatIn: _flat_in,
    predicates.StaysWithin: _stays_within,
    predicates.RisesTowards: _rises_towards,
    predicates.RelativeGain: _relative_gain,
    predicates.Ahead: _ahead,
    predicates.NotBehind: _not_behind,
    predicates.AheadAlong: _ahead_along,
    predicates.AtLeastValue: _at_least_value,
    predicates.AtMostValue: _at_most_value,
    predicates.WithinOf: _within_of,
    predicates.Faster: _faster,
}
