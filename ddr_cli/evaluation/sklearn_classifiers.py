"""scikit-learn's classifiers with a few of their parameters, checked, seeded and on one thread.

They show how much accuracy a reduction loses compared with a strong classifier on all features.
Parameters that are not listed here have scikit-learn's defaults.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Annotated, Any, Literal, Self, TypeVar

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn import ensemble, linear_model, preprocessing, svm
from sklearn.utils.metaestimators import available_if

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.classifier import Classifier
from ddr_cli.evaluation.evaluators import EvaluatorTraits

Seed = int | np.random.RandomState | None
Positive = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(1)]
Method = TypeVar("Method", bound=Callable[..., Any])


def _if_it_has(name: str) -> Callable[[Method], Method]:
    """Return a decorator for a method that a class has if scikit-learn's classifier has it."""
    decorated: Callable[[Method], Method] = available_if(
        lambda own: hasattr(own._classifier(), name)
    )
    return decorated


class _Wrapped(Classifier):
    """scikit-learn's classifier, on standardised features if `scale` is true."""

    scale = False

    @abstractmethod
    def _classifier(self) -> Any:
        """Return scikit-learn's classifier with the parameters."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, labels = self._training(X, y)
        scaler = preprocessing.StandardScaler(with_mean=not sparse.issparse(points))
        self._scaler = scaler.fit(points) if self.scale else None
        self.model_ = self._classifier().fit(self._scaled(points), labels)
        self.classes_ = self.model_.classes_
        return self

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


@registered(
    "classifier",
    "gradient_boosting",
    "gradient boosting of trees on binned features; dense data only",
    look=("black", "s"),
)
class GradientBoosting(_Wrapped):
    """Gradient boosting of trees on binned features (`HistGradientBoostingClassifier`).

    Parameters
    ----------
    learning_rate : float, default=0.1
        Factor of each tree's contribution, above 0; scikit-learn's default.
    max_iter : int, default=100
        Number of boosting iterations, each with one tree per class (for two classes, a single
        tree); scikit-learn's default.
    max_leaf_nodes : int, default=31
        Largest number of leaves of a tree, at least 2; scikit-learn's default.
    min_samples_leaf : int, default=20
        Smallest number of training samples in a leaf; scikit-learn's default.
    random_state : int, RandomState or None, default=None
        Seed of the validation set for early stopping (above 10,000 samples) and of the samples
        that define the bins (above 200,000 samples).

    Attributes
    ----------
    model_ : HistGradientBoostingClassifier
        The fitted scikit-learn classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    References
    ----------
    .. [1] J. H. Friedman, "Greedy Function Approximation: A Gradient Boosting Machine", Annals
       of Statistics 29, 2001.
    """

    learning_rate: Positive = 0.1
    max_iter: Count = 100
    max_leaf_nodes: Annotated[int, Ge(2)] = 31
    min_samples_leaf: Count = 20
    random_state: Seed = None

    _takes_sparse = False

    def _classifier(self) -> ensemble.HistGradientBoostingClassifier:
        return ensemble.HistGradientBoostingClassifier(**self.get_params())

    _traits = EvaluatorTraits(
        grids={"learning_rate": (0.03, 0.1, 0.3), "max_leaf_nodes": (7, 15, 31, 63)},
    )


@registered(
    "classifier", "random_forest", "majority vote of randomised trees", look=("dark red", "X")
)
class RandomForest(_Wrapped):
    """A random forest (`RandomForestClassifier`).

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees; scikit-learn's default.
    max_features : "sqrt", "log2" or float, default="sqrt"
        Number of features that each split considers: the square root or the binary logarithm of
        n_features, or a fraction of n_features; scikit-learn's default.
    min_samples_leaf : int, default=1
        Smallest number of training samples in a leaf; scikit-learn's default.
    random_state : int, RandomState or None, default=None
        Seed of the bootstrap samples and of the features that each split considers.

    Attributes
    ----------
    model_ : RandomForestClassifier
        The fitted scikit-learn classifier.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    References
    ----------
    .. [1] L. Breiman, "Random Forests", Machine Learning 45, 2001.
    """

    n_estimators: Count = 100
    max_features: Literal["sqrt", "log2"] | Annotated[float, Gt(0), Le(1)] = "sqrt"
    min_samples_leaf: Count = 1
    random_state: Seed = None

    def _classifier(self) -> ensemble.RandomForestClassifier:
        return ensemble.RandomForestClassifier(**self.get_params())

    _traits = EvaluatorTraits(
        grids={"max_features": ("sqrt", 0.1, 0.3, 1.0), "min_samples_leaf": (1, 3, 10)},
    )


@registered(
    "classifier",
    "logistic_regression",
    "multinomial logistic regression with a ridge, on standardised features",
    look=("pink", "h"),
)
class Logistic(_Wrapped):
    """Multinomial logistic regression with a ridge of 1 / C (`LogisticRegression`).

    Parameters
    ----------
    C : float, default=1
        Weight of the likelihood relative to the ridge; scikit-learn's default.
    max_iter : int, default=1000
        Largest number of iterations of L-BFGS.
    scale : bool, default=True
        Standardise the features with the mean and standard deviation of the training set, because
        the ridge depends on the units of the features. A constant feature becomes 0; sparse
        features are only divided by their standard deviation.

    Attributes
    ----------
    model_ : LogisticRegression
        The fitted scikit-learn classifier, on the standardised features.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_iter_ : int
        Number of iterations.

    References
    ----------
    .. [1] D. R. Cox, "The Regression Analysis of Binary Sequences", JRSS B 20, 1958.
    """

    C: Positive = 1.0
    max_iter: Count = 1000
    scale: bool = True

    def _classifier(self) -> linear_model.LogisticRegression:
        return linear_model.LogisticRegression(C=self.C, max_iter=self.max_iter)

    _traits = EvaluatorTraits(
        version=2,
        grids={"C": (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3)},
    )


@registered(
    "classifier",
    "svc",
    "support vector machine with a radial kernel, on standardised features",
    label="SVC",
    look=("vermilion", "v"),
)
class SupportVectors(_Wrapped):
    r"""A one-against-one support vector machine with a radial kernel (`SVC`).

    Parameters
    ----------
    C : float, default=1
        Weight of the errors relative to the margin; scikit-learn's default.
    gamma : "scale" or float, default="scale"
        Parameter of the kernel :math:`\exp(-\gamma \|x - x'\|^2)`; scikit-learn's default.
    scale : bool, default=True
        Standardise the features with the mean and standard deviation of the training set, because
        distances depend on the units of the features. A constant feature becomes 0; sparse features
        are only divided by their standard deviation.

    Attributes
    ----------
    model_ : SVC
        The fitted scikit-learn classifier, on the standardised features.
    classes_ : ndarray of shape (n_classes,)
        The class labels.

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-Vector Networks", Machine Learning 20, 1995.
    """

    C: Positive = 1.0
    gamma: Literal["scale"] | Positive = "scale"
    scale: bool = True

    def _classifier(self) -> svm.SVC:
        return svm.SVC(C=self.C, gamma=self.gamma)

    _traits = EvaluatorTraits(
        version=2,
        grids={
            "C": (0.1, 1.0, 10.0, 100.0, 1e3),
            "gamma": ("scale", 1e-3, 1e-2, 1e-1, 1.0),
        },
    )
