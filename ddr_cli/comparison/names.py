"""How parameters, methods, metrics and numbers are written for readers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ddr_cli.evaluation.metrics import get_scale
from ddr_cli.spec.method_name import method_name as method_name

_PARAMETERS = {
    "reducer.beta": "β",
    "reducer.n_components": "embedding dimension",
    "reducer.n_neighbors": "neighbours k in the graph",
    "reducer.n_neighbors_within": "neighbours within a class",
    "reducer.n_neighbors_between": "neighbours in other classes",
    "reducer.centroid_scale": "factor in the bound on the class centres",
    "reducer.mode": "use of the test samples",
    "reducer.weights": "weights",
    "classifier.n_neighbors": "neighbours K of the classifier",
    "labels": "labelled training samples per class",
    "split.train": "size of the training set",
}

_SHORT_PARAMETERS = {
    "reducer.n_components": "dim",
    "reducer.n_neighbors": "k",
    "reducer.centroid_scale": "factor",
    "classifier.n_neighbors": "K",
    "labels": "labels",
    "split.train": "train",
}

_FAMILIES = {
    "predefined": ("predefined split", "predefined splits"),
    "resample": ("re-split", "re-splits"),
    "per_class": ("random split", "random splits"),
    "fraction": ("random split", "random splits"),
    "kfold": ("fold", "folds"),
    "grouped": ("split by groups", "splits by groups"),
    "given": ("given split", "given splits"),
    "labelled": ("random choice of labels", "random choices of labels"),
    "whole": ("run on all samples", "runs on all samples"),
}


def parameter_name(column: str, *, short: bool = False) -> str:
    """Return the name of a dotted parameter as a reader would write it."""
    if short and column in _SHORT_PARAMETERS:
        return _SHORT_PARAMETERS[column]
    piece, _, name = column.partition(".")
    words = name.replace("_", " ") or piece
    return _PARAMETERS.get(column, words if short else f"{words} ({piece})")


def setting_text(params: Mapping[str, Any]) -> str:
    """Return parameters as ``β = 0.562, dim = 14``."""
    return ", ".join(
        f"{parameter_name(name, short=True)} = {plain(value)}" for name, value in params.items()
    )


def plain(value: Any) -> str:
    """Return a parameter's value in at most three digits after rounding."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e6 else f"{value:.3g}"
    return str(value)


def family_name(family: str, n: int) -> str:
    """Return ``50 re-splits``, ``the predefined split`` or ``all samples``."""
    # If a run compares training sizes, a family's name ends with its size, which is dropped here.
    kind = family.partition("-")[0]
    one, many = _FAMILIES.get(kind, (f"{family} split", f"{family} splits"))
    if family == "predefined":
        return f"the {one}"
    if family == "whole" and n == 1:
        return "all samples"
    return f"{n} {one if n == 1 else many}"


def is_rate(metric: str) -> bool:
    """Return whether a metric is a fraction in 0..1, shown in percent."""
    return get_scale(metric).rate


def lower_is_better(metric: str) -> bool:
    """Return in which direction a metric improves."""
    return get_scale(metric).better == "lower"


def metric_axis(metric: str, method: str = "") -> str:
    """Return the axis label of a metric, with the method if given."""
    words = get_scale(metric).title + (f" of {method}" if method else "")
    return f"{words} (%)" if is_rate(metric) else words


def metric_name(metric: str) -> str:
    """Return a metric's short name, as shown next to a number."""
    return metric.replace("_", " ")


def number(value: float | None, metric: str, *, unit: bool = True) -> str:
    """Return a metric's value: ``8.15 %`` for a rate, three digits otherwise, a dash for nan."""
    if value is None or math.isnan(value):
        return "–"
    if not is_rate(metric):
        return f"{value:.3g}" if abs(value) < 1000 else f"{value:.0f}"
    return f"{100 * value:.2f} %" if unit else f"{100 * value:.2f}"


def difference_text(value: float, metric: str, *, unit: bool = True) -> str:
    """Return a difference of two values: ``+0.35 percentage points`` for rates."""
    value = round(value, 12) + 0.0  # Rounding errors are no difference, and -0.0 becomes 0.0.
    if not is_rate(metric):
        return f"{value:+.3g}"
    return f"{100 * value:+.2f}{' percentage points' if unit else ''}"


def interval_text(low: float, high: float) -> str:
    """Return an interval of scores as text, a dash if there is none (one data set)."""
    return "–" if math.isnan(low) else f"{low:.2f} to {high:.2f}"


def p_text(p: float) -> str:
    """Return a p-value in two digits, an empty text if there is none."""
    return "" if math.isnan(p) else "< 0.001" if p < 0.001 else f"{p:.2g}"


def amount_text(value: float, metric: str) -> str:
    """Return the size of a difference: ``1 percentage point`` for rates."""
    if not is_rate(metric):
        return f"{value:g}"
    return f"{100 * value:g} percentage point{'' if round(100 * value, 9) == 1 else 's'}"
