"""The test behind each predicate: whether it holds through one view, and the numbers that say so.

See `ddr_cli.papers.predicates` for what each of them means.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ddr_cli.papers import predicates
from ddr_cli.report.names import difference_text, lower_is_better, plain
from ddr_cli.report.question import Places, Question
from ddr_cli.report.select import UnansweredError

_EXACT = 1e-9  # A difference of 1.00 points is not above one point for a rounding error.


def decide(question: Question, predicate: predicates.Predicate) -> tuple[bool, str]:
    """Return whether a predicate holds, and the words with its numbers.

    Raises
    ------
    UnansweredError
        If our results have no answer.
    """
    return _TESTS[type(predicate)](question, predicate)


def _gain(question: Question, at_least: float) -> tuple[float, float, bool, str]:
    """Return the gain over the other row, that row's value, whether it is shown, and the words."""
    ours, other = question.pair()
    pair = (other, ours) if lower_is_better(question.metric) else (ours, other)
    gain, shown, words = question.is_above(*pair, at_least)
    text = (
        f"{question.show(ours['mean'])} ({ours.title}) against "
        f"{question.show(other['mean'])} ({other.title})"
    )
    return gain, float(other["mean"]), shown, text + words


def _better_than(question: Question, test: predicates.BetterThan) -> tuple[bool, str]:
    _, _, shown, words = _gain(question, test.at_least)
    return shown, words


def _relative_gain(question: Question, test: predicates.RelativeGain) -> tuple[bool, str]:
    gain, other, shown, words = _gain(question, 0.0)
    share = gain / other
    text = f"{100 * share:.1f} % gained, {100 * test.at_least:g} % asked: {words}"
    return shown and share >= test.at_least, text


def _value_near(question: Question, test: predicates.ValueNear) -> tuple[bool, str]:
    place, row = question.at(test.at)
    excess = (row["mean"] - test.value) * (1 if lower_is_better(question.metric) else -1)
    text = f"{question.show(row['mean'])} at {question.place(place)}{question.spread(row)}"
    return excess <= test.tolerance, f"{text}; the paper says {question.show(test.value)}"


def _below_at(question: Question, test: predicates.BelowAt) -> tuple[bool, str]:
    place, row = question.at(test.at)
    text = f"{question.show(row['mean'])} at {question.place(place)}{question.spread(row)}"
    return bool(row["mean"] < test.value), text


def _minimum_in(question: Question, test: predicates.MinimumIn) -> tuple[bool, str]:
    found = question.series()
    place, row = min(found, key=lambda item: item[1]["mean"])
    inside = test.low <= place <= test.high
    # The best on the other side of the border shows how much the minimum's place means.
    others = [item for item in found if (test.low <= item[0] <= test.high) != inside]
    if not others:
        raise UnansweredError("the grid lies on one side of the range")
    other_place, other = min(others, key=lambda item: item[1]["mean"])
    if test.low == test.high:
        side = "elsewhere" if inside else "there"
    else:
        side = f"{'outside' if inside else 'within'} {plain(test.low)} to {plain(test.high)}"
    text = (
        f"minimum {question.show(row['mean'])} at {question.place(place)}; best {side}: "
        f"{question.show(other['mean'])} at {question.place(other_place)}"
    )
    return inside, text + question.compared(other, row)


def _flat_in(question: Question, test: predicates.FlatIn) -> tuple[bool, str]:
    found = [
        item
        for item in question.series()
        if (test.low is None or item[0] >= test.low) and (test.high is None or item[0] <= test.high)
    ]
    if len(found) < 2:
        raise UnansweredError("the grid has fewer than two places there")
    low = min(found, key=lambda item: item[1]["mean"])
    high = max(found, key=lambda item: item[1]["mean"])
    spread = high[1]["mean"] - low[1]["mean"]
    text = (
        f"from {question.show(low[1]['mean'])} ({question.place(low[0])}) to "
        f"{question.show(high[1]['mean'])} ({question.place(high[0])}), "
        f"{difference_text(spread, question.metric)} where at most "
        f"{difference_text(test.tolerance, question.metric)} count as flat"
    )
    return bool(spread <= test.tolerance), text + question.compared(high[1], low[1])


def _better_along(question: Question, test: predicates.BetterAlong) -> tuple[bool, str]:
    found = [
        (place, ours, other)
        for place, ours, other in question.common()
        if (test.low is None or place >= test.low) and (test.high is None or place <= test.high)
    ]
    if not found:
        raise UnansweredError("the two have no place in common there")
    sign = -1 if lower_is_better(question.metric) else 1
    gains = [sign * (ours["mean"] - other["mean"]) for _, ours, other in found]
    better = sum(gain > 0 and gain >= test.at_least for gain in gains)
    least = min(range(len(found)), key=gains.__getitem__)
    place, ours, other = found[least]
    text = (
        f"better at {better} of {len(found)} places, {100 * test.share:g} % asked; least so "
        f"{question.show(ours['mean'])} against {question.show(other['mean'])} at "
        f"{question.place(place)}"
    )
    pairs = [(mine, its) if sign > 0 else (its, mine) for _, mine, its in found]
    shown, words = question.is_above_on_average(pairs)
    return shown and better >= test.share * len(found) - _EXACT, text + words


def _at_least_value(question: Question, test: predicates.AtLeastValue) -> tuple[bool, str]:
    row = question.row(question.claim.select)
    excess = (row["mean"] - test.value) * (-1 if lower_is_better(question.metric) else 1)
    text = f"{question.show(row['mean'])} ({row.title}){question.spread(row)}"
    return excess >= -_EXACT, f"{text}; asked: {question.show(test.value)} or better"


def _within_of(question: Question, test: predicates.WithinOf) -> tuple[bool, str]:
    ours, other = question.pair()
    difference = float(ours["mean"] - other["mean"])
    text = (
        f"{question.show(ours['mean'])} ({ours.title}) and {question.show(other['mean'])} "
        f"({other.title}): {difference_text(difference, question.metric)} apart where at most "
        f"{difference_text(test.tolerance, question.metric)} count as alike"
    )
    return abs(difference) <= test.tolerance + _EXACT, text + question.compared(ours, other)


def _stays_within(question: Question, test: predicates.StaysWithin) -> tuple[bool, str]:
    low, high = test.low - test.slack, test.high + test.slack
    longest: Places = []
    current: Places = []
    for place, row in question.series():
        current = [*current, (place, row)] if low <= row["mean"] <= high else []
        if _ratio(current) > _ratio(longest):
            longest = current
    band = f"{question.show(low)} to {question.show(high)}"
    if not longest:
        return False, f"nowhere within {band}"
    ends = f"{question.place(longest[0][0])} to {plain(longest[-1][0])}"
    means = [row["mean"] for _, row in longest]
    text = f"{question.show(min(means))} to {question.show(max(means))} from {ends}; band {band}"
    return _ratio(longest) >= test.span, text


def _ratio(places: Places) -> float:
    return places[-1][0] / places[0][0] if places else 0.0


def _rises_towards(question: Question, test: predicates.RisesTowards) -> tuple[bool, str]:
    found = question.series()
    end_place, end = found[0] if test.end == "low" else found[-1]
    start_place, start = question.at(test.start)
    _, shown, words = question.is_above(end, start, test.at_least)
    text = (
        f"{question.show(start['mean'])} at {question.place(start_place)}, "
        f"{question.show(end['mean'])} at {question.place(end_place)}{words}"
    )
    return shown, text


_TESTS: Mapping[type, Callable[[Question, Any], tuple[bool, str]]] = {
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
