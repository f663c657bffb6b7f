"""Divisions into folds, of single samples or of whole groups.

scikit-learn's splitters do not guarantee that all releases draw the same samples (the allocation of
classes and the order of the draws have changed), and a trial's identity contains the kind and index
of its split, not the release. Therefore the rules are scikit-learn's, as far as possible, but the
order follows raw 64-bit keys, which NumPy promises never to change, and no rounding differs between
platforms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.errors import InputError

Codes = NDArray[np.intp]
Keys = NDArray[np.uint64]
Draw = Callable[[int], Keys]
"""Gives the next random 64-bit keys of a stream, as many as requested."""

EXCLUDE = "exclude the class with 'keep' in the data set's card"
"""The remedy for a class with too few samples."""

_MOST_DRAWS = 1000
_UNLABELLED = -1

Drawn = TypeVar("Drawn", bound=np.generic)


def stratified_folds(codes: Codes, folds: int, draw: Draw) -> Codes:
    """Return the fold of each sample; folds differ by at most 1 in size and in any class.

    As in scikit-learn's ``StratifiedKFold``, the samples, sorted by class, are assigned to the
    folds in turn.
    """
    order = np.lexsort((draw(len(codes)), codes))
    fold_of = np.empty(len(codes), dtype=np.intp)
    fold_of[order] = np.arange(len(codes)) % folds
    return fold_of


def training_groups(share: float, n_groups: int) -> int:
    """Return the number of groups in a fraction of them; an InputError if a side would be empty."""
    n_train = math.floor(share * n_groups + 0.5)
    if not 0 < n_train < n_groups:
        raise InputError(
            f"The fraction {share} puts {n_train} of {n_groups} groups into the training set; "
            "the training set and the test set need at least one group each."
        )
    return n_train


class Groups:
    """The groups of a data set, and how many samples of each class they have.

    The names of groups and classes are for messages.
    """

    def __init__(
        self,
        groups: ArrayLike,
        codes: Codes,
        group_names: Sequence[object] | None = None,
        class_names: Sequence[object] | None = None,
    ) -> None:
        values, self.of_point = np.unique(np.asarray(groups), return_inverse=True)
        self.names = [str(group_names[v]) if group_names else str(v) for v in values.tolist()]
        classes = codes.max(initial=-1) + 1
        self.class_names = [str(name) for name in class_names or range(classes)]
        self.counts = np.zeros((len(values), classes), dtype=np.int64)
        np.add.at(self.counts, (self.of_point, codes), 1)

    def __len__(self) -> int:
        return len(self.names)

    def folds(self, folds: int, draw: Draw) -> Codes:
        """Return the fold of each group, such that each training set has all classes.

        As in scikit-learn's ``StratifiedGroupKFold``, each group in turn is assigned to the fold
        that has the fewest samples of its classes. Large groups come first, and groups of about
        equal size are in random order: with scikit-learn's order, by how uneven a group is, repeats
        would hardly differ.
        """
        if len(self) < folds:
            raise InputError(f"{len(self)} groups are too few for {folds} folds.")
        totals = self.counts.sum(axis=0)
        magnitudes = np.array([int(size).bit_length() for size in self.counts.sum(axis=1)])

        def division() -> tuple[Codes, NDArray[np.bool_]]:
            held = np.zeros((folds, len(totals)), dtype=np.int64)
            fold_of = np.empty(len(self), dtype=np.intp)
            for group in np.lexsort((draw(len(self)), -magnitudes)):
                # The cost of a fold is a sum over the classes: its fraction of the class times the
                # group's fraction. `fsum` rounds only once, so the order of the classes has no
                # effect.
                costs = [math.fsum(row) for row in held * self.counts[group] / totals**2]
                sizes = held.sum(axis=1).tolist()
                fold_of[group] = min(range(folds), key=lambda f: (costs[f], sizes[f]))
                held[fold_of[group]] += self.counts[group]
            return fold_of, held < totals

        return self._with_all_classes(division)

    def training(self, share: float, draw: Draw) -> NDArray[np.bool_]:
        """Mark a random fraction of the groups, such that the marked groups have all classes."""
        n_train = training_groups(share, len(self))

        def division() -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
            marked = np.zeros(len(self), dtype=bool)
            marked[np.argsort(draw(len(self)), kind="stable")[:n_train]] = True
            return marked, self.counts[marked].sum(axis=0) > 0

        return self._with_all_classes(division)

    def all_but(self, index: int) -> NDArray[np.bool_]:
        """Mark all groups except one."""
        if len(self) < 2:
            raise InputError("The data have only one group, so no group can be left out.")
        self._check_no_class_in_one_group()
        if index >= len(self):
            raise InputError(f"There is no group {index}; the groups are 0 to {len(self) - 1}.")
        return np.asarray(np.arange(len(self)) != index)

    def _with_all_classes(
        self, division: Callable[[], tuple[NDArray[Drawn], NDArray[np.bool_]]]
    ) -> NDArray[Drawn]:
        """Return the first division whose training sets have all classes."""
        self._check_no_class_in_one_group()
        for _ in range(_MOST_DRAWS):
            drawn, has_class = division()
            if has_class.all():
                return drawn
        raise InputError(
            f"None of {_MOST_DRAWS} random divisions of the {len(self)} groups gave every training "
            "set samples of all classes; choose a larger training set or more folds."
        )

    def _check_no_class_in_one_group(self) -> None:
        alone = np.flatnonzero((self.counts > 0).sum(axis=0) == 1)
        if len(alone):
            group = int(np.flatnonzero(self.counts[:, alone[0]])[0])
            raise InputError(
                f"Only group {self.names[group]} contains class {self.class_names[alone[0]]}. "
                f"Use the split kind 'kfold', or {EXCLUDE}."
            )


def inner_folds(
    y: ArrayLike,
    *,
    folds: int,
    repeats: int,
    draw: Draw,
    groups: ArrayLike | None = None,
    class_names: Sequence[object] | None = None,
    group_names: Sequence[object] | None = None,
) -> list[tuple[Codes, Codes]]:
    """Return stratified divisions of a training set, to choose settings without the test set.

    Parameters
    ----------
    y : array-like of shape (n_train,)
        Class labels. A sample without a label, -1, is in every inner training set and in no inner
        test set.
    folds, repeats : int
        Each labelled sample is tested once in each of `repeats` divisions into `folds`.
    draw : callable
        Returns the random keys of the next division.
    groups : array-like of shape (n_train,), optional
        Samples of a group are all in the training set or all in the test set, as in the split.
    class_names, group_names : sequence, optional
        Names for messages, if `y` and `groups` are indices into them.

    Returns
    -------
    list of (ndarray, ndarray)
        Row numbers of y, ascending.

    Raises
    ------
    InputError
        If a class would have no sample in a training set, or there are more folds than samples, or
        the groups can't be divided.
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
    """Return why a training set can't be divided into inner folds, or an empty string."""
    name, least = min(class_sizes.items(), key=lambda item: item[1])
    if least < 2:
        return (
            f"the class '{name}' has {least} training sample, but inner folds need two; use a "
            f"larger training set if the class has more samples, omit 'tune', or {EXCLUDE}."
        )
    if sum(class_sizes.values()) < folds:
        return f"folds is {folds}, but there are {sum(class_sizes.values())} training samples."
    return ""
