"""The scores of a failed trial: those of the majority-class baseline."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ddr_cli.evaluation.metrics import (
    LABEL_METRICS,
    MEAN_AVERAGE_PRECISION,
    TRAINING_ERROR,
    label_score,
    mean_average_precision,
    scorer_names,
    scorer_score,
)
from ddr_cli.reducers.partial_labels import UNLABELLED

Codes = NDArray[np.int64]


def majority_scores(
    y_train: Codes,
    y_test: Codes,
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
        # Scores that a constant prediction does not have are left out.
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

                # Its probabilities are the class fractions.
                y = np.repeat(np.arange(len(sizes)), sizes)
                prior = DummyClassifier(strategy="prior").fit(np.zeros((len(y), 1)), y)
                scores[name] = scorer_score(name, prior, np.zeros((len(y_test), 1)), y_test)
    return {name: score for name, score in scores.items() if np.isfinite(score)}
