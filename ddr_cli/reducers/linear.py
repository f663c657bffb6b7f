"""What all linear reducers share: projection on `components_` after centring by `mean_`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data


class LinearReducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A transformer with `components_` of shape (n_components, n_features) and `mean_`.

    A mix-in: list it before scikit-learn's ``BaseEstimator``. Sparse data stay sparse; only
    their projection is dense. The result has the type of `components_`.
    """

    components_: NDArray[Any]
    mean_: NDArray[Any]

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Project centred data on the components.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
        """
        check_is_fitted(self, "components_")
        points = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        shift = self.mean_ @ self.components_.T
        return np.asarray(safe_sparse_dot(points, self.components_.T, dense_output=True) - shift)

    @property
    def _n_features_out(self) -> int:
        return int(self.components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
