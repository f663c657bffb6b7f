"""The neural net has the paper's size, a fixed number of steps, and reproducible outputs."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_circles
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.evaluation.neural_net import NeuralNetClassifier

SHORT = 60


@parametrize_with_checks(
    [NeuralNetClassifier(max_iter=SHORT), NeuralNetClassifier(max_iter=SHORT, solver="adam")]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def circles():
    X, y = make_circles(200, noise=0.05, factor=0.4, random_state=0)
    return X * [100.0, 1.0] + 50, y


def test_has_twice_as_many_hidden_units_as_features(circles):
    X, y = circles
    network = NeuralNetClassifier(max_iter=3).fit(X, y).network_
    assert [weights.shape for weights in network.coefs_] == [(2, 4), (4, 1)]
    network = NeuralNetClassifier(hidden=7, max_iter=3).fit(X, y).network_
    assert network.coefs_[0].shape == (2, 7)


@pytest.mark.parametrize(("solver", "rate"), [("gradient", 0.1), ("adam", 0.03)])
def test_learns_what_no_line_separates(circles, solver, rate):
    X, y = circles
    classifier = NeuralNetClassifier(solver=solver, learning_rate=rate, random_state=0)
    assert np.mean(classifier.fit(X[::2], y[::2]).predict(X[1::2]) == y[1::2]) > 0.95


def test_makes_every_step_without_a_warning(circles):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        classifier = NeuralNetClassifier(max_iter=SHORT, random_state=0).fit(*circles)
    assert classifier.n_iter_ == SHORT


def test_constant_problem_does_not_stop_early():
    # The features are constant, so training cannot improve, and scikit-learn would stop early.
    X, y = np.zeros((20, 2)), np.tile([0, 1], 10)
    classifier = NeuralNetClassifier(max_iter=SHORT, random_state=0).fit(X, y)
    assert classifier.n_iter_ == SHORT


def test_same_seed_same_outputs(circles):
    X, y = circles
    first, second, other = (
        NeuralNetClassifier(max_iter=SHORT, random_state=seed).fit(X, y).predict_proba(X)
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, second)
    assert (first != other).any()
    np.testing.assert_allclose(first.sum(axis=1), 1)


def test_scaling_makes_units_irrelevant(circles):
    X, y = circles
    metres, miles = X, X * [1e-3, 1e4]
    settings = {"max_iter": SHORT, "random_state": 0}
    np.testing.assert_allclose(
        NeuralNetClassifier(**settings).fit(metres, y).predict_proba(metres),
        NeuralNetClassifier(**settings).fit(miles, y).predict_proba(miles),
        atol=1e-6,
    )
    unscaled = NeuralNetClassifier(**settings, scale=False)
    assert not np.allclose(
        unscaled.fit(metres, y).predict_proba(metres),
        unscaled.fit(X / 100, y).predict_proba(X / 100),
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"hidden": 0}, "hidden=0"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_wrong_parameters_are_named(circles, parameters, message):
    with pytest.raises(ValueError, match=message):
        NeuralNetClassifier(**parameters).fit(*circles)
