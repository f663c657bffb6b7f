"""What scikit-learn's own embeddings share behind the contract of the reducers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.eigen import deterministic_signs

Floats = NDArray[np.float64]


class WrappedEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """A transformer around a fitted one of scikit-learn's; `fit` ends with `_keep`.

    Numbers are computed in float64 and have the type of the data in the end; signs are those of
    `deterministic_signs`.
    """

    embedding_: NDArray[Any]
    model_: Any
    n_components: int

    @abstractmethod
    def fit(self, X: ArrayLike, y: Any = None) -> Any:
        """Embed the rows of `X`; a subclass does."""

    def _checked(self, X: ArrayLike) -> Any:
        """Return the checked training points."""
        check_parameters(self)
        points = validate_data(
            self,
            X,
            accept_sparse=self._sparse,
            dtype=[np.float64, np.float32],
            ensure_min_samples=2,
        )
        n = points.shape[0]
        if self.n_components >= n:
            raise ValueError(
                f"n_components={self.n_components}, but n_samples = {n} centred points span at "
                f"most {n - 1} dimensions."
            )
        return points

    def _keep(self, model: Any, embedding: Floats, dtype: Any) -> None:
        """Store a fitted model, and the embedding of the training points with its signs set."""
        self.model_ = model
        turned = deterministic_signs(embedding)
        self._signs = np.where((turned == embedding).all(axis=0), 1.0, -1.0)
        self.embedding_ = turned.astype(dtype)

    def fit_transform(self, X: ArrayLike, y: Any = None) -> NDArray[Any]:
        """Fit, and return `embedding_`."""
        self.fit(X, y)
        return self.embedding_

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Place points as scikit-learn does.

        Parameters
        ----------
        X : array of shape (n_queries, n_features)
            Or sparse, or a kernel matrix, where `fit` takes such.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self)
        points = validate_data(
            self, X, reset=False, accept_sparse=self._sparse, dtype=[np.float64, np.float32]
        )
        placed = self.model_.transform(points.astype(np.float64)) * self._signs
        return np.asarray(placed.astype(points.dtype))

    @property
    def _sparse(self) -> str | bool:
        return False

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse)
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
