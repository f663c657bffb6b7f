"""What a trial that failed is scored as: always naming the training part's largest class."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from ddr_cli.evaluation.metrics import METRICS, RANKINGS, TRAINING, VALUED
from ddr_cli.reducers.labels import UNLABELLED

Codes = NDArray[np.int64]


def majority_scores(
    y_train: Codes,
    y_test: Codes,
    metrics: Sequence[str],
    *,
    labels: int | None = None,
    groups: NDArray[np.int64] | None = None,
) -> dict[str, float]:
    """Return the scores of the constant answer, by the metrics that it has any of.

    With `labels` of each class, all are equally large there. Of equally large classes it is the
    first. `groups` are those of the test points.
    """
    y_train = y_train[y_train != UNLABELLED]
    sizes = np.bincount(y_train)
    sizes = sizes if labels is None else np.minimum(sizes, labels)
    largest = int(np.argmax(sizes))
    scores: dict[str, float] = {}
    for name in metrics:
        # A score that the constant answer doesn't have stays out.
        with suppress(ValueError, ZeroDivisionError):
            if name in METRICS:
                scores[name] = float(METRICS[name](y_test, np.full_like(y_test, largest)))
            elif name in TRAINING:
                scores[name] = float(TRAINING[name](y_train, np.full_like(y_train, largest)))
            elif name in RANKINGS and len(np.union1d(y_train, y_test)) == 2:
                values = np.zeros(len(y_test))
                scores[name] = float(RANKINGS[name].compute(y_test == 1, values, groups))
            elif name in VALUED:
                # The shares of the classes: certainty would cost an infinite log loss.
                shares = np.tile(sizes / sizes.sum(), (len(y_test), 1))
                scores[name] = VALUED[name](y_test, shares)
    return {name: score for name, score in scores.items() if np.isfinite(score)}
