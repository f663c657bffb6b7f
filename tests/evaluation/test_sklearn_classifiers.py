"""The classifiers of scikit-learn are its own, with parameters that are checked."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.evaluation.sklearn_classifiers import (
    GradientBoosting,
    Logistic,
    RandomForest,
    SupportVectors,
)

X, Y = load_iris(return_X_y=True)


@parametrize_with_checks(
    [
        GradientBoosting(max_iter=3, min_samples_leaf=3),
        RandomForest(n_estimators=3),
        Logistic(),
        SupportVectors(),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("gradient_boosting", HistGradientBoostingClassifier(random_state=0)),
        ("random_forest", RandomForestClassifier(random_state=0)),
        ("logistic_regression", LogisticRegression(max_iter=1000)),
        ("svc", SVC()),
    ],
)
def test_the_defaults_are_scikit_learns(name, theirs):
    ours = CLASSIFIERS.load(name)()
    if "random_state" in ours.get_params():
        ours.set_params(random_state=0)
    predicted = clone(ours).fit(X[::2], Y[::2]).predict(X[1::2])
    np.testing.assert_array_equal(predicted, theirs.fit(X[::2], Y[::2]).predict(X[1::2]))
    for parameter, value in ours.get_params().items():
        assert theirs.get_params()[parameter] == value


@pytest.mark.parametrize(
    "wrong",
    [GradientBoosting(max_leaf_nodes=1), RandomForest(0), Logistic(0.0), SupportVectors(0.0)],
)
def test_a_wrong_parameter_is_named(wrong):
    with pytest.raises(ValueError, match=f"{type(wrong).__name__}: .* is not valid"):
        wrong.fit(X, Y)
