"""scikit-learn's classifiers with a few of their parameters, checked, seeded and on one thread.

They show how much a reduction loses against a strong classifier on all features, and users expect
them. Parameters that are not named here have scikit-learn's defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.validation import refuse_dates

Seed = int | np.random.RandomState | None
Positive = Annotated[float, Gt(0)]
Count = Annotated[int, Ge(1)]


class _Checked:
    """A mix-in that hands the parameters to scikit-learn's classifier, and checks them in `fit`."""

    def __post_init__(self) -> None:
        parameters: dict[str, Any] = self.get_params()  # type: ignore[attr-defined]  # scikit-learn's
        super().__init__(**parameters)

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Fit the classifier to training samples and their labels."""
        check_parameters(self)
        refuse_dates(X)
        fitted: Self = super().fit(X, y)  # type: ignore[misc]  # scikit-learn's
        return fitted


@dataclass(eq=False, repr=False)
@registered(
    "classifier",
    "gradient_boosting",
    "gradient boosting of trees on binned features; dense points only",
    look=("black", "s"),
)
class GradientBoosting(_Checked, HistGradientBoostingClassifier):
    """Gradient boosting of trees on binned features (`HistGradientBoostingClassifier`).

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

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
            grids={"learning_rate": (0.03, 0.1, 0.3), "max_leaf_nodes": (7, 15, 31, 63)},
        )


@dataclass(eq=False, repr=False)
@registered("classifier", "random_forest", "majority of randomised trees", look=("dark red", "X"))
class RandomForest(_Checked, RandomForestClassifier):
    """A random forest (`RandomForestClassifier`).

    References
    ----------
    .. [1] L. Breiman, "Random Forests", Machine Learning 45, 2001.
    """

    n_estimators: Count = 100
    max_features: Literal["sqrt", "log2"] | Annotated[float, Gt(0), Le(1)] = "sqrt"
    min_samples_leaf: Count = 1
    random_state: Seed = None

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
            grids={"max_features": ("sqrt", 0.1, 0.3, 1.0), "min_samples_leaf": (1, 3, 10)},
        )


@dataclass(eq=False, repr=False)
@registered(
    "classifier",
    "logistic_regression",
    "multinomial logistic regression with a ridge",
    look=("pink", "h"),
)
class Logistic(_Checked, LogisticRegression):
    """Multinomial logistic regression with a ridge of 1 / C (`LogisticRegression`).

    References
    ----------
    .. [1] D. R. Cox, "The Regression Analysis of Binary Sequences", JRSS B 20, 1958.
    """

    C: Positive = 1.0
    max_iter: Count = 1000

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
            grids={"C": (1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0, 1e3)},
        )


@dataclass(eq=False, repr=False)
@registered(
    "classifier",
    "svc",
    "support vector machine with a radial kernel",
    label="SVC",
    look=("vermilion", "v"),
)
class SupportVectors(_Checked, SVC):
    """A support vector machine with a radial kernel, classes one against one (`SVC`).

    References
    ----------
    .. [1] C. Cortes, V. Vapnik, "Support-Vector Networks", Machine Learning 20, 1995.
    """

    C: Positive = 1.0
    gamma: Literal["scale"] | Positive = "scale"

    def __ddr_traits__(self) -> EvaluatorTraits:
        return EvaluatorTraits(
            grids={
                "C": (0.1, 1.0, 10.0, 100.0, 1e3),
                "gamma": ("scale", 1e-3, 1e-2, 1e-1, 1.0),
            },
        )
