"""The base of the classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.validation import validate_data


class Classifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier. The docstrings apply to all classifiers, which do not repeat them."""

    classes_: NDArray[Any]
    _takes_sparse: ClassVar[bool] = True
    _traits: ClassVar[EvaluatorTraits] = EvaluatorTraits()

    @abstractmethod
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the classifier to the training set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row. Some classifiers take dense data only.
        y : array-like of shape (n_samples,)
            Class labels.

        Returns
        -------
        Self
            The fitted classifier.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """

    @abstractmethod
    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class labels of samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries,)
            The predicted label of each sample.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """

    def _training(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Return the checked training samples and labels, with checked parameters."""
        check_parameters(self)
        points, labels = validate_data(self, X, y, **self._accepted)
        check_classification_targets(labels)
        return points, labels

    def _queries(self, X: ArrayLike) -> Any:
        """Return the checked samples, for a fitted classifier."""
        check_is_fitted(self)
        return validate_data(self, X, reset=False, **self._accepted)

    @property
    def _accepted(self) -> dict[str, Any]:
        return {"accept_sparse": "csr" if self._takes_sparse else False, "dtype": np.float64}

    def __ddr_traits__(self) -> EvaluatorTraits:
        return self._traits

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_sparse
        return tags
