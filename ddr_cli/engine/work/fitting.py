"""The work of worker processes: preprocess a split, fit an embedding, evaluate trials on it."""

from __future__ import annotations

import errno
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ddr_cli.core.embedding import fit_transform, seeded, transform
from ddr_cli.core.errors import message_of, traceback_of
from ddr_cli.core.sealed.process import cpu_time, ended_after
from ddr_cli.engine.plan.searches import QUERIES, TRANSDUCTIVE, transforms_by_neighbors
from ddr_cli.engine.work.jobs import (
    Division,
    Evaluation,
    FitJob,
    Job,
    JobResult,
    SplitJob,
    Trace,
    TuneJob,
)
from ddr_cli.engine.work.label_budget import (
    is_partial,
    labelled_samples,
    labels_to_score,
    samples_to_fit,
)
from ddr_cli.engine.work.samples import Samples
from ddr_cli.engine.work.scoring import (
    batches,
    evaluators_of,
    load_evaluator,
    scores_of,
)
from ddr_cli.engine.work.tuning import SettingsSearch, on_fold
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.evaluation.preprocess import fit_step
from ddr_cli.numerics.neighbors import Neighbors, kneighbors
from ddr_cli.numerics.sharing import sharing
from ddr_cli.reducers.partial_labels import UNLABELLED
from ddr_cli.reducers.reducer import LinearReducer
from ddr_cli.reducers.registry import REDUCERS, get_traits
from ddr_cli.rows.log import FAILED, OK, Coordinates, TrialResult, one_line

# Up to this many features, one factorisation costs less than a projection for each n_components.
_FEW_FEATURES = 200
_MOST_SHOWN = 3  # dimensions that a figure can show
# A component that calls sys.exit fails like one that raises. Ctrl-C does not reach this process, so
# a KeyboardInterrupt comes from the component, too.
_FAILURES = BaseException
_CHANGED = "the fit changed the arrays of the split"
_ENGINE = str(Path(__file__).parents[1])
_reported = 0.0  # CPU seconds of this process that its results have reported


def do(job: Job) -> JobResult:
    """Do a job; an error is part of the result.

    An exception is never sent, because one that cannot be unpickled would break the pool.
    """
    try:
        if isinstance(job, SplitJob):
            result = prepare_split(job)
        elif _is_changed(job):
            result = JobResult(error=_CHANGED, files_gone=True)
        else:
            result = tune(job) if isinstance(job, TuneJob) else fit_and_evaluate(job)
            if _is_changed(job):
                # Foreign code may have changed the arrays; its fit fails and is not repeated.
                result = JobResult(error=_CHANGED, files_gone=not job.is_foreign)
    except _FAILURES as error:
        full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        # Compare names, because the folder may have been created again for another job.
        own = [job.split, job.trace, *([job.data] if isinstance(job, SplitJob) else [])]
        gone = isinstance(error, FileNotFoundError) and Path(error.filename or "") in own
        result = JobResult(
            error=_reason(error), traceback=_traceback_of(error), disk_full=full, files_gone=gone
        )
    global _reported
    before, _reported = _reported, cpu_time()
    return replace(result, cpu_seconds=_reported - before)


def prepare_split(job: SplitJob) -> JobResult:
    """Write the preprocessed samples of a split, and their neighbours, for all of its fits."""
    # Importing components, here and below, has no time limit, and its time counts for no trial.
    for name, _ in job.steps:
        PREPROCESSORS.load(name)
    with collected() as warned, Trace(job.trace):
        data = Samples.load(job.data)
        if job.checksum is not None and data.checksum() != job.checksum:
            job.data.unlink(missing_ok=True)
            return JobResult(error=_CHANGED, files_gone=True)
        prepared = _prepared(data, job.whole, job)
        folds = {
            budget: tuple(_prepared(data, fold, job) for fold in inner)
            for budget, inner in job.folds.items()
        }
        prepared = replace(prepared, folds=folds)
        prepared.save(job.split)
        checksum = None if job.checksum is None else prepared.checksum()
        return JobResult(warnings=warned(), checksum=checksum)


@ended_after()
def _prepared(data: Samples, division: Division, job: SplitJob) -> Samples:
    steps = [seeded(PREPROCESSORS.load(name)(**params), job.seed) for name, params in job.steps]
    rows, n = division.rows[division.order], division.n_train
    with _deadline(job.timeout):
        labels = data.labels.rows(rows)
        parts = data.X[rows[:n]], data.X[rows[n:]]
        X = preprocessed(*parts, labels.y[:n], steps, data.categorical)
        neighbors = {}
        for searched, k in job.searches.items():
            if searched == QUERIES and n == len(rows):
                continue
            among = X if searched == TRANSDUCTIVE else X[:n]
            queries = X[n:] if searched == QUERIES else None
            # A reducer that requests more neighbours than exist reports that itself.
            neighbors[searched] = kneighbors(among, min(k, among.shape[0] - 1), queries=queries)
        return Samples(X, labels, n, neighbors, division.label_order, order=division.order)


def preprocessed(
    train: Any,
    test: Any,
    y: NDArray[np.int64],
    steps: Sequence[Any],
    categorical: Sequence[int] = (),
) -> Any:
    """Return the samples of a split after steps that are fitted to its training set."""
    for step in steps:
        train, categorical = fit_step(step, train, y, categorical)
        test = step.transform(test) if test.shape[0] else train[:0]
    stack: Any = sparse.vstack if sparse.issparse(train) else np.vstack
    return stack([train, test])


def fit_and_evaluate(job: FitJob) -> JobResult:
    """Fit one embedding and evaluate its trials; an error is the result of its trials."""
    results: list[TrialResult] = []
    with collected() as warned, Trace(job.trace) as trace:

        def ended(finished: Sequence[TrialResult]) -> None:
            trace.finished(finished)
            results.extend(finished)

        embedding = _fit_and_evaluate(job, _load_split(job.split), trace, ended)
        kept = {}
        if embedding is not None and job.kept_widths:
            kept = _kept(embedding, job)
        return JobResult(tuple(results), warned(), kept=kept)


def tune(job: TuneJob) -> JobResult:
    """Score the candidates on every inner fold, then fit and evaluate each trial's best one."""
    results: list[TrialResult] = []
    with collected() as warned, Trace(job.trace) as trace:
        split, search = _load_split(job.split), SettingsSearch(job)

        def ended(finished: Sequence[TrialResult]) -> None:
            finished = search.with_choice(finished)
            trace.finished(finished)
            results.extend(finished)

        for fold in split.folds[job.labels]:
            for candidates in job.candidates:
                scores: list[TrialResult] = []
                _fit_and_evaluate(on_fold(candidates), fold, trace, scores.extend)
                search.add(scores)
            fold.shared.results.clear()
        failed = search.failures()
        trace.finished(failed)
        results += failed
        for chosen in search.final_fits():
            _fit_and_evaluate(chosen, split, trace, ended)
        return JobResult(tuple(results), warned())


@ended_after()
def _fit_and_evaluate(
    job: FitJob, split: Samples, trace: Trace, ended: Callable[[Sequence[TrialResult]], object]
) -> EmbeddedSplit | None:
    """Do a fit and its evaluations, and call `ended` after each; return the embedding."""
    if job.shuffled:
        split = split.with_shuffled_labels(job.seed)
    if job.labels is not None:
        split = _in_drawn_order(split, job.seed)
    left = list(job.evaluations)
    embedding = None
    factory = REDUCERS.load(job.reducer)
    for name in {one.evaluator for one in left}:
        load_evaluator(name)
    for width in job.widths or (None,):
        trace.fitting()
        try:
            with _deadline(job.timeout):
                embedding = embed_split(factory, job, split, width)
            break
        except _FAILURES as error:
            # Only the trials of this n_components fail; the fit is tried at the next smaller one.
            ended([_failure(one, error) for one in left if one.width == width])
            left = [one for one in left if one.width != width]
    if embedding is not None:
        across = job.across_widths and embedding.wide is not None
        grouped = batches(left, across_widths=across) if job.batched else [[one] for one in left]
        for batch in grouped:
            trace.evaluating([one.trial_id for one in batch])
            ended(_evaluate(batch, embedding, split, job))
    return embedding


def _is_changed(job: FitJob | TuneJob) -> bool:
    """Return whether the arrays of a job's split differ from those that were prepared."""
    if job.checksum is None or _load_split(job.split).checksum() == job.checksum:
        return False
    _load_split.cache_clear()
    return True


@lru_cache(maxsize=2)
def _load_split(path: Path) -> Samples:
    return Samples.load(path)


@lru_cache(maxsize=2)
def _in_drawn_order(split: Samples, seed: int) -> Samples:
    return split.in_drawn_order(seed)


@dataclass(frozen=True)
class EmbeddedSplit:
    """The embedding of a split's samples and, if the method provides them, of its classes.

    `order` are the positions of the samples in the split.
    """

    train: Any
    test: Any
    order: NDArray[np.intp] | None
    prototypes: NDArray[Any] | None
    cpu_seconds: float
    wall_seconds: float
    narrower: Callable[[int], tuple[Any, Any]] | None = None
    wide: _Wide | None = None

    def at(self, width: int | None) -> tuple[Any, Any]:
        """Return both sets with the first `width` columns, or with all."""
        if width is None:
            return self.train, self.test
        if self.narrower is not None:
            return self.narrower(width)
        train, test = (np.ascontiguousarray(part[:, :width]) for part in (self.train, self.test))
        return train, test


@dataclass(frozen=True)
class _Wide:
    """Dense samples from which linear maps give the embeddings for all values of n_components."""

    train: Any
    test: Any
    map_to: Callable[[int], NDArray[Any]]


def embed_split(factory: Any, job: FitJob, split: Samples, width: int | None) -> EmbeddedSplit:
    """Fit a job's reducer to a split, and embed its training and test set."""
    cpu, wall = cpu_time(), time.perf_counter()
    params = dict(job.params) if width is None else {**job.params, "n_components": width}
    reducer = seeded(factory(**params), job.seed)
    traits = get_traits(reducer)
    order = split.order
    if is_partial(split, job.labels):
        split = samples_to_fit(split, job.labels, traits)
    k = params.get("n_neighbors")
    extra = _neighbors(reducer, split.neighbors.get(job.mode), k)
    n = split.n_train
    if job.mode == TRANSDUCTIVE:
        y = split.labels.y.copy()
        y[n:] = UNLABELLED
        both = fit_transform(reducer, split.X, y, **extra)
        train, test = both[:n], both[n:]
    else:
        with sharing(split.shared):
            train = fit_transform(reducer, split.shared.points, split.labels.y[:n], **extra)
        if n < len(split.labels.y):
            queries = split.neighbors.get(QUERIES) if transforms_by_neighbors(reducer) else None
            test = transform(reducer, split.X[n:], **_neighbors(reducer, queries, k))
        else:
            test = train[:0]
    for part, size in ((train, n), (test, len(split.labels.y) - n)):
        _check(part, size)
    narrower, wide = None, None
    if width is not None and traits.shares_widths:
        narrower, wide = _narrower(reducer, split)
    elif width is not None and not sparse.issparse(train):
        wide = _Wide(train, test, lambda m: np.eye(train.shape[1])[:, :m])
    return EmbeddedSplit(
        train,
        test,
        order,
        _prototypes(reducer, len(split.labels.classes)),
        cpu_time() - cpu,
        time.perf_counter() - wall,
        narrower,
        wide,
    )


def _narrower(
    reducer: Any, split: Samples
) -> tuple[Callable[[int], tuple[Any, Any]], _Wide | None]:
    """Return a function that computes the embedding with fewer components from this fit.

    For a projection of few dense features, also return samples that classifiers can use instead.
    """
    fitted = cache(reducer.with_width)
    train, test = split.X[: split.n_train], split.X[split.n_train :]

    @lru_cache(maxsize=1)
    def narrower(width: int) -> tuple[Any, Any]:
        other = fitted(width)
        return other.transform(train), other.transform(test)

    few = split.X.shape[1] <= min(split.n_train, _FEW_FEATURES)
    if not (isinstance(reducer, LinearReducer) and few) or sparse.issparse(split.X):
        return narrower, None
    mean = reducer.mean_
    return narrower, _Wide(train - mean, test - mean, lambda m: fitted(m).components_.T)


def _prototypes(reducer: Any, n_classes: int) -> NDArray[Any] | None:
    """Return the embedding of the classes themselves, if the method has one."""
    for name in ("label_components_", "class_centers_"):
        found = getattr(reducer, name, None)
        if isinstance(found, np.ndarray) and found.ndim == 2 and len(found) == n_classes:
            return found
    return None


def _kept(
    embedding: EmbeddedSplit, job: FitJob
) -> dict[int | None, tuple[Coordinates, Coordinates | None]]:
    parts = (embedding.train, embedding.test)
    assert embedding.order is not None
    rows = np.argsort(embedding.order)[list(job.kept_rows)]
    chosen = np.vstack([dense(part[:, :_MOST_SHOWN]) for part in parts])[rows]
    own = embedding.prototypes
    return {
        width: (
            _nested(chosen[:, :width]),
            None if own is None else _nested(own[:, :width][:, :_MOST_SHOWN]),
        )
        for width in job.kept_widths
    }


def dense(part: Any) -> NDArray[Any]:
    """Return samples as a dense array."""
    sparse_part: bool = sparse.issparse(part)
    return np.asarray(part.toarray() if sparse_part else part)


def _nested(values: NDArray[Any]) -> Coordinates:
    return tuple(map(tuple, np.asarray(values, dtype=float).tolist()))


def _neighbors(reducer: Any, found: Neighbors | None, k: object) -> dict[str, Neighbors]:
    if found is None or not get_traits(reducer).neighbors or not isinstance(k, int):
        return {}
    return {"neighbors": found.first(k)} if k <= found.indices.shape[1] else {}


def _check(part: Any, size: int) -> None:
    values = part.data if sparse.issparse(part) else part  # type: ignore[attr-defined]
    kind = getattr(values, "dtype", type(values).__name__)
    if getattr(kind, "kind", "") not in tuple("biuf"):
        raise ValueError(f"the embedding must be an array of real numbers, but has the type {kind}")
    if part.ndim != 2 or part.shape[0] != size:
        raise ValueError(
            f"the embedding has the shape {part.shape}, but must have {size} rows, one per sample"
        )
    if not np.isfinite(values).all():
        raise ValueError("the embedding has infinite or undefined values")


def _check_width(part: Any, asked: object) -> None:
    if isinstance(asked, int) and part.shape[1] != asked:
        raise ValueError(f"n_components={asked}, but the embedding has {part.shape[1]} dimensions")


def _evaluate(
    batch: list[Evaluation], embedding: EmbeddedSplit, split: Samples, job: FitJob
) -> list[TrialResult]:
    widths = [one.width for one in batch if one.width is not None]
    width = max(widths, default=None)
    wide = embedding.wide if len(set(widths)) > 1 else None
    seconds = None if job.timeout is None else job.timeout - embedding.wall_seconds
    started = cpu_time()
    try:
        # A trial may take the time that the fit has left; a batch may take that time per trial.
        with _deadline(None if seconds is None else seconds * len(batch)):
            maps = None
            if wide is None:
                train, test = embedding.at(width)
                _check_width(train, job.params.get("n_components") if width is None else width)
            else:
                train, test, maps = wide.train, wide.test, [wide.map_to(m) for m in widths]
                for A, m in zip(maps, widths, strict=True):
                    _check_width(A, m)
            labels, scored = batch[0].labels, split
            if is_partial(split, labels):
                train = labelled_samples(train, split, labels)
                scored = labels_to_score(split, labels)
            evaluators = evaluators_of(batch, job.seed)
            started = cpu_time()
            scores = scores_of(
                evaluators, train, test, scored, job.metrics, embedding.prototypes, maps
            )
    except _FAILURES as error:
        if len(batch) > 1:
            return [r for one in batch for r in _evaluate([one], embedding, split, job)]
        spent = cpu_time() - started
        return [_failure(batch[0], error, embedding.cpu_seconds, spent)]
    share = (cpu_time() - started) / len(batch)
    return [
        TrialResult(one.trial_id, OK, "", score, embedding.cpu_seconds, share, one.candidate)
        for one, score in zip(batch, scores, strict=True)
    ]


def _failure(
    one: Evaluation,
    error: BaseException,
    fit_seconds: float | None = None,
    eval_seconds: float | None = None,
) -> TrialResult:
    return TrialResult(
        one.trial_id,
        FAILED,
        _reason(error),
        {},
        fit_seconds,
        eval_seconds,
        one.candidate,
        traceback=_traceback_of(error),
    )


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        limit = "no limit"
        with suppress(ImportError):
            import resource

            if (size := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
                limit = f"limit {size / 1e9:.3g} GB"
        return one_line(f"out of memory ({limit} per worker): {error}")
    return one_line(f"{type(error).__name__}: {message_of(error)}").rstrip(": ")


def _traceback_of(error: BaseException) -> str:
    """Return an error's traceback without the frames of the engine."""
    return str(getattr(error, "traceback", "")) or traceback_of(error, _ENGINE)


@contextmanager
def _deadline(seconds: float | None) -> Iterator[None]:
    """End this process with SIGALRM if the block takes longer.

    The signal also ends a call into compiled code that never returns, because it runs no Python
    code.
    """
    if seconds is None or not hasattr(signal, "setitimer"):
        yield
        return
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


@contextmanager
def collected() -> Iterator[Any]:
    """Collect warnings, each once; on the terminal they would disturb the parent's display."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        yield lambda: tuple(
            dict.fromkeys(one_line(f"{w.category.__name__}: {w.message}") for w in caught)
        )
