"""A split of which only some training points are labelled: what methods and classifiers get of it.

A semi-supervised method is fitted to all training points, the others with ``y == -1``; one that
can't learn from such points to the labelled ones alone; one that uses no labels to all. Classifiers
are trained on the labelled points' places, whatever the method.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ddr_cli.engine.work.scratch import PointSet
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import Traits


def is_partial(split: PointSet, budget: int | None) -> bool:
    """Return whether some training points are not labelled, by a budget or in the data set."""
    return budget is not None or bool((split.labels.y[: split.n_train] == UNLABELLED).any())


def labelled_rows(split: PointSet, budget: int | None) -> NDArray[np.intp]:
    """Return the training points that are labelled with so many labels per class, or at all."""
    y = split.labels.y[: split.n_train]
    if budget is None:
        return np.flatnonzero(y != UNLABELLED)
    assert split.places is not None
    sizes = np.bincount(y[y != UNLABELLED], minlength=len(split.labels.classes))
    # A class without any training point is none of this split's.
    short = np.flatnonzero((sizes > 0) & (sizes < budget))
    if len(short):
        raise ValueError(
            f"{budget} labelled points per class are more than there are: class "
            f"'{split.labels.classes[short[0]]}' has {sizes[short[0]]} in the training part"
        )
    return np.flatnonzero((split.places < budget) & (y != UNLABELLED))


def points_to_fit(split: PointSet, budget: int | None, traits: Traits) -> PointSet:
    """Return the split as a reducer with these traits gets it."""
    rows = labelled_rows(split, budget)
    if traits.semi_supervised:
        y = split.labels.y.copy()
        hidden = np.ones(split.n_train, dtype=bool)
        hidden[rows] = False
        y[: split.n_train][hidden] = UNLABELLED
        return replace(split, labels=replace(split.labels, y=y))
    if not traits.supervised:
        return split
    kept = _with_test_part(split, rows)
    # The neighbours that were searched are those among all training points.
    return replace(labels_to_score(split, budget), points=split.points[kept], neighbors={})


def labels_to_score(split: PointSet, budget: int | None) -> PointSet:
    """Return the split with the labels of its labelled training points and of its test part."""
    rows = labelled_rows(split, budget)
    own = split.labels.rows(_with_test_part(split, rows))
    return replace(split, labels=own, n_train=len(rows))


def labelled_part(train: Any, split: PointSet, budget: int | None) -> Any:
    """Return the labelled points' rows of an embedding of all training points, or of them alone."""
    rows = labelled_rows(split, budget)
    return train if train.shape[0] == len(rows) else train[rows]


def _with_test_part(split: PointSet, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    return np.concatenate([rows, np.arange(split.n_train, len(split.labels.y))])
