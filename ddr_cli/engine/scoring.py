"""The scores of one embedding: what classifiers predict on it, and what measures say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.engine.jobs import Evaluation
from ddr_cli.engine.scratch import Labels
from ddr_cli.evaluation.measures import Embedded
from ddr_cli.evaluation.metrics import METRICS, RANKINGS, Metric, Ranking
from ddr_cli.evaluation.registry import evaluator_registry, get_evaluator_traits

Scores = dict[str, float]


@dataclass(frozen=True, eq=False)
class EmbeddedSplit:
    """An embedding of a split, whose test part may be empty.

    `original` holds all points as the reducer got them, the training part first.
    """

    train: Any
    test: Any
    original: Any
    labels: Labels


def load_evaluator(name: str) -> Any:
    """Return the class of a classifier or measure."""
    return evaluator_registry(name).load(name)


def is_measure(factory: Any) -> bool:
    """Tell whether an evaluator is a measure."""
    return hasattr(factory, "score_many")


def batches(evaluations: Sequence[Evaluation]) -> list[list[Evaluation]]:
    """Put together what one call to ``predict_many`` or ``score_many`` can answer."""
    found: dict[object, list[Evaluation]] = {}
    for one in evaluations:
        found.setdefault(_batch_key(one), []).append(one)
    return list(found.values())


def _batch_key(one: Evaluation) -> object:
    factory = load_evaluator(one.evaluator)
    shared = get_evaluator_traits(factory(**one.params)).shared
    if shared is None or not (is_measure(factory) or hasattr(factory, "predict_many")):
        return one.trial_id
    rest = tuple((name, repr(one.params[name])) for name in sorted(one.params) if name != shared)
    return one.width, one.evaluator, rest


def seeded(estimator: Any, seed: int) -> Any:
    """Give a piece that would draw from a global stream a seed of its own."""
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if params.get("random_state", seed) is None:
        estimator.set_params(random_state=seed)
    return estimator


def evaluators_of(batch: Sequence[Evaluation], seed: int) -> list[Any]:
    """Return the classifiers or measures of trials that are evaluated together."""
    return [seeded(load_evaluator(one.evaluator)(**one.params), seed) for one in batch]


def scores_of(
    evaluators: Sequence[Any], embedding: EmbeddedSplit, metrics: Sequence[str]
) -> list[Scores]:
    """Return the scores of evaluators of one class, which differ in what they share.

    Classifiers are scored by the metrics of the spec, a measure by its own alone.
    """
    factory = type(evaluators[0])
    settings = [evaluator.get_params(deep=False) for evaluator in evaluators]
    if is_measure(factory):
        values = [float(value) for value in factory.score_many(_embedded(embedding), settings)]
        undefined = [value for value in values if not np.isfinite(value)]
        if undefined:
            title = factory.scale.title
            raise ValueError(f"the {title} is undefined for this embedding ({undefined[0]})")
        return [{factory.scale.name: value} for value in values]
    n = embedding.train.shape[0]
    y_train, y_test = embedding.labels.y[:n], embedding.labels.y[n:]
    own = [METRICS[name] for name in metrics if name in METRICS]
    rankings = {name: RANKINGS[name] for name in metrics if name in RANKINGS}
    if rankings and hasattr(factory, "decision_function"):
        return [_ranked(evaluator, embedding, y_train, own, rankings) for evaluator in evaluators]
    predictions = _predict(evaluators, settings, embedding, y_train)
    return [
        {metric.name: float(metric(y_test, predicted)) for metric in own}
        for predicted in predictions
    ]


def _ranked(
    classifier: Any,
    embedding: EmbeddedSplit,
    y_train: NDArray[np.int64],
    metrics: Sequence[Metric],
    rankings: Mapping[str, Ranking],
) -> Scores:
    """Return the scores of one classifier, those of its decision values too."""
    n = embedding.train.shape[0]
    labels = embedding.labels
    if len(labels.classes) != 2:
        raise ValueError(
            f"{next(iter(rankings))} ranks two classes, and there are {len(labels.classes)}."
        )
    classifier.fit(embedding.train, y_train)
    values = np.asarray(classifier.decision_function(embedding.test))
    second = values if values.ndim == 1 else values[:, 1] - values[:, 0]
    groups = None if labels.groups is None else labels.groups[n:]
    scores = {
        metric.name: float(metric(labels.y[n:], classifier.predict(embedding.test)))
        for metric in metrics
    }
    return scores | {
        name: float(ranking.compute(labels.y[n:] == 1, second, groups))
        for name, ranking in rankings.items()
    }


def _predict(
    classifiers: Sequence[Any],
    settings: Sequence[Mapping[str, Any]],
    embedding: EmbeddedSplit,
    y_train: NDArray[np.int64],
) -> list[NDArray[Any]]:
    if len(classifiers) == 1:
        return [classifiers[0].fit(embedding.train, y_train).predict(embedding.test)]
    many: list[NDArray[Any]] = type(classifiers[0]).predict_many(
        embedding.train, y_train, embedding.test, settings
    )
    return many


def _embedded(embedding: EmbeddedSplit) -> Embedded:
    parts = [embedding.train, embedding.test]
    labels = embedding.labels
    return Embedded(
        sparse.vstack(parts, format="csr")
        if sparse.issparse(embedding.train)
        else np.vstack(parts),
        embedding.original,
        labels.y,
        embedding.train.shape[0],
        labels.classes,
        labels.subclasses,
    )
