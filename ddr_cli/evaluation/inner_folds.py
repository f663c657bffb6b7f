"""Inner folds: a training part divided once more, to choose settings without the test part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.folds import Draw, Groups, stratified_folds

Indices = NDArray[np.intp]

_UNLABELLED = -1


def inner_folds(
    y: ArrayLike,
    *,
    folds: int,
    repeats: int,
    draw: Draw,
    groups: ArrayLike | None = None,
    class_names: Sequence[object] | None = None,
    group_names: Sequence[object] | None = None,
) -> list[tuple[Indices, Indices]]:
    """Return stratified divisions of a training part into a training and a test part.

    Parameters
    ----------
    y : array-like of shape (n_train,)
        Class labels, -1 for a point without: it is in every inner training part and in no test
        part.
    folds, repeats : int
        Each labelled point is tested once in each of `repeats` divisions into `folds`.
    draw : callable
        The random keys of the divisions, one after the other.
    groups : array-like of shape (n_train,), optional
        What must not be on both sides, as in the split itself.
    class_names, group_names : sequence, optional
        What messages call the classes and groups, where `y` and `groups` are indices into them.

    Returns
    -------
    list of (ndarray, ndarray)
        Row numbers of y, ascending.

    Raises
    ------
    InputError
        If a class would have no training point in one of them, or there are more folds than points,
        or the groups can't be divided.
    """
    labels = np.asarray(y)
    labelled = np.flatnonzero(labels != _UNLABELLED)
    classes, codes = np.unique(labels[labelled], return_inverse=True)
    called = [str(class_names[c] if class_names else c) for c in classes.tolist()]
    counts = np.bincount(codes, minlength=len(classes)).tolist()
    if lack := too_few_for_folds(dict(zip(called, counts, strict=True)), folds):
        raise InputError(lack[:1].upper() + lack[1:])
    found = []
    for _ in range(repeats):
        if groups is None:
            fold_of = stratified_folds(codes, folds, draw)
        else:
            whole = Groups(np.asarray(groups)[labelled], codes, group_names, called)
            fold_of = whole.folds(folds, draw)[whole.of_point]
        for fold in range(folds):
            test = labelled[fold_of == fold]
            trained = np.ones(len(labels), dtype=bool)
            trained[test] = False
            found.append((np.flatnonzero(trained), test))
    return found


def too_few_for_folds(class_sizes: Mapping[str, int], folds: int) -> str:
    """Say that a training part can't be divided into inner folds, if it can't."""
    name, least = min(class_sizes.items(), key=lambda item: item[1])
    if least < 2:
        return (
            f"the class '{name}' has {least} training point, so that an inner fold would leave "
            "none to train on; train on more points, or drop tune."
        )
    if sum(class_sizes.values()) < folds:
        return f"folds is {folds}, but there are {sum(class_sizes.values())} training points."
    return ""
