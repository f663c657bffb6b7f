"""Train/test splits that depend only on the master seed, the data set and the index.

Every method of an experiment therefore has the same splits, in any run, order and machine. A
method's own randomness uses a second stream, `method_seed`, and the selection of labelled training
samples a third, `label_places`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.evaluation.folds import EXCLUDE, Draw, Groups, stratified_folds

Indices = NDArray[np.intp]

SPLITS = MappingProxyType(
    {
        "predefined": "the data set's own split",
        "resample": "new stratified splits of the samples, with the sizes of the predefined split",
        "per_class": "train: N samples of each class; the rest is the test set",
        "fraction": "train: a fraction of all samples, stratified",
        "labelled": "train: N samples in total, stratified; the rest is the unlabelled test set",
        "kfold": "folds: K stratified folds, each tested once; repeats: number of divisions",
        "grouped": "no group is in both sets; folds (K or leave_one_out) or train (a fraction)",
        "given": "your own splits: a file next to the spec, or a column of the card's table",
        "whole": "all samples are in the training set; for measures only",
    }
)
"""The kinds of splits, and what each does."""

LEAVE_ONE_OUT = "leave_one_out"

_UNLABELLED = -1
_SPLIT_STREAM = 0
_METHOD_STREAM = 1
_LABEL_STREAM = 2
_INNER_STREAM = 3
_ORDER_STREAM = 4


@dataclass(frozen=True)
class Split:
    """One division of a data set into a training and a test set.

    Two splits are equal when their names and hashes are.

    Parameters
    ----------
    name : str
        ``"predefined"``, or the kind and the index, such as ``"resample-7"``.
    train, test : ndarray of shape (n_train,) and (n_test,)
        Row numbers, ascending unless the data set's own split lists them otherwise.
    hash : str
        16 hexadecimal digits of the two index arrays; rows of a paired test must agree in it.
    """

    name: str
    train: Indices = field(repr=False, compare=False)
    test: Indices = field(repr=False, compare=False)
    hash: str


def make_split(
    kind: str,
    y: ArrayLike,
    *,
    index: int = 0,
    seed: int = 0,
    dataset: str = "",
    predefined: tuple[ArrayLike, ArrayLike] | None = None,
    train: float | None = None,
    test: int | None = None,
    folds: int | str | None = None,
    groups: ArrayLike | None = None,
    group_names: Sequence[object] | None = None,
    class_names: Sequence[object] | None = None,
) -> Split:
    """Return one split of a data set.

    Parameters
    ----------
    kind : str
        - ``"predefined"``: the data set's own split.
        - ``"resample"``: a new stratified division of the samples of the predefined split, at its
          sizes.
        - ``"per_class"``: `train` samples of every class, the rest is the test set.
        - ``"fraction"``: the fraction `train` of all samples, stratified.
        - ``"labelled"``: `train` samples in total, stratified, at least one of every class; the
          rest is the test set.
        - ``"kfold"``: one of `folds` stratified folds is the test set. A new division begins at
          every multiple of `folds` of the index.
        - ``"grouped"``: the same with whole groups; or the fraction `train` of the groups is the
          training set; or, with ``folds="leave_one_out"``, one group is the test set.
        - ``"given"``: `predefined`, as one of several splits.
        - ``"whole"``: all samples; the test set is empty.
    y : array-like of shape (n_samples,)
        Class labels of any type that can be sorted.
    index : int
        The number of the repetition, from 0.
    seed : int
        The master seed, 0 or more.
    dataset : str
        The name of the data set; part of the random stream's key.
    predefined : tuple of two array-like, optional
        Training and test indices of the data set's own split.
    train : int or float, optional
        The size of the training set; see `kind`.
    test : int, optional
        The largest size of the test set; from more samples, this many are drawn, stratified.
    folds : int or "leave_one_out", optional
        The number of folds; see `kind`.
    groups : array-like of shape (n_samples,), optional
        The group of each sample; no group is in both sets.
    group_names, class_names : sequence, optional
        Names for messages, if `groups` and `y` are indices into them.

    Returns
    -------
    Split
        The row numbers of the training and the test set.

    Raises
    ------
    InputError
        If the kind's `train` or `folds` is missing or not possible for the classes or groups, or
        `kind` needs a predefined split or groups that the data set does not have.

    Notes
    -----
    Stratified class counts are proportional to the class sizes by the method of largest
    remainders (equal remainders go to the first class), so that the total is exact; a class
    whose quota rounds to 0 still has one training sample. Groups are drawn again until each
    training set has all classes.
    """
    check_folds(kind, folds)
    check_train(kind, train, folds)
    labels = np.asarray(y)
    pool = np.arange(len(labels), dtype=np.intp)
    if kind == "whole":
        nobody = pool[:0]
        return Split(f"{kind}-{index}", pool, nobody, split_hash(pool, nobody))
    if kind in ("predefined", "resample", "given"):
        own_train, own_test = _own_split(kind, predefined, len(labels), dataset)
        if kind != "resample":
            name = kind if kind == "predefined" else f"{kind}-{index}"
            return Split(name, own_train, own_test, split_hash(own_train, own_test))
        pool, train = np.sort(np.concatenate([own_train, own_test])), len(own_train)

    classes, codes = np.unique(labels[pool], return_inverse=True)
    class_sizes = np.bincount(codes, minlength=len(classes))
    names = classes.tolist() if class_names is None else [class_names[c] for c in classes]
    # All folds of one division use the same random order.
    draws = index // folds if isinstance(folds, int) else index
    draw = _keys(seed, dataset, draws, _SPLIT_STREAM)
    if kind == "kfold":
        assert isinstance(folds, int)
        _check_folds(folds, class_sizes, names)
        in_train = stratified_folds(codes, folds, draw) != index % folds
    elif kind == "grouped":
        if groups is None:
            raise InputError(no_groups(dataset))
        grouped = Groups(groups, codes, group_names, names)
        if folds is None:
            assert train is not None
            of_training = grouped.training(train, draw)
        elif isinstance(folds, int):
            of_training = grouped.folds(folds, draw) != index % folds
        else:
            of_training = grouped.all_but(index)
        in_train = of_training[grouped.of_point]
    else:
        in_train = _marked(codes, _training_counts(kind, train, class_sizes, names), draw)
    chosen, rest = pool[in_train], pool[~in_train]
    if test is not None and test < len(rest):
        rest = rest[_drawn_of(codes[~in_train], test, draw)]
    return Split(f"{kind}-{index}", chosen, rest, split_hash(chosen, rest))


def split_labelled(
    kind: str,
    y: NDArray[np.int64],
    *,
    predefined: tuple[ArrayLike, ArrayLike] | None = None,
    groups: NDArray[np.int64] | None = None,
    **rest: Any,
) -> Split:
    """Return a split, as `make_split`, of samples of which some have no label, -1.

    Unlabelled samples are not drawn and never tested. They are at the end of the training set: all
    of them, or in a predefined or given split, those in its training set; samples whose group is in
    the test set are left out.
    """
    labelled = np.flatnonzero(y != _UNLABELLED)
    if len(labelled) == len(y):
        return make_split(kind, y, predefined=predefined, groups=groups, **rest)
    others = np.flatnonzero(y == _UNLABELLED)
    if predefined is not None:
        place = np.full(len(y), -1, dtype=np.intp)
        place[labelled] = np.arange(len(labelled))
        own = [np.asarray(part, dtype=np.intp) for part in predefined]
        if kind in ("predefined", "given"):
            others = own[0][y[own[0]] == _UNLABELLED]
        own = [place[part] for part in own]
        predefined = own[0][own[0] >= 0], own[1][own[1] >= 0]
    found = make_split(
        kind,
        y[labelled],
        predefined=predefined,
        groups=None if groups is None else groups[labelled],
        **rest,
    )
    test = labelled[found.test]
    if kind == "grouped" and groups is not None:
        others = others[~np.isin(groups[others], groups[test])]
    train = np.concatenate([labelled[found.train], others])
    return Split(found.name, train, test, split_hash(train, test))


def check_folds(kind: str, folds: int | str | None) -> None:
    """Raise an InputError if a kind of split can't have these folds."""
    if folds is not None and kind not in ("kfold", "grouped"):
        raise InputError(f"The split kind '{kind}' does not use 'folds'; omit this key.")
    if kind == "kfold" and (not isinstance(folds, int) or folds < 2):
        raise InputError(
            f"The split kind 'kfold' needs 'folds', a whole number of 2 or more"
            f"{_but_is('folds', folds)}."
        )


_NO_TRAIN = {
    "predefined": "takes its sizes from the data set",
    "resample": "takes its sizes from the data set",
    "whole": "trains on all samples",
    "given": "takes its splits from the file or column",
    "kfold": "takes its sizes from 'folds'",
}
_TRAIN = {
    "grouped": "either 'folds' (a number or leave_one_out) or 'train' (the fraction of groups in "
    "the training set, between 0 and 1)",
    "fraction": "'train', the fraction of samples in the training set, between 0 and 1",
    "per_class": "'train', the number of training samples per class, a whole number of 1 or more",
    "labelled": "'train', the total number of training samples, a whole number of 1 or more",
}


def check_train(kind: str, train: float | None, folds: int | str | None = None) -> None:
    """Raise an InputError if a kind of split can't have this size of the training set."""
    if kind in _NO_TRAIN:
        if train is not None:
            raise InputError(f"The split kind '{kind}' {_NO_TRAIN[kind]}; omit 'train'.")
        return
    if kind in ("grouped", "fraction"):
        is_right = train is not None and 0 < train < 1
    else:
        is_right = isinstance(train, int) and not isinstance(train, bool) and train >= 1
    if kind == "grouped" and folds is not None:
        is_right = train is None
    if not is_right:
        raise InputError(f"The split kind '{kind}' needs {_TRAIN[kind]}{_but_is('train', train)}.")


def _but_is(key: str, value: object) -> str:
    return "" if value is None else f", but {key} is {value}"


def no_groups(dataset: str) -> str:
    """Return the error that a data set has no groups, and how to state them."""
    return (
        f"The data set '{dataset}' has no groups; name the column of groups as 'groups' in the "
        "card's format."
    )


def method_seed(seed: int, dataset: str, index: int) -> int:
    """Return the seed of a method's own randomness on one split, in [0, 2**32).

    The stream is independent of the stream that drew the split.
    """
    return int(_seed_sequence(seed, dataset, index, _METHOD_STREAM).generate_state(1)[0])


def inner_keys(seed: int, dataset: str, index: int) -> Draw:
    """Return the stream of the inner folds of one split's training set."""
    return _keys(seed, dataset, index, _INNER_STREAM)


def drawn_order(
    n_train: int, n_test: int, *, seed: int, dataset: str, index: int, key: int
) -> Indices:
    """Return positions in a split (training rows, then test rows) with the test rows shuffled.

    Methods get the samples of a split in this order. Files are often sorted by class, so the order
    in a file would reveal the labels of test samples. The spec and its seed are public; the number
    `key` can only be computed from the whole data set.
    """
    sequence = _seed_sequence(seed, dataset, index, _ORDER_STREAM)
    keyed = np.random.SeedSequence([*sequence.generate_state(4).tolist(), key])
    keys = np.random.PCG64(keyed).random_raw(n_test)
    return np.concatenate([np.arange(n_train), n_train + np.argsort(keys, kind="stable")])


def label_places(
    y: ArrayLike, train: Indices, *, seed: int, dataset: str, index: int
) -> NDArray[np.intp]:
    """Return the rank, from 0, in which each training sample is labelled within its class.

    With a budget of b labels per class, the samples with ranks below b are labelled, so a larger
    budget includes the samples of a smaller one. `y` has the labels of all samples; the stream is
    independent of those of the splits and of the methods.
    """
    generator = np.random.PCG64(_seed_sequence(seed, dataset, index, _LABEL_STREAM))
    labels = np.asarray(y)
    keys = generator.random_raw(len(labels))
    _, codes = np.unique(labels[train], return_inverse=True)
    return _places_in_class(codes, keys[train])


def split_hash(train: ArrayLike, test: ArrayLike) -> str:
    """Return 16 hexadecimal digits of the SHA-256 of two index arrays.

    The hash covers the length of `train`, `train` and `test`, as little-endian 64-bit integers, so
    it is the same on every platform.
    """
    digest = hashlib.sha256()
    for part in ([np.size(train)], train, test):
        digest.update(np.asarray(part, dtype="<i8").tobytes())
    return digest.hexdigest()[:16]


def _own_split(
    kind: str,
    predefined: tuple[ArrayLike, ArrayLike] | None,
    n_samples: int,
    dataset: str,
) -> tuple[Indices, Indices]:
    """Check the data set's own split, or a given one."""
    name = "given" if kind == "given" else "predefined"
    if predefined is None:
        raise InputError(
            f"'{dataset}' has no predefined split; use the split kind 'fraction', not '{kind}'."
        )
    train, test = (np.asarray(part, dtype=np.intp) for part in predefined)
    if len(train) == 0 or len(test) == 0:
        raise InputError(f"The {name} split of '{dataset}' has an empty training or test set.")
    both = np.concatenate([train, test])
    if both.min() < 0 or both.max() >= n_samples or len(np.unique(both)) < len(both):
        raise InputError(
            f"The {name} split of '{dataset}' lists a row twice, or a row that does not exist."
        )
    return train, test


def _seed_sequence(seed: int, dataset: str, index: int, stream: int) -> np.random.SeedSequence:
    if seed < 0 or index < 0:
        raise InputError(f"The seed ({seed}) and the index ({index}) of a split must be 0 or more.")
    digest = hashlib.sha256(dataset.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence([index, *words, seed], spawn_key=(stream,))


def _keys(seed: int, dataset: str, index: int, stream: int) -> Draw:
    """Return a stream of random 64-bit keys."""
    # NumPy guarantees that the raw stream of a bit generator never changes, but gives no such
    # guarantee for the methods of Generator. A random order is therefore the order of raw keys.
    generator = np.random.PCG64(_seed_sequence(seed, dataset, index, stream))
    return generator.random_raw


def _marked(codes: NDArray[np.intp], counts: NDArray[np.int64], draw: Draw) -> NDArray[np.bool_]:
    """Mark `counts[c]` random samples of every class c."""
    return np.asarray(_places_in_class(codes, draw(len(codes))) < counts[codes])


def _drawn_of(codes: NDArray[np.intp], total: int, draw: Draw) -> NDArray[np.bool_]:
    """Mark `total` random samples, stratified unless there are more classes than that."""
    _, own = np.unique(codes, return_inverse=True)
    sizes = np.bincount(own)
    if total < len(sizes):
        return np.asarray(_places_in_class(np.zeros_like(own), draw(len(own))) < total)
    return _marked(own, _apportion(total, sizes), draw)


def _places_in_class(codes: NDArray[np.intp], keys: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return each sample's rank, by `keys`, among the samples of its class."""
    order = np.lexsort((keys, codes))
    sorted_codes = codes[order]
    places = np.empty(len(codes), dtype=np.intp)
    places[order] = np.arange(len(codes)) - np.searchsorted(sorted_codes, sorted_codes)
    return places


def _check_folds(folds: int, class_sizes: NDArray[np.int64], names: Sequence[object]) -> None:
    smallest = int(np.argmin(class_sizes))
    if class_sizes[smallest] < folds:
        n = int(class_sizes[smallest])
        points, fewer = ("1 sample", "") if n == 1 else (f"{n} samples", f"choose {n} folds, or ")
        raise InputError(
            f"Class {names[smallest]} has {points}, too few for {folds} folds; {fewer}{EXCLUDE}."
        )


def _apportion(total: int, class_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Divide `total` among the classes by largest remainders, with at least 1 each.

    Only integer arithmetic is used: no rounding differs between platforms.
    """
    counts = np.zeros(len(class_sizes), dtype=np.int64)
    # A class whose share is below 1 gets 1 and is taken out, and the rest of `total` is divided
    # again among the other classes. Each pass takes out a class, so the loop ends.
    free = np.ones(len(class_sizes), dtype=bool)
    while True:
        shares = (total - int(counts[~free].sum())) * class_sizes[free]
        pool = int(class_sizes[free].sum())
        floors, remainders = shares // pool, shares % pool
        remaining = total - int(counts[~free].sum()) - int(floors.sum())
        floors[np.argsort(-remainders, kind="stable")[:remaining]] += 1
        if (floors >= 1).all():
            counts[free] = floors
            return counts
        raised = np.flatnonzero(free)[floors < 1]
        counts[raised] = 1
        free[raised] = False


def _training_counts(
    kind: str,
    train: float | None,
    class_sizes: NDArray[np.int64],
    classes: Sequence[object],
) -> NDArray[np.int64]:
    """Return the number of training samples to draw from each class."""
    n_samples = int(class_sizes.sum())
    assert train is not None
    # Rounding gives 29 for 0.29 * 100, which is slightly below 29 in floating point.
    total = int(np.floor(train * n_samples + 0.5)) if kind == "fraction" else int(train)

    if kind == "per_class":
        smallest = int(np.argmin(class_sizes))
        if class_sizes[smallest] <= total:
            most = class_sizes[smallest] - 1
            lower = f"set 'train' to at most {most}, or " if most else ""
            raise InputError(
                f"'train' asks for {total} samples per class, but class {classes[smallest]} has "
                f"only {class_sizes[smallest]}; {lower}{EXCLUDE}."
            )
        return np.full(len(classes), total, dtype=np.int64)
    if not len(classes) <= total < n_samples:
        raise InputError(
            f"'train' puts {total} of {n_samples} samples into the training set; choose a value "
            f"that gives {len(classes)} to {n_samples - 1} training samples."
        )
    return _apportion(total, class_sizes)
