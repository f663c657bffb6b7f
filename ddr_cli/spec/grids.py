"""The values of a sweep: a list, or a rule that makes one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.problems import shown

MAX_VALUES = 1_000
_FORMS = {
    "log": "[from, to, how many]",
    "linear": "[from, to, how many]",
    "range": "[from, to, step]",
}


class GridError(ValueError):
    """A rule that makes no grid; the message is a sentence."""


def grid_values(rule: Any) -> list[Any]:
    """Return the values that a grid's rule stands for, without repetition.

    Parameters
    ----------
    rule : list or dict
        A list of values, ``{log: [a, b, n]}`` (n values in equal ratios), ``{linear: [a, b, n]}``
        (n values at equal distances) or ``{range: [start, stop, step]}`` (stop included).

    Returns
    -------
    list
        The ends are exactly as given. Values between are rounded to 12 significant digits, so
        that the 0.1 of a grid is the 0.1 of a text. Where both ends (and the step) are whole
        numbers and so are all values, the values are integers.

    Raises
    ------
    GridError
        If the rule is not one of these, or asks for too many values.

    Examples
    --------
    >>> grid_values({"log": [0.01, 10, 4]})
    [0.01, 0.1, 1.0, 10.0]
    >>> grid_values({"range": [1, 7, 2]})
    [1, 3, 5, 7]
    """
    if isinstance(rule, list | tuple):
        values = _listed(rule)
    elif isinstance(rule, dict) and len(rule) == 1:
        (form, numbers), *_ = rule.items()
        values = _ruled(form, numbers)
    else:
        raise GridError(
            "a sweep takes a list of values, {log: [from, to, how many]}, "
            "{linear: [from, to, how many]} or {range: [from, to, step]}, "
            f"but this is {shown(rule)}."
        )
    kept: list[Any] = []
    for value in values:
        if not any(value == other and type(value) is type(other) for other in kept):
            kept.append(value)
    return kept


def is_positive(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers above 0."""
    return all(_is_number(value) and value > 0 for value in values)


def is_geometric(values: Sequence[Any]) -> bool:
    """Return whether an axis of these values should be logarithmic.

    It should where three or more numbers span a factor of ten or more and lie closer to equal
    ratios than to equal distances.

    Examples
    --------
    >>> is_geometric([0.1, 0.5, 1, 5, 10]), is_geometric(range(1, 21)), is_geometric(["a"])
    (True, False, False)
    """
    if not is_positive(values):
        return False
    numbers = sorted(set(values))
    if len(numbers) < 3 or numbers[-1] < 10 * numbers[0]:
        return False
    return _unevenness([math.log(v) for v in numbers]) < _unevenness(numbers)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _unevenness(numbers: Sequence[float]) -> float:
    steps = [b - a for a, b in pairwise(numbers)]
    return max(steps) / min(steps)


def _listed(values: Sequence[Any]) -> list[Any]:
    if not values:
        raise GridError("this sweep has no values.")
    _refuse_too_many(len(values))
    return list(values)


def _ruled(form: str, numbers: Any) -> list[Any]:
    if form not in _FORMS:
        raise GridError(
            f"there is no grid called '{form}'.{did_you_mean(form, _FORMS)} "
            "Write a list, log, linear or range."
        )
    if (
        not isinstance(numbers, list | tuple)
        or len(numbers) != 3
        or not all(_is_number(v) for v in numbers)
    ):
        raise GridError(f"{form} takes three numbers, {_FORMS[form]}.")
    first, last, third = numbers
    if form == "range":
        return _uniform(_range(first, last, third), numbers)
    if not isinstance(third, int) or third < 2:
        raise GridError(f"{form} needs two values or more, so the third number must be 2 or more.")
    _refuse_too_many(third)
    inner = [i / (third - 1) for i in range(1, third - 1)]
    if form == "log":
        if first <= 0 or last <= 0:
            raise GridError("log needs two ends above 0.")
        low, high = math.log(first), math.log(last)
        between = [rounded(math.exp(low + (high - low) * part)) for part in inner]
    else:
        between = [rounded(first + (last - first) * part) for part in inner]
    return _uniform([first, *between, last], numbers[:2])


def _range(start: float, stop: float, step: float) -> list[float]:
    if step == 0 or (stop - start) * step < 0:
        raise GridError(f"a step of {step:g} does not lead from {start:g} to {stop:g}.")
    # The tolerance keeps the 0.3 of [0, 0.3, 0.1], where the quotient is 2.9999999999999996.
    steps = (stop - start) / step * (1 + 1e-12)
    _refuse_too_many(steps + 1)
    return [rounded(start + i * step) for i in range(math.floor(steps) + 1)]


def _refuse_too_many(count: float) -> None:
    if count > MAX_VALUES:
        raise GridError(f"a sweep has at most {MAX_VALUES} values, but this one has {count:.0f}.")


def rounded(value: Any) -> Any:
    """Return a float rounded to 12 significant digits, and anything else as it is."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _uniform(values: list[float], given: Sequence[float]) -> list[Any]:
    if not all(math.isfinite(v) for v in values):
        raise GridError("the two ends are too far apart.")
    if all(isinstance(v, int) for v in given) and all(float(v).is_integer() for v in values):
        return [int(v) for v in values]
    return [float(v) for v in values]
