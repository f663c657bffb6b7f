"""k-nearest-neighbour classification with a stated rule for every tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.classifier import Classifier
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.neighbors import kneighbors

Ties = Literal["nearest", "smallest_label"]


@registered(
    "classifier",
    "knn",
    "k nearest neighbours, Euclidean; ties go to the class of the nearest neighbour",
    label="k-NN",
    look=("blue", "o"),
)
class KNNClassifier(Classifier):
    """Majority vote of the k nearest training samples in Euclidean distance.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number k of neighbours that vote.
    ties : {"nearest", "smallest_label"}, default="nearest"
        The prediction if several classes have the most votes. "nearest": of these classes, the
        class of the nearest neighbour. "smallest_label": the class that sorts first, as in
        scikit-learn.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    Training samples at the same distance are ordered by row number, so a prediction does not depend
    on the search. Distances are the same if they differ by at most 2^-36 of the mean distance of
    the training samples from their mean, so it does not depend on the processor either.

    References
    ----------
    T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", section 13.3.

    Examples
    --------
    >>> from ddr_cli.evaluation.knn import KNNClassifier
    >>> classifier = KNNClassifier(n_neighbors=2).fit([[0.0], [1.0], [3.0]], ["a", "a", "b"])
    >>> print(classifier.predict([[2.2]]))
    ['b']
    """

    n_neighbors: Annotated[int, Ge(1)] = 5
    ties: Ties = "nearest"

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, labels = self._training(X, y)
        if len(labels) < self.n_neighbors:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, but n_samples={len(labels)}; lower n_neighbors."
            )
        self.classes_, self._codes = np.unique(labels, return_inverse=True)
        self._points = points
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        return self._elected(self._votes(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the fraction of each class among the k neighbours.

        If several classes have the largest fraction, that of the class that `predict` returns is
        larger by one rounding unit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries, n_classes)
            The fractions; columns are in the order of `classes_`.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        votes, n_classes = self._votes(X), len(self.classes_)
        shares: NDArray[np.float64] = tallied(votes, n_classes) / votes.shape[1]
        rows, elected = np.arange(len(votes)), elect(votes, n_classes, self.ties)
        shares[rows, elected] = np.nextafter(shares[rows, elected], 1.0)
        return shares

    @classmethod
    def predict_many(
        cls,
        X_train: ArrayLike,
        y_train: ArrayLike,
        X_test: ArrayLike | None,
        settings: Sequence[Mapping[str, Any]],
    ) -> list[NDArray[Any]]:
        """Fit and predict with each of several settings, from one neighbour search.

        Parameters
        ----------
        X_train : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row.
        y_train : array-like of shape (n_samples,)
            Class labels.
        X_test : array-like or sparse matrix of shape (n_queries, n_features), or None
            Samples to classify. None: the training samples, as in `predict_training`.
        settings : sequence of mapping
            Parameters of the classifier, one mapping per prediction.

        Returns
        -------
        list of ndarray of shape (n_queries,)
            The predicted labels for each setting.

        Raises
        ------
        ValueError
            If a setting or the data are not valid.
        """
        classifiers = [cls(**setting) for setting in settings]
        if not classifiers:
            return []
        for classifier in classifiers:
            check_parameters(classifier)
        widest = max(classifiers, key=lambda classifier: classifier.n_neighbors)
        votes = widest.fit(X_train, y_train)._votes(X_test)
        for classifier in classifiers:
            classifier.classes_ = widest.classes_
        return [
            classifier._elected(votes[:, : classifier.n_neighbors]) for classifier in classifiers
        ]

    @classmethod
    def predict_training(
        cls, X: ArrayLike, y: ArrayLike, settings: Sequence[Mapping[str, Any]]
    ) -> list[NDArray[Any]]:
        """Predict the label of each training sample from all other training samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row.
        y : array-like of shape (n_samples,)
            Class labels.
        settings : sequence of mapping
            Parameters of the classifier, one mapping per prediction; they share one search.

        Returns
        -------
        list of ndarray of shape (n_samples,)
            The predicted labels for each setting.

        Raises
        ------
        ValueError
            If a setting or the data are not valid.
        """
        return cls.predict_many(X, y, None, settings)

    def _votes(self, X: ArrayLike | None) -> NDArray[np.intp]:
        """Return the class codes of each query's k neighbours, nearest first.

        Without queries, these are the training samples, and no sample is its own neighbour.
        """
        queries = None if X is None else self._queries(X)
        neighbors = kneighbors(self._points, self.n_neighbors, queries=queries)
        votes: NDArray[np.intp] = self._codes[neighbors.indices]
        return votes

    def _elected(self, votes: NDArray[np.intp]) -> NDArray[Any]:
        return np.asarray(self.classes_[elect(votes, len(self.classes_), self.ties)])

    _traits = EvaluatorTraits(
        version=2,
        shared="n_neighbors",
        grids={"n_neighbors": tuple(range(1, 16))},
    )


def elect(votes: NDArray[np.intp], n_classes: int, ties: Ties = "nearest") -> NDArray[np.intp]:
    """Return the class code with most votes of each row of neighbours' codes, nearest first."""
    rows = np.arange(len(votes))
    tally = tallied(votes, n_classes)
    if ties == "smallest_label":
        return np.asarray(tally.argmax(axis=1))
    leads = tally[rows[:, None], votes] == tally.max(axis=1, keepdims=True)
    return np.asarray(votes[rows, leads.argmax(axis=1)])


def tallied(votes: NDArray[np.intp], n_classes: int) -> NDArray[np.intp]:
    """Return how many votes of each row every class has."""
    rows = np.arange(len(votes))
    tally = np.zeros((len(votes), n_classes), dtype=np.intp)
    for column in votes.T:
        tally[rows, column] += 1
    return tally
