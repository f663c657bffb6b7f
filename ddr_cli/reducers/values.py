"""Real-valued labels, some of them unknown."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_consistent_length, column_or_1d, validate_data

from ddr_cli.reducers.labels import UNLABELLED

Unlabelled = Literal[-1, "nan"]


def points_and_values(
    estimator: Any, X: ArrayLike, y: ArrayLike, unlabelled: Unlabelled, **accepted: Any
) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_]]:
    """Return checked points, their labels, and which of them are labelled.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Whose `fit` was called.
    X : array or sparse of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Numbers.
    unlabelled : -1 or "nan"
        The label of an unlabelled point.
    **accepted
        What `X` may be; see scikit-learn's ``check_array``.

    Returns
    -------
    points : array or CSR of shape (n_samples, n_features)
    values : ndarray of shape (n_samples,)
        Meaningless where not labelled.
    labelled : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If the input is not valid, or no point is labelled.

    Warns
    -----
    UserWarning
        If -1 means unlabelled and there are other negative labels: then it may be meant as a
        value.
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
        raise ValueError(f"Every label is {unlabelled}, which means unlabelled.")
    marked = unlabelled == UNLABELLED and not labelled.all()
    if marked and (values[labelled] < 0).any():
        warnings.warn(
            f"{int(np.sum(~labelled))} labels are -1, which means unlabelled, while others are "
            f"negative. If -1 is a value here, give unlabelled='nan'.",
            stacklevel=3,
        )
    return points, values, labelled
