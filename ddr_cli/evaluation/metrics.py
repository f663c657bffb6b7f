"""Metrics of classifiers by the names that specs use: our own, and scikit-learn's scorers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ddr_cli.core.registry import Scale as Scale
from ddr_cli.evaluation.evaluators import MEASURES


def error(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the fraction of wrong predictions, in 0..1."""
    return float(np.mean(np.asarray(y_true) != np.asarray(y_pred)))


def accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the fraction of correct predictions, in 0..1."""
    return float(np.mean(np.asarray(y_true) == np.asarray(y_pred)))


def balanced_accuracy(y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return the mean over the classes of `y_true` of the fraction of correct predictions."""
    _, codes = np.unique(np.asarray(y_true), return_inverse=True)
    right = np.asarray(y_true) == np.asarray(y_pred)
    return float(np.mean(np.bincount(codes, weights=right) / np.bincount(codes)))


LABEL_METRICS: MappingProxyType[str, Callable[[ArrayLike, ArrayLike], float]] = MappingProxyType(
    {"error": error, "accuracy": accuracy, "balanced_accuracy": balanced_accuracy}
)
"""Our scores of predicted labels."""

TRAINING_ERROR = "training_error"
"""The error on the training samples. A training sample's nearest neighbours leave itself out."""

MEAN_AVERAGE_PRECISION = "mean_average_precision"
"""A score of decision values of two classes; classifiers without decision values have none."""


def label_score(name: str, y_true: ArrayLike, y_pred: ArrayLike) -> float:
    """Return one of `LABEL_METRICS`; a ValueError if the labels differ in shape or are empty."""
    if np.shape(y_true) != np.shape(y_pred) or np.size(y_true) == 0:
        raise ValueError(
            f"{name} needs at least one label, and one prediction per label; the labels have the "
            f"shape {np.shape(y_true)}, the predictions {np.shape(y_pred)}."
        )
    return LABEL_METRICS[name](y_true, y_pred)


def mean_average_precision(
    relevant: ArrayLike, values: ArrayLike, groups: ArrayLike | None = None
) -> float:
    """Return the mean over the groups of the average precision within each group.

    Parameters
    ----------
    relevant : array-like of bool, shape (n_samples,)
        Which samples are to come first.
    values : array-like of shape (n_samples,)
        Decision values; the larger, the earlier.
    groups : array-like of shape (n_samples,), optional
        What is ranked together, such as the documents of a query; all samples if not given. A group
        without a relevant sample has no average precision and is ignored.

    Raises
    ------
    ValueError
        If no sample is relevant.
    """
    # scikit-learn is imported only where it is used, because shell completion loads this module for
    # the names of metrics.
    from sklearn.metrics import average_precision_score

    hits, order = np.asarray(relevant, dtype=bool), np.asarray(values)
    group = np.zeros(len(hits), dtype=int) if groups is None else np.asarray(groups)
    if not hits.any():
        raise ValueError("mean_average_precision needs at least one relevant sample.")
    each = [
        average_precision_score(hits[rows], order[rows])
        for rows in (group == name for name in np.unique(group[hits]))
    ]
    return float(np.mean(each))


# Prefixes of the names of scikit-learn's scorers for regression.
_NOT_OF_CLASSES = ("d2_absolute", "explained", "neg_m", "neg_root", "r2")


def scorer_names() -> list[str]:
    """Return the names of scikit-learn's classification scorers that are not our metrics."""
    from sklearn.metrics import get_scorer_names

    return [
        name
        for name in get_scorer_names()
        if name not in _SCALES
        and not name.startswith(_NOT_OF_CLASSES)
        and not name.endswith("_samples")
    ]


def scorer_needs(name: str) -> tuple[str, ...]:
    """Return the classifier's methods of which scikit-learn's scorer needs one."""
    from sklearn.metrics import get_scorer

    needed = get_scorer(name)._response_method
    return (needed,) if isinstance(needed, str) else tuple(needed)


def scorer_score(name: str, classifier: Any, X: Any, y_true: ArrayLike) -> float:
    """Return the score of a fitted classifier by scikit-learn's scorer.

    Higher is better: losses are negative. A class that is never predicted counts 0, without a
    warning.
    """
    from sklearn.exceptions import UndefinedMetricWarning
    from sklearn.metrics import get_scorer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return float(get_scorer(name)(classifier, X, y_true))


_SCALES = MappingProxyType(
    {
        scale.name: scale
        for scale in (
            Scale("error", "error rate", "lower", of_points=True),
            Scale("accuracy", "accuracy", "higher", of_points=True),
            Scale("balanced_accuracy", "balanced accuracy", "higher"),
            Scale(TRAINING_ERROR, "error on the training set", "lower"),
            Scale(MEAN_AVERAGE_PRECISION, "mean average precision", "higher"),
        )
    }
)


@cache
def measured() -> Mapping[str, Scale]:
    """Return the scales that our measures declare, by the column of the journal."""
    scales = (each.scale for each in MEASURES.ours.values())
    return {scale.name: scale for scale in scales if scale is not None}


def majority_baseline(class_sizes: Collection[int]) -> dict[str, float]:
    """Return the scores of always predicting the largest class, by metric."""
    share = max(class_sizes) / sum(class_sizes)
    return {"error": 1 - share, "accuracy": share, "balanced_accuracy": 1 / len(class_sizes)}


def metric_names() -> list[str]:
    """Return the names of our own metrics; `scorer_names` has the other names for specs."""
    return list(_SCALES)


def get_scale(name: str) -> Scale:
    """Return the scale of the numbers in a journal's column.

    Scores of scikit-learn's scorers and of third-party measures are shown unchanged, and higher is
    better.
    """
    known = _SCALES.get(name) or measured().get(name)
    return known or Scale(name, name.replace("_", " "), "higher", rate=False)
