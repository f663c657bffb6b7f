"""k-nearest-neighbour classification with a stated rule for every tie."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.numerics.validation import validate_data

Ties = Literal["nearest", "smallest_label"]


@dataclass(eq=False, repr=False)
@registered(
    "classifier",
    "knn",
    "k nearest neighbours, Euclidean; of tied classes the nearest neighbour's wins",
    label="k-NN",
    look=("blue", "o"),
)
class KNNClassifier(ClassifierMixin, BaseEstimator):
    """Majority vote of the k nearest training samples in Euclidean distance.

    Parameters
    ----------
    n_neighbors : int, default=5
        k, the number of voters.
    ties : {"nearest", "smallest_label"}, default="nearest"
        Who wins when several classes have the most votes: the one whose member is nearest to the
        query, or the one that sorts first (scikit-learn's rule).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    Training samples at the same distance rank by their row number, so a prediction never depends
    on the order in which a search meets them.

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
        """Remember the training samples, dense or sparse, and their labels.

        Raises
        ------
        ValueError
            If a parameter or the data is not valid, or there are fewer than k samples.
        """
        check_parameters(self)
        points, labels = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(labels)
        if len(labels) < self.n_neighbors:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} is more than the n_samples={len(labels)} "
                "training points; choose a smaller one."
            )
        self.classes_, self._codes = np.unique(labels, return_inverse=True)
        self._points = points
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the label of each query."""
        return self._elected(self._votes(X))

    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return each class's share of a query's k neighbours, (n_queries, n_classes).

        Of classes with equally many, the one that `predict` names has the last bit more.
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
        """Return what fitting and predicting with each of `settings` would, from one search.

        Parameters
        ----------
        X_train, y_train, X_test
            As for `fit` and `predict`; without `X_test`, as for `predict_training`.
        settings : sequence of mapping
            Constructor parameters, one mapping per prediction.

        Returns
        -------
        list of ndarray of shape (n_queries,)
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
        """Return what each of `settings` predicts of the training samples, from one search.

        A sample is no neighbour of itself: its label is predicted from all others.
        """
        return cls.predict_many(X, y, None, settings)

    def _votes(self, X: ArrayLike | None) -> NDArray[np.intp]:
        """Return the class codes of each query's k neighbours, nearest first.

        Without queries the training samples are asked for, and none is its own neighbour.
        """
        check_is_fitted(self)
        queries = None
        if X is not None:
            queries = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        neighbors = kneighbors(self._points, self.n_neighbors, queries=queries)
        votes: NDArray[np.intp] = self._codes[neighbors.indices]
        return votes

    def _elected(self, votes: NDArray[np.intp]) -> NDArray[Any]:
        return np.asarray(self.classes_[elect(votes, len(self.classes_), self.ties)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
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
