"""Metrics equal hand-worked values and scikit-learn's."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import balanced_accuracy_score, get_scorer, log_loss

from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.engine.work.scoring import scores_of
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.linear import LinearClassifier
from ddr_cli.evaluation.metrics import (
    LABEL_METRICS,
    get_scale,
    label_score,
    mean_average_precision,
    scorer_names,
    scorer_needs,
)

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
    assert label_score(name, TRUE, GUESS) == pytest.approx(value)
    assert get_scale(name).better == better
    assert label_score(name, TRUE, TRUE) == (0 if better == "lower" else 1)


def test_unequal_classes_tell_accuracy_from_balanced_accuracy():
    majority = ["a"] * 6
    assert label_score("accuracy", TRUE, majority) == pytest.approx(4 / 6)
    assert label_score("balanced_accuracy", TRUE, majority) == pytest.approx(1 / 2)


def test_balanced_accuracy_is_scikit_learns():
    generator = np.random.default_rng(0)
    y_true, y_pred = generator.integers(0, 4, 99), generator.integers(0, 4, 99)
    ours = label_score("balanced_accuracy", y_true, y_pred)
    assert ours == pytest.approx(balanced_accuracy_score(y_true, y_pred))


@pytest.mark.parametrize("name", list(LABEL_METRICS))
def test_mismatched_or_no_predictions_are_refused(name):
    with pytest.raises(ValueError, match="one prediction per label"):
        label_score(name, [0, 1], [0])
    with pytest.raises(ValueError, match="one prediction per label"):
        label_score(name, [], [])


def test_numbers_of_a_measure_of_ones_own_are_shown_as_they_are():
    assert not get_scale("mine").rate


def test_mean_average_precision_ranks_within_groups():
    relevant = [True, False, True, False, False, True, False]
    values = [3.0, 2.0, 1.0, 9.0, 8.0, 7.0, 5.0]
    groups = [0, 0, 0, 1, 1, 1, 2]
    # The relevant samples have ranks 1 and 3 in the first group and 3 in the second; the third has
    # none.
    wanted = ((1 + 2 / 3) / 2 + 1 / 3) / 2
    assert mean_average_precision(relevant, values, groups) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="relevant sample"):
        mean_average_precision([False, False], [1.0, 2.0])
    assert get_scale("mean_average_precision").better == "higher"


def test_the_training_error_of_neighbours_leaves_each_point_out():
    X = np.array([[0.0], [0.1], [1.0], [1.1], [5.0]])
    y = np.array([0, 0, 1, 1, 0])
    split = Samples(np.vstack([X, X]), Labels(np.tile(y, 2), ("a", "b")), n_train=5)
    (one,) = scores_of([KNNClassifier(1)], X, X, split, ("error", "training_error"))
    # The test samples are copies of the training samples; the training error leaves each sample
    # out.
    assert one == {"error": 0.0, "training_error": 1 / 5}
    assert get_scale("training_error").better == "lower"


def test_the_training_error_of_each_classifier_is_that_of_its_own_fit():
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(40, 3)), generator.integers(0, 2, 40)
    split = Samples(X, Labels(y, ("a", "b")), n_train=30)
    metrics = ("training_error", "error")
    neighbours = [KNNClassifier(k) for k in (1, 4)]
    together = scores_of(neighbours, X[:30], X[30:], split, metrics)
    apart = [scores_of([KNNClassifier(k)], X[:30], X[30:], split, metrics)[0] for k in (1, 4)]
    assert together == apart
    (linear,) = scores_of([LinearClassifier()], X[:30], X[30:], split, metrics)
    predicted = LinearClassifier().fit(X[:30], y[:30]).predict(X[:30])
    assert linear["training_error"] == np.mean(predicted != y[:30])


@pytest.mark.parametrize("name", ["f1_macro", "matthews_corrcoef", "roc_auc_ovr", "neg_log_loss"])
def test_any_scorer_of_scikit_learn_is_a_metric(name):
    X, y = load_iris(return_X_y=True)
    points = Samples(np.vstack([X[::2], X[1::2]]), Labels(np.r_[y[::2], y[1::2]], "abc"), 75)
    classifier = KNNClassifier(30)
    (scores,) = scores_of([classifier], X[::2], X[1::2], points, ("error", name))
    assert scores[name] == get_scorer(name)(classifier, X[1::2], y[1::2])
    assert list(scores) == ["error", name]
    assert (get_scale(name).better, get_scale(name).rate) == ("higher", False)
    if name == "neg_log_loss":
        assert scores[name] == pytest.approx(-log_loss(y[1::2], classifier.predict_proba(X[1::2])))


def test_scorers_of_regression_are_no_metrics_and_needs_are_known():
    assert {"r2", "neg_mean_squared_error", "explained_variance"}.isdisjoint(scorer_names())
    assert {"f1", "top_k_accuracy", "neg_brier_score"} < set(scorer_names())
    assert scorer_needs("f1") == ("predict",)
    assert scorer_needs("neg_log_loss") == ("predict_proba",)
    assert scorer_needs("roc_auc") == ("decision_function", "predict_proba")


def test_a_class_that_nobody_predicts_counts_0_without_a_warning(recwarn):
    X = np.array([[0.0], [0.1], [9.0]])
    points = Samples(np.vstack([X, X[[0, 0, 2]] * 0]), Labels(np.array([0, 0, 1] * 2), "ab"), 3)
    (scores,) = scores_of([KNNClassifier(1)], X, np.zeros((3, 1)), points, ("f1_macro",))
    assert scores["f1_macro"] == pytest.approx(0.8 / 2)
    assert not list(recwarn)


def test_neighbours_fractions_are_probabilities():
    classifier = KNNClassifier(n_neighbors=4).fit([[0.0], [1], [2], [3], [9]], list("abbac"))
    fractions = classifier.predict_proba([[1.6], [9.0]])
    np.testing.assert_allclose(fractions, [[0.5, 0.5, 0], [0.25, 0.5, 0.25]])
    assert classifier.classes_[fractions.argmax(axis=1)].tolist() == ["b", "b"]
    # scikit-learn refuses probabilities that exceed 1 by rounding.
    alone = classifier.set_params(n_neighbors=1).predict_proba([[2.0], [9.0]])
    assert alone.max() <= 1
