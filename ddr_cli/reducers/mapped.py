"""What embeddings without a transform of their own share: a regression places new points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.reducers.regression_map import MapName, make_map

Floats = NDArray[np.float64]


class MappedEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A transformer with `embedding_` and `map`; `fit` ends with `_fit_map`."""

    embedding_: Floats
    map_: Any
    n_components: int
    map: MapName

    def transform(self, X: ArrayLike) -> Floats:
        """Place new points by the regression from the training points to their embedding.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float64)
        return np.asarray(self.map_.predict(points))

    def _check_dimensions(self, n_samples: int) -> None:
        if self.n_components >= n_samples:
            raise ValueError(
                f"n_components={self.n_components}, but n_samples = {n_samples} centred points "
                f"span at most {n_samples - 1} dimensions."
            )

    def _widened(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the first `n_components` along the last axis, zero where there are fewer."""
        m = self.n_components
        missing = max(0, m - columns.shape[-1])
        padding = [(0, 0)] * (columns.ndim - 1) + [(0, missing)]
        return np.pad(columns[..., :m], padding)

    def _fit_map(self, points: Floats) -> None:
        self.map_ = make_map(self.map).fit(points, self.embedding_)

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
