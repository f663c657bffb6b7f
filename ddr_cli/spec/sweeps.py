"""The ``sweep:`` of a spec: rules for grids, checked values, and their combinations."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, product
from typing import Any

from pydantic import JsonValue, ValidationError
from pydantic_core import InitErrorDetails

from ddr_cli.core.errors import InputError, did_you_mean
from ddr_cli.core.positions import KeyPath, as_clause, value_text
from ddr_cli.core.validation import field_problems, problem_at, refuse
from ddr_cli.core.yaml_loader import parse_value
from ddr_cli.spec.components import Component, Item
from ddr_cli.spec.estimators import (
    MODES,
    completed,
    did_you_mean_setting,
    in_form,
    is_annotated,
    make_checked,
    missing_of,
    nobody_has,
    untrusted_values,
    wrong_mode,
)

Sweep = Mapping[str, Sequence[JsonValue]]
Grid = Sequence[Any] | Mapping[str, Any]

COMPONENTS = ("reducer", "classifier")
"""The prefixes of parameters that can be swept; a measure has the prefix of classifiers."""

TRAIN = "split.train"
"""The other axis that can be swept: the size of the training set."""

MAX_VALUES = 1_000
_FORMS = {
    "log": "[from, to, how many]",
    "linear": "[from, to, how many]",
    "range": "[from, to, step]",
}


@dataclass(frozen=True)
class Setting:
    """A reducer, classifier or measure at one combination of swept values, with all its parameters.

    `mode` is None except for reducers; `version` is raised whenever the component's numbers change.
    """

    name: str
    label: str
    params: Mapping[str, JsonValue]
    mode: str | None
    version: int

    @classmethod
    def of(cls, item: Item, params: Mapping[str, JsonValue], mode: str | None) -> Setting:
        """Return an item's setting."""
        return cls(item.name, item.label, params, mode, item.traits(params).version)

    def __hash__(self) -> int:
        return hash(self.text)

    @cached_property
    def text(self) -> str:
        """The common key of equal settings of components, without labels."""
        return json.dumps([self.name, self.mode, self.params], sort_keys=True)


def read_sweep(
    raw: Mapping[str, Any],
    lists: Mapping[str, Sequence[Component] | None],
    check_sizes: Callable[[Sequence[Any]], Sequence[tuple[int, str]]],
) -> dict[str, tuple[JsonValue, ...]]:
    """Return the values of each swept parameter, each checked like a single value.

    `lists` has the items for each prefix; it is empty for an invalid list, whose parameters are
    then not checked. `check_sizes` returns the problems with sizes of the training set, by index.
    Raises pydantic.ValidationError with every problem.
    """
    sweep: dict[str, tuple[JsonValue, ...]] = {}
    problems: list[InitErrorDetails] = []
    for key, rule in raw.items():
        if key == TRAIN:
            sweep[key], found = _train_sizes(key, rule, check_sizes)
        else:
            sweep[key], found = _parameter_values(str(key), rule, lists)
        problems += found
    refuse(problems)
    return sweep


def _parameter_values(
    key: str, rule: Any, lists: Mapping[str, Sequence[Component] | None]
) -> tuple[tuple[JsonValue, ...], list[InitErrorDetails]]:
    prefix, _, parameter = key.partition(".")
    if prefix not in COMPONENTS or not parameter:
        known = [*(name for items in lists.values() for name in dotted_names(items or ())), TRAIN]
        message = (
            f"a sweep must name reducer.<parameter>, classifier.<parameter> or {TRAIN}, not "
            f"'{key}'.{did_you_mean_setting(key, known)}"
        )
        return (), [problem_at((key,), message, key=True)]
    items = lists.get(prefix)
    having = [item for item in items or () if parameter in item.settable]
    if items is not None and not having:
        known = [name for item in items for name in item.settable]
        return (), [problem_at((key,), nobody_has(prefix, parameter, known), key=True)]
    try:
        values = grid_values(rule)
    except GridError as error:
        return (), [problem_at((key,), str(error))]
    checked: list[JsonValue] = []
    problems: list[InitErrorDetails] = []
    for value in values:
        form, wrong = checked_value(parameter, value, having)
        problems += [problem_at((key, *place_in(rule, value)), message) for message in wrong]
        checked.append(form)
        # All values of a rule have one position in the file, so report only the first wrong one.
        if problems and not isinstance(rule, list):
            break
    return tuple(checked), problems


def _train_sizes(
    key: str, rule: Any, check: Callable[[Sequence[Any]], Sequence[tuple[int, str]]]
) -> tuple[tuple[JsonValue, ...], list[InitErrorDetails]]:
    try:
        sizes = grid_values(rule)
    except GridError as error:
        return (), [problem_at((key,), str(error))]
    wrong = [
        (i, f"the size of the training set must be a number, but this is {value_text(v)}.")
        for i, v in enumerate(sizes)
        if not _is_number(v)
    ]
    found = [
        problem_at((key, *place_in(rule, sizes[i])), text) for i, text in wrong or check(sizes)
    ]
    return tuple(sizes), found if isinstance(rule, list) else found[:1]


def place_in(rule: Any, value: Any) -> KeyPath:
    """Return the index of a value in a grid that is a list; values of a rule have no index."""
    if not isinstance(rule, list | tuple):
        return ()
    return (next(i for i, v in enumerate(rule) if _is_same(v, value)),)


def combinations(
    item: Item, sweep: Sweep, *, tuned: bool = False
) -> Iterator[tuple[dict[str, JsonValue], str | None]]:
    """Yield the parameters and the mode of an item at every combination of swept values.

    Its own grids replace the sweep's values, unless they are `tuned`.
    """
    own = swept_of(item, sweep, tuned=tuned)
    own_mode: str | None = getattr(item, "mode", None)
    modes = own.pop("mode", ()) if own_mode else ()
    for values in product(*own.values()):
        params = in_form(item.factory, {**item.params, **dict(zip(own, values, strict=True))})
        traits = item.traits(params) if modes else None
        # A reducer that has none of the swept modes runs once, in its own mode.
        possible: list[Any] = [mode for mode in modes if getattr(traits, str(mode))]
        for mode in possible or [own_mode]:
            yield params, mode


def count_settings(items: Sequence[Item], sweep: Sweep, *, tuned: bool = False) -> int:
    """Return the number of settings of the items (equal ones count twice) without creating them."""
    each = (swept_of(item, sweep, tuned=tuned).values() for item in items)
    return sum(math.prod(map(len, values)) for values in each)


def swept_of(item: Item, sweep: Sweep, *, tuned: bool = False) -> dict[str, Sequence[JsonValue]]:
    """Return the values of each untuned parameter in which an item's trials differ."""
    keys = {f"{item.prefix}.{name}": name for name in item.settable}
    own = {} if tuned and item.is_tunable else item.grids
    return {keys[key]: values for key, values in sweep.items() if key in keys} | own


def axes_of(
    items: Sequence[Item], sweep: Sweep, *, tuned: bool = False
) -> dict[str, tuple[JsonValue, ...]]:
    """Return all values of each parameter that is swept, by the spec or by a single item."""
    axes: dict[str, tuple[JsonValue, ...]] = {key: tuple(values) for key, values in sweep.items()}
    for item in items:
        own = {} if tuned and item.is_tunable else item.grids
        for name, values in own.items():
            before = axes.get(f"{item.prefix}.{name}", ())
            new = [v for v in values if not any(_is_same(v, other) for other in before)]
            axes[f"{item.prefix}.{name}"] = (*before, *new)
    return axes


def is_grid(value: Any) -> bool:
    """Return whether the value of a parameter is a rule for several values."""
    return isinstance(value, dict) and len(value) == 1 and next(iter(value)) in ("grid", *_FORMS)


def _is_same(a: Any, b: Any) -> bool:
    """Return whether two values are the same in YAML; 1, 1.0 and true are not."""
    return bool(a == b) and type(a) is type(b)


def checked_value(
    parameter: str, value: Any, items: Sequence[Component]
) -> tuple[JsonValue, list[str]]:
    """Return a value in canonical form, and the problems of the items that have the parameter."""
    if parameter == "mode":
        return value, [] if value in MODES else [wrong_mode(value)]
    forms: list[JsonValue] = []
    found: list[str] = []
    for item in items:
        try:
            form = completed(item.factory, parameter, value)
            params = {**item.params, parameter: form}
            forms.append(form)
            if how := missing_of(item.section, item.factory, params):
                found.append(f"{item.name} {how}")
            if not is_annotated(item.factory):
                make_checked(item.factory, params)
            found += untrusted_values(item.section, item.name, {parameter: value}).values()
        except ValidationError as error:
            found += [text for _, text, _ in field_problems(error, item.name, ())]
        except InputError as error:
            found.append(as_clause(error))
    return forms[0] if forms else value, found


def dotted_names(items: Sequence[Component]) -> list[str]:
    """Return the distinct settings of some items, such as ``reducer.beta``."""
    names = (f"{item.prefix}.{name}" for item in items for name in item.settable)
    return list(dict.fromkeys(names))


def parse_values(text: str) -> Grid:
    """Return the grid that ``--values`` gives: ``0.01,0.1,1`` or ``{log: [0.01, 10, 13]}``."""
    body = text if text.lstrip().startswith(("{", "[")) else f"[{text}]"
    try:
        grid, reason = parse_value(body), ""
    except InputError as error:
        grid, reason = None, f" ({error})"
    if isinstance(grid, list | dict) and grid:
        return grid
    raise InputError(f"--values {text} is not a grid; use, for example, 0.01,0.1,1.{reason}")


class GridError(ValueError):
    """A rule that gives no grid; the message is a sentence."""


def grid_values(rule: Any, what: str = "sweep") -> list[Any]:
    """Return the distinct values of a grid's rule.

    A rule is a list, ``{log: [a, b, n]}`` (n values in equal ratios), ``{linear: [a, b, n]}`` (n
    values at equal distances) or ``{range: [start, stop, step]}`` (stop included). The ends are
    exactly as given; values between are rounded to 12 significant digits, so that 0.1 in a grid
    equals the text 0.1. If both ends (and the step) are integers, and so are all values, the values
    are integers. Raises GridError if the rule is not one of these.

    >>> grid_values({"log": [0.01, 10, 4]})
    [0.01, 0.1, 1.0, 10.0]
    >>> grid_values({"range": [1, 7, 2]})
    [1, 3, 5, 7]
    """
    if isinstance(rule, list | tuple):
        values = _listed(rule, what)
    elif isinstance(rule, dict) and len(rule) == 1:
        (form, numbers), *_ = rule.items()
        values = _ruled(form, numbers)
    else:
        raise GridError(
            f"a {what} must be a list, or a rule such as {{log: [from, to, how many]}}, not "
            f"{value_text(rule)}."
        )
    kept: list[Any] = []
    for value in values:
        if not any(_is_same(value, other) for other in kept):
            kept.append(value)
    return kept


def is_positive(values: Sequence[Any]) -> bool:
    """Return whether all values are numbers above 0."""
    return all(_is_number(value) and value > 0 for value in values)


def is_geometric(values: Sequence[Any]) -> bool:
    """Return whether an axis of these values should be logarithmic.

    It should be if three or more numbers span a factor of ten or more and are closer to equal
    ratios than to equal distances.

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


def _listed(values: Sequence[Any], what: str) -> list[Any]:
    if not values:
        raise GridError(f"this {what} has no values; list at least one.")
    _refuse_too_many(len(values))
    return list(values)


def _ruled(form: str, numbers: Any) -> list[Any]:
    if form not in _FORMS:
        raise GridError(
            f"there is no rule '{form}'.{did_you_mean(form, _FORMS)} Use log, linear or range."
        )
    if (
        not isinstance(numbers, list | tuple)
        or len(numbers) != 3
        or not all(_is_number(v) for v in numbers)
    ):
        raise GridError(f"the rule '{form}' needs three numbers, {_FORMS[form]}.")
    first, last, third = numbers
    if form == "range":
        return _uniform(_range(first, last, third), numbers)
    if not isinstance(third, int) or third < 2:
        raise GridError(f"the third number of the rule '{form}' must be 2 or more.")
    _refuse_too_many(third)
    inner = [i / (third - 1) for i in range(1, third - 1)]
    if form == "log":
        if first <= 0 or last <= 0:
            raise GridError("the first two numbers of the rule 'log' must be above 0.")
        low, high = math.log(first), math.log(last)
        between = [rounded(math.exp(low + (high - low) * part)) for part in inner]
    else:
        between = [rounded(first + (last - first) * part) for part in inner]
    return _uniform([first, *between, last], numbers[:2])


def _range(start: float, stop: float, step: float) -> list[float]:
    if step == 0 or (stop - start) * step < 0:
        raise GridError(f"steps of {step:g} never reach {stop:g} from {start:g}; change the step.")
    # Without the tolerance, [0, 0.3, 0.1] would lose its 0.3: the quotient is 2.9999999999999996.
    steps = (stop - start) / step * (1 + 1e-12)
    _refuse_too_many(math.floor(steps) + 1 if math.isfinite(steps) else steps)
    return [rounded(start + i * step) for i in range(math.floor(steps) + 1)]


def _refuse_too_many(count: float) -> None:
    if count > MAX_VALUES:
        raise GridError(f"a grid has at most {MAX_VALUES} values, but this one has {count:.0f}.")


def rounded(value: Any) -> Any:
    """Return a float rounded to 12 significant digits; return other values unchanged."""
    return float(f"{value:.12g}") if isinstance(value, float) else value


def _uniform(values: list[float], given: Sequence[float]) -> list[Any]:
    if not all(math.isfinite(v) for v in values):
        raise GridError("the grid has infinite values; define it with smaller numbers.")
    if all(isinstance(v, int) for v in given) and all(float(v).is_integer() for v in values):
        return [int(v) for v in values]
    return [float(v) for v in values]
