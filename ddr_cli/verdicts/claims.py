"""The claims of a paper judged: rows -> test -> verdict.

A claim is looked at twice: on the paper's own split or setting, by the means, and over repeated
random splits. There, a claim about a difference (better, a gain, a rise) holds when the mean
difference is large enough *and* Nadeau and Bengio's corrected interval of the paired differences
lies above zero; with the first alone it is undecided. A claim about a level, a place or flatness is
decided by the means, with the interval beside it. The thresholds stand in the paper's file; what
each predicate means, in `ddr_cli.papers.predicates`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ddr_cli.comparison.methods import difference_interval, paired
from ddr_cli.comparison.names import (
    difference_text,
    family_name,
    lower_is_better,
    number,
    parameter_name,
    plain,
)
from ddr_cli.comparison.summary import MEAN_LEVEL, Row, Summary
from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.statistics import MeanInterval, PairedDifferences
from ddr_cli.papers import predicates
from ddr_cli.papers.schema import Artefact, Claim
from ddr_cli.verdicts.rows import (
    Lookup,
    NotApplicableError,
    NotSweptError,
    UnansweredError,
    View,
    family_of,
    nearest_place,
)

ClaimVerdict = Literal["holds", "fails", "undecided", "not run", "not applicable"]

DECIDED = ("holds", "fails", "undecided")
"""The verdicts that our results give."""

Places = list[tuple[float, Row]]
"""A series: places on a grid in ascending order, and the row at each."""

_EXACT = 1e-9  # A difference of 1.00 points is not above one point for a rounding error.


@dataclass(frozen=True)
class Finding:
    """Whether a claim holds through one view, with the numbers that say so."""

    verdict: ClaimVerdict
    detail: str


@dataclass(frozen=True)
class ClaimResult:
    """A claim and what became of it, in the paper's own setting and over re-splits.

    With `same_splits` the paper's setting is itself repeated random splits: then both look at the
    same numbers, and only the second asks for the corrected interval.
    """

    claim: Claim
    own: Finding
    resplits: Finding
    same_splits: bool = False

    @property
    def differs(self) -> bool:
        """Whether both views decide and disagree."""
        verdicts = {self.own.verdict, self.resplits.verdict}
        return len(verdicts) == 2 and verdicts <= set(DECIDED)


def judge_claim(claim: Claim, artefact: Artefact, summaries: Mapping[str, Summary]) -> ClaimResult:
    """Return the result of a claim."""

    def finding(view: View) -> Finding:
        rows = Lookup(summaries, artefact.specs[0], view, claim.metric)
        claim_view = ClaimView(claim, rows, means_only=view == "own")
        test = _TESTS[type(claim.predicate)]
        try:
            holds, detail = test(claim_view, claim.predicate)
            by_means = holds or test(replace(claim_view, means_only=True), claim.predicate)[0]
        except NotApplicableError as error:
            return Finding("not applicable", str(error))
        except UnansweredError as error:
            return Finding("not run", str(error))
        return Finding("holds" if holds else "undecided" if by_means else "fails", detail)

    summary = summaries.get(claim.select.spec or artefact.specs[0])
    same_splits = summary is not None and (
        family_of(summary.run, "own") == family_of(summary.run, "resplits")
    )
    return ClaimResult(claim, finding("own"), finding("resplits"), same_splits)


# -- a claim through one view -----------------------------------------------------------------


@dataclass(frozen=True)
class ClaimView:
    """A claim through one view: its rows, and what a comparison of two of them shows.

    With `means_only` the means alone decide, as in the paper's own setting they always do. What
    has no answer in our results raises an `UnansweredError`.
    """

    claim: Claim
    rows: Lookup
    means_only: bool

    def row(self) -> Row:
        """Return the claim's row."""
        return self.rows.row(self.claim.select)

    def pair(self) -> tuple[Row, Row]:
        """Return the claim's row and the one that it is compared with."""
        assert self.claim.than is not None  # which the paper's file has been checked for
        return self.row(), self.rows.row(self.claim.than)

    def series(self, low: float | None = None, high: float | None = None) -> Places:
        """Return the claim's rows along its parameter, from `low` to `high`, both included."""
        return [
            (place, row)
            for place, row in self.rows.series(self.claim.select, self.claim.along or "")
            if (low is None or place >= low) and (high is None or place <= high)
        ]

    def common(self, low: float | None, high: float | None) -> list[tuple[float, Row, Row]]:
        """Return the places of the series that the other one has too, and both rows.

        Where the other one has no such parameter it is the same everywhere.
        """
        assert self.claim.than is not None  # which the paper's file has been checked for
        ours = self.series(low, high)
        try:
            others = self.rows.series(self.claim.than, self.claim.along or "")
        except NotSweptError:
            level = self.rows.row(self.claim.than)
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

    def gain(self, value: float, other: float) -> float:
        """Return by how much a value is better than another, in the metric's direction."""
        return other - value if lower_is_better(self.claim.metric) else value - other

    def is_above(self, first: Row, second: Row, margin: float = 0.0) -> tuple[float, bool, str]:
        """Return the mean of first - second, whether first is shown to be above, and the words.

        The mean difference must be at least `margin` and, by the means, above zero; over re-splits
        the lower end of its corrected interval must be above zero.
        """
        mean = float(_paired(first, second).values.mean())
        if self.means_only:
            return mean, mean > 0 and mean >= margin, ""
        found, words = self._interval((first, second))
        return mean, found.low > 0 and mean >= margin, words

    def is_better(self, ours: Row, other: Row, margin: float = 0.0) -> tuple[float, bool, str]:
        """Return the mean gain over another row, whether it is shown to be one, and the words."""
        pair = (other, ours) if lower_is_better(self.claim.metric) else (ours, other)
        return self.is_above(*pair, margin)

    def is_better_on_average(self, pairs: Sequence[tuple[Row, Row]]) -> tuple[bool, str]:
        """Tell whether the first rows are better than the second on average, and in which words.

        By the means there is nothing to add. Over re-splits the differences of all pairs are
        averaged split by split, and the corrected interval of that average must lie above zero.
        """
        if lower_is_better(self.claim.metric):
            pairs = [(other, ours) for ours, other in pairs]
        if self.means_only:
            return True, ""
        found, words = self._interval(*pairs, what="average difference")
        return found.low > 0, words

    def _interval(
        self, *pairs: tuple[Row, Row], what: str = "difference"
    ) -> tuple[MeanInterval, str]:
        """Return the corrected interval of a mean difference, and the words."""
        try:
            found = difference_interval(*pairs)
        except InputError as error:
            raise UnansweredError(str(error).rstrip(".")) from None
        if found is None:
            raise UnansweredError("a corrected interval needs two re-splits or more")
        return found, (
            f"; {what} {self.points(found.mean)}, {100 * MEAN_LEVEL:g} % interval "
            f"{self.points(found.low, unit=False)} to {self.points(found.high, unit=False)} over "
            f"{family_name(pairs[0][0].family, found.n)}, {found.name}"
        )

    def difference(self, first: Row, second: Row) -> str:
        """Return the words for first - second, empty where there is no interval."""
        _paired(first, second)
        if self.rows.view == "own":
            return ""
        try:
            return self._interval((first, second))[1]
        except UnansweredError:
            return ""

    def show(self, value: float) -> str:
        """Return a value of the claim's metric as text."""
        return number(value, self.claim.metric)

    def points(self, difference: float, *, unit: bool = True) -> str:
        """Return a difference of two values as text."""
        return difference_text(difference, self.claim.metric, unit=unit)

    def place(self, value: float) -> str:
        """Return a place as text, such as ``β = 0.562``."""
        return f"{parameter_name(self.claim.along or '', short=True)} = {plain(value)}"

    def show_at(self, place: float, row: Row) -> str:
        """Return a row's mean with its place."""
        return f"{self.show(row['mean'])} at {self.place(place)}"

    def show_row(self, row: Row) -> str:
        """Return a row's mean with its method."""
        return f"{self.show(row['mean'])} ({row.title})"

    def spread(self, row: Row) -> str:
        """Return the words for the corrected interval of a row's mean, over re-splits."""
        if self.rows.view == "own" or np.isnan(row["mean_low"]):
            return ""
        return (
            f" ({100 * MEAN_LEVEL:g} % interval {self.show(row['mean_low'])} to "
            f"{self.show(row['mean_high'])} over {family_name(row.family, row['n'])}, "
            f"{row['mean_interval']})"
        )


def _paired(first: Row, second: Row) -> PairedDifferences:
    try:
        return paired(first, second)
    except InputError as error:
        raise UnansweredError(str(error).rstrip(".")) from None


# -- the test behind each predicate: whether it holds, and the numbers that say so --------------


def _better_than(view: ClaimView, test: predicates.BetterThan) -> tuple[bool, str]:
    ours, other = view.pair()
    _, shown, words = view.is_better(ours, other, test.at_least)
    return shown, f"{view.show_row(ours)} against {view.show_row(other)}{words}"


def _relative_gain(view: ClaimView, test: predicates.RelativeGain) -> tuple[bool, str]:
    ours, other = view.pair()
    gain, shown, words = view.is_better(ours, other)
    share = gain / other["mean"]
    return shown and share >= test.at_least, (
        f"{100 * share:.1f} % gained, {100 * test.at_least:g} % asked: "
        f"{view.show_row(ours)} against {view.show_row(other)}{words}"
    )


def _value_near(view: ClaimView, test: predicates.ValueNear) -> tuple[bool, str]:
    place, row = view.at(test.at)
    text = f"{view.show_at(place, row)}{view.spread(row)}; the paper says {view.show(test.value)}"
    return view.gain(test.value, row["mean"]) <= test.tolerance, text


def _below_at(view: ClaimView, test: predicates.BelowAt) -> tuple[bool, str]:
    place, row = view.at(test.at)
    return row["mean"] < test.value, view.show_at(place, row) + view.spread(row)


def _minimum_in(view: ClaimView, test: predicates.MinimumIn) -> tuple[bool, str]:
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
    return inside, text + view.difference(other, row)


def _flat_in(view: ClaimView, test: predicates.FlatIn) -> tuple[bool, str]:
    found = view.series(test.low, test.high)
    if len(found) < 2:
        raise UnansweredError("the grid has fewer than two places there")
    (low_place, low), (high_place, high) = min(found, key=_mean), max(found, key=_mean)
    spread = high["mean"] - low["mean"]
    return spread <= test.tolerance, (
        f"from {view.show(low['mean'])} ({view.place(low_place)}) to "
        f"{view.show(high['mean'])} ({view.place(high_place)}), {view.points(spread)} where at "
        f"most {view.points(test.tolerance)} count as flat{view.difference(high, low)}"
    )


def _better_along(view: ClaimView, test: predicates.BetterAlong) -> tuple[bool, str]:
    found = view.common(test.low, test.high)
    if not found:
        raise UnansweredError("the two have no place in common there")
    gains = [view.gain(ours["mean"], other["mean"]) for _, ours, other in found]
    better = sum(gain > 0 and gain >= test.at_least for gain in gains)
    place, ours, other = found[min(range(len(found)), key=gains.__getitem__)]
    shown, words = view.is_better_on_average([(ours, other) for _, ours, other in found])
    return shown and better >= test.share * len(found) - _EXACT, (
        f"better at {better} of {len(found)} places, {100 * test.share:g} % asked; least so "
        f"{view.show(ours['mean'])} against {view.show_at(place, other)}{words}"
    )


def _at_least_value(view: ClaimView, test: predicates.AtLeastValue) -> tuple[bool, str]:
    row = view.row()
    text = f"{view.show_row(row)}{view.spread(row)}; asked: {view.show(test.value)} or better"
    return view.gain(row["mean"], test.value) >= -_EXACT, text


def _within_of(view: ClaimView, test: predicates.WithinOf) -> tuple[bool, str]:
    ours, other = view.pair()
    difference = float(ours["mean"] - other["mean"])
    return abs(difference) <= test.tolerance + _EXACT, (
        f"{view.show_row(ours)} and {view.show_row(other)}: {view.points(difference)} apart where "
        f"at most {view.points(test.tolerance)} count as alike{view.difference(ours, other)}"
    )


def _stays_within(view: ClaimView, test: predicates.StaysWithin) -> tuple[bool, str]:
    low, high = test.low - test.slack, test.high + test.slack
    longest: Places = []
    current: Places = []
    for place, row in view.series():
        current = [*current, (place, row)] if low <= row["mean"] <= high else []
        if _ratio(current) > _ratio(longest):
            longest = current
    band = f"{view.show(low)} to {view.show(high)}"
    if not longest:
        return False, f"nowhere within {band}"
    ends = f"{view.place(longest[0][0])} to {plain(longest[-1][0])}"
    means = [row["mean"] for _, row in longest]
    text = f"{view.show(min(means))} to {view.show(max(means))} from {ends}; band {band}"
    return _ratio(longest) >= test.span, text


def _rises_towards(view: ClaimView, test: predicates.RisesTowards) -> tuple[bool, str]:
    found = view.series()
    end_place, end = found[0] if test.end == "low" else found[-1]
    start_place, start = view.at(test.start)
    _, shown, words = view.is_above(end, start, test.at_least)
    return shown, f"{view.show_at(start_place, start)}, {view.show_at(end_place, end)}{words}"


def _mean(item: tuple[float, Row]) -> float:
    return float(item[1]["mean"])


def _ratio(places: Places) -> float:
    return places[-1][0] / places[0][0] if places else 0.0


_TESTS: Mapping[type, Callable[[ClaimView, Any], tuple[bool, str]]] = {
    predicates.ValueNear: _value_near,
    predicates.BelowAt: _below_at,
    predicates.MinimumIn: _minimum_in,
    predicates.FlatIn: _flat_in,
    predicates.StaysWithin: _stays_within,
    predicates.RisesTowards: _rises_towards,
    predicates.RelativeGain: _relative_gain,
    predicates.BetterThan: _better_than,
    predicates.BetterAlong: _better_along,
    predicates.AtLeastValue: _at_least_value,
    predicates.WithinOf: _within_of,
}
