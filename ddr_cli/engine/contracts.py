"""Tests, on tiny data, of the properties that a run requires of a reducer or a classifier."""

from __future__ import annotations

import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import ValidationError
from scipy import sparse, spatial
from sklearn.base import RegressorMixin, TransformerMixin, clone
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from ddr_cli.core.embedding import fit_transform, refuse_labels, seeded, transform
from ddr_cli.core.errors import InputError
from ddr_cli.core.extras import missing_library
from ddr_cli.core.own_code import display_name, is_code, is_foreign, require_trust
from ddr_cli.core.sealed.process import Sealed
from ddr_cli.core.validation import field_problems
from ddr_cli.engine.audit import MEANINGS, QUESTIONS, audit_component, close, summary
from ddr_cli.engine.work.fitting import dense
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import get_traits
from ddr_cli.spec.estimators import complete, load_factory, make, make_checked, sections_of

_SEED = 1
_N_TRAIN, _N_FEATURES, _N_CLASSES = 44, 6, 4


class _BrokenError(Exception):
    """A contract is violated; the message states the evidence."""


class _NotClaimedError(Exception):
    """The method does not claim this contract; the message states what a run does instead."""


@dataclass(frozen=True)
class ContractResult:
    """Whether a contract holds (None: it is not claimed), and the consequence of a failure."""

    contract: str
    holds: bool | None
    note: str
    meaning: str


@dataclass(frozen=True)
class Checked:
    """The findings on a method as one of a spec's `reducers` or `classifiers`."""

    name: str
    section: str
    findings: tuple[ContractResult, ...]

    @property
    def failing(self) -> list[ContractResult]:
        """The contracts that do not hold."""
        return [finding for finding in self.findings if finding.holds is False]


def check_piece(name: str, given: Mapping[str, Any] | None = None) -> list[Checked]:
    """Check a reducer or classifier by its name or code; `given` are its parameters.

    Raises InputError if it does not exist or its constructor fails.
    """
    given = given or {}
    if is_code(name) and is_foreign(name):
        require_trust(name)
        process = Sealed(name)
        try:
            found: list[Checked] = process.ask("run", f"{__name__}:_contracts", name, given)
        finally:
            process.end()
    else:
        found = _contracts(name, given)
    return [
        replace(one, findings=(*one.findings, *_audited(one.section, name, given)))
        if one.findings[0].holds
        else one
        for one in found
    ]


def _audited(section: str, name: str, given: Mapping[str, Any]) -> Iterator[ContractResult]:
    """Yield the results of the audit on real splits."""
    try:
        answers = summary(audit_component(section, name, dict(given)))
    except Exception as error:  # the method's code can raise any exception
        answers = dict.fromkeys(QUESTIONS, (None, f"not audited: {error}"))
    for question, (holds, note) in answers.items():
        yield ContractResult(QUESTIONS[question], holds, note, MEANINGS[question])


def _contracts(name: str, given: Mapping[str, Any]) -> list[Checked]:
    sections = [each for each in sections_of(name) if each in ("reducers", "classifiers")]
    if not sections:
        raise InputError(f"'{display_name(name)}' is neither a reducer nor a classifier.")
    factory: Any = load_factory(sections[0], name)
    refuse_labels(factory, display_name(name))
    if len(sections) == 2 and issubclass(factory, RegressorMixin):
        sections = ["reducers"]  # as a classifier, it would predict numbers, not classes
    return [_check(section, name, given) for section in sections]


def _check(section: str, name: str, given: Mapping[str, Any]) -> Checked:
    factory = load_factory(section, name)
    try:
        params = complete(factory, given)
    except ValidationError as error:
        problems = [text for _, text, _ in field_problems(error, display_name(name), ())]
        raise InputError(f"{' '.join(problems)} Use --set PARAMETER=VALUE.") from None
    made, is_reducer = make_checked(factory, params), section == "reducers"
    library = get_traits(made).library if is_reducer else None
    if library and (how := missing_library(library)):
        raise InputError(f"{display_name(name)} {how}")
    method = _Reducer(factory, params) if is_reducer else _Classifier(factory, params)
    findings: list[ContractResult] = []
    for title, kind, meaning, test in _CONTRACTS:
        if not isinstance(method, kind):
            continue
        # One thread, as in a run's processes.
        with warnings.catch_warnings(), np.errstate(all="ignore"), threadpool_limits(1):
            warnings.simplefilter("ignore")
            holds, note = _tried(test, method)
        findings.append(ContractResult(title, holds, note, meaning))
        if title == "shapes" and not holds:
            break
    return Checked(display_name(name), section, tuple(findings))


def _tried(test: Callable[[Any], str | None], method: _Method) -> tuple[bool | None, str]:
    try:
        return True, test(method) or ""
    except _NotClaimedError as reason:
        return None, str(reason)
    except _BrokenError as reason:
        return False, str(reason)
    except Exception as error:  # the method's code can raise any exception
        first = (str(error).splitlines() or [""])[0]
        return False, f"{type(error).__name__}: {first}"


class _Method(ABC):
    """A method to check, with samples of four overlapping classes, of which some are test samples.

    `fit` fits it to one set and returns the estimator with its answers for both sets.
    """

    def __init__(self, factory: Any, params: Mapping[str, Any]) -> None:
        self.factory, self.params = factory, dict(params)
        self.all, self.labels = make_blobs(
            60, _N_FEATURES, centers=_N_CLASSES, cluster_std=3.0, random_state=_SEED
        )
        self.X, self.X_test = self.all[:_N_TRAIN], self.all[_N_TRAIN:]
        self.y = self.labels[:_N_TRAIN]

    def made(self, **changed: Any) -> Any:
        return seeded(make(self.factory, {**self.params, **changed}), _SEED)

    @abstractmethod
    def fit(self, X: Any, X_test: Any, **changed: Any) -> tuple[Any, Any, Any]:
        """Fit a new object to one set, and return it with its answers for both."""

    def answer(self, X: Any, X_test: Any) -> Any:
        _, *parts = self.fit(X, X_test)
        return np.concatenate([dense(part) for part in parts])

    @cached_property
    def fitted(self) -> tuple[Any, Any, Any]:
        return self.fit(self.X.copy(), self.X_test.copy())

    @cached_property
    def answers(self) -> tuple[Any, Any, bool]:
        """The answers of two fits, and whether the second fit left its samples unchanged."""
        X, X_test = self.X.copy(), self.X_test.copy()
        first, second = self.answer(X.copy(), X_test.copy()), self.answer(X, X_test)
        return first, second, np.array_equal(X, self.X) and np.array_equal(X_test, self.X_test)


class _Reducer(_Method):
    @cached_property
    def traits(self) -> Any:
        return get_traits(self.made())

    def fit(self, X: Any, X_test: Any, **changed: Any) -> tuple[Any, Any, Any]:
        """Embed both sets in the same way as a run."""
        reducer = self.made(**changed)
        if self.traits.out_of_sample:
            train = fit_transform(reducer, X, self.y.copy())
            return reducer, train, transform(reducer, X_test)
        y = np.r_[self.y, np.full(len(X_test), UNLABELLED)]
        both = fit_transform(reducer, np.vstack([X, X_test]), y)
        return reducer, both[: len(self.y)], both[len(self.y) :]


class _Classifier(_Method):
    def fit(self, X: Any, X_test: Any, **changed: Any) -> tuple[Any, Any, Any]:
        classifier = self.made(**changed).fit(X, self.y.copy())
        return classifier, self.y[:0], np.asarray(classifier.predict(X_test))


_Test = Callable[[Any], str | None]
_CONTRACTS: list[tuple[str, type[Any], str, _Test]] = []


def _contract(name: str, kind: type[Any], meaning: str) -> Callable[[_Test], _Test]:
    """Register a test of one kind of methods; `meaning` is the consequence of a failure."""

    def register(test: _Test) -> _Test:
        _CONTRACTS.append((name, kind, meaning, test))
        return test

    return register


def _require(holds: object, otherwise: str) -> None:
    if not holds:
        raise _BrokenError(otherwise)


def _claimed(is_claimed: object, otherwise: str) -> None:
    if not is_claimed:
        raise _NotClaimedError(otherwise)


_ALL_FAIL = "Each trial of the method fails for this reason."


@_contract("shapes", _Reducer, _ALL_FAIL)
def _shapes_of_embedding(method: _Reducer) -> str:
    _, train, test = method.fitted
    for what, part, n in (("training", train, _N_TRAIN), ("test", test, len(method.X_test))):
        shape = getattr(part, "shape", None)
        fits = shape is not None and len(shape) == 2 and shape[0] == n
        _require(fits, f"the embedding of {n} {what} samples has the shape {shape}")
        finite = np.isfinite(dense(part)).all()
        _require(finite, f"the embedding of {what} samples is infinite or undefined")
    wide, other = train.shape[1], test.shape[1]
    _require(
        wide == other,
        f"the embedding has {wide} columns for training samples, {other} for test samples",
    )
    asked = method.params.get("n_components")
    _require(
        type(asked) is not int or wide == asked,
        f"n_components={asked}, but the embedding has {wide} columns",
    )
    return f"{wide} columns for {_N_TRAIN} samples with {_N_FEATURES} features"


@_contract("shapes", _Classifier, _ALL_FAIL)
def _shapes_of_predictions(method: _Classifier) -> str:
    classifier, _, predicted = method.fitted
    n, shape = len(method.X_test), predicted.shape
    _require(shape == (n,), f"the predictions of {n} samples have the shape {shape}")
    _require(
        np.isin(predicted, method.y).all(), "it predicts classes that are not in the training set"
    )
    if not hasattr(classifier, "predict_proba"):
        return ""
    found = np.asarray(classifier.predict_proba(method.X_test.copy()))
    is_distribution = found.shape == (n, _N_CLASSES) and np.allclose(found.sum(1), 1, atol=1e-6)
    _require(is_distribution, "predict_proba does not return a probability distribution")
    return "with probabilities"


@_contract(
    "input unchanged",
    _Method,
    "Trials of the method fail, because the samples of a run are read-only.",
)
def _input_stays(method: _Method) -> None:
    _require(method.answers[2], "it changed the samples in place")


@_contract(
    "determinism",
    _Method,
    "A repeated or resumed run gives different numbers, and comparisons include this noise.",
)
def _same_again(method: _Method) -> None:
    first, second, _ = method.answers
    _require(np.array_equal(first, second), "two fits to the same samples differ")


@_contract(
    "labels of -1",
    _Reducer,
    "Transductive trials and trials with few labels fail or give wrong results.",
)
def _takes_unlabelled(method: _Reducer) -> str:
    ignores = "it ignores the labels"
    left_out = "it is fitted without unlabelled samples"
    _claimed(method.traits.transductive, left_out if method.traits.supervised else ignores)
    y = method.labels.copy()
    y[_N_TRAIN:] = UNLABELLED
    found = dense(fit_transform(method.made(), method.all.copy(), y))
    complete = len(found) == len(y) and np.isfinite(found).all()
    _require(complete, "unlabelled samples have no finite embedding")
    if not method.traits.supervised:
        return ignores
    y[_N_TRAIN:] = _N_CLASSES
    classified = dense(fit_transform(method.made(), method.all.copy(), y))
    # Another order of the classes may rotate an embedding, so compare distances.
    same = close(spatial.distance.pdist(found), spatial.distance.pdist(classified))
    _require(not same, "it treats the label -1 as a class")
    return ""


@_contract(
    "n_components",
    _Reducer,
    "A sweep of n_components fits only the largest value and reports wrong numbers for the others.",
)
def _widths(method: _Reducer) -> str:
    traits = method.traits
    _claimed(traits.nested or traits.shares_widths, "a run fits each n_components separately")
    _require(
        "n_components" in method.params,
        "it declares the trait nested, but has no parameter n_components",
    )
    most = traits.max_components
    wide = min(3, most(_N_TRAIN, _N_FEATURES, _N_CLASSES) if most else 3)
    reducer, *parts = method.fit(method.X.copy(), method.X_test.copy(), n_components=wide)
    for width in range(1, wide):
        _, *own = method.fit(method.X.copy(), method.X_test.copy(), n_components=width)
        if traits.nested:
            narrow = [dense(part)[:, :width] for part in parts]
        else:
            narrower = reducer.with_width(width)
            narrow = [transform(narrower, each.copy()) for each in (method.X, method.X_test)]
        pairs = zip(narrow, map(dense, own), strict=True)
        same = all(close(*pair, relative=1e-5) for pair in pairs)
        _require(same, f"a {wide}-component fit does not contain the {width}-component fit")
    return f"fits with n_components 1 to {wide} agree"


@_contract(
    "transform(X_train)",
    _Reducer,
    "Classifiers are trained on one embedding and tested on another.",
)
def _training_samples_again(method: _Reducer) -> str:
    _claimed(method.traits.out_of_sample, "it cannot transform new samples")
    reducer, train, _ = method.fitted
    first, second = (dense(transform(reducer, method.X.copy())) for _ in range(2))
    _require(np.array_equal(first, second), "repeated calls of transform give different embeddings")
    if close(first, dense(train)):
        return "transform(X_train) equals fit_transform"
    own = getattr(method.factory, "fit_transform", None) is not TransformerMixin.fit_transform
    _require(own, "transform(X_train) differs from fit_transform")
    return "the two differ, because the method defines its own fit_transform"


@_contract("sparse", _Method, "Trials on sparse data fail, and 'ddr plan' does not report this.")
def _sparse_samples(method: _Method) -> None:
    tags = getattr(method.made(), "__sklearn_tags__", None)
    refused = tags is not None and not tags().input_tags.sparse
    _claimed(not refused, "sparse data needs a preprocessing step such as svd")
    transductive = isinstance(method, _Reducer) and not method.traits.out_of_sample
    _claimed(not transductive, "it cannot transform new samples")
    found = method.answer(sparse.csr_array(method.X), sparse.csr_array(method.X_test))
    _require(np.isfinite(found).all(), "the results for sparse samples are infinite or undefined")


@_contract(
    "clone", _Method, "Seeds, sweeps and tuning set parameters that the method does not use."
)
def _clones(method: _Method) -> None:
    params = method.params
    own = method.made().get_params(deep=False)
    copied = clone(method.made()).get_params(deep=False)
    _require(not set(copied) < set(params), "get_params omits parameters of __init__")
    for name in own.keys() & params.keys():
        same = params[name] is None or own[name] == params[name]
        _require(same, f"{name} is {own[name]!r}, but {params[name]!r} was given")


@_contract("pickle", _Method, "A fitted method cannot be saved or sent to another process.")
def _pickles(method: _Method) -> None:
    estimator, _, test = method.fitted
    again = pickle.loads(pickle.dumps(estimator))
    if isinstance(method, _Reducer) and not method.traits.out_of_sample:
        return
    answer = again.transform if isinstance(method, _Reducer) else again.predict
    found = dense(answer(method.X_test.copy()))
    _require(np.array_equal(dense(test), found), "the pickled copy gives different results")
