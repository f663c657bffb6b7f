"""Metrics against hand-worked values and scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score

from ddr_cli.engine.work.scoring import scores_of
from ddr_cli.engine.work.scratch import Labels, PointSet
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.linear import LinearClassifier
from ddr_cli.evaluation.metrics import METRICS, get_scale, mean_average_precision

TRUE = ["a", "a", "a", "a", "b", "b"]
GUESS = ["a", "a", "b", "c", "b", "a"]


@pytest.mark.parametrize(
    ("name", "value", "better"),
    [
        ("error", 3 / 6, "lower"),
        ("accuracy", 3 / 6, "higher"),
        ("balanced_accuracy", (2 / 4 + 1 / 2) / 2, "higher"),
    ],
)
def test_value_and_direction(name, value, better):
    metric = METRICS[name]
    assert metric(TRUE, GUESS) == pytest.approx(value)
    assert metric.scale.better == better
    assert metric(TRUE, TRUE) == (0 if better == "lower" else 1)


def test_unequal_classes_tell_accuracy_from_balanced_accuracy():
    majority = ["a"] * 6
    assert METRICS["accuracy"](TRUE, majority) == pytest.approx(4 / 6)
    assert METRICS["balanced_accuracy"](TRUE, majority) == pytest.approx(1 / 2)


def test_balanced_accuracy_is_scikit_learns():
    generator = np.random.default_rng(0)
    y_true, y_pred = generator.integers(0, 4, 99), generator.integers(0, 4, 99)
    ours = METRICS["balanced_accuracy"](y_true, y_pred)
    assert ours == pytest.approx(balanced_accuracy_score(y_true, y_pred))


@pytest.mark.parametrize("name", list(METRICS))
def test_mismatched_or_no_predictions_are_refused(name):
    with pytest.raises(ValueError, match="as many predictions as labels"):
        METRICS[name]([0, 1], [0])
    with pytest.raises(ValueError, match="as many predictions as labels"):
        METRICS[name]([], [])


def test_numbers_of_a_measure_of_ones_own_are_shown_as_they_are():
    assert not get_scale("mine").rate


def test_mean_average_precision_ranks_within_groups():
    relevant = [True, False, True, False, False, True, False]
    values = [3.0, 2.0, 1.0, 9.0, 8.0, 7.0, 5.0]
    groups = [0, 0, 0, 1, 1, 1, 2]
    # First: places 1 and 3 of 3. Second: place 3 of 3. The third has none.
    wanted = ((1 + 2 / 3) / 2 + 1 / 3) / 2
    assert mean_average_precision(relevant, values, groups) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="needs a relevant point"):
        mean_average_precision([False, False], [1.0, 2.0])
    assert get_scale("mean_average_precision").better == "higher"


def test_the_training_error_of_neighbours_leaves_each_point_out():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [5.0]])
    y = np.array([0, 0, 1, 1, 0])
    split = PointSet(np.vstack([X, X]), Labels(np.tile(y, 2), ("a", "b")), n_train=5)
    (one,) = scores_of([KNNClassifier(1)], X, X, split, ("error", "training_error"))
    # Each training point is its own nearest neighbour among the test points' alone.
    assert one == {"error": 0.0, "training_error": 1 / 5}
    assert get_scale("training_error").better == "lower"


def test_the_training_error_of_each_classifier_is_that_of_its_own_fit():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), generator.integers(0, 2, 40)
    split = PointSet(X, Labels(y, ("a", "b")), n_train=30)
    metrics = ("training_error", "error")
    neighbours = [KNNClassifier(k) for k in (1, 4)]
    together = scores_of(neighbours, X[:30], X[30:], split, metrics)
    apart = [scores_of([KNNClassifier(k)], X[:30], X[30:], split, metrics)[0] for k in (1, 4)]
    assert together == apart
    (linear,) = scores_of([LinearClassifier()], X[:30], X[30:], split, metrics)
    predicted = LinearClassifier().fit(X[:30], y[:30]).predict(X[:30])
    assert linear["training_error"] == np.mean(predicted != y[:30])
