"""Chooses the next job, and decides which trials of a job are lost when its process dies.

Splits are processed in order. A split is prepared once (preprocessing, neighbour search), then its
fits are done; its arrays are removed after the last fit. Only as many splits are open at a time as
keep all processes busy, which limits the disk space and memory of a run.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ddr_cli.core.errors import InputError
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
from ddr_cli.evaluation.evaluators import evaluator_registry
from ddr_cli.reducers.registry import REDUCERS
from ddr_cli.rows.log import FAILED, TIMEOUT, Coordinates, TrialResult
from ddr_cli.spec.controls import SHUFFLED_LABELS

if TYPE_CHECKING:
    from ddr_cli.engine.decide import Decision
    from ddr_cli.engine.plan.plan import Fit, Plan
    from ddr_cli.engine.work.draws import Drawn, Draws
    from ddr_cli.engine.work.samples import Samples
    from ddr_cli.engine.work.scratch import Scratch
    from ddr_cli.spec import Cell, SplitKey

_ATTEMPTS = 2
# A run gives up after this many jobs in a row whose files were removed.
_MOST_GONE = 100
_WAIT_SECONDS = 0.5


@dataclass(eq=False)
class PendingFit:
    """A fit, and its trials that have not ended.

    A fit whose process died is done again for the others: `attempts` counts the deaths in the fit
    itself. After a death among several trials, they are no longer evaluated together (`batched`).
    """

    fit: Fit
    left: dict[str, Cell]
    attempts: int = 0
    batched: bool = True

    def take(self, results: Sequence[TrialResult]) -> list[TrialResult]:
        """Return results of trials, and mark these trials as ended."""
        for result in results:
            del self.left[result.trial_id]
        return list(results)

    def lose(
        self, status: str, reason: str, traceback: str = "", trials: Sequence[str] | None = None
    ) -> list[TrialResult]:
        """Return the results of some trials, or of all remaining ones, that ended in this way."""
        lost = list(self.left) if trials is None else trials
        return self.take([TrialResult(each, status, reason, traceback=traceback) for each in lost])

    def blame(self, end: JobEnd) -> list[TrialResult]:
        """Return the trials that are lost when a process dies; the fit's other trials run again.

        It is the trial that the process was running. A fit belongs to all of its trials: if it
        hangs, all are lost; if its process is killed, the first one is lost, and all are if that
        happens again. If several trials were evaluated together, the cause is unknown; they are
        then run one by one.
        """
        status, reason, seen = end.death or FAILED, end.reason, end.seen
        if len(seen.evaluating) == 1:
            return self.lose(status, reason, trials=seen.evaluating)
        if seen.evaluating:
            self.batched = False
            return []
        self.attempts += 1
        if seen.fitting:
            reason = f"{reason} during the fit"
        if status == TIMEOUT or self.attempts >= _ATTEMPTS:
            return self.lose(status, reason)
        return self.lose(status, reason, trials=list(self.left)[:1]) if seen.fitting else []


@dataclass(eq=False)
class OpenSplit:
    """A split in progress, and its fits that have not ended.

    `kept_rows` are the samples whose coordinates a figure shows; `path` is the file of its arrays.
    `folds` are the inner folds of its tuned fits, by the number of labels per class; `undivided`
    has the reasons why there are none. `waiting` are the fits to do when the split is prepared.
    """

    key: SplitKey
    drawn: Drawn
    kept_rows: tuple[int, ...]
    pending: list[PendingFit]
    waiting: list[PendingFit]
    path: Path = Path()
    checksum: int | None = None
    attempts: int = 0
    folds: dict[int | None, tuple[Division, ...]] = field(default_factory=dict)
    undivided: dict[int | None, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KeptCoordinates:
    """The coordinates that a fit keeps, by their number of columns."""

    split: OpenSplit
    fit: Fit
    kept: Mapping[int | None, tuple[Coordinates, Coordinates | None]]


@dataclass
class Ended:
    """What has ended since the last call: trials, embeddings to keep, new kinds of warnings.

    `working_on` states the work that has lasted longest.
    """

    working_on: str = ""
    results: list[TrialResult] = field(default_factory=list)
    embeddings: list[KeptCoordinates] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


class Schedule:
    """Runs the work that was decided.

    `samples` are the samples of the data set. `is_prepared` tells whether any split is prepared;
    `cpu_seconds` is the CPU time of the processes in jobs that have ended.
    """

    def __init__(
        self,
        plan: Plan,
        decision: Decision,
        samples: Samples,
        draws: Draws,
        scratch: Scratch,
        executor: Executor,
        timeout: float | None,
    ) -> None:
        self._plan = plan
        self._samples = samples
        self._draws = draws
        self._scratch = scratch
        self._executor = executor
        self._timeout = timeout
        self._data: Path | None = None
        self._checksum = samples.checksum() if _foreign(plan.trials.values()) else None
        self._upcoming = _upcoming(plan, decision)
        self._open: list[OpenSplit] = []
        self._ready: deque[tuple[OpenSplit, PendingFit]] = deque()
        self._running: dict[int, tuple[Job, OpenSplit, PendingFit | None]] = {}
        self._ended = Ended()
        self._submitted = 0
        self._gone = 0
        self._warned: set[str] = set()
        self.is_prepared = False
        self.cpu_seconds = 0.0

    def run(self, stopped: Callable[[], bool]) -> Generator[Ended, None, None]:
        """Run everything, or finish running jobs if `stopped` is true; yield what has ended."""
        try:
            while not stopped():
                self._fill()
                if not self._running:
                    return
                yield self._settle(self._executor.wait(_WAIT_SECONDS))
            yield self._settle(self._executor.wait(0))
        finally:
            if self._running:
                self._executor.discard()
            if self._data is not None:
                self._executor.release(self._data)

    def _fill(self) -> None:
        """Submit jobs until every process is busy."""
        capacity = self._executor.capacity
        while len(self._running) < capacity:
            if self._ready:
                self._submit_fit(*self._ready.popleft())
            elif len(self._open) < capacity and (following := next(self._upcoming, None)):
                self._begin_split(*following)
            else:
                return

    def _begin_split(self, key: SplitKey, pending: list[PendingFit]) -> None:
        drawn, embeddings = self._draws(key), self._plan.spec.embeddings
        n = len(drawn.division.rows)
        shown = kept_rows(embeddings.points if embeddings else None, n, drawn.seed)
        opened = OpenSplit(key, drawn, shown, pending, list(pending))
        for fit in (each.fit for each in pending):
            if fit.tuning is not None and fit.labels not in opened.folds:
                try:
                    folds = self._draws.divide(key, drawn, fit.labels, fit.tuning)
                    opened.folds[fit.labels] = folds
                except InputError as error:
                    opened.undivided[fit.labels] = str(error)
        self._open.append(opened)
        self._submit_split(opened)

    def _submit_split(self, opened: OpenSplit) -> None:
        opened.path = self._scratch.folder("splits") / f"{opened.key.name}.joblib"
        self._data = self._scratch.folder("data") / "data.joblib"
        if not self._data.exists():
            with self._scratch.writing():
                self._samples.save(self._data)
        job = SplitJob(
            data=self._data,
            split=opened.path,
            trace=self._next_trace(),
            whole=opened.drawn.division,
            steps=tuple((step.name, step.params) for step in self._plan.spec.preprocess),
            searches=self._plan.searches,
            seed=opened.drawn.seed,
            timeout=self._timeout,
            folds=opened.folds,
            checksum=self._checksum,
        )
        self._submit(job, opened, None)

    def _submit_fit(self, opened: OpenSplit, pending: PendingFit) -> None:
        fit, trace = pending.fit, self._next_trace()
        job: Job
        if (tuning := fit.tuning) is None:
            job = self._fit_job(opened, pending, fit, trace)
        else:
            jobs = [self._fit_job(opened, pending, each, trace) for each in fit.candidates]
            job = TuneJob(
                split=opened.path,
                trace=trace,
                labels=fit.labels,
                n_folds=tuning.folds * tuning.repeats,
                candidates=tuple(
                    replace(each, metrics=(tuning.metric,)) for each in jobs if each.evaluations
                ),
                metric=tuning.metric,
                metrics=self._plan.spec.classifier_metrics,
                timeout=self._timeout,
                checksum=opened.checksum,
                is_foreign=any(each.is_foreign for each in jobs),
            )
        self._submit(job, opened, pending)

    def _fit_job(self, opened: OpenSplit, pending: PendingFit, fit: Fit, trace: Path) -> FitJob:
        """Return the job of a pending fit, or of one of its candidates."""
        evaluations = tuple(
            Evaluation(
                trial_id,
                candidate,
                fit.width_of(cell),
                cell.evaluator.name,
                cell.evaluator.params,
                cell.labels,
            )
            for (trial_id, candidate), cell in fit.cells.items()
            if trial_id in pending.left
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
            metrics=self._plan.spec.classifier_metrics,
            seed=opened.drawn.seed,
            timeout=self._timeout,
            batched=pending.batched,
            kept_rows=opened.kept_rows if kept else (),
            kept_widths=tuple(kept),
            labels=fit.labels,
            shuffled=fit.control == SHUFFLED_LABELS,
            checksum=opened.checksum,
            is_foreign=opened.checksum is not None and _foreign(fit.trials.values()),
        )

    def _submit(self, job: Job, opened: OpenSplit, pending: PendingFit | None) -> None:
        self._running[id(job)] = (job, opened, pending)
        self._executor.submit(job)

    def _next_trace(self) -> Path:
        self._submitted += 1
        return self._scratch.folder("traces") / str(self._submitted)

    def _settle(self, ends: Sequence[JobEnd]) -> Ended:
        """Return the results of the jobs that have ended."""
        self._ended = ended = Ended()
        for end in ends:
            _, opened, pending = self._running.pop(id(end.job))
            end.job.trace.unlink(missing_ok=True)
            if end.result is not None:
                self._note(end.result.cpu_seconds, end.result.warnings)
                if end.result.disk_full:
                    raise self._scratch.refusal(end.result.error)
                if end.result.files_gone:
                    self._prepare_again(opened, pending, end.result.error)
                    continue
                self._gone = 0
            if pending is None:
                self._settle_split(opened, end)
            else:
                self._settle_fit(opened, pending, end)
        # Jobs begin in this order, so the first one is the oldest that is running.
        for _, opened, pending in islice(self._running.values(), 1):
            what = "preparation" if pending is None else pending.fit.reducer.label
            ended.working_on = f"{what}, {opened.key.name}"
        return ended

    def _note(self, cpu_seconds: float, warnings: Sequence[str]) -> None:
        self.cpu_seconds += cpu_seconds
        for warning in warnings:
            # A warning that differs from an earlier one in its numbers only is not shown again.
            kind = re.sub(r"\d+", "#", warning)
            if kind not in self._warned:
                self._warned.add(kind)
                self._ended.warnings.append(warning)

    def _settle_split(self, opened: OpenSplit, end: JobEnd) -> None:
        error = end.result.error if end.result is not None else ""
        is_prepared = end.result is not None and not error
        self.is_prepared = self.is_prepared or is_prepared
        opened.checksum = end.result.checksum if end.result is not None else None
        if not is_prepared:
            opened.attempts += 1
            if end.death == "killed" and opened.attempts < _ATTEMPTS:
                self._submit_split(opened)
                return
        waiting, opened.waiting = opened.waiting, []
        for pending in waiting:
            lack = opened.undivided.get(pending.fit.labels)
            if not is_prepared:
                reason = f"during the preparation of the split: {error or end.reason}"
                traceback = end.result.traceback if end.result is not None else ""
                self._ended.results += pending.lose(end.death or FAILED, reason, traceback)
            elif pending.fit.tuning is not None and lack is not None:
                self._ended.results += pending.lose(FAILED, f"inner folds are not possible: {lack}")
            else:
                self._ready.append((opened, pending))
                continue
            self._close_fit(opened, pending)

    def _prepare_again(self, opened: OpenSplit, pending: PendingFit | None, reason: str) -> None:
        """Prepare a split again for a fit whose files another program removed."""
        self._gone += 1
        if self._gone > _MOST_GONE:
            raise self._scratch.refusal(reason)
        is_under_way = pending is not None and bool(opened.waiting)
        if pending is not None:
            opened.waiting.append(pending)
        if not is_under_way:
            self._submit_split(opened)

    def _settle_fit(self, opened: OpenSplit, pending: PendingFit, end: JobEnd) -> None:
        if end.result is not None:
            self._ended.embeddings.append(KeptCoordinates(opened, pending.fit, end.result.kept))
            self._ended.results += pending.take(end.result.results)
            # Trials without a result mean that the whole job failed, for instance on its files.
            self._ended.results += pending.lose(FAILED, end.result.error, end.result.traceback)
        else:
            self._ended.results += pending.take(end.seen.finished)
            self._ended.results += pending.blame(end)
            if pending.left:
                self._ready.appendleft((opened, pending))
        if not pending.left:
            self._close_fit(opened, pending)

    def _close_fit(self, opened: OpenSplit, pending: PendingFit) -> None:
        opened.pending.remove(pending)
        if not opened.pending:
            self._open.remove(opened)
            self._executor.release(opened.path)
            # A process that has the file open can still read it after this.
            opened.path.unlink(missing_ok=True)


def _upcoming(plan: Plan, decision: Decision) -> Iterator[tuple[SplitKey, list[PendingFit]]]:
    todo = set(decision.todo)
    for key, fits in plan.fits.items():
        pending = []
        for fit in fits:
            left = {trial_id: trial for trial_id, trial in fit.trials.items() if trial_id in todo}
            if left or any(plan.kept.get(each) in decision.embeddings for each in fit.trials):
                pending.append(PendingFit(fit, left))
        if pending:
            yield key, pending


def _foreign(trials: Iterable[Cell]) -> bool:
    """Return whether foreign code takes part in any of the trials."""
    names = {(trial.reducer.name, trial.evaluator.name) for trial in trials}
    return any(
        REDUCERS.is_foreign(reducer) or evaluator_registry(evaluator).is_foreign(evaluator)
        for reducer, evaluator in names
    )


def kept_rows(most: int | None, n: int, seed: int) -> tuple[int, ...]:
    """Return which of n samples are kept, in ascending order, drawn by the split's seed."""
    if most is None:
        return ()
    if n <= most:
        return tuple(range(n))
    keys = np.random.PCG64(seed).random_raw(n)
    chosen = np.argsort(keys, kind="stable")[:most]
    return tuple(sorted(int(row) for row in chosen))
