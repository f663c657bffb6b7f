"""A split whose training set is partly labelled, and the part that methods and classifiers get.

A semi-supervised method is fitted to all training samples; unlabelled ones have ``y == -1``. Other
supervised methods are fitted to the labelled samples only, unsupervised methods to all. Classifiers
are trained on the embedding of the labelled samples, whatever the method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.engine.work.samples import Samples
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import Traits


def is_partial(split: Samples, budget: int | None) -> bool:
    """Return whether some training samples are unlabelled, by a budget or in the data set."""
    return budget is not None or bool((split.labels.y[: split.n_train] == UNLABELLED).any())


def labelled_rows(split: Samples, budget: int | None) -> NDArray[np.intp]:
    """Return the training samples that are labelled, with at most `budget` per class."""
    y = split.labels.y[: split.n_train]
    if budget is None:
        return np.flatnonzero(y != UNLABELLED)
    assert split.label_order is not None
    sizes = np.bincount(y[y != UNLABELLED], minlength=len(split.labels.classes))
    # A class without training samples in this split is never too small.
    short = np.flatnonzero((sizes > 0) & (sizes < budget))
    if len(short):
        raise ValueError(
            f"the class '{split.labels.classes[short[0]]}' has only {sizes[short[0]]} labelled "
            f"training samples, but the budget is {budget} per class"
        )
    return np.flatnonzero((split.label_order < budget) & (y != UNLABELLED))


def samples_to_fit(split: Samples, budget: int | None, traits: Traits) -> Samples:
    """Return the split to which a reducer with these traits is fitted."""
    rows = labelled_rows(split, budget)
    if traits.semi_supervised or not traits.supervised:
        y = split.labels.y.copy()
        hidden = np.ones(split.n_train, dtype=bool)
        hidden[rows] = False
        y[: split.n_train][hidden] = UNLABELLED
        return split.with_labels(y)
    kept = _with_test_set(split, rows)
    # The stored neighbours are among all training samples, so they are dropped.
    return replace(labels_to_score(split, budget), X=split.X[kept], neighbors={})


def labels_to_score(split: Samples, budget: int | None) -> Samples:
    """Return the split with the labels of its labelled training samples and of its test set."""
    rows = labelled_rows(split, budget)
    own = split.labels.rows(_with_test_set(split, rows))
    return replace(split, labels=own, n_train=len(rows))


def labelled_samples(train: Any, split: Samples, budget: int | None) -> Any:
    """Return the labelled samples of an embedding of all training samples, or of these only."""
    rows = labelled_rows(split, budget)
    return train if train.shape[0] == len(rows) else train[rows]


def _with_test_set(split: Samples, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([rows, np.arange(split.n_train, len(split.labels.y))])
