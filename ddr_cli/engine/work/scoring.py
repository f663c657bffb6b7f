"""The scores of one embedding, by classifiers and measures, and those of a failed trial."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.core.embedding import seeded
from ddr_cli.engine.work.jobs import Evaluation
from ddr_cli.engine.work.samples import Samples
from ddr_cli.evaluation.evaluators import evaluator_registry, get_evaluator_traits
from ddr_cli.evaluation.measures import Embedded
from ddr_cli.evaluation.metrics import (
    LABEL_METRICS,
    MEAN_AVERAGE_PRECISION,
    TRAINING_ERROR,
    label_score,
    mean_average_precision,
    metric_names,
    scorer_names,
    scorer_score,
)
from ddr_cli.reducers.partial_labels import UNLABELLED

Scores = dict[str, float]


def load_evaluator(name: str) -> Any:
    """Return the class of a classifier or measure."""
    return evaluator_registry(name).load(name)


def is_measure(factory: Any) -> bool:
    """Return whether an evaluator is a measure."""
    return hasattr(factory, "score_many")


def batches(
    evaluations: Sequence[Evaluation], *, across_widths: bool = False
) -> list[list[Evaluation]]:
    """Group the evaluations that one call of ``predict_many`` or ``score_many`` can do.

    With `across_widths`, also group those that one call of ``predict_mapped`` can do.
    """
    found: dict[object, list[Evaluation]] = {}
    for one in evaluations:
        found.setdefault(_batch_key(one, across_widths=across_widths), []).append(one)
    return list(found.values())


def _batch_key(one: Evaluation, *, across_widths: bool) -> object:
    factory = load_evaluator(one.evaluator)
    if across_widths and one.width is not None and hasattr(factory, "predict_mapped"):
        return one.labels, one.evaluator, repr(sorted(one.params.items()))
    shared = get_evaluator_traits(factory(**one.params)).shared
    if shared is None or not (is_measure(factory) or hasattr(factory, "predict_many")):
        return one.trial_id, one.candidate
    rest = tuple((name, repr(one.params[name])) for name in sorted(one.params) if name != shared)
    return one.width, one.labels, one.evaluator, rest


def evaluators_of(batch: Sequence[Evaluation], seed: int) -> list[Any]:
    """Return the classifiers or measures of trials that are evaluated together."""
    return [seeded(load_evaluator(one.evaluator)(**one.params), seed) for one in batch]


def scores_of(
    evaluators: Sequence[Any],
    train: Any,
    test: Any,
    split: Samples,
    metrics: Sequence[str],
    prototypes: NDArray[Any] | None = None,
    maps: Sequence[NDArray[Any]] | None = None,
) -> list[Scores]:
    """Return the scores of evaluators of one class on an embedded split.

    They differ in the parameter over which they share a fit, or in which of `maps` is applied to
    their samples. Classifiers are scored by the spec's metrics, a measure only by its own metric.
    `prototypes` are the coordinates of the classes, if the reducer provides them.
    """
    if is_measure(type(evaluators[0])):
        return _measured(evaluators, _embedded(train, test, split, prototypes))
    y_train, y_test = split.labels.y[: split.n_train], split.labels.y[split.n_train :]
    if _ranks(evaluators[0], metrics) or any(name not in metric_names() for name in metrics):
        scores = [_fitted_scores(one, train, test, split, metrics) for one in evaluators]
    else:
        predictions = _predictions(evaluators, train, y_train, test, maps)
        scores = [_scores(predicted, y_test, metrics) for predicted in predictions]
    if TRAINING_ERROR in metrics:
        for found, predicted in zip(
            scores, _of_training_set(evaluators, train, y_train), strict=True
        ):
            found[TRAINING_ERROR] = label_score("error", y_train, predicted)
    return scores


def _measured(evaluators: Sequence[Any], embedded: Embedded) -> list[Scores]:
    factory = type(evaluators[0])
    settings = [evaluator.get_params(deep=False) for evaluator in evaluators]
    values = [float(value) for value in factory.score_many(embedded, settings)]
    undefined = [value for value in values if not np.isfinite(value)]
    if undefined:
        title = factory.scale.title
        raise ValueError(f"the {title} is undefined for this embedding ({undefined[0]})")
    return [{factory.scale.name: value} for value in values]


def _ranks(classifier: Any, metrics: Sequence[str]) -> bool:
    return MEAN_AVERAGE_PRECISION in metrics and hasattr(classifier, "decision_function")


def _fitted_scores(
    classifier: Any, train: Any, test: Any, split: Samples, metrics: Sequence[str]
) -> Scores:
    """Return the scores of a classifier by metrics that need more than its predictions."""
    y_train, y_test = split.labels.y[: split.n_train], split.labels.y[split.n_train :]
    classifier.fit(train, y_train)
    scores = _scores(classifier.predict(test), y_test, metrics)
    if _ranks(classifier, metrics):
        scores[MEAN_AVERAGE_PRECISION] = _ranked(classifier, test, split)
    scorers = [name for name in metrics if name not in metric_names()]
    return scores | _defined(
        {name: scorer_score(name, classifier, test, y_test) for name in scorers}
    )


def _predictions(
    evaluators: Sequence[Any],
    train: Any,
    y_train: NDArray[np.int64],
    test: Any,
    maps: Sequence[NDArray[Any]] | None,
) -> list[NDArray[Any]]:
    if maps is not None:
        return list(evaluators[0].predict_mapped(train, y_train, test, maps))
    if len(evaluators) == 1:
        return [evaluators[0].fit(train, y_train).predict(test)]
    settings = [evaluator.get_params(deep=False) for evaluator in evaluators]
    return list(type(evaluators[0]).predict_many(train, y_train, test, settings))


def _of_training_set(
    evaluators: Sequence[Any], train: Any, y_train: NDArray[np.int64]
) -> list[NDArray[Any]]:
    factory = type(evaluators[0])
    if hasattr(factory, "predict_training"):
        settings = [evaluator.get_params(deep=False) for evaluator in evaluators]
        return list(factory.predict_training(train, y_train, settings))
    # Classifiers that predicted the test set in one shared call have not been fitted yet.
    return [
        (one if hasattr(one, "classes_") else one.fit(train, y_train)).predict(train)
        for one in evaluators
    ]


def _scores(predicted: Any, y_test: NDArray[np.int64], metrics: Sequence[str]) -> Scores:
    own = [name for name in metrics if name in LABEL_METRICS]
    return _defined({name: label_score(name, y_test, predicted) for name in own})


def _defined(scores: Scores) -> Scores:
    for name, value in scores.items():
        if not np.isfinite(value):
            raise ValueError(f"{name} is undefined for these predictions ({value})")
    return scores


def _ranked(classifier: Any, test: Any, split: Samples) -> float:
    """Return the mean average precision of a fitted classifier's decision values."""
    n, labels = split.n_train, split.labels
    if len(labels.classes) != 2:
        raise ValueError(f"{MEAN_AVERAGE_PRECISION} needs two classes, not {len(labels.classes)}.")
    values = np.asarray(classifier.decision_function(test))
    second = values if values.ndim == 1 else values[:, 1] - values[:, 0]
    groups = None if labels.groups is None else labels.groups[n:]
    return mean_average_precision(labels.y[n:] == 1, second, groups)


def _embedded(train: Any, test: Any, split: Samples, prototypes: NDArray[Any] | None) -> Embedded:
    parts, labels = [train, test], split.labels
    both = sparse.vstack(parts, format="csr") if sparse.issparse(train) else np.vstack(parts)
    return Embedded(
        both,
        split.X,
        labels.y,
        split.n_train,
        labels.classes,
        labels.subclasses,
        None if prototypes is None else prototypes[:, : both.shape[1]],
    )


def majority_scores(
    y_train: NDArray[np.int64],
    y_test: NDArray[np.int64],
    metrics: Sequence[str],
    *,
    labels: int | None = None,
    groups: NDArray[np.int64] | None = None,
) -> dict[str, float]:
    """Return the scores of the majority class (ties: the first) for the metrics that are defined.

    At most `labels` training samples of each class count. `groups` are those of the test samples.
    """
    y_train = y_train[y_train != UNLABELLED]
    sizes = np.bincount(y_train)
    sizes = sizes if labels is None else np.minimum(sizes, labels)
    largest = int(np.argmax(sizes))
    scores: dict[str, float] = {}
    for name in metrics:
        # Scores that are undefined for a constant prediction are left out.
        with suppress(ValueError, ZeroDivisionError):
            if name in LABEL_METRICS:
                scores[name] = label_score(name, y_test, np.full_like(y_test, largest))
            elif name == TRAINING_ERROR:
                scores[name] = label_score("error", y_train, np.full_like(y_train, largest))
            elif name == MEAN_AVERAGE_PRECISION:
                if len(np.union1d(y_train, y_test)) == 2:
                    values = np.zeros(len(y_test))
                    scores[name] = mean_average_precision(y_test == 1, values, groups)
            elif name in scorer_names():
                from sklearn.dummy import DummyClassifier

                # The probabilities of this classifier are the class fractions.
                y = np.repeat(np.arange(len(sizes)), sizes)
                prior = DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y)
                scores[name] = scorer_score(name, prior, np.zeros((len(y_test), 1)), y_test)
    return {name: score for name, score in scores.items() if np.isfinite(score)}
