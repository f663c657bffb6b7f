"""The splits of a plan, drawn from its data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.data.dataset import order_key
from ddr_cli.engine.work.jobs import Division
from ddr_cli.evaluation.folds import inner_folds
from ddr_cli.evaluation.split_file import read_split_file
from ddr_cli.evaluation.splits import (
    Split,
    drawn_order,
    inner_keys,
    label_places,
    method_seed,
    split_labelled,
)
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.spec.budgets import ALL
from ddr_cli.spec.feasible import unprepared

if TYPE_CHECKING:
    from ddr_cli.data import Dataset
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.spec import Spec, SplitKey, Tuning

# Splits of these kinds differ in size, and some of them may be impossible.
_UNEQUAL = ("kfold", "grouped", "given")


class Drawn(NamedTuple):
    """A split, the seed of methods on it, and its rows in the order that methods receive."""

    split: Split
    seed: int
    division: Division


class Draws:
    """Draws each split of a plan; `sizes` are the mean sizes of its sets, by kind of split.

    `hashes` has the hash of each drawn split, by its name. The constructor raises an InputError if
    a split is impossible, or if the data needs steps that the spec lacks, so that a spec that would
    fail later is not started.
    """

    def __init__(self, plan: Plan, dataset: Dataset) -> None:
        check_prepared(plan.spec, dataset)
        self._plan = plan
        self._dataset = dataset
        self._given = self._given_splits()
        self._order_key = order_key(dataset.X)
        self.hashes: dict[str, str] = {}
        self.sizes: Mapping[str, dict[str, int | float]] = {
            family: self._mean_sizes(family)
            for family in dict.fromkeys(key.family for key in plan.fits)
        }

    def __call__(self, key: SplitKey) -> Drawn:
        """Return a split with its seed."""
        spec, data = self._plan.spec.split, self._dataset
        predefined: tuple[ArrayLike, ArrayLike] | None = None
        if key.kind == "given":
            predefined = self._given[key.index]
        elif data.split is not None:
            predefined = data.split.train, data.split.test
        own = key.kind == "predefined"
        stream = self._stream(key)
        split = split_labelled(
            key.kind,
            data.y,
            **stream,
            predefined=predefined,
            train=None if own else key.train or spec.train,
            test=None if own else spec.test,
            folds=None if own else spec.folds,
            groups=data.groups,
            group_names=data.group_names,
            class_names=data.target_names,
        )
        self.hashes[key.name] = split.hash
        label_order = None
        if any(budget != ALL for budget in self._plan.spec.labels):
            # Unlabelled samples are ranked separately, so they use up no class's label budget.
            label_order = label_places(data.y, split.train, **stream)
        division = self._division(key, split.train, split.test, label_order)
        return Drawn(split, method_seed(**stream), division)

    def _stream(self, key: SplitKey) -> dict[str, Any]:
        """Return the values that the random numbers of a split depend on."""
        seed = self._plan.spec.split.seed
        return {"seed": seed, "dataset": self._dataset.name, "index": key.index}

    def _division(
        self,
        key: SplitKey,
        train: NDArray[np.intp],
        test: NDArray[np.intp],
        label_order: NDArray[np.intp] | None,
    ) -> Division:
        stream = self._stream(key)
        order = drawn_order(len(train), len(test), **stream, key=self._order_key)
        return Division(np.concatenate([train, test]), len(train), order, label_order)

    def divide(
        self, key: SplitKey, drawn: Drawn, labels: int | None, tuning: Tuning
    ) -> tuple[Division, ...]:
        """Return inner folds of a split's training set; they do not depend on the test set.

        With `labels` labelled samples per class, only these are divided. Their order in the folds
        is 0, so every budget includes them.
        """
        data, train = self._dataset, drawn.split.train
        y, order = data.y[train], None
        if labels is not None:
            assert drawn.division.label_order is not None
            known = drawn.division.label_order < labels
            order = np.where(known, 0, len(train))
            y = np.where(known, y, UNLABELLED)
        grouped = key.kind == "grouped"
        folds = inner_folds(
            y,
            folds=tuning.folds,
            repeats=tuning.repeats,
            draw=inner_keys(**self._stream(key)),
            groups=data.groups[train] if data.groups is not None and grouped else None,
            class_names=data.target_names,
            group_names=data.group_names,
        )
        return tuple(
            self._division(key, train[inner], train[test], None if order is None else order[inner])
            for inner, test in folds
        )

    def _given_splits(self) -> Sequence[tuple[ArrayLike, ArrayLike]]:
        spec, data = self._plan.spec, self._dataset
        if spec.split.column is not None:
            column = (data.parts or {}).get(spec.split.column)
            if column is None:
                raise InputError(
                    f"The card of the data set '{data.name}' does not list '{spec.split.column}' "
                    "as a split column; add this column to 'parts' under 'format' in the card."
                )
            return [(column.train, column.test)]
        path = spec.split_file
        if path is None:
            return []
        given = read_split_file(path)
        if given.sha256 != spec.split.sha256:
            raise InputError(f"{path} has changed since the spec was read; run the spec again.")
        given.check_rows(data.n_samples, path, data.name)
        return given.splits

    def _mean_sizes(self, family: str) -> dict[str, int | float]:
        keys = [key for key in self._plan.fits if key.family == family]
        # All splits of any other kind are as large as the first.
        splits = [self(key).split for key in (keys if keys[0].kind in _UNEQUAL else keys[:1])]
        sizes = {
            "train": [len(split.train) for split in splits],
            "test": [len(split.test) for split in splits],
        }
        means = {name: sum(found) / len(found) for name, found in sizes.items()}
        return {name: int(mean) if mean.is_integer() else mean for name, mean in means.items()}


def check_prepared(spec: Spec, data: Dataset) -> None:
    """Raise InputError if there is one class, or if missing values or category codes are left."""
    if spec.classifiers and len(data.target_names) < 2:
        raise InputError(
            f"All samples of '{data.name}' have the class {data.target_names[0]}, so there is "
            "nothing to predict; choose another class column."
        )
    names = data.feature_names or [f"x{i}" for i in range(data.n_features)]
    coded = [names[column] for column in data.categorical]
    for _, message in unprepared(data.name, data.n_missing > 0, coded, spec.preprocess):
        raise InputError(message)
