"""The base of the classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin


class Classifier(ClassifierMixin, BaseEstimator, ABC):
    """A classifier; the docstrings of its methods hold for all, which do not repeat them."""

    classes_: NDArray[Any]

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
