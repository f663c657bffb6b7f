"""What worker processes do: preprocess a split, fit an embedding, evaluate trials on it."""

from __future__ import annotations

import errno
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.engine.arrays import (
    load_array,
    load_matrix,
    load_neighbors,
    save_matrix,
    save_neighbors,
)
from ddr_cli.engine.jobs import (
    OUT_OF_SAMPLE,
    QUERIES,
    TRANSDUCTIVE,
    Evaluation,
    Job,
    JobResult,
    SplitJob,
    TrialResult,
    UnitJob,
    places_by_neighbors,
)
from ddr_cli.engine.journal import FAILED, OK, one_line
from ddr_cli.engine.trace import Trace
from ddr_cli.engine.worker import deadline, memory_limit_text
from ddr_cli.evaluation.metrics import get_metric
from ddr_cli.evaluation.preprocess import make_preprocessor
from ddr_cli.evaluation.registry import CLASSIFIERS, get_classifier_traits
from ddr_cli.numerics.neighbors import Neighbors, kneighbors
from ddr_cli.reducers.base import get_traits
from ddr_cli.reducers.registry import REDUCERS

_UNLABELLED = -1
# A piece that calls sys.exit fails like one that raises.
_FAILURES = (Exception, SystemExit)


def do(job: Job) -> JobResult:
    """Do a job; whatever goes wrong is part of the result.

    An exception is never sent: one that can't be unpickled would break the pool.
    """
    try:
        result = prepare_split(job) if isinstance(job, SplitJob) else run_unit(job)
    except _FAILURES as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        result = JobResult(error=_reason(error), disk_full=full)
    return replace(result, cpu_seconds=_cpu_seconds_since_last())


_reported = 0.0


def _cpu_seconds_since_last() -> float:
    global _reported
    before, _reported = _reported, time.process_time()
    return _reported - before


def prepare_split(job: SplitJob) -> JobResult:
    """Write the preprocessed points of a split, and their neighbours, for all of its units."""
    # Loading a piece's module, here and below, is no trial's cost and has no deadline.
    steps = [_seeded(make_preprocessor(name, **params), job.seed) for name, params in job.steps]
    with deadline(job.timeout), _collected() as collected, Trace(job.trace):
        rows = load_array(job.folder, "rows")
        X, y = load_matrix(job.data, "X"), load_array(job.data, "y")
        train, test = X[rows[: job.n_train]], X[rows[job.n_train :]]
        for step in steps:
            train = step.fit_transform(train, y[rows[: job.n_train]])
            test = step.transform(test)
        stack: Any = sparse.vstack if sparse.issparse(train) else np.vstack
        points = stack([train, test])
        save_matrix(job.folder, "points", points)
        np.save(job.folder / "y.npy", y[rows])
        np.save(job.folder / "n_train.npy", job.n_train)
        for searched, k in job.searches.items():
            among = points if searched == TRANSDUCTIVE else points[: job.n_train]
            queries = points[job.n_train :] if searched == QUERIES else None
            # A reducer that asks for more neighbours than there are is to say so itself.
            found = kneighbors(among, min(k, among.shape[0] - 1), queries=queries)
            save_neighbors(job.folder, searched, found)
        return JobResult(warnings=collected())


def run_unit(job: UnitJob) -> JobResult:
    """Fit one embedding and evaluate its trials; a failure is the result of the trials it fails."""
    results: list[TrialResult] = []
    with _collected() as collected, Trace(job.trace) as trace:
        split = _open_split(job.folder)
        left = list(job.evaluations)
        embedding = None
        factory = REDUCERS.load(job.reducer)
        for name in {one.classifier for one in left}:
            CLASSIFIERS.load(name)
        for width in job.widths or (None,):
            trace.fitting()
            try:
                with deadline(job.timeout):
                    embedding = _embed(factory, job, split, width)
                break
            except _FAILURES as error:
                # A width that can't be fitted fails its own trials only.
                failed = [_failure(one, error) for one in left if one.width == width]
                left = [one for one in left if one.width != width]
            trace.finished(failed)
            results += failed
        if embedding is not None:
            for batch in _batches(left, job.batched):
                trace.evaluating([one.trial_id for one in batch])
                finished = _evaluate(batch, embedding, split, job)
                trace.finished(finished)
                results += finished
        return JobResult(tuple(results), collected())


@dataclass(frozen=True)
class _Split:
    points: Any
    y: NDArray[np.int64]
    n_train: int
    neighbors: Mapping[str, Neighbors | None]


@lru_cache(maxsize=2)
def _open_split(folder: Path) -> _Split:
    return _Split(
        load_matrix(folder, "points"),
        load_array(folder, "y"),
        int(load_array(folder, "n_train")),
        {name: load_neighbors(folder, name) for name in (TRANSDUCTIVE, OUT_OF_SAMPLE, QUERIES)},
    )


@dataclass(frozen=True)
class _Embedding:
    train: Any
    test: Any
    cpu_seconds: float
    wall_seconds: float


def _embed(factory: Any, job: UnitJob, split: _Split, width: int | None) -> _Embedding:
    cpu, wall = time.process_time(), time.perf_counter()
    params = dict(job.params) if width is None else {**job.params, "n_components": width}
    reducer = _seeded(factory(**params), job.seed)
    k = params.get("n_neighbors")
    extra = _neighbors(reducer, split.neighbors[job.mode], k)
    n = split.n_train
    if job.mode == TRANSDUCTIVE:
        y = split.y.copy()
        y[n:] = _UNLABELLED
        both = reducer.fit_transform(split.points, y, **extra)
        train, test = both[:n], both[n:]
    else:
        train = reducer.fit_transform(split.points[:n], split.y[:n], **extra)
        queries = split.neighbors[QUERIES] if places_by_neighbors(reducer) else None
        test = reducer.transform(split.points[n:], **_neighbors(reducer, queries, k))
    for part, size in ((train, n), (test, len(split.y) - n)):
        _check(part, size)
    return _Embedding(train, test, time.process_time() - cpu, time.perf_counter() - wall)


def _neighbors(reducer: Any, found: Neighbors | None, k: object) -> dict[str, Neighbors]:
    if found is None or not get_traits(reducer).neighbors or not isinstance(k, int):
        return {}
    return {"neighbors": found.first(k)} if k <= found.indices.shape[1] else {}


def _check(part: Any, size: int) -> None:
    values = part.data if sparse.issparse(part) else part  # type: ignore[attr-defined]
    if part.ndim != 2 or part.shape[0] != size:
        raise ValueError(f"the embedding has shape {part.shape} where {size} rows were given")
    if not np.isfinite(values).all():
        raise ValueError("the embedding has infinite or undefined values")


def _batches(evaluations: Sequence[Evaluation], batched: bool) -> list[list[Evaluation]]:
    """Put together what one call to `predict_many` can answer."""
    batches: dict[object, list[Evaluation]] = {}
    for one in evaluations:
        batches.setdefault(_batch_key(one) if batched else one.trial_id, []).append(one)
    return list(batches.values())


def _batch_key(one: Evaluation) -> object:
    classifier = CLASSIFIERS.load(one.classifier)
    shared = get_classifier_traits(classifier(**one.params)).shared
    if shared is None or not hasattr(classifier, "predict_many"):
        return one.trial_id
    rest = tuple((name, repr(one.params[name])) for name in sorted(one.params) if name != shared)
    return one.width, one.classifier, rest


def _evaluate(
    batch: list[Evaluation], embedding: _Embedding, split: _Split, job: UnitJob
) -> list[TrialResult]:
    width = batch[0].width
    train, test = (
        part if width is None else np.ascontiguousarray(part[:, :width])
        for part in (embedding.train, embedding.test)
    )
    y_train, y_test = split.y[: split.n_train], split.y[split.n_train :]
    seconds = None if job.timeout is None else job.timeout - embedding.wall_seconds
    started = time.process_time()
    try:
        # Each trial has what the fit left of its time; together they have that for each.
        with deadline(None if seconds is None else seconds * len(batch)):
            classifiers = [
                _seeded(CLASSIFIERS.load(one.classifier)(**one.params), job.seed) for one in batch
            ]
            started = time.process_time()
            predictions = _predict(classifiers, train, y_train, test)
            scores = [
                {name: float(get_metric(name)(y_test, predicted)) for name in job.metrics}
                for predicted in predictions
            ]
    except _FAILURES as error:
        if len(batch) > 1:
            return [r for one in batch for r in _evaluate([one], embedding, split, job)]
        spent = time.process_time() - started
        return [_failure(batch[0], error, embedding.cpu_seconds, spent)]
    share = (time.process_time() - started) / len(batch)
    return [
        TrialResult(one.trial_id, OK, "", score, embedding.cpu_seconds, share)
        for one, score in zip(batch, scores, strict=True)
    ]


def _predict(classifiers: Sequence[Any], train: Any, y_train: Any, test: Any) -> list[NDArray[Any]]:
    if len(classifiers) == 1:
        return [classifiers[0].fit(train, y_train).predict(test)]
    settings = [classifier.get_params(deep=False) for classifier in classifiers]
    many: list[NDArray[Any]] = type(classifiers[0]).predict_many(train, y_train, test, settings)
    return many


def _seeded(estimator: Any, seed: int) -> Any:
    """Give a piece that would draw from a global stream a seed of its own."""
    params = estimator.get_params(deep=False) if hasattr(estimator, "get_params") else {}
    if params.get("random_state", seed) is None:
        estimator.set_params(random_state=seed)
    return estimator


def _failure(
    one: Evaluation,
    error: BaseException,
    fit_seconds: float | None = None,
    eval_seconds: float | None = None,
) -> TrialResult:
    return TrialResult(one.trial_id, FAILED, _reason(error), {}, fit_seconds, eval_seconds)


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return one_line(f"out of memory ({memory_limit_text()} per worker): {error}")
    return one_line(f"{type(error).__name__}: {error}").rstrip(": ")


@contextmanager
def _collected() -> Iterator[Any]:
    """Collect warnings, which would garble the parent's display; each counts once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield lambda: tuple(
            dict.fromkeys(one_line(f"{w.category.__name__}: {w.message}") for w in caught)
        )
