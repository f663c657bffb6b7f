"""Metrics of scikit-learn's by name, beside its own scorers."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.metrics import cohen_kappa_score, get_scorer, log_loss, top_k_accuracy_score

from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.linear import LinearClassifier
from ddr_cli.evaluation.metrics import METRICS, VALUED, get_scale, metric_names
from ddr_cli.evaluation.standard import Logistic

X, y = load_iris(return_X_y=True)
TRAIN, TEST = np.arange(150) % 3 > 0, np.arange(150) % 3 == 0
OURS = ("error", "cohen_kappa")  # of these scikit-learn has no scorer


@pytest.mark.parametrize("name", [name for name in METRICS if name not in OURS])
def test_scores_of_labels_are_its_scorers(name):
    classifier = KNNClassifier(n_neighbors=1).fit(X[TRAIN][:, :1], y[TRAIN])
    wanted = get_scorer(name)(classifier, X[TEST][:, :1], y[TEST])
    predicted = classifier.predict(X[TEST][:, :1])
    assert METRICS[name](y[TEST], predicted) == pytest.approx(wanted)
    assert 0 < wanted < 1
    assert METRICS[name].scale.better == "higher"


def test_kappa_is_scikit_learns():
    guess = np.roll(y, 10)
    assert METRICS["cohen_kappa"](y, guess) == pytest.approx(cohen_kappa_score(y, guess))


@pytest.mark.parametrize(
    ("name", "scorer"), [("roc_auc", "roc_auc_ovr"), ("log_loss", "neg_log_loss")]
)
def test_scores_of_probabilities_are_its_scorers(name, scorer):
    classifier = Logistic().fit(X[TRAIN][:, :2], y[TRAIN])
    wanted = abs(get_scorer(scorer)(classifier, X[TEST][:, :2], y[TEST]))
    values = classifier.predict_proba(X[TEST][:, :2])
    assert VALUED[name](y[TEST], values) == pytest.approx(wanted)
    assert get_scale(name).better == ("lower" if name == "log_loss" else "higher")


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_scores_of_two_classes_take_the_second(name):
    points, two = make_classification(200, random_state=0)
    classifier = LinearClassifier().fit(points, two)
    wanted = get_scorer(name)(classifier, points, two)
    values = classifier.decision_function(points)
    assert VALUED[name](two, np.column_stack([-values, values])) == pytest.approx(wanted)


def test_the_right_class_among_the_first_k():
    values = np.random.default_rng(0).normal(size=(50, 6))
    classes = np.arange(50) % 6
    for k in (2, 3, 5):
        wanted = top_k_accuracy_score(classes, values, k=k)
        assert VALUED[f"top_{k}_accuracy"](classes, values) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="top_5_accuracy needs 6 classes or more, and there are 5"):
        VALUED["top_5_accuracy"](classes[:5], values[:, :5])


def test_log_loss_knows_classes_that_are_not_tested():
    values = np.full((4, 3), 1 / 3)
    assert VALUED["log_loss"]([0, 0, 1, 1], values) == pytest.approx(np.log(3))
    assert log_loss([0, 1], [[0.9, 0.1], [0.2, 0.8]]) == pytest.approx(
        VALUED["log_loss"]([0, 1], [[0.9, 0.1], [0.2, 0.8]])
    )


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_a_class_that_is_not_tested_leaves_it_undefined(name):
    with pytest.raises(ValueError, match=f"{name} is undefined: not every class has a point"):
        VALUED[name]([1, 1], [[0.5, 0.5], [0.2, 0.8]])


def test_a_class_that_nobody_predicts_counts_0_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert METRICS["f1_macro"]([0, 0, 1], [0, 0, 0]) == pytest.approx(0.8 / 2)


def test_neighbours_shares_are_probabilities():
    classifier = KNNClassifier(n_neighbors=4).fit([[0.0], [1], [2], [3], [9]], list("abbac"))
    shares = classifier.predict_proba([[1.6], [9.0]])
    np.testing.assert_allclose(shares, [[0.5, 0.5, 0], [0.25, 0.5, 0.25]])
    assert classifier.classes_[shares.argmax(axis=1)].tolist() == ["b", "b"]
    # scikit-learn refuses probabilities above 1, by however little.
    alone = classifier.set_params(n_neighbors=1).predict_proba([[2.0], [9.0]])
    assert VALUED["log_loss"]([1, 2], alone) == pytest.approx(0, abs=1e-12)


def test_every_metric_has_a_scale():
    assert len(set(metric_names())) == len(metric_names())
    for name in metric_names():
        assert get_scale(name).name == name
        assert get_scale(name).better in ("lower", "higher")
