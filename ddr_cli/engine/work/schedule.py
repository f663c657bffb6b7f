"""Which job next, and what becomes of the trials of a job whose process died.

Splits are worked off in order. A split is prepared once (preprocessing, neighbour search), then its
fits are done, and when the last has ended its arrays are removed. Only as many splits are open at
a time as keep all processes busy, which bounds the disk and memory that a run takes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.engine.plan.names import candidate_of
from ddr_cli.engine.plan.plan import Fit, Plan
from ddr_cli.engine.rows.journal import FAILED, TIMEOUT
from ddr_cli.engine.rows.result import Points, TrialResult
from ddr_cli.engine.work.jobs import (
    Division,
    Evaluation,
    Executor,
    FitJob,
    Job,
    JobEnd,
    SplitJob,
    TuneJob,
)
from ddr_cli.spec.controls import SHUFFLED_LABELS

if TYPE_CHECKING:
    from ddr_cli.engine.work.scratch import PointSet, Scratch
    from ddr_cli.evaluation.splits import Split
    from ddr_cli.spec import Cell, SplitKey

_ATTEMPTS = 2
# Jobs in a row whose files were gone, before it is said that they can't be kept.
_MOST_GONE = 100
_WAIT_SECONDS = 0.5


@dataclass(eq=False)
class PendingFit:
    """A fit, and those of its trials that have not ended.

    A fit whose process died is done again for the others: `attempts` counts the deaths in the fit
    itself, and `batched` is taken back when one died while it evaluated several trials together.
    """

    fit: Fit
    left: dict[str, Cell]
    attempts: int = 0
    batched: bool = True


@dataclass(eq=False)
class OpenSplit:
    """A split that is worked on, and its fits that have not ended.

    `seed` is for methods with a randomness of their own; `kept_rows` are the points whose
    coordinates a figure shows; `path` is
    the file of its arrays; `places` say which training points are labelled, where not all are.
    `folds` are those that its tuned fits need, by how many labels of a class are known; `undivided`
    says why there are none. `waiting` are the fits that are to be done when it is prepared.
    """

    key: SplitKey
    split: Split
    seed: int
    kept_rows: tuple[int, ...]
    path: Path
    pending: list[PendingFit]
    places: NDArray[np.intp] | None = None
    attempts: int = 0
    waiting: list[PendingFit] = field(default_factory=list)
    folds: dict[int | None, tuple[Division, ...]] = field(default_factory=dict)
    undivided: dict[int | None, str] = field(default_factory=dict)


class Schedule:
    """Works off the trials `todo` of a plan, and makes the kept `embeddings` again.

    `data` are the points of the data set. `draw` gives a split, its seed and places, `divide` the
    inner folds that a tuned fit needs. `ready` is called when the first split is prepared, `record`
    gets results as they come, `keep` by width the
    coordinates that a fit is to keep, and `warn` each kind of warning of a method once.
    `cpu_seconds` is the time of the processes, as far as jobs ended.
    """

    def __init__(
        self,
        plan: Plan,
        todo: Set[str],
        *,
        data: PointSet,
        scratch: Scratch,
        draw: Callable[[SplitKey], tuple[Split, int, NDArray[np.intp] | None]],
        divide: Callable[[OpenSplit, Fit], tuple[Division, ...]],
        executor: Executor,
        ready: Callable[[], None],
        record: Callable[[Sequence[TrialResult]], None],
        keep: Callable[[OpenSplit, Fit, Mapping[int | None, tuple[Points, Points | None]]], None],
        embeddings: Set[str],
        warn: Callable[[str], None],
        timeout: float | None,
    ) -> None:
        self._plan = plan
        self._points = data
        self._data: Path | None = None
        self._scratch = scratch
        self._draw = draw
        self._divide = divide
        self._executor = executor
        self._ready_once: Callable[[], None] | None = ready
        self._record = record
        self._keep = keep
        self._warn = warn
        self._timeout = timeout
        self._upcoming = _upcoming(plan, todo, embeddings)
        self._open: list[OpenSplit] = []
        self._ready: deque[tuple[OpenSplit, PendingFit]] = deque()
        self._running: dict[int, tuple[Job, OpenSplit, PendingFit | None]] = {}
        self._submitted = 0
        self._gone = 0
        self._warned: set[str] = set()
        self.cpu_seconds = 0.0

    def run(self, stopped: Callable[[], bool]) -> None:
        """Do all that is to do, or what has ended when `stopped` says so."""
        try:
            while not stopped():
                self._fill()
                if not self._running:
                    return
                self._take(self._executor.wait(_WAIT_SECONDS))
            self._take(self._executor.wait(0))
        finally:
            if self._running:
                self._executor.discard()
            if self._data is not None:
                self._executor.release(self._data)

    def _take(self, ends: Sequence[JobEnd]) -> None:
        results = [result for end in ends for result in self._settle(end)]
        if results:
            self._record(results)

    def _fill(self) -> None:
        capacity = self._executor.capacity
        while len(self._running) < capacity:
            if self._ready:
                self._submit_fit(*self._ready.popleft())
            elif len(self._open) < capacity and (following := next(self._upcoming, None)):
                self._begin_split(*following)
            else:
                return

    def _begin_split(self, key: SplitKey, pending: list[PendingFit]) -> None:
        split, seed, places = self._draw(key)
        spec, n = self._plan.spec, len(split.train) + len(split.test)
        shown = kept_rows(spec.embeddings.points if spec.embeddings else None, n, seed)
        opened = OpenSplit(key, split, seed, shown, Path(), pending, places)
        opened.waiting = list(pending)
        for fit in (each.fit for each in pending):
            if fit.tuning is not None and fit.labels not in opened.folds:
                try:
                    opened.folds[fit.labels] = self._divide(opened, fit)
                except InputError as error:
                    opened.undivided[fit.labels] = str(error)
        self._open.append(opened)
        self._submit_split(opened)

    def _submit_split(self, opened: OpenSplit) -> None:
        opened.path = self._scratch.folder("splits") / f"{opened.key.name}.joblib"
        self._data = self._scratch.folder("data") / "data.joblib"
        if not self._data.exists():
            with self._scratch.writing():
                self._points.save(self._data)
        job = SplitJob(
            data=self._data,
            split=opened.path,
            trace=self._next_trace(),
            rows=np.concatenate([opened.split.train, opened.split.test]),
            n_train=len(opened.split.train),
            steps=tuple((step.name, step.params) for step in self._plan.spec.preprocess),
            searches=self._plan.searches,
            seed=opened.seed,
            timeout=self._timeout,
            places=opened.places,
            folds=opened.folds,
        )
        self._submit(job, opened, None)

    def _submit_fit(self, opened: OpenSplit, pending: PendingFit) -> None:
        trace, tuning = self._next_trace(), pending.fit.tuning
        if tuning is None:
            self._submit(self._fit_job(opened, pending, pending.fit, trace), opened, pending)
            return
        candidates = [
            self._fit_job(opened, pending, each, trace) for each in pending.fit.candidates
        ]
        job = TuneJob(
            split=opened.path,
            trace=trace,
            labels=pending.fit.labels,
            n_folds=tuning.folds * tuning.repeats,
            candidates=tuple(
                replace(each, metrics=(tuning.metric,)) for each in candidates if each.evaluations
            ),
            metric=tuning.metric,
            metrics=self._plan.spec.metrics,
            timeout=self._timeout,
        )
        self._submit(job, opened, pending)

    def _fit_job(self, opened: OpenSplit, pending: PendingFit, fit: Fit, trace: Path) -> FitJob:
        """Return the job of a pending fit, or of one of its candidates."""
        evaluations = tuple(
            Evaluation(
                evaluation_id,
                fit.width_of(trial),
                trial.evaluator.name,
                trial.evaluator.params,
                trial.labels,
            )
            for evaluation_id, trial in fit.trials.items()
            if candidate_of(evaluation_id)[0] in pending.left
        )
        kept = {fit.width_of(trial) for i, trial in fit.trials.items() if i in self._plan.kept}
        return FitJob(
            split=opened.path,
            trace=trace,
            reducer=fit.reducer.name,
            params=fit.params,
            mode=fit.mode,
            widths=fit.widths,
            evaluations=evaluations,
            metrics=self._plan.spec.metrics,
            seed=opened.seed,
            timeout=self._timeout,
            batched=pending.batched,
            kept_rows=opened.kept_rows if kept else (),
            kept_widths=tuple(kept),
            labels=fit.labels,
            shuffled=fit.control == SHUFFLED_LABELS,
        )

    def _submit(self, job: Job, opened: OpenSplit, pending: PendingFit | None) -> None:
        self._running[id(job)] = (job, opened, pending)
        self._executor.submit(job)

    def _next_trace(self) -> Path:
        self._submitted += 1
        return self._scratch.folder("traces") / str(self._submitted)

    def _settle(self, end: JobEnd) -> list[TrialResult]:
        _, opened, pending = self._running.pop(id(end.job))
        end.job.trace.unlink(missing_ok=True)
        if end.result is not None:
            self.cpu_seconds += end.result.cpu_seconds
            for warning in end.result.warnings:
                # The same warning with other numbers in it, such as counts of points, is not news.
                kind = re.sub(r"\d+", "#", warning)
                if kind not in self._warned:
                    self._warned.add(kind)
                    self._warn(warning)
            if end.result.disk_full:
                raise self._scratch.refusal(end.result.error)
            if end.result.files_gone:
                self._prepare_again(opened, pending, end.result.error)
                return []
            self._gone = 0
        if pending is None:
            return self._settle_split(opened, end)
        results = self._settle_fit(opened, pending, end)
        if not pending.left:
            self._close_fit(opened, pending)
        return results

    def _settle_split(self, opened: OpenSplit, end: JobEnd) -> list[TrialResult]:
        error = end.result.error if end.result is not None else ""
        if end.result is not None and not error:
            if self._ready_once is not None:
                self._ready_once()
                self._ready_once = None
            results = []
            for pending in opened.waiting:
                lack = opened.undivided.get(pending.fit.labels)
                if pending.fit.tuning is None or lack is None:
                    self._ready.append((opened, pending))
                    continue
                results += _give_up(pending, FAILED, f"no inner folds: {lack}")
                self._close_fit(opened, pending)
            opened.waiting = []
            return results
        opened.attempts += 1
        if end.death == "killed" and opened.attempts < _ATTEMPTS:
            self._submit_split(opened)
            return []
        reason = f"while the split was prepared: {error or end.reason}"
        traceback = end.result.traceback if end.result is not None else ""
        results = []
        for pending in opened.waiting:
            results += _give_up(pending, end.death or FAILED, reason, traceback)
            self._close_fit(opened, pending)
        opened.waiting = []
        return results

    def _prepare_again(self, opened: OpenSplit, pending: PendingFit | None, reason: str) -> None:
        """Prepare a split anew for a fit whose files were removed by another program."""
        self._gone += 1
        if self._gone > _MOST_GONE:
            raise self._scratch.refusal(reason)
        is_under_way = pending is not None and bool(opened.waiting)
        if pending is not None:
            opened.waiting.append(pending)
        if not is_under_way:
            self._submit_split(opened)

    def _settle_fit(self, opened: OpenSplit, pending: PendingFit, end: JobEnd) -> list[TrialResult]:
        if end.result is not None:
            self._keep(opened, pending.fit, end.result.kept)
            results = list(end.result.results)
            _remove(pending, results)
            # Only a fault of the scratch folder or the like leaves trials without a result.
            return results + _give_up(pending, FAILED, end.result.error, end.result.traceback)
        results = list(end.seen.finished)
        _remove(pending, results)
        results += _blame(pending, end)
        if pending.left:
            self._ready.appendleft((opened, pending))
        return results

    def _close_fit(self, opened: OpenSplit, pending: PendingFit) -> None:
        opened.pending.remove(pending)
        if not opened.pending:
            self._open.remove(opened)
            self._executor.release(opened.path)
            # Who has its arrays open keeps them until done.
            opened.path.unlink(missing_ok=True)


def _upcoming(
    plan: Plan, todo: Set[str], embeddings: Set[str]
) -> Iterator[tuple[SplitKey, list[PendingFit]]]:
    for key, fits in plan.fits.items():
        pending = []
        for fit in fits:
            left = {trial_id: trial for trial_id, trial in fit.trials.items() if trial_id in todo}
            if left or any(plan.kept.get(trial_id) in embeddings for trial_id in fit.trials):
                pending.append(PendingFit(fit, left))
        if pending:
            yield key, pending


def kept_rows(most: int | None, n: int, seed: int) -> tuple[int, ...]:
    """Return which of n points are kept, ascending, drawn by the split's seed."""
    if most is None:
        return ()
    if n <= most:
        return tuple(range(n))
    keys = np.random.PCG64(seed).random_raw(n)
    chosen = np.argsort(keys, kind="stable")[:most]
    return tuple(sorted(int(row) for row in chosen))


def _blame(pending: PendingFit, end: JobEnd) -> list[TrialResult]:
    """Return the trials that a process's death costs; the others of the fit are done again.

    It is the trial that the process was on. A fit belongs to all of its trials: if it hangs all are
    lost, if its process is killed the first is, and all if that happens again. Of several trials
    evaluated together nobody knows which it was, so they are done again one by one.
    """
    status, reason, seen = end.death or FAILED, end.reason, end.seen
    if len(seen.evaluating) == 1:
        return _lose(pending, seen.evaluating, status, reason)
    if seen.evaluating:
        pending.batched = False
        return []
    pending.attempts += 1
    if seen.fitting:
        reason = f"{reason} while it was fitted"
    if status == TIMEOUT or pending.attempts >= _ATTEMPTS:
        return _give_up(pending, status, reason)
    return _lose(pending, list(pending.left)[:1], status, reason) if seen.fitting else []


def _give_up(
    pending: PendingFit, status: str, reason: str, traceback: str = ""
) -> list[TrialResult]:
    return _lose(pending, list(pending.left), status, reason, traceback)


def _lose(
    pending: PendingFit, trials: Sequence[str], status: str, reason: str, traceback: str = ""
) -> list[TrialResult]:
    results = [TrialResult(trial, status, reason, traceback=traceback) for trial in trials]
    _remove(pending, results)
    return results


def _remove(pending: PendingFit, results: Sequence[TrialResult]) -> None:
    for result in results:
        del pending.left[result.trial_id]
