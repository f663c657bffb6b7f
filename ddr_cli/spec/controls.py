"""The ``controls:`` of a spec: baselines for every method, added to the spec's lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ddr_cli.spec.components import ClassifierSpec, Context, ReducerSpec, StepSpec
from ddr_cli.spec.estimators import complete, load_factory
from ddr_cli.spec.feasible import NOTHING, WIDTH, Limits, is_sparse
from ddr_cli.spec.model import Control

PROJECTIONS = ("pca", "random_projection")
FULL_FEATURES: Control = "full_features"
SHUFFLED_LABELS: Control = "shuffled_labels"
SEEN = "training_error"
"""The metric by which controls with shuffled labels are compared."""

_STRONG, _STRONG_ON_FEW = "gradient_boosting", "random_forest"
_STRONG_ON_SPARSE = "logistic_regression"
STRONG = (_STRONG, _STRONG_ON_FEW, _STRONG_ON_SPARSE)
"""The classifiers that may be used on all features."""

# With fewer training samples, gradient boosting is of no use: its leaves have 20 samples or more.
_FEW = 500


def control_reducers(
    controls: Sequence[Control],
    items: Sequence[ReducerSpec],
    limits: Limits,
    *,
    swept: bool,
    tuned: bool,
) -> list[ReducerSpec]:
    """Return the reducers that controls add to those of a spec.

    Projections get the `n_components` of the spec's methods: one item for each value or, if it is
    `swept` or `tuned`, one item with all values.
    """
    there = {item.name for item in items}
    found = []
    if {NOTHING, FULL_FEATURES} & set(controls) and NOTHING not in there:
        found.append(_reducer(NOTHING, {}))
    for name in PROJECTIONS:
        if name not in controls or name in there:
            continue
        traits = load_factory("reducers", name)().__ddr_traits__()
        most = limits.most(traits, None)
        widths = _clipped(_widths(items), most) or _clipped([2], most)
        if swept:
            found.append(_reducer(name, {WIDTH: widths[0]}))
        elif tuned:
            grid = _clipped(_tuned_widths(items), most)
            own = [item.params.get(WIDTH) for item in items]
            default = _clipped([width for width in own if isinstance(width, int)] or [2], most)[0]
            found.append(_reducer(name, {WIDTH: default}, {WIDTH: tuple(grid)} if grid else {}))
        else:
            found += [_reducer(name, {WIDTH: width}) for width in widths]
    return found


def strong_classifier(context: Context, preprocess: Iterable[StepSpec]) -> ClassifierSpec:
    """Return the classifier for all features that suits the size and form of the data."""
    name = _STRONG
    if context.budgets or (context.n_train is not None and context.n_train < _FEW):
        name = _STRONG_ON_FEW
    if context.card is not None and is_sparse(context.card, preprocess):
        name = _STRONG_ON_SPARSE
    params = complete(load_factory("classifiers", name), {})
    return ClassifierSpec(name=name, only_on=NOTHING, params=params)


def _reducer(name: str, params: dict[str, Any], grids: dict[str, Any] | None = None) -> ReducerSpec:
    params = complete(load_factory("reducers", name), params)
    return ReducerSpec(name=name, params=params, grids=grids or {})


def _widths(items: Sequence[ReducerSpec]) -> list[int]:
    """Return the distinct values of the methods, in their order."""
    widths: list[int] = []
    for item in items:
        for value in item.grids.get(WIDTH, (item.params.get(WIDTH),)):
            if isinstance(value, int) and value not in widths:
                widths.append(value)
    return widths


def _tuned_widths(items: Sequence[ReducerSpec]) -> list[int]:
    """Return the values among which methods choose by their own grids; empty if there are none."""
    stated = [item for item in items if item.grids and WIDTH in item.params]
    return sorted(_widths(stated))


def _clipped(widths: Sequence[int], most: int | None) -> list[int]:
    """Return distinct n_components, with impossible values replaced by the largest possible."""
    return list(dict.fromkeys(width if most is None else min(width, most) for width in widths))
