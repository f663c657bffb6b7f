"""Runs one or several specs, in processes of this machine or of others."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.core.errors import DdrError, InputError, did_you_mean
from ddr_cli.core.extras import how_to_install
from ddr_cli.core.sealed.sandbox import VARIABLE
from ddr_cli.engine.changes import names_of
from ddr_cli.engine.decide import POLICIES, Decision, Redo, decide, rows_of
from ddr_cli.engine.plan.datasets import Datasets
from ddr_cli.engine.plan.plan import Plan, make_plan
from ddr_cli.engine.progress import BatchTotals, Progress, make_progress
from ddr_cli.engine.work.draws import Draws
from ddr_cli.engine.work.jobs import Executor, ExecutorError
from ddr_cli.engine.work.local import LocalExecutor
from ddr_cli.engine.work.session import Session, manifest_of
from ddr_cli.rows.embeddings import EMBEDDINGS
from ddr_cli.rows.folder import (
    locked,
    set_aside,
    set_aside_copy,
)
from ddr_cli.rows.log import OK, TRIAL_FILES, Rows, UnreadableLogError
from ddr_cli.rows.manifest import SessionRecord, now

if TYPE_CHECKING:
    from ddr_cli.data import Sources
    from ddr_cli.spec import Spec

BACKENDS = ("local", "dask")
_LONGEST_TIMEOUT = 1e8


@dataclass(frozen=True)
class RunSettings:
    """Options of a run; see `run_spec` and `make_executor`."""

    out: Path = Path("results")
    jobs: int = 1
    timeout: float | None = None
    memory_limit: int | None = None
    backend: str = "local"
    scheduler: str | None = None
    redo: tuple[str, ...] = ()
    quiet: bool = False

    def __post_init__(self) -> None:
        if self.jobs == 0:
            raise InputError("--jobs 0 starts no process; give 1 or more, or -1 for all cores.")
        if self.jobs < 0:
            from joblib import effective_n_jobs

            object.__setattr__(self, "jobs", effective_n_jobs(self.jobs))
        if self.timeout is not None and not 0 < self.timeout <= _LONGEST_TIMEOUT:
            raise InputError(
                f"--timeout {self.timeout:g} is not between 0 and {_LONGEST_TIMEOUT:g} seconds."
            )


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Of the `planned` trials, `done` succeeded in this run, `skipped` had succeeded before, and
    `failed` have a row of a failure, of which `failed_before` already had one before it. The same
    call resumes a run that was `interrupted`.
    """

    folder: Path
    planned: int
    done: int
    failed: int
    skipped: int
    interrupted: bool = False
    cpu_seconds: float = 0.0
    failed_before: int = 0


class SpecRun:
    """A spec, its plan, and the rows of its result folder.

    Raises InputError if the folder holds rows of another version that `redo` of the settings does
    not replace.
    """

    def __init__(
        self, spec: Spec, settings: RunSettings, datasets: Datasets, plan: Plan | None = None
    ) -> None:
        self.plan: Plan = plan or make_plan(spec, datasets=datasets)
        self.folder = settings.out / spec.name
        self._settings = settings
        self._datasets = datasets
        self._redo = Redo.of(settings.redo)
        self._rows: Rows | None = None
        self._unreadable: UnreadableLogError | None = None
        self.first = self.decide()

    def decide(self, splits: int | None = None) -> Decision:
        """Return what a run of the first `splits`, or of all, will do, given the current rows."""
        try:
            if self._rows is None:
                self._rows = rows_of(self.folder, self.plan)
            self._rows.refresh()
        except UnreadableLogError as error:
            self._rows, self._unreadable = None, error
        except InputError:
            # A run that starts over does not need the unreadable file, which is moved aside.
            if not self._redo.all:
                raise
            self._rows = None
        decision = decide(self.plan, self._rows, self._redo, splits=splits)
        if decision.refusal:
            raise InputError(decision.refusal)
        return decision

    def run(
        self, executor: Executor, progress: Progress, *, splits: int | None = None
    ) -> RunOutcome:
        """Run the remaining trials, of the first `splits` if given; see `run_spec` for errors."""
        decision = self.decide(splits)
        if decision.is_done:
            return self._tidied(decision)
        # This starts the processes, which load their libraries while the data is read.
        _ = executor.capacity
        # Load the data first: if that fails, the folder is neither created nor changed.
        dataset = self._datasets.load(self.plan.spec, self.plan.data.options)
        draws = Draws(self.plan, dataset)
        with locked(self.folder):
            # Another run may have added rows before the folder was locked.
            decision = self.decide(splits)
            if decision.start_over:
                self._start_over(progress)
            rows = self._rows = self._rows or rows_of(self.folder, self.plan)
            if decision.replaced:
                files = [path for name in TRIAL_FILES if (path := self.folder / name).exists()]
                there = (self.folder / EMBEDDINGS).glob("*.json")
                moved = [file for file in there if file.name not in self.plan.kept.values()]
                set_aside_copy(self.folder, files, moved)
            with rows:
                rows.drop(decision.replaced)
                # Rows are replaced only once, even if `run` is called again for more splits.
                done = self._redo.done.union(decision.todo)
                self._redo = Redo(failed=self._redo.failed, done=done)
                record = SessionRecord(
                    started=now(),
                    jobs=self._settings.jobs,
                    timeout=self._settings.timeout,
                    memory_limit=self._settings.memory_limit,
                    rows_before=len(rows.rows),
                    data=self._datasets.place(self.plan.spec),
                )
                session = Session(self.plan, dataset, draws, rows, progress, record)
                try:
                    interrupted = session.run(decision, executor)
                    rows.settle(self.plan.trials)
                except DdrError as error:
                    if told := rows.rescue():
                        raise InputError(told) from error
                    raise
        outcome = self._outcome(decision, rows.status)
        return replace(outcome, interrupted=interrupted, cpu_seconds=record.cpu_seconds)

    def _start_over(self, progress: Progress) -> None:
        aside = set_aside(self.folder)
        if self._unreadable and not self._redo.all:
            progress.problem(
                f"{self._unreadable.path} is not a trial log: {self._unreadable.reason}. ddr "
                f"moved the file to {aside} and runs all trials again."
            )
        self._rows = None

    def _tidied(self, decision: Decision) -> RunOutcome:
        """Update the files of a run that has nothing to do."""
        rows, manifest = self._rows, manifest_of(self.folder, self.plan)
        assert rows is not None  # a run without rows has work to do
        if not (manifest.is_written(self.folder) and rows.is_settled(self.plan.trials)):
            with locked(self.folder):
                manifest.write(self.folder)
                with rows:
                    rows.settle(self.plan.trials)
        return self._outcome(decision, rows.status)

    def _outcome(self, decision: Decision, status: Mapping[str, str]) -> RunOutcome:
        good = sum(each == OK for each in status.values())
        skipped = sum(each == OK for each in decision.rows.values())
        planned = len(self.plan.trials)
        again = set(decision.todo)
        before = sum(status != OK and key not in again for key, status in decision.rows.items())
        failed = len(status) - good
        return RunOutcome(
            self.folder, planned, good - skipped, failed, skipped, failed_before=before
        )


def run_spec(
    spec: Spec,
    *,
    out: str | Path = "results",
    jobs: int = 1,
    timeout: float | None = None,
    redo: Sequence[str] = (),
    memory_limit: int | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    datasets: Datasets | None = None,
) -> RunOutcome:
    """Run the trials of a spec that have no row yet.

    The numbers do not depend on `jobs`, on the order in which trials end, or on interruptions.

    Parameters
    ----------
    spec : Spec
        What to run.
    out : str or Path
        The folder in which the result folder, with the name of the spec, is made.
    jobs : int
        Number of processes; each uses one thread.
    timeout : float, optional
        Seconds that a trial may take, its fit included. After that its process is ended, and the
        trial has the status ``timeout``.
    redo : sequence of str
        Which existing rows are replaced: ``failed`` (trials that failed, timed out or were
        killed), ``changed`` (rows of another version of the spec, the data or the code), names of
        reducers, classifiers and measures, or ``all``. Replaced rows, except failed ones, are kept
        in ``previous/<time>`` in the result folder.
    memory_limit : int, optional
        Bytes of address space that each process may use.
    progress : Progress, optional
        Display of the progress.
    executor : Executor, optional
        The processes, to share them among runs; they replace `jobs` and `memory_limit`.
    datasets : Datasets, optional
        Where the data comes from, to share it among runs; default: the environment decides.

    Returns
    -------
    RunOutcome

    Raises
    ------
    InputError
        If the folder holds rows of another version, is in use by another run or cannot be
        written.
    DataUnavailableError
        If the data is not available.
    ExecutorError
        If the processes are lost; all trials that had ended are kept.
    """
    settings = RunSettings(Path(out), jobs, timeout, memory_limit, redo=tuple(redo))
    run = SpecRun(spec, settings, datasets or Datasets())
    _refuse_unknown(redo, [run])
    own = LocalExecutor(_most_jobs(jobs, [run]), memory_limit)
    try:
        return run.run(executor or own, progress or Progress())
    finally:
        own.stop()


def run_specs(
    specs: Sequence[Spec],
    settings: RunSettings,
    *,
    sources: Sources | None = None,
    ended: Callable[[RunOutcome], None],
    refused: Callable[[Spec, DdrError], None],
    started: Callable[[], None] = lambda: None,
    plans: Mapping[str, Plan] | None = None,
    timeouts: Mapping[str, float | None] | None = None,
    rounds: Sequence[int | None] = (None,),
    enough: Callable[[RunOutcome], bool] = lambda _: False,
) -> dict[str, RunOutcome | DdrError]:
    """Run specs one after the other, and return the outcome or error of each, by its name.

    They share the processes, the data sets and the display of progress. A spec that cannot be run
    does not stop the others: `refused` is called with its error, as `ended` is with each outcome.
    The error is raised if there is only one spec, or if the processes are lost. After an
    interruption, no further specs are run. `started` is called while the processes load their
    libraries. `plans` are existing plans, `timeouts` the limits of single specs. With `rounds`, the
    first splits of all specs, as many as each round states, are run before further ones, until
    `enough` returns true for an outcome.
    """
    datasets = Datasets(sources)
    endings: dict[str, RunOutcome | DdrError] = {}

    def give_up(spec: Spec, error: DdrError) -> None:
        if len(specs) == 1 or isinstance(error, ExecutorError):
            raise error
        refused(spec, error)
        endings[spec.name] = error

    # A cluster that cannot be used is reported before anything is read.
    executor = make_executor(
        settings.backend, settings.jobs, settings.memory_limit, settings.scheduler, started
    )
    try:
        runs = []
        for spec in specs:
            try:
                plan = (plans or {}).get(spec.name)
                limit = (timeouts or {}).get(spec.name, settings.timeout)
                own = replace(settings, timeout=limit)
                runs.append(SpecRun(spec, own, datasets, plan=plan))
            except DdrError as error:
                give_up(spec, error)
        _refuse_unknown(settings.redo, runs)
        if isinstance(executor, LocalExecutor):
            executor.jobs = _most_jobs(executor.jobs, runs)
        progress = make_progress(quiet=settings.quiet, totals=_totals(runs, rounds))
        for splits, run in product(rounds, runs):
            spec = run.plan.spec
            before = endings.get(spec.name)
            if isinstance(before, DdrError) or (before and run.decide(splits).is_done):
                continue
            try:
                outcome = run.run(executor, progress, splits=splits)
                endings[spec.name] = outcome
                ended(outcome)
            except DdrError as error:
                give_up(spec, error)
                continue
            if outcome.interrupted or enough(outcome):
                break
    finally:
        executor.stop()
    return endings


def _refuse_unknown(words: Sequence[str], runs: Sequence[SpecRun]) -> None:
    """Raise an InputError for names in `redo` that occur in none of the runs."""
    names = Redo.of(words).names
    trials = [trial for run in runs for trial in run.plan.trials.values()] if names else []
    known = {name for trial in trials for name in names_of(trial.reducer, trial.evaluator)}
    for name in sorted(names - known) if runs else ():
        raise InputError(
            f"--redo {name}: no reducer, classifier or measure has this name. --redo also "
            "accepts 'failed', 'changed' and 'all'."
            f"{did_you_mean(name, [*sorted(known), *POLICIES])}"
        )


def _most_jobs(jobs: int, runs: Sequence[SpecRun]) -> int:
    """Return how many of `jobs` processes the runs can use."""
    most = max((max(len(run.first.todo), len(run.first.embeddings)) for run in runs), default=1)
    return max(1, min(jobs, most))


def _totals(runs: Sequence[SpecRun], rounds: Sequence[int | None]) -> BatchTotals | None:
    """Return the number of trials of all runs, if several of them have work left."""
    decisions = [run.decide(rounds[-1]) for run in runs]
    if sum(not one.is_done for one in decisions) < 2:
        return None
    total = sum(len(one.asked) for one in decisions)
    done = total - sum(len(one.todo) for one in decisions)
    return BatchTotals(len(runs), total, done, in_rounds=rounds[-1] is not None)


def make_executor(
    backend: str = "local",
    jobs: int = 1,
    memory_limit: int | None = None,
    scheduler: str | None = None,
    started: Callable[[], None] = lambda: None,
) -> Executor:
    """Return the processes for jobs; the caller has to `stop` them.

    `started` is called when the processes have been started. Raises an `InputError` if the back end
    cannot be used.
    """
    if backend == "dask":
        if not scheduler:
            raise InputError("--backend dask needs a scheduler: add --scheduler tcp://host:8786.")
        if os.environ.get(VARIABLE):
            raise InputError(
                f"--sandbox has no effect on dask workers; start the workers with {VARIABLE}=1."
            )
        try:
            from ddr_cli.engine.work.dask import DaskExecutor
        except ModuleNotFoundError as error:
            if error.name not in ("dask", "distributed"):
                raise
            raise InputError(
                f"The dask back end needs the package 'distributed': {how_to_install('dask')}."
            ) from error
        executor = DaskExecutor(scheduler, memory_limit=memory_limit)
        started()
        return executor
    if backend != "local":
        names = " or ".join(BACKENDS)
        raise InputError(
            f"There is no back end {backend!r}; choose {names}.{did_you_mean(backend, BACKENDS)}"
        )
    if scheduler:
        raise InputError("--scheduler needs --backend dask: use both options or neither.")
    return LocalExecutor(jobs, memory_limit, started)
