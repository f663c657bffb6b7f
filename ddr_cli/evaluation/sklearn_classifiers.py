"""scikit-learn's classifiers with a few of their parameters, checked, seeded and on one thread.

They show how much accuracy a reduction loses compared with a strong classifier on all features.
Parameters that are not listed here have scikit-learn's defaults.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike, NDArray
from sklearn import ensemble, linear_model, svm

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.classifier import ScaledClassifier
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.rounding import first_largest

_TOL = 1e-8
Seed = int | np.random.RandomState | None
Positive = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(1)]


@registered(
    "classifier",
    "gradient_boosting",
    "gradient boosting of trees on binned features; dense data only",
    look=("black", "s"),
)
class GradientBoosting(ScaledClassifier):
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
class RandomForest(ScaledClassifier):
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
class Logistic(ScaledClassifier):
    """Multinomial logistic regression with a ridge of 1 / C (`LogisticRegression`).

    L-BFGS runs until no entry of the gradient of the mean loss exceeds 1e-8; scikit-learn's default
    of 1e-4 leaves one or two test samples to the path of the search. If classes are tied, the class
    that sorts first is predicted.

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
        return linear_model.LogisticRegression(C=self.C, max_iter=self.max_iter, tol=_TOL)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        best = first_largest(self.decision_function(X))
        return np.asarray(self.classes_[best])

    _traits = EvaluatorTraits(
        version=3,
        grids={"C": (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3)},
    )


@registered(
    "classifier",
    "svc",
    "support vector machine with a radial kernel, on standardised features",
    label="SVC",
    look=("vermilion", "v"),
)
class SupportVectors(ScaledClassifier):
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
