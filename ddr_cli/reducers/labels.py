"""Class labels of any type, with -1 for "unlabelled"."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

UNLABELLED = -1


def encode_labels(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the classes and, for each point, its class's index or -1.

    Parameters
    ----------
    y : ndarray of shape (n,)
        Labels; a point with label -1 is unlabelled. The text "-1" counts too, because NumPy turns
        ``["a", -1]`` into text.

    Returns
    -------
    classes : ndarray of shape (L,)
        The distinct labels, sorted, without -1.
    code : ndarray of shape (n,)
        Index into `classes`, or -1.

    Raises
    ------
    ValueError
        If no point is labelled, or the labels are real numbers.
    """
    code = np.full(len(y), UNLABELLED, dtype=np.intp)
    labelled = ~is_unlabelled(y)
    if not labelled.any():
        raise ValueError(
            "Every label is -1, which means unlabelled; at least one point needs a class label."
        )
    check_classification_targets(y[labelled])
    classes, code[labelled] = np.unique(y[labelled], return_inverse=True)
    return classes, code


def is_unlabelled(y: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which labels are -1."""
    if y.dtype.kind in "biufc":
        return np.asarray(y == UNLABELLED)
    return np.array([label == UNLABELLED or label == str(UNLABELLED) for label in y], dtype=bool)


def codes_among(classes: NDArray[Any], y: ArrayLike) -> NDArray[np.intp]:
    """Return for each label its index in `classes`, or -1 where it is -1.

    Raises
    ------
    ValueError
        If a label is neither -1 nor among `classes`.
    """
    labels = column_or_1d(y)
    code = np.full(len(labels), UNLABELLED, dtype=np.intp)
    labelled = ~is_unlabelled(labels)
    unknown = np.setdiff1d(labels[labelled], classes)
    if len(unknown):
        raise ValueError(f"The labels {unknown.tolist()} are not among {classes.tolist()}.")
    code[labelled] = np.searchsorted(classes, labels[labelled])
    return code
