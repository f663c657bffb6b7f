"""Labels, some of which may be unknown: classes of any type, or numbers."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from ddr_cli.numerics.validation import validate_data

UNLABELLED = -1
Unlabelled = Literal[-1, "nan"]


def plain_labels(y: NDArray[Any]) -> NDArray[Any]:
    """Return labels, with numeric objects as numbers; reject missing, mixed, continuous ones."""
    missing = [i for i, label in enumerate(y) if label is None] if y.dtype == object else []
    if missing:
        raise ValueError(
            f"The label at position {missing[0]} is None; label unlabelled samples with -1."
        )
    if y.dtype == object and not all(isinstance(label, str) for label in y):
        plain = np.array(y.tolist())
        alike = len({isinstance(label, bool) for label in y}) == 1
        if plain.dtype.kind not in "biuf" or plain.ndim != 1 or not alike:
            kinds = ", ".join(sorted({type(label).__name__ for label in y}))
            raise ValueError(
                f"y mixes labels of the types {kinds}; convert all to text, or all to numbers."
            )
        y = plain
    check_classification_targets(y)
    return y


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the sorted classes without -1, and for each sample its class's index or -1."""
    code = np.full(len(y), UNLABELLED, dtype=np.intp)
    labelled = ~_is_unlabelled(y)
    if not labelled.any():
        raise ValueError("All labels are -1 (unlabelled); at least one sample needs a class.")
    classes, code[labelled] = np.unique(plain_labels(y[labelled]), return_inverse=True)
    return classes, code


def _is_unlabelled(y: NDArray[Any]) -> NDArray[np.bool_]:
    if y.dtype.kind in "biufc":
        return np.asarray(y == UNLABELLED)
    # NumPy converts ["a", -1] to an array of strings.
    return np.array([label == UNLABELLED or label == str(UNLABELLED) for label in y], dtype=bool)


def codes_among(classes: NDArray[Any], y: ArrayLike) -> NDArray[np.intp]:
    """Return for each label its index in `classes`, or -1 where it is -1."""
    labels = column_or_1d(y)
    code = np.full(len(labels), UNLABELLED, dtype=np.intp)
    labelled = ~_is_unlabelled(labels)
    unknown = np.setdiff1d(labels[labelled], classes)
    if len(unknown):
        raise ValueError(
            f"The labels {unknown.tolist()} are not among the classes {classes.tolist()}."
        )
    code[labelled] = np.searchsorted(classes, labels[labelled])
    return code


def points_and_values(
    estimator: Any, X: ArrayLike, y: ArrayLike, unlabelled: Unlabelled, **accepted: Any
) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_]]:
    """Return checked samples, their labels as numbers, and which of them are labelled.

    `accepted` states the allowed kinds of `X`, as for scikit-learn's ``check_array``.
    """
    of_labels = {
        "ensure_2d": False,
        "dtype": np.float64,
        "ensure_all_finite": "allow-nan" if unlabelled == "nan" else True,
    }
    points, labels = validate_data(estimator, X, y, validate_separately=(accepted, of_labels))
    values = column_or_1d(labels, warn=True)
    check_consistent_length(points, values)
    labelled = ~np.isnan(values) if unlabelled == "nan" else values != UNLABELLED
    if not labelled.any():
        raise ValueError(f"All labels are {unlabelled} (unlabelled).")
    marked = unlabelled == UNLABELLED and not labelled.all()
    if marked and (values[labelled] < 0).any():
        warnings.warn(
            f"{int(np.sum(~labelled))} labels are -1 (unlabelled), but other labels are negative "
            "too. If -1 is a valid label, set unlabelled='nan'.",
            stacklevel=3,
        )
    return points, values, labelled
