"""Experiments on real splits that show what the embedding of test samples depends on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy import spatial
from threadpoolctl import threadpool_limits

from ddr_cli.core.embedding import fit_transform, seeded, transform
from ddr_cli.core.own_code import display_name
from ddr_cli.core.sealed.process import ended_after
from ddr_cli.core.sealed.sandbox import VARIABLE
from ddr_cli.engine.plan.plan import Plan, make_plan
from ddr_cli.engine.plan.searches import TRANSDUCTIVE
from ddr_cli.engine.work.draws import Draws
from ddr_cli.engine.work.fitting import collected, dense, prepare_split
from ddr_cli.engine.work.jobs import SplitJob
from ddr_cli.engine.work.samples import Labels, Samples
from ddr_cli.evaluation.evaluators import CLASSIFIERS
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import REDUCERS, get_traits
from ddr_cli.spec import make_spec

if TYPE_CHECKING:
    from ddr_cli.data import Dataset

CLOSE = 1e-6  # relative to the largest value: what summing in another order may change
_NOISE = 10
_MOST_ALONE = 20
_SPLIT = {"kind": "labelled", "train": 90, "test": 60, "repeats": 1}
_DATASETS = ("iris", "wine", "digits")  # they come with scikit-learn
_STREAM = 3

QUESTIONS = {
    "test_labels": "ignores test labels",
    "alone": "ignores other test samples",
    "order": "ignores the test order",
}
"""The property that an audit confirms or refutes."""

MEANINGS = {
    "test_labels": "The method uses the test labels, so its errors are meaningless.",
    "alone": "The method learns from the test samples: 'ddr suite add' ranks it as transductive.",
    "order": "The method's errors depend on the order of the test samples, which each split "
    "draws at random.",
}
"""The consequence of a negative answer for a run."""


@dataclass(frozen=True)
class Audit:
    """The answers to three questions about a method on one split; None if one does not apply.

    For a classifier, its predictions take the role of the embedding.

    Parameters
    ----------
    method, version, source, dataset, split : str, int, str, str, str
        What was audited, and on what; `source` distinguishes versions of foreign code.
    test_labels : bool or None
        Whether the embedding has the same bits if the labels of the test set are permuted, in
        memory and in the files of the run. None if two fits to the same samples differ as much.
    alone : bool or None
        Whether ``transform(X[i:i+1])`` equals row i of ``transform(X)``, to rounding. If not, the
        embedding of a test sample depends on the others: the method is transductive. None if the
        method has no ``transform``.
    order : bool or None
        Whether another order of the test samples gives the same embedding, to rounding.
    sandbox : bool
        Whether the code ran in the sandbox.
    """

    method: str
    version: int
    source: str
    dataset: str
    split: str
    test_labels: bool | None
    alone: bool | None
    order: bool | None
    sandbox: bool = False


def audit_component(section: str, name: str, params: dict[str, Any]) -> list[Audit]:
    """Audit a reducer or a classifier on a split of each of three small data sets.

    Raises the last error if it cannot be audited on any of them.
    """
    from ddr_cli.data import load_dataset

    found, failed = [], None
    for dataset in _DATASETS:
        spec: dict[str, Any] = {"reducers": ["none"], "classifiers": ["knn"]}
        spec[section] = [{"name": name, **params}]
        try:
            if (
                section == "reducers"
                and not get_traits(REDUCERS.load(name)(**params)).out_of_sample
            ):
                spec[section][0]["mode"] = TRANSDUCTIVE
            made = make_spec(dataset=dataset, split=_SPLIT, preprocess=["standardize"], **spec)
            found.append(audit(make_plan(made), partial(load_dataset, dataset), section))
        except Exception as error:  # a user's component can raise any exception
            failed = error
    if failed is not None and not found:
        raise failed
    return found


def audit(plan: Plan, load: Callable[[], Dataset], section: str = "reducers") -> Audit:
    """Audit the first reducer or classifier of a plan on the plan's first split, untuned.

    The data set that `load` returns is not kept.
    """
    key, fits = next(iter(plan.fits.items()))
    fit = next(each for each in fits if each.tuning is None and not each.control)
    evaluator = next(iter(fit.trials.values())).evaluator
    is_reducer = section == "reducers"
    registry, setting = (REDUCERS, fit.reducer) if is_reducer else (CLASSIFIERS, evaluator)
    params = {**fit.params, "n_components": max(fit.widths)} if fit.widths else fit.params

    def made() -> Any:
        if is_reducer:
            return seeded(REDUCERS.load(fit.reducer.name)(**params), drawn.seed)
        return _Predictions(CLASSIFIERS.load(evaluator.name)(**evaluator.params), drawn.seed)

    data = load()
    drawn = Draws(plan, data)(key)
    with threadpool_limits(1), collected(), tempfile.TemporaryDirectory() as folder:

        def embedded(samples: Samples) -> _Embedded:
            job = SplitJob(
                data=Path(folder, "data"),
                split=Path(folder, "split"),
                trace=Path(folder, "trace"),
                whole=drawn.division,
                steps=tuple((step.name, step.params) for step in plan.spec.preprocess),
                searches={},
                seed=drawn.seed,
            )
            samples.save(job.data)
            prepare_split(job)
            return _Embedded(made, fit.mode, Samples.load(job.split))

        samples = Samples(data.X, Labels.of(data), categorical=data.categorical)
        first, again = embedded(samples), embedded(samples)
        # From here on no array and no file of the run holds the labels of the test set.
        y = samples.labels.y.copy()
        test = drawn.division.rows[drawn.division.n_train :]
        y[test] = y[test][np.argsort(np.random.PCG64([drawn.seed, _STREAM]).random_raw(len(test)))]
        samples = replace(samples, labels=replace(samples.labels, y=y))
        del data
        permuted = embedded(samples)
        # Two fits of a method with its own random numbers differ by about this much.
        noise = _NOISE * float(np.abs(first.test - again.test).max(initial=0.0))
        same: bool | None = first.equals(permuted)
        if not first.equals(again):
            same = None if close(permuted.test, first.test, noise) else False
        return Audit(
            display_name(setting.name),
            setting.version,
            registry.get(setting.name).source,
            plan.data.name,
            drawn.split.name,
            same,
            permuted.is_same_alone(noise),
            permuted.is_same_in_order(noise),
            bool(os.environ.get(VARIABLE)),
        )


class _Predictions:
    """A classifier's predictions in the place of an embedding."""

    def __init__(self, classifier: Any, seed: int) -> None:
        self._classifier = seeded(classifier, seed)

    def fit_transform(self, X: Any, y: Any) -> Any:
        self._classifier.fit(X, y)
        return np.zeros((len(y), 1))

    def transform(self, X: Any) -> Any:
        return np.asarray(self._classifier.predict(X))[:, None]


class _Embedded:
    """The embedding of a split by a reducer."""

    def __init__(self, made: Callable[[], Any], mode: str, split: Samples) -> None:
        self._made, self._mode, self._split = made, mode, split
        self._n = split.n_train
        with ended_after():
            self.train, self.test = self._fit(split.X[self._n :])
        # NaN differs from itself, so a comparison of such embeddings would refute every question.
        if not all(np.isfinite(part).all() for part in (self.train, self.test)):
            raise ValueError("the method returns infinite or undefined values")

    def _fit(self, test: Any, batches: Sequence[slice] = (slice(None),)) -> tuple[Any, Any]:
        """Return the embeddings of the training set and of test samples, batch by batch."""
        train, y = self._split.X[: self._n], self._split.labels.y[: self._n]
        reducer = self._made()
        if self._mode == TRANSDUCTIVE:
            stack = np.vstack([dense(train), dense(test)])
            labels = np.r_[y, np.full(len(stack) - self._n, UNLABELLED)]
            both = dense(fit_transform(reducer, stack, labels))
            return both[: self._n], both[self._n :]
        first = dense(fit_transform(reducer, train, y))
        return first, np.vstack([dense(transform(reducer, test[each])) for each in batches])

    def equals(self, other: _Embedded) -> bool:
        """Return whether another embedding has the same bits."""
        return np.array_equal(self.train, other.train) and np.array_equal(self.test, other.test)

    def is_same_alone(self, noise: float) -> bool | None:
        """Return whether some test samples have the same embedding when each is given alone."""
        if self._mode == TRANSDUCTIVE:
            return None
        last = len(self.test) - 1
        chosen = np.unique(np.linspace(0, last, _MOST_ALONE).astype(int)).tolist()
        with ended_after():
            _, found = self._fit(self._split.X[self._n :], [slice(i, i + 1) for i in chosen])
        return close(found, self.test[chosen], noise)

    def is_same_in_order(self, noise: float) -> bool:
        """Return whether the test samples have the same embedding in reverse order."""
        with ended_after():
            train, test = self._fit(self._split.X[self._n :][::-1])
        if self._mode == TRANSDUCTIVE:
            # Another order may rotate or reflect an embedding, so compare distances.
            return close(_distances(train, test[::-1]), _distances(self.train, self.test), noise)
        return close(test[::-1], self.test, noise)


def _distances(*parts: NDArray[Any]) -> NDArray[Any]:
    return spatial.distance.pdist(np.vstack(parts))


def close(a: NDArray[Any], b: NDArray[Any], noise: float = 0.0, relative: float = CLOSE) -> bool:
    """Return whether two arrays differ by rounding or by `noise` only."""
    allowed = max(relative * float(np.abs(b).max(initial=0.0)), noise)
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= allowed)


def summary(audits: Iterable[Audit]) -> dict[str, tuple[bool | None, str]]:
    """Return the answer to each question over several splits, and the splits behind it."""
    found = list(audits)
    answers: dict[str, tuple[bool | None, str]] = {}
    for question in QUESTIONS:
        told = {each.dataset: getattr(each, question) for each in found}
        wrong = [name for name, answer in told.items() if answer is False]
        right = [name for name, answer in told.items() if answer]
        if wrong:
            answers[question] = False, f"not on {', '.join(wrong)}"
        elif right:
            answers[question] = True, f"tested on {', '.join(right)}"
        else:
            answers[question] = (
                None,
                "two fits to the same samples differ, or the method has no transform",
            )
    return answers
