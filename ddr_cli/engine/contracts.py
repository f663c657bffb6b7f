"""Which of the things that a run relies on hold for a reducer or a classifier, on tiny data.

A contract is a function of the piece under test. It returns a note, or raises `_BrokenError` with
what is wrong, or `_NotClaimedError` where the piece promises nothing.
"""

from __future__ import annotations

import pickle
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from pydantic import ValidationError
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.base import TransformerMixin, clone
from sklearn.datasets import make_blobs
from threadpoolctl import threadpool_limits

from ddr_cli.core.errors import InputError
from ddr_cli.core.extras import missing_library
from ddr_cli.core.own_code import shown
from ddr_cli.core.validation import field_problems
from ddr_cli.engine.work.scoring import seeded
from ddr_cli.evaluation.registry import get_evaluator_traits
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.registry import get_traits
from ddr_cli.spec.estimators import (
    complete,
    is_annotated,
    load_factory,
    make,
    make_checked,
    sections_of,
)

_SEED = 1
_N_TRAIN, _N_FEATURES, _N_CLASSES = 44, 6, 4
# Relative to the largest value: what another order of additions may change.
_CLOSE = 1e-6


class _BrokenError(Exception):
    """A contract doesn't hold; the message says how that was seen."""


class _NotClaimedError(Exception):
    """The piece says that it doesn't do this; the message says what a run does instead."""


@dataclass(frozen=True)
class Finding:
    """Whether a contract holds (None: it is not claimed), and what it means for a run if not."""

    contract: str
    holds: bool | None
    note: str
    meaning: str


@dataclass(frozen=True)
class Checked:
    """What was found of a piece in one of the lists of a spec that it can stand in."""

    name: str
    section: str
    findings: tuple[Finding, ...]

    @property
    def failing(self) -> list[Finding]:
        """The contracts that don't hold."""
        return [finding for finding in self.findings if finding.holds is False]


def check_piece(name: str, given: Mapping[str, Any] | None = None) -> list[Checked]:
    """Check a reducer or classifier by its name or code; `given` are parameters for it.

    Raises InputError if there is no such piece, or it can't be made.
    """
    sections = [each for each in sections_of(name) if each in ("reducers", "classifiers")]
    if not sections:
        raise InputError(f"'{shown(name)}' is neither a reducer nor a classifier.")
    return [_check(section, name, given or {}) for section in sections]


def _check(section: str, name: str, given: Mapping[str, Any]) -> Checked:
    factory = load_factory(section, name)
    try:
        params = complete(factory, given)
    except ValidationError as error:
        problems = [text for _, text, _ in field_problems(error, shown(name), ())]
        raise InputError(f"{' '.join(problems)} Give it by --set PARAMETER=VALUE.") from None
    made = make_checked(factory, params)
    library = get_traits(made).library if section == "reducers" else None
    if library and (how := missing_library(library)):
        raise InputError(f"{shown(name)} {how}")
    piece: Any = (_Reducer if section == "reducers" else _Classifier)(factory, params)
    findings: list[Finding] = []
    for title, of_reducer, of_classifier, meaning in _CONTRACTS:
        test = of_reducer if section == "reducers" else of_classifier
        if test is None:
            continue
        # One thread, as in a run's processes.
        with warnings.catch_warnings(), np.errstate(all="ignore"), threadpool_limits(1):
            warnings.simplefilter("ignore")
            holds, note = _tried(test, piece)
        findings.append(Finding(title, holds, note, meaning))
        if title == "shapes" and not holds:
            break
    return Checked(shown(name), section, tuple(findings))


def _tried(test: Callable[[Any], str | None], piece: Any) -> tuple[bool | None, str]:
    try:
        return True, test(piece) or ""
    except _NotClaimedError as reason:
        return None, str(reason)
    except _BrokenError as reason:
        return False, str(reason)
    except Exception as error:  # the piece may be anyone's
        first = (str(error).splitlines() or [""])[0]
        return False, f"{type(error).__name__}: {first}"


class _Piece(ABC):
    """A piece to be checked, with points of four classes that overlap, of which some are tested."""

    def __init__(self, factory: Any, params: Mapping[str, Any]) -> None:
        self.factory, self.params = factory, dict(params)
        self.points, self.labels = make_blobs(
            60, _N_FEATURES, centers=_N_CLASSES, cluster_std=3.0, random_state=_SEED
        )
        self.X, self.X_test = self.points[:_N_TRAIN], self.points[_N_TRAIN:]
        self.y = self.labels[:_N_TRAIN]

    def made(self, **changed: Any) -> Any:
        return seeded(make(self.factory, {**self.params, **changed}), _SEED)

    @abstractmethod
    def answer(self, X: Any, X_test: Any) -> Any:
        """Return the places, or the predicted classes, of a new fit; it gets these very arrays."""

    @cached_property
    def answers(self) -> tuple[Any, Any, bool]:
        """What two fits answer, and whether the second left its points as they were."""
        X, X_test = self.X.copy(), self.X_test.copy()
        first, second = self.answer(X.copy(), X_test.copy()), self.answer(X, X_test)
        return first, second, np.array_equal(X, self.X) and np.array_equal(X_test, self.X_test)


class _Reducer(_Piece):
    @cached_property
    def traits(self) -> Any:
        return get_traits(self.made())

    @cached_property
    def fitted(self) -> tuple[Any, Any, Any]:
        """The fitted reducer, and what it makes of the training and of the test points."""
        return self.embed(self.made(), self.X.copy(), self.X_test.copy())

    def embed(self, reducer: Any, X: Any, X_test: Any) -> tuple[Any, Any, Any]:
        """Place both parts as a run does."""
        if self.traits.out_of_sample:
            train = reducer.fit_transform(X, self.y.copy())
            return reducer, train, reducer.transform(X_test)
        both = reducer.fit_transform(
            np.vstack([X, X_test]), np.r_[self.y, np.full(len(X_test), UNLABELLED)]
        )
        return reducer, both[: len(self.y)], both[len(self.y) :]

    def answer(self, X: Any, X_test: Any) -> Any:
        return np.vstack([_dense(part) for part in self.embed(self.made(), X, X_test)[1:]])


class _Classifier(_Piece):
    @cached_property
    def fitted(self) -> Any:
        return self.made().fit(self.X.copy(), self.y.copy())

    def answer(self, X: Any, X_test: Any) -> Any:
        return np.asarray(self.made().fit(X, self.y.copy()).predict(X_test))


# -- contracts of reducers ------------------------------------------------------------------------


def _shapes_of_places(piece: _Reducer) -> str:
    _, train, test = piece.fitted
    for what, part, n in (("training", train, _N_TRAIN), ("test", test, len(piece.X_test))):
        shape = getattr(part, "shape", None)
        if shape is None or len(shape) != 2 or shape[0] != n:
            raise _BrokenError(f"{n} {what} points have places of shape {shape}")
        if not np.isfinite(_dense(part)).all():
            raise _BrokenError(f"places of {what} points are infinite or undefined")
    if train.shape[1] != test.shape[1]:
        raise _BrokenError(
            f"{train.shape[1]} columns for training, {test.shape[1]} for test points"
        )
    asked = piece.params.get("n_components")
    if type(asked) is int and train.shape[1] != asked:
        raise _BrokenError(f"n_components is {asked}, but there are {train.shape[1]} columns")
    return f"{_N_TRAIN} points in {_N_FEATURES} dimensions become {train.shape[1]} wide"


def _takes_unlabelled(piece: _Reducer) -> str:
    if not piece.traits.transductive:
        left_out = "unlabelled points are left out of its fit"
        raise _NotClaimedError(left_out if piece.traits.supervised else "it ignores the labels")
    y = piece.labels.copy()
    y[_N_TRAIN:] = UNLABELLED
    places = _dense(piece.made().fit_transform(piece.points.copy(), y))
    if len(places) != len(y) or not np.isfinite(places).all():
        raise _BrokenError("points without a label have no place")
    if not piece.traits.supervised:
        return "it ignores the labels"
    y[_N_TRAIN:] = _N_CLASSES
    classified = _dense(piece.made().fit_transform(piece.points.copy(), y))
    # Another order of the classes may turn an embedding round.
    if _close(pdist(places), pdist(classified), _CLOSE):
        raise _BrokenError("-1 is taken for a class of its own")
    return ""


def _widths(piece: _Reducer) -> str:
    traits = piece.traits
    if not (traits.nested or traits.shares_widths):
        raise _NotClaimedError("each width is fitted by itself")
    if "n_components" not in piece.params:
        raise _BrokenError("it is said to be nested, but has no n_components")
    most = traits.max_components
    wide = min(3, most(_N_TRAIN, _N_FEATURES, _N_CLASSES) if most else 3)
    made = piece.made(n_components=wide)
    reducer, *parts = piece.embed(made, piece.X.copy(), piece.X_test.copy())
    for width in range(1, wide):
        changed = piece.made(n_components=width)
        _, *own = piece.embed(changed, piece.X.copy(), piece.X_test.copy())
        if traits.nested:
            narrow = [_dense(part)[:, :width] for part in parts]
        else:
            narrower = reducer.with_width(width)
            narrow = [narrower.transform(each.copy()) for each in (piece.X, piece.X_test)]
        for ours, theirs in zip(narrow, own, strict=True):
            if not _close(ours, _dense(theirs), 1e-5):
                raise _BrokenError(
                    f"width {width} of a fit of width {wide} is not the fit of {width}"
                )
    return f"widths 1 to {wide} compared"


def _training_points_again(piece: _Reducer) -> str:
    if not piece.traits.out_of_sample:
        raise _NotClaimedError("it places test points along with the training points only")
    reducer, train, _ = piece.fitted
    first, second = (_dense(reducer.transform(piece.X.copy())) for _ in range(2))
    _equal(first, second, "transform gives other places each time")
    if _close(first, _dense(train), _CLOSE):
        return "transform(X_train) equals fit_transform"
    own = getattr(piece.factory, "fit_transform", None)
    if own is not TransformerMixin.fit_transform:
        return "they differ, and it says so by a fit_transform of its own"
    raise _BrokenError("transform(X_train) differs from fit_transform")


def _given_neighbors(piece: _Reducer) -> None:
    k = piece.params.get("n_neighbors")
    if not piece.traits.neighbors:
        raise _NotClaimedError("it searches for neighbours itself")
    if type(k) is not int:
        raise _BrokenError("it is said to take neighbours, but has no number n_neighbors")
    found = piece.made().fit_transform(
        piece.X.copy(), piece.y.copy(), neighbors=kneighbors(piece.X, k)
    )
    _equal(_dense(piece.fitted[1]), _dense(found), "with the neighbours given it differs")


# -- contracts of classifiers ---------------------------------------------------------------------


def _shapes_of_classes(piece: _Classifier) -> str:
    predicted = np.asarray(piece.fitted.predict(piece.X_test.copy()))
    if predicted.shape != (len(piece.X_test),):
        raise _BrokenError(
            f"{len(piece.X_test)} points have predictions of shape {predicted.shape}"
        )
    if not np.isin(predicted, piece.y).all():
        raise _BrokenError("it names classes that it has not seen")
    if hasattr(piece.fitted, "predict_proba"):
        shares = np.asarray(piece.fitted.predict_proba(piece.X_test.copy()))
        expected = (len(piece.X_test), _N_CLASSES)
        if shares.shape != expected or not np.allclose(shares.sum(axis=1), 1, atol=1e-6):
            raise _BrokenError("predict_proba gives no distribution over the classes")
        return "with probabilities"
    return ""


def _shared_predictions(piece: _Classifier) -> str:
    shared = get_evaluator_traits(piece.made()).shared
    if shared is None:
        raise _NotClaimedError("each setting is fitted by itself")
    settings = [piece.params, piece.params]
    for found in piece.factory.predict_many(piece.X, piece.y, piece.X_test, settings):
        _equal(piece.answers[0], np.asarray(found), "predict_many differs from predict")
    return f"over {shared}"


# -- contracts of both ----------------------------------------------------------------------------


def _input_stays(piece: _Piece) -> None:
    if not piece.answers[2]:
        raise _BrokenError("the points were changed in place")


def _same_again(piece: _Piece) -> None:
    _equal(piece.answers[0], piece.answers[1], "two fits to the same points differ")


def _forgets(piece: _Piece) -> None:
    if not np.array_equal(piece.answers[0], piece.answers[1]):
        raise _NotClaimedError("can't be told: two fits to the same points differ anyway")
    piece.made().fit(piece.points[::-1].copy(), piece.labels[::-1].copy())
    _equal(
        piece.answers[0],
        piece.answer(piece.X.copy(), piece.X_test.copy()),
        "a fit to all points, labels included, changes what a later fit to some of them answers",
    )


def _single_precision(piece: _Piece) -> str:
    found = piece.answer(piece.X.astype(np.float32), piece.X_test.astype(np.float32))
    if not np.isfinite(found).all():
        raise _BrokenError("float32 points have infinite or undefined places")
    return f"places are {found.dtype}" if isinstance(piece, _Reducer) else ""


def _sparse_points(piece: _Piece) -> None:
    tags = getattr(piece.made(), "__sklearn_tags__", None)
    if tags is not None and not tags().input_tags.sparse:
        raise _NotClaimedError("sparse data are refused unless a step such as svd stands before it")
    if isinstance(piece, _Reducer) and not piece.traits.out_of_sample:
        raise _NotClaimedError("it places test points along with the training points only")
    found = piece.answer(sparse.csr_array(piece.X), sparse.csr_array(piece.X_test))
    if not np.isfinite(found).all():
        raise _BrokenError("sparse points have infinite or undefined places")


def _clones(piece: _Piece) -> None:
    made = piece.made()
    copied = clone(made)
    if set(copied.get_params(deep=False)) < set(piece.params):
        raise _BrokenError("get_params leaves out parameters of __init__")
    for name, value in made.get_params(deep=False).items():
        if name in piece.params and piece.params[name] is not None and value != piece.params[name]:
            raise _BrokenError(f"{name} is {value!r}, but {piece.params[name]!r} was given")


def _pickles_places(piece: _Reducer) -> None:
    reducer, _, test = piece.fitted
    again = pickle.loads(pickle.dumps(reducer))
    if piece.traits.out_of_sample:
        _equal(_dense(test), _dense(again.transform(piece.X_test.copy())), "the copy differs")


def _pickles_classes(piece: _Classifier) -> None:
    again = pickle.loads(pickle.dumps(piece.fitted))
    X_test = piece.X_test.copy()
    _equal(piece.fitted.predict(X_test), again.predict(X_test), "the copy differs")


def _typed(piece: _Piece) -> str:
    if is_annotated(piece.factory):
        return "by the types in __init__"
    if hasattr(piece.factory, "_parameter_constraints"):
        return "by scikit-learn's constraints"
    raise _NotClaimedError("without types in __init__, a wrong value is found when its trial runs")


def _dense(part: Any) -> Any:
    is_sparse: bool = sparse.issparse(part)
    return np.asarray(part.toarray() if is_sparse else part)


def _close(a: Any, b: Any, tolerance: float) -> bool:
    scale = max(float(np.abs(b).max(initial=0.0)), 1e-300)
    return a.shape == b.shape and bool(np.abs(a - b).max(initial=0.0) <= tolerance * scale)


def _equal(a: Any, b: Any, otherwise: str) -> None:
    if not np.array_equal(a, b):
        raise _BrokenError(otherwise)


# Each contract: its name, its test for a reducer, for a classifier, and what a broken one means.
_Test = Callable[[Any], str | None] | None
_CONTRACTS: tuple[tuple[str, _Test, _Test, str], ...] = (
    (
        "shapes",
        _shapes_of_places,
        _shapes_of_classes,
        "Every trial of it fails with this reason.",
    ),
    (
        "input unchanged",
        _input_stays,
        _input_stays,
        "Its trials fail: the samples that a run hands over can't be written to.",
    ),
    (
        "determinism",
        _same_again,
        _same_again,
        "A repeated or resumed run has other numbers, and comparisons hold this noise.",
    ),
    (
        "sees no test labels",
        _forgets,
        _forgets,
        "It may know the labels it is tested on: its errors would be too small.",
    ),
    (
        "labels of -1",
        _takes_unlabelled,
        None,
        "Transductive trials, and those with few labels, fail or mean something else.",
    ),
    (
        "widths",
        _widths,
        None,
        "A sweep of n_components reads narrow widths off a wide fit: wrongly.",
    ),
    ("neighbours given", _given_neighbors, None, "A run searches once for all: other numbers."),
    (
        "transform(X_train)",
        _training_points_again,
        None,
        "Classifiers are trained on an embedding that test samples don't get.",
    ),
    (
        "shared settings",
        None,
        _shared_predictions,
        "A sweep over that parameter has wrong numbers.",
    ),
    (
        "float32",
        _single_precision,
        _single_precision,
        "Runs use float64 and are not touched; calls from Python with float32 samples fail.",
    ),
    (
        "sparse",
        _sparse_points,
        _sparse_points,
        "On sparse data its trials fail, and 'ddr validate' doesn't say so before.",
    ),
    (
        "clone",
        _clones,
        _clones,
        "Seeds, sweeps and tuning set parameters: they would not be those that it uses.",
    ),
    (
        "pickle",
        _pickles_places,
        _pickles_classes,
        "It can't be saved after a fit, or sent to another process.",
    ),
    ("parameters checked", _typed, _typed, "A wrong value in a spec is found late."),
)
