"""One spec's run: what is not done yet is done, and every finished trial is on disk at once."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import numpy as np

from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.own_code import class_name, shown
from ddr_cli.engine.changes import names_of, packages_of
from ddr_cli.engine.plan.identity import Datasets
from ddr_cli.engine.plan.plan import Fit, Plan, make_plan
from ddr_cli.engine.progress import Progress
from ddr_cli.engine.rows.folder import (
    check_same_version,
    journal_of,
    locked,
    rescue,
    set_aside,
    set_aside_copy,
    stale_rows,
)
from ddr_cli.engine.rows.journal import FILE_NAME as JOURNAL
from ddr_cli.engine.rows.journal import OK, Journal, UnreadableJournalError, parameter_text
from ddr_cli.engine.rows.manifest import EMBEDDINGS, KeptEmbedding, SessionRecord, manifest_of, now
from ddr_cli.engine.rows.tracebacks import Tracebacks
from ddr_cli.engine.work.jobs import Division, Executor, Points, TrialResult
from ddr_cli.engine.work.majority import majority_scores
from ddr_cli.engine.work.schedule import OpenSplit, Schedule
from ddr_cli.engine.work.scoring import is_measure, load_evaluator
from ddr_cli.engine.work.scratch import Labels, PointSet, Scratch
from ddr_cli.engine.work.splits import Drawn, Draws
from ddr_cli.spec.budgets import ALL

if TYPE_CHECKING:
    from ddr_cli.data import Dataset
    from ddr_cli.spec import Cell, Setting, Spec, SplitKey

_SECONDS_DECIMALS = 6
_COORDINATE_DIGITS = 5
_LONGEST_TIMEOUT = 1e8


@dataclass(frozen=True)
class RunSettings:
    """How specs are run; see `ddr_cli.engine.run_spec` and `ddr_cli.engine.make_executor`."""

    out: Path = Path("results")
    jobs: int = 1
    timeout: float | None = None
    memory_limit: int | None = None
    backend: str = "local"
    scheduler: str | None = None
    fresh: bool = False
    retry_failed: bool = False
    rerun: tuple[str, ...] = ()
    renew: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.timeout is not None and not 0 < self.timeout <= _LONGEST_TIMEOUT:
            raise InputError(
                f"--timeout {self.timeout:g} is not a number of seconds between 0 and "
                f"{_LONGEST_TIMEOUT:g}; leave it out for no limit."
            )


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Of the `planned` trials this run has `done` some well, of some the last row says that they
    `failed`, and some were done well before (`skipped`). The same call resumes a run that was
    `interrupted`.
    """

    folder: Path
    planned: int
    done: int
    failed: int
    skipped: int
    interrupted: bool = False
    cpu_seconds: float = 0.0


class SpecRun:
    """A spec, its plan or a part of it, and its result folder's journal, which is read at once.

    With `fresh`, what the folder holds is moved aside first and everything is run; without, an
    `InputError` says if it holds another version's trials. So it is, with a sentence, where a
    journal should be and what is there can't be read. The trials of pieces that `rerun` names are
    run again, whether or not their versions changed; their rows are kept in a copy. With `renew`,
    so are all rows of anything that has changed since.
    """

    def __init__(
        self, spec: Spec, settings: RunSettings, datasets: Datasets, plan: Plan | None = None
    ) -> None:
        self.plan: Plan = plan or make_plan(spec, datasets=datasets)
        self.folder = settings.out / spec.name
        self._settings = settings
        self._datasets = datasets
        self._journal: Journal | None = None
        self._before: dict[str, str] = {}
        self._again = {
            trial_id
            for trial_id, trial in self.plan.trials.items()
            if settings.rerun and not _names_of(trial).isdisjoint(settings.rerun)
        }
        # Rows of earlier versions of what is run again.
        self._stale: set[str] = set()
        self._first: int | None = None
        self._cpu_seconds = 0.0
        self._unreadable = ""
        if not settings.fresh:
            try:
                self._look()
            except UnreadableJournalError as error:
                self._unreadable = error.reason

    @property
    def todo(self) -> list[str]:
        """The ids of the trials that have no row, or one that is to be replaced."""
        return [
            trial
            for trial in self.asked
            if trial not in self._before
            or trial in self._again
            or trial in self._stale
            or (self._settings.retry_failed and self._before[trial] != OK)
        ]

    @property
    def asked(self) -> list[str]:
        """The ids of the plan's trials, or of those of its first splits."""
        splits = list(self.plan.fits.values())[: self._first]
        if len(splits) == len(self.plan.fits):
            return list(self.plan.trials)
        return [trial for fits in splits for fit in fits for trial in fit.trials]

    @property
    def most_jobs(self) -> int:
        """How many jobs it has at most."""
        return max(1, len(self.todo), len(self._missing_embeddings()))

    def is_done(self, first: int | None = None) -> bool:
        """Look at the `first` so many splits, or all, and return whether there is nothing to do."""
        self._first = first
        return not (self.todo or self._stale or self._missing_embeddings())

    def run(
        self, executor: Executor, progress: Progress, *, first: int | None = None
    ) -> RunOutcome:
        """Do what is to do, of the `first` so many splits if that is given.

        See `ddr_cli.engine.run_spec` for what may be wrong.
        """
        if not self.is_done(first):
            # Asking starts processes, which load their libraries while the data is read.
            _ = executor.capacity
            # Before the folder is made or touched: without data there is nothing to put there.
            dataset = self._datasets.load(self.plan.spec, self.plan.data.options)
            draws = Draws(self.plan, dataset)
            with locked(self.folder):
                if self._settings.fresh:
                    set_aside(self.folder)
                elif self._unreadable:
                    progress.problem(
                        f"{self.folder / JOURNAL} is not a journal: {self._unreadable}. It is in "
                        f"{set_aside(self.folder)} now, and all trials are run."
                    )
                with self._look() as journal:
                    if again := (self._again & self._before.keys()) | self._stale:
                        set_aside_copy(journal.path, self._stale_embeddings())
                        journal.drop(again)
                        self._before = journal.status
                    self._again, self._stale = set(), set()
                    record = SessionRecord(
                        started=now(),
                        finished=None,
                        jobs=self._settings.jobs,
                        timeout=self._settings.timeout,
                        memory_limit=self._settings.memory_limit,
                        rows_before=len(self._before),
                        data=self._datasets.place(self.plan.spec),
                    )
                    session = _Session(self.plan, dataset, draws, journal, progress, record)
                    todo, redo = self.todo, self._missing_embeddings()
                    try:
                        asked = len(self.asked)
                        interrupted = session.run(todo, redo, executor, asked)
                        journal.settle(self.plan.trials)
                    except DdrError as error:
                        if journal.is_in_place():
                            raise
                        raise InputError(rescue(journal)) from error
            self._cpu_seconds = record.cpu_seconds
            return self._outcome(journal, interrupted=interrupted)
        journal = self._look()
        manifest = manifest_of(self.folder, self.plan)
        if not (manifest.is_written(self.folder) and journal.is_settled(self.plan.trials)):
            with locked(self.folder):
                manifest.write(self.folder)
                with journal:
                    journal.settle(self.plan.trials)
        return self._outcome(journal, interrupted=False)

    def _look(self) -> Journal:
        """See what is done; the journal is read again only if another process has changed it."""
        if self._journal is None:
            self._journal = journal_of(self.folder, self.plan)
        self._journal.refresh()
        if self._settings.renew:
            self._stale = stale_rows(self._journal, self.plan)
        else:
            self._stale = check_same_version(self._journal, self.plan, self._settings.rerun)
        self._before = self._journal.status
        return self._journal

    @property
    def names(self) -> set[str]:
        """The names of the pieces in its trials, as `rerun` may have them."""
        return set().union(*map(_names_of, self.plan.trials.values()))

    def _missing_embeddings(self) -> set[str]:
        """Return the ids of embeddings that have no file though one of their trials ended well."""
        return {
            embedding
            for trial, embedding in self.plan.kept.items()
            if self._before.get(trial) == OK
            and not _embedding_path(self.folder, self.plan, trial).is_file()
        }

    def _stale_embeddings(self) -> list[Path]:
        """Return the files of embeddings that are not of the plan, if there are stale rows."""
        names = {_embedding_path(self.folder, self.plan, trial) for trial in self.plan.kept}
        found = (self.folder / EMBEDDINGS).glob("*.json") if self._stale else ()
        return [path for path in found if path not in names]

    def _outcome(self, journal: Journal, *, interrupted: bool) -> RunOutcome:
        status = journal.status
        good = sum(each == OK for each in status.values())
        skipped = sum(each == OK for each in self._before.values())
        return RunOutcome(
            self.folder,
            planned=len(self.plan.trials),
            done=good - skipped,
            failed=len(status) - good,
            skipped=skipped,
            interrupted=interrupted,
            cpu_seconds=self._cpu_seconds,
        )


def _names_of(trial: Cell) -> set[str]:
    """Return what a trial's reducer and its classifier or measure are called."""
    return names_of(trial.reducer) | names_of(trial.evaluator)


class _Session:
    """From the first job to the last, or to the interruption, in a folder that is locked."""

    def __init__(
        self,
        plan: Plan,
        dataset: Dataset,
        draws: Draws,
        journal: Journal,
        progress: Progress,
        record: SessionRecord,
    ) -> None:
        self._plan = plan
        self._dataset = dataset
        self._draws = draws
        self._labels = Labels.of(dataset)
        self._journal = journal
        self._progress = progress
        self._record = record
        self._tracebacks = Tracebacks(journal.path.parent)
        self._split_hashes: dict[str, str] = {}
        self._parameter_cells: dict[int, dict[str, str]] = {}
        self._ended = 0
        self._failed = 0

    def run(self, todo: Sequence[str], redo: Set[str], executor: Executor, asked: int) -> bool:
        """Do the trials `todo`, of so many that are asked for, and the embeddings `redo`.

        Returns whether it was interrupted.
        """
        folder = self._journal.path.parent
        manifest = manifest_of(folder, self._plan)
        manifest.sizes = dict(self._draws.sizes)
        manifest.begin_session(self._record, _packages(self._plan.spec))
        manifest.write(folder)
        failed_before = sum(each != OK for each in self._journal.status.values())
        failed_before -= sum(self._journal.status.get(each, OK) != OK for each in todo)
        self._progress.begin(self._plan.spec.name, asked, asked - len(todo), failed_before)
        wall, cpu = time.perf_counter(), time.process_time()
        schedule = None

        def ready() -> None:
            self._record.startup_seconds = round(time.perf_counter() - wall, 3)
            manifest.write(folder)
            self._progress.ready()

        try:
            with Scratch() as scratch, _interruptible(executor.wake) as stopped:
                schedule = Schedule(
                    self._plan,
                    set(todo),
                    data=PointSet(
                        self._dataset.X, self._labels, categorical=self._dataset.categorical
                    ),
                    scratch=scratch,
                    draw=self._draw,
                    divide=self._divide,
                    executor=executor,
                    ready=ready,
                    record=self._record_results,
                    keep=self._keep,
                    redo=redo,
                    warn=self._progress.note,
                    timeout=self._record.timeout,
                )
                schedule.run(stopped)
                interrupted = self._ended < len(todo)
                self._record.outcome = "interrupted" if interrupted else "finished"
        finally:
            self._progress.end()
            spent = time.process_time() - cpu + (schedule.cpu_seconds if schedule else 0)
            self._record.wall_seconds = round(time.perf_counter() - wall, 3)
            self._record.cpu_seconds = round(spent, 3)
            self._record.trials_ended = self._ended
            self._record.trials_failed = self._failed
            self._record.finished = now()
            if self._record.outcome is None:
                self._record.outcome = "stopped"
                # What stopped it, such as a full disk, is the message to show.
                with suppress(InputError):
                    manifest.write(folder)
            else:
                manifest.write(folder)
        return interrupted

    def _draw(self, key: SplitKey) -> Drawn:
        drawn = self._draws(key)
        self._split_hashes[key.name] = drawn.split.hash
        return drawn

    def _divide(self, opened: OpenSplit, fit: Fit) -> tuple[Division, ...]:
        assert fit.tuning is not None
        return self._draws.divide(opened.key, opened.split, opened.places, fit.labels, fit.tuning)

    def _record_results(self, results: Sequence[TrialResult]) -> None:
        self._tracebacks.keep(results)
        self._journal.append([self._row(result) for result in results])
        failed = sum(result.status != OK for result in results)
        self._ended += len(results)
        self._failed += failed
        self._progress.advance(len(results) - failed, failed)

    def _row(self, result: TrialResult) -> dict[str, object]:
        trial = self._plan.trials[result.trial_id]
        reducer, evaluator = trial.reducer, trial.evaluator
        if trial.tuning is not None and result.chosen is not None:
            reducer, evaluator = trial.tuning.candidates[result.chosen]
        cells = self._cells("reducer", reducer) | self._cells("classifier", evaluator)
        if trial.tuning is not None and result.chosen is None:
            # What was to be chosen has no value.
            others = [
                self._cells("reducer", one) | self._cells("classifier", other)
                for one, other in trial.tuning.candidates
            ]
            cells = {k: v for k, v in cells.items() if all(one[k] == v for one in others)}
        return {
            "trial_id": result.trial_id,
            "dataset": self._plan.data.name,
            "split": trial.split.name,
            "split_hash": self._split_hashes[trial.split.name],
            "reducer": shown(trial.reducer.name),
            # The column holds measures too; journals that there are call it so.
            "classifier": shown(trial.evaluator.name),
            **cells,
            "split.train": trial.split.train,
            "labels": ALL if trial.labels is None else trial.labels,
            "control": trial.control,
            "tuned": len(trial.tuning.candidates) if trial.tuning is not None else None,
            "inner_score": result.inner_score,
            "tune_seconds": _rounded(result.tune_seconds),
            **(result.metrics if result.status == OK else self._constant_scores(trial)),
            "status": result.status,
            "reason": result.reason,
            "fit_seconds": _rounded(result.fit_seconds),
            "eval_seconds": _rounded(result.eval_seconds),
        }

    def _constant_scores(self, trial: Cell) -> Mapping[str, float]:
        """Return what a trial that failed is scored as; a measure has no such value."""
        if is_measure(load_evaluator(trial.evaluator.name)):
            return {}
        split, labels = self._draw(trial.split).split, self._labels
        return majority_scores(
            labels.y[split.train],
            labels.y[split.test],
            self._plan.spec.metrics,
            labels=trial.labels,
            groups=None if labels.groups is None else labels.groups[split.test],
        )

    def _cells(self, kind: str, setting: Setting) -> dict[str, str]:
        from ddr_cli.reducers.registry import REDUCERS
        from ddr_cli.spec.estimators import with_newer

        cells = self._parameter_cells.get(id(setting))
        if cells is None:
            values = dict(setting.params)
            if kind == "reducer":
                values = with_newer(REDUCERS.load(setting.name), values) | {"mode": setting.mode}
            cells = {f"{kind}.{name}": parameter_text(value) for name, value in values.items()}
            cells = {name: text for name, text in cells.items() if name in self._plan.parameters}
            self._parameter_cells[id(setting)] = cells
        return cells

    def _keep(
        self,
        opened: OpenSplit,
        fit: Fit,
        kept: Mapping[int | None, tuple[Points, Points | None]],
    ) -> None:
        """Write embeddings, before the rows on them: a complete journal's run has them too."""
        for width, (coordinates, prototypes) in kept.items():
            trial_id, trial = next(
                (trial_id, one)
                for trial_id, one in fit.trials.items()
                if fit.width_of(one) == width
            )
            rows = np.asarray(opened.kept_rows)
            train = opened.split.train
            own = self._labels.rows(np.concatenate([train, opened.split.test])[rows])
            KeptEmbedding(
                reducer=shown(trial.reducer.name),
                mode=trial.reducer.mode,
                params=dict(trial.reducer.params),
                split=opened.key.name,
                split_hash=opened.split.hash,
                n_components=len(coordinates[0]) if width is None else width,
                classes=own.classes,
                y=tuple(own.y.tolist()),
                part=tuple("train" if row < len(train) else "test" for row in opened.kept_rows),
                subclass_names=own.subclass_names,
                subclasses=None if own.subclasses is None else tuple(own.subclasses.tolist()),
                coordinates=_shortened(coordinates),
                prototypes=None if prototypes is None else _shortened(prototypes),
            ).write(_embedding_path(self._journal.path.parent, self._plan, trial_id))


def _embedding_path(folder: Path, plan: Plan, trial_id: str) -> Path:
    name = class_name(plan.trials[trial_id].reducer.name)
    return folder / EMBEDDINGS / f"{name}-{plan.kept[trial_id]}.json"


def _shortened(points: Points) -> Points:
    """Return coordinates to as many digits as a figure shows, whatever their size."""
    digits = _COORDINATE_DIGITS
    return tuple(tuple(float(f"{value:.{digits}g}") for value in point) for point in points)


def _rounded(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds, _SECONDS_DECIMALS)


def _packages(spec: Spec) -> dict[str, str]:
    """Return the versions of what else provides pieces of the spec: packages, a user's files."""
    from ddr_cli.spec.sweeps import combinations

    settings = ((p, params) for p in spec.reducers for params, _ in combinations(p, spec.sweep))
    libraries = {piece.traits(params).library for piece, params in settings} - {None}
    return packages_of(spec) | {name: version(name) for name in libraries}


@contextmanager
def _interruptible(wake: Callable[[], None]) -> Iterator[Callable[[], bool]]:
    """Have Ctrl-C and requests to end (SIGTERM, SIGHUP) set a flag within the block.

    A second one of them acts as if the block were not there. `wake` ends what the block waits for.
    What the block is given says whether it has been told to stop; outside the main thread, which
    alone can handle signals, it never has.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    stopped = False
    before: dict[int, object] = {}

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopped
        stopped = True
        restore()
        wake()

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)  # type: ignore[arg-type]

    names = ("SIGINT", "SIGTERM", "SIGHUP")
    for number in [getattr(signal, name) for name in names if hasattr(signal, name)]:
        # What is ignored, as by nohup, stays so.
        if signal.getsignal(number) != signal.SIG_IGN:
            before[number] = signal.signal(number, stop)
    try:
        yield lambda: stopped
    finally:
        restore()
