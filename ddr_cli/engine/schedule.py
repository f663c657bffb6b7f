"""Which job next, and what becomes of the trials of a job whose process died.

Splits are worked off in order. A split is prepared once (preprocessing, neighbour search), then its
units are done, and when the last has ended its arrays are removed. Only as many splits are open at
a time as keep all processes busy, which bounds the disk and memory that a run takes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ddr_cli.core.errors import InputError
from ddr_cli.engine.embeddings import chosen_rows
from ddr_cli.engine.executor import Ending, Executor
from ddr_cli.engine.jobs import Evaluation, Job, Keep, Kept, SplitJob, TrialResult, UnitJob
from ddr_cli.engine.journal import FAILED, TIMEOUT
from ddr_cli.engine.plan import Group, Plan, Trial, Unit
from ddr_cli.engine.trace import LastSeen, last_seen

if TYPE_CHECKING:
    from ddr_cli.engine.scratch import Scratch
    from ddr_cli.evaluation.splits import Split

_ATTEMPTS = 2
_WAIT_SECONDS = 0.5


@dataclass(frozen=True)
class Draw:
    """The split of a group.

    Parameters
    ----------
    split : Split
        Its rows.
    seed : int
        For methods with a randomness of their own.
    """

    split: Split
    seed: int


@dataclass(eq=False)
class _Open:
    """A split that is worked on, and its units that have not ended."""

    group: Group
    draw: Draw
    folder: Path
    works: list[_Work]
    attempts: int = 0


@dataclass(eq=False)
class _Work:
    """A unit, and those of its trials that have not ended.

    A unit whose process died is done again for the others: `attempts` counts the deaths in its fit,
    and `batched` is taken back when one died while it evaluated several trials together.
    """

    unit: Unit
    left: dict[str, Trial]
    attempts: int = 0
    batched: bool = True


@dataclass(frozen=True, eq=False)
class _Running:
    job: Job
    open: _Open
    work: _Work | None


class Schedule:
    """Works off the trials of a plan.

    Parameters
    ----------
    plan : Plan
        The plan.
    todo : set of str
        The ids of the trials to do.
    data : Path
        The scratch folder of the data set.
    scratch : Scratch
        Where the arrays of splits go.
    draw : callable
        Gives the split of a group.
    executor : Executor
        Runs the jobs.
    record : callable
        Gets results as they come.
    keep : callable
        Gets the embeddings that are kept: their group, unit, draw and coordinates.
    redo : set of str
        The ids of kept embeddings to be made again though their trials are done.
    warn : callable
        Gets each kind of warning of a method once.
    timeout : float, optional
        Seconds a trial may take.

    Attributes
    ----------
    cpu_seconds : float
        CPU time of the processes, as far as their jobs ended.
    """

    def __init__(
        self,
        plan: Plan,
        todo: Set[str],
        *,
        data: Path,
        scratch: Scratch,
        draw: Callable[[Group], Draw],
        executor: Executor,
        record: Callable[[Sequence[TrialResult]], None],
        keep: Callable[[Group, Unit, Draw, Kept], None],
        redo: Set[str],
        warn: Callable[[str], None],
        timeout: float | None,
    ) -> None:
        self._plan = plan
        self._data = data
        self._scratch = scratch
        self._draw = draw
        self._executor = executor
        self._record = record
        self._keep = keep
        self._warn = warn
        self._timeout = timeout
        self._ahead = _to_do(plan, todo, redo)
        self._open: list[_Open] = []
        self._ready: deque[tuple[_Open, _Work]] = deque()
        self._running: dict[int, _Running] = {}
        self._traces = scratch.folder("traces")
        self._submitted = 0
        self._warned: set[str] = set()
        self.cpu_seconds = 0.0

    def run(self, stopped: Callable[[], bool]) -> None:
        """Do all that is to do, or what has ended when `stopped` says so.

        Raises
        ------
        InputError
            If a split can't be made, or the disk is full.
        """
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
            self._executor.release(self._data)

    def _take(self, endings: Sequence[Ending]) -> None:
        results = [result for ending in endings for result in self._settle(ending)]
        if results:
            self._record(results)

    def _fill(self) -> None:
        capacity = self._executor.capacity
        while len(self._running) < capacity:
            if self._ready:
                self._submit_unit(*self._ready.popleft())
            elif len(self._open) < capacity and (following := next(self._ahead, None)):
                self._begin_split(*following)
            else:
                return

    def _begin_split(self, group: Group, works: list[_Work]) -> None:
        draw = self._draw(group)
        folder = self._scratch.folder("splits", group.split.name)
        np.save(folder / "rows.npy", np.concatenate([draw.split.train, draw.split.test]))
        opened = _Open(group, draw, folder, works)
        self._open.append(opened)
        self._submit_split(opened)

    def _submit_split(self, opened: _Open) -> None:
        job = SplitJob(
            data=self._data,
            folder=opened.folder,
            trace=self._next_trace(),
            n_train=len(opened.draw.split.train),
            steps=tuple((step.name, step.params) for step in self._plan.spec.preprocess),
            searches=self._plan.searches,
            seed=opened.draw.seed,
            timeout=self._timeout,
        )
        self._submit(_Running(job, opened, None))

    def _submit_unit(self, opened: _Open, work: _Work) -> None:
        unit = work.unit
        evaluations = tuple(
            Evaluation(
                trial.id,
                unit.width_of(trial),
                trial.classifier.name,
                trial.classifier.params,
            )
            for trial in work.left.values()
        )
        job = UnitJob(
            folder=opened.folder,
            trace=self._next_trace(),
            reducer=unit.reducer,
            params=unit.params,
            mode=unit.mode,
            widths=unit.widths,
            evaluations=evaluations,
            metrics=self._plan.spec.metrics,
            seed=opened.draw.seed,
            timeout=self._timeout,
            batched=work.batched,
            keep=self._wanted(opened, unit),
        )
        self._submit(_Running(job, opened, work))

    def _wanted(self, opened: _Open, unit: Unit) -> Keep | None:
        widths = {unit.width_of(trial) for trial in unit.trials if trial.id in self._plan.kept}
        if not widths:
            return None
        rows = tuple(int(row) for row in chosen_rows(self._plan, opened.draw))
        return Keep(rows, tuple(widths))

    def _submit(self, running: _Running) -> None:
        self._running[id(running.job)] = running
        self._executor.submit(running.job)

    def _next_trace(self) -> Path:
        self._submitted += 1
        return self._traces / str(self._submitted)

    def _settle(self, ending: Ending) -> list[TrialResult]:
        running = self._running.pop(id(ending.job))
        seen = last_seen(ending.job.trace) if ending.death else LastSeen()
        ending.job.trace.unlink(missing_ok=True)
        if ending.result is not None:
            self.cpu_seconds += ending.result.cpu_seconds
            for warning in ending.result.warnings:
                # The same warning with other numbers in it, such as counts of points, is not news.
                kind = re.sub(r"\d+", "#", warning)
                if kind not in self._warned:
                    self._warned.add(kind)
                    self._warn(warning)
            if ending.result.disk_full:
                raise InputError(
                    f"The disk of the scratch folder {self._scratch.path.parent} is full "
                    f"({ending.result.error}); make room or set TMPDIR to another folder, then "
                    "run the same command."
                )
        if running.work is None:
            return self._settle_split(running.open, ending)
        results = self._settle_unit(running.open, running.work, ending, seen)
        if not running.work.left:
            self._close_unit(running.open, running.work)
        return results

    def _settle_split(self, opened: _Open, ending: Ending) -> list[TrialResult]:
        error = ending.result.error if ending.result is not None else ""
        if ending.result is not None and not error:
            self._ready.extend((opened, work) for work in opened.works)
            return []
        opened.attempts += 1
        if ending.death == "killed" and opened.attempts < _ATTEMPTS:
            self._submit_split(opened)
            return []
        reason = f"while the split was prepared: {error or ending.reason}"
        results = []
        for work in list(opened.works):
            results += _give_up(work, ending.death or FAILED, reason)
            self._close_unit(opened, work)
        return results

    def _settle_unit(
        self, opened: _Open, work: _Work, ending: Ending, seen: LastSeen
    ) -> list[TrialResult]:
        if ending.result is not None:
            for kept in ending.result.kept:
                self._keep(opened.group, work.unit, opened.draw, kept)
            results = list(ending.result.results)
            _remove(work, results)
            # Only a fault of the scratch folder or the like leaves trials without a result.
            return results + _give_up(work, FAILED, ending.result.error)
        results = list(seen.finished)
        _remove(work, results)
        results += _blame(work, ending, seen)
        if work.left:
            self._ready.appendleft((opened, work))
        return results

    def _close_unit(self, opened: _Open, work: _Work) -> None:
        opened.works.remove(work)
        if not opened.works:
            self._open.remove(opened)
            self._executor.release(opened.folder)
            self._scratch.drop(opened.folder)


def _to_do(plan: Plan, todo: Set[str], redo: Set[str]) -> Iterator[tuple[Group, list[_Work]]]:
    for group in plan.groups:
        works = []
        for unit in group.units:
            left = {trial.id: trial for trial in unit.trials if trial.id in todo}
            if left or any(plan.kept.get(trial.id) in redo for trial in unit.trials):
                works.append(_Work(unit, left))
        if works:
            yield group, works


def _blame(work: _Work, ending: Ending, seen: LastSeen) -> list[TrialResult]:
    """Return the trials that a process's death costs; the others of the unit are done again.

    It is the trial that the process was on. A fit belongs to all trials of the unit: if it hangs
    all are lost, if its process is killed the first is, and all if that happens again. Of several
    trials evaluated together nobody knows which it was, so they are done again one by one.
    """
    status = ending.death or FAILED
    reason = ending.reason
    if len(seen.evaluating) == 1:
        return _lose(work, seen.evaluating, status, reason)
    if seen.evaluating:
        work.batched = False
        return []
    work.attempts += 1
    if seen.fitting:
        reason = f"{reason} while it was fitted"
    if status == TIMEOUT or work.attempts >= _ATTEMPTS:
        return _give_up(work, status, reason)
    return _lose(work, list(work.left)[:1], status, reason) if seen.fitting else []


def _give_up(work: _Work, status: str, reason: str) -> list[TrialResult]:
    return _lose(work, list(work.left), status, reason)


def _lose(work: _Work, trials: Sequence[str], status: str, reason: str) -> list[TrialResult]:
    results = [TrialResult(trial, status, reason) for trial in trials]
    _remove(work, results)
    return results


def _remove(work: _Work, results: Sequence[TrialResult]) -> None:
    for result in results:
        del work.left[result.trial_id]
