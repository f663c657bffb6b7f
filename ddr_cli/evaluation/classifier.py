"""The base of the classifiers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import preprocessing
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.validation import validate_data

Method = TypeVar("Method", bound=Callable[..., Any])


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


def _if_it_has(name: str) -> Callable[[Method], Method]:
    """Return a decorator for a method that a class has if scikit-learn's classifier has it."""
    decorated: Callable[[Method], Method] = available_if(
        lambda own: hasattr(own._classifier(), name)
    )
    return decorated


class ScaledClassifier(Classifier):
    """scikit-learn's classifier, on standardised features if `scale` is true."""

    scale = False

    @abstractmethod
    def _classifier(self) -> Any:
        """Return scikit-learn's classifier with the parameters."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, labels = self._training(X, y)
        scaler = preprocessing.StandardScaler(with_mean=not sparse.issparse(points))
        self._scaler = scaler.fit(points) if self.scale else None
        self.model_ = self._fitted(self._scaled(points), labels)
        self.classes_ = self.model_.classes_
        return self

    def _fitted(self, points: Any, labels: NDArray[Any]) -> Any:
        return self._classifier().fit(points, labels)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        queries = self._queries(X)
        return np.asarray(self.model_.predict(queries))

    @_if_it_has("decision_function")
    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the classifier's decision values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries, n_classes) or (n_queries,)
            One column per class; for two classes, the value of the second class.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        queries = self._queries(X)
        return np.asarray(self.model_.decision_function(queries))

    @_if_it_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            Class probabilities; each row sums to 1.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        queries = self._queries(X)
        return np.asarray(self.model_.predict_proba(queries))

    @property
    def n_iter_(self) -> int:
        """Number of iterations of the fit."""
        return int(np.max(self.model_.n_iter_))

    def _queries(self, X: ArrayLike) -> Any:
        return self._scaled(super()._queries(X))

    def _scaled(self, points: Any) -> Any:
        return points if self._scaler is None else self._scaler.transform(points)
