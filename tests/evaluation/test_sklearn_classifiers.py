"""Classifiers from scikit-learn give its results; some standardise their features first."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.evaluation.neural_net import NeuralNetClassifier
from ddr_cli.evaluation.sklearn_classifiers import (
    GradientBoosting,
    Logistic,
    RandomForest,
    SupportVectors,
)
from ddr_cli.reducers import LDA

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
    defaults = theirs.get_params()
    standardises = "scale" in CLASSIFIERS.load(name)().get_params()
    theirs = make_pipeline(StandardScaler(), theirs) if standardises else theirs
    ours = CLASSIFIERS.load(name)()
    if "random_state" in ours.get_params():
        ours.set_params(random_state=0)
    predicted = clone(ours).fit(X[::2], Y[::2]).predict(X[1::2])
    np.testing.assert_array_equal(predicted, theirs.fit(X[::2], Y[::2]).predict(X[1::2]))
    for parameter, value in ours.get_params().items():
        assert parameter == "scale" or defaults[parameter] == value


@pytest.mark.parametrize("model", [Logistic(), SupportVectors()], ids=repr)
def test_the_units_of_the_features_change_no_prediction(model):
    # The features have other units and an offset, and a constant feature is added.
    wide = np.column_stack([X * [1e-3, 1.0, 1e4, 1.0] + 7, np.full(len(X), 3.0)])
    expected = clone(model).fit(X[::2], Y[::2]).decision_function(X[1::2])
    fitted = clone(model).fit(wide[::2], Y[::2])
    np.testing.assert_allclose(fitted.decision_function(wide[1::2]), expected, atol=1e-3)
    unscaled = clone(model).set_params(scale=False).fit(wide[::2], Y[::2])
    theirs = {Logistic: LogisticRegression(max_iter=1000), SupportVectors: SVC()}[type(model)]
    theirs = theirs.fit(wide[::2], Y[::2])
    np.testing.assert_array_equal(unscaled.predict(wide[1::2]), theirs.predict(wide[1::2]))


@pytest.mark.parametrize("model", [Logistic(), SupportVectors()], ids=repr)
def test_sparse_features_are_divided_by_their_deviation_and_stay_sparse(model):
    thin = np.where(X > 2, X, 0.0)
    scaled = thin / np.where(thin.std(axis=0) > 0, thin.std(axis=0), 1.0)
    expected = clone(model).set_params(scale=False).fit(scaled, Y).decision_function(scaled)
    fitted = clone(model).fit(sp.csr_array(thin), Y)
    # L-BFGS rounds differently on sparse samples and stops within its tolerance.
    np.testing.assert_allclose(fitted.decision_function(sp.csr_array(thin)), expected, atol=0.05)


def test_a_regularised_classifier_is_as_good_on_an_embedding_of_any_scale():
    embedded = LDA(2).fit_transform(X, Y)
    for classifier in (Logistic(), SupportVectors(), NeuralNetClassifier(random_state=0)):
        scores = [
            clone(classifier).fit(s * embedded[::2], Y[::2]).score(s * embedded[1::2], Y[1::2])
            for s in (1e-6, 1.0, 1e3)
        ]
        assert min(scores) == max(scores) > 0.9


@pytest.mark.parametrize(
    "wrong",
    [GradientBoosting(max_leaf_nodes=1), RandomForest(0), Logistic(0.0), SupportVectors(0.0)],
)
def test_a_wrong_parameter_is_named(wrong):
    with pytest.raises(ValueError, match=f"{type(wrong).__name__}: .* is not valid"):
        wrong.fit(X, Y)
