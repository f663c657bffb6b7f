"""No reduction: the baseline that every table has."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.reducers.registry import Traits

_ACCEPTED: dict[str, Any] = {"accept_sparse": "csr", "dtype": [np.float64, np.float32]}


class Identity(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Return the data as they are.

    Attributes
    ----------
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> Identity().fit_transform([[1.0, 2.0]])
    array([[1., 2.]])
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Identity:  # noqa: ARG002 (scikit-learn's signature)
        """Check `X` and learn nothing.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        Identity
            Itself.
        """
        validate_data(self, X, **_ACCEPTED)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Return `X`, checked.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)

        Returns
        -------
        ndarray or CSR of shape (n_samples, n_features)
        """
        check_is_fitted(self, "n_features_in_")
        return validate_data(self, X, reset=False, **_ACCEPTED)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(version=1, supervised=False)
