"""Checks of an estimator's samples beyond scikit-learn's own."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike
from sklearn.utils import validation

_TIMES = (date, timedelta, np.datetime64, np.timedelta64)


def validate_data(estimator: Any, X: ArrayLike, y: Any = "no_validation", **accepted: Any) -> Any:
    """Return the result of scikit-learn's ``validate_data``; reject dates, which it converts."""
    refuse_dates(X)
    return validation.validate_data(estimator, X, y, **accepted)


def refuse_dates(X: Any) -> None:
    """Raise ValueError if X holds dates or durations, which depend on their unit as numbers."""
    if any(dtype.kind in "mM" or (dtype.kind == "O" and _has_dates(X)) for dtype in _dtypes(X)):
        raise ValueError(
            "X holds dates or durations; convert them to numbers, for example to days."
        )


def _dtypes(X: Any) -> list[Any]:
    """Return the NumPy-like dtypes of an array, a list, or the columns of a data frame."""
    if sp.issparse(X):
        return []
    columns = getattr(X, "dtypes", None)
    if columns is not None:
        return [dtype for dtype in np.ravel(columns) if hasattr(dtype, "kind")]
    return [(X if hasattr(X, "dtype") else np.asarray(X)).dtype]


def _has_dates(X: Any) -> bool:
    return any(isinstance(value, _TIMES) for value in np.asarray(X, dtype=object).flat)
