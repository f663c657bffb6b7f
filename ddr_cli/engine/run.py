"""Running specs, one or several, on the processes of this machine or of others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from ddr_cli.core.errors import DdrError, InputError, did_you_mean
from ddr_cli.engine.plan.identity import Datasets
from ddr_cli.engine.progress import BatchTotals, Progress, make_progress
from ddr_cli.engine.session import RunOutcome, RunSettings, SpecRun
from ddr_cli.engine.work.jobs import Executor, ExecutorError
from ddr_cli.engine.work.local import LocalExecutor

if TYPE_CHECKING:
    from ddr_cli.data import Sources
    from ddr_cli.engine.plan.plan import Plan
    from ddr_cli.spec import Spec

BACKENDS = ("local", "dask")


def run_spec(
    spec: Spec,
    *,
    out: str | Path = "results",
    jobs: int = 1,
    timeout: float | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    rerun: Sequence[str] = (),
    memory_limit: int | None = None,
    sources: Sources | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    datasets: Datasets | None = None,
) -> RunOutcome:
    """Run the trials of a spec that have not been run yet.

    The numbers don't depend on `jobs`, on the order in which trials end, or on how often the run
    was interrupted.

    Parameters
    ----------
    spec : Spec
        What to run.
    out : str or Path
        The folder in which the result folder, called as the spec, is made.
    jobs : int
        Number of processes; each uses one thread.
    timeout : float, optional
        Seconds that a trial may take, its fit included; then its process is ended and the trial
        has the status ``timeout``.
    fresh : bool
        Move what the result folder holds to ``previous/<time>`` in it, and run everything.
    retry_failed : bool
        Run the trials again that failed, timed out or were killed.
    rerun : sequence of str
        Reducers, classifiers and measures whose trials are run again; the old rows are kept below
        ``previous``.
    memory_limit : int, optional
        Bytes of address space that each process may use.
    sources : Sources, optional
        Where to look for the data; the environment decides if not given.
    progress : Progress, optional
        What gets told how it goes.
    executor : Executor, optional
        What runs the jobs, to share it among runs; `jobs` and `memory_limit` are then its own.
    datasets : Datasets, optional
        What reads data sets, to share them among runs; `sources` is then its own.

    Returns
    -------
    RunOutcome

    Raises
    ------
    InputError
        If the folder holds another version's trials, is being written to by another run or can't
        be written.
    DataUnavailableError
        If the data can't be had.
    ExecutorError
        If what runs the jobs is lost; all trials that had ended are kept.
    """
    settings = RunSettings(
        Path(out),
        jobs,
        timeout,
        memory_limit,
        fresh=fresh,
        retry_failed=retry_failed,
        rerun=tuple(rerun),
    )
    run = SpecRun(spec, settings, datasets or Datasets(sources))
    _refuse_unknown(rerun, [run])
    own = LocalExecutor(jobs, memory_limit)
    _limit_processes(own, [run])
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
    rounds: Sequence[int | None] = (None,),
    enough: Callable[[RunOutcome], bool] = lambda _: False,
) -> dict[str, RunOutcome | DdrError]:
    """Run specs one after the other, and return what became of each, by its name.

    All of them share the processes, the data sets and the display of progress. A spec that can't
    be run does not keep the others from running: `refused` is told of it, as `ended` is of each
    that was run. But if it is the only one, or what runs the jobs is lost, the error is raised.
    After an interruption no more are run. `started` is called while the processes load their
    libraries. `plans` are those that are known already. With `rounds`, the first so many splits of
    every spec are run before more of any; after what is `enough`, no more are.
    """
    datasets = Datasets(sources)
    endings: dict[str, RunOutcome | DdrError] = {}

    def give_up(spec: Spec, error: DdrError) -> None:
        if len(specs) == 1 or isinstance(error, ExecutorError):
            raise error
        refused(spec, error)
        endings[spec.name] = error

    # A cluster that can't be used is to be known before anything is read.
    executor = make_executor(
        settings.backend, settings.jobs, settings.memory_limit, settings.scheduler, started
    )
    try:
        runs = []
        for spec in specs:
            try:
                plan = (plans or {}).get(spec.name)
                runs.append(SpecRun(spec, settings, datasets, plan=plan))
            except DdrError as error:
                give_up(spec, error)
        _refuse_unknown(settings.rerun, runs)
        _limit_processes(executor, runs)
        progress = make_progress(quiet=settings.quiet, totals=_totals(runs, rounds[-1]))
        for first, run in product(rounds, runs):
            spec = run.plan.spec
            before = endings.get(spec.name)
            if isinstance(before, DdrError) or (before is not None and run.is_done(first)):
                continue
            try:
                outcome = run.run(executor, progress, first=first)
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


def _refuse_unknown(names: Sequence[str], runs: Sequence[SpecRun]) -> None:
    """Refuse to run again what is in none of the runs."""
    known = set().union(*(run.names for run in runs)) if names else set()
    for name in names:
        if runs and name not in known:
            raise InputError(
                f"--rerun {name}: there is no reducer, classifier or measure of that name."
                f"{did_you_mean(name, sorted(known))}"
            )


def _limit_processes(executor: Executor, runs: Sequence[SpecRun]) -> None:
    """Start no more processes than there are jobs for."""
    if isinstance(executor, LocalExecutor):
        executor.jobs = min(executor.jobs, max((run.most_jobs for run in runs), default=1))


def _totals(runs: Sequence[SpecRun], first: int | None) -> BatchTotals | None:
    """Return what the first so many splits come to, if several runs have something to do there."""
    left = [len(run.todo) for run in runs if not run.is_done(first)]
    if len(left) < 2:
        return None
    total = sum(len(run.asked) for run in runs)
    return BatchTotals(len(runs), total, total - sum(left))


def make_executor(
    backend: str = "local",
    jobs: int = 1,
    memory_limit: int | None = None,
    scheduler: str | None = None,
    started: Callable[[], None] = lambda: None,
) -> Executor:
    """Return what runs jobs; who asked for it calls its `stop` in the end.

    `started` is called when there are processes. An `InputError` says what the back end lacks.
    """
    if backend == "dask":
        if not scheduler:
            raise InputError(
                "The dask back end needs the scheduler's address, such as tcp://host:8786."
            )
        try:
            from ddr_cli.engine.work.dask import DaskExecutor
        except ModuleNotFoundError as error:
            if error.name not in ("dask", "distributed"):
                raise
            raise InputError(
                "The dask back end needs the package distributed: pip install 'ddr[dask]'."
            ) from error
        executor = DaskExecutor(scheduler, memory_limit=memory_limit)
        started()
        return executor
    if backend != "local":
        names = " or ".join(BACKENDS)
        raise InputError(
            f"There is no back end {backend!r}; it is {names}.{did_you_mean(backend, BACKENDS)}"
        )
    if scheduler:
        raise InputError("A scheduler's address is for the dask back end only.")
    return LocalExecutor(jobs, memory_limit, started)
