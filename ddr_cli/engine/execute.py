"""Running a spec: what is not done yet is done, and every finished trial is on disk at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ddr_cli.engine.datasets import Datasets
from ddr_cli.engine.embeddings import missing
from ddr_cli.engine.executor import Executor
from ddr_cli.engine.folder import columns_of, locked, rows_so_far, set_aside, to_do
from ddr_cli.engine.journal import FILE_NAME, OK, Journal, is_settled
from ddr_cli.engine.local import LocalExecutor
from ddr_cli.engine.plan import Plan, make_plan
from ddr_cli.engine.progress import Progress, Silent
from ddr_cli.engine.provenance import Manifest
from ddr_cli.engine.session import Session
from ddr_cli.evaluation.registry import evaluator_registry
from ddr_cli.reducers.registry import REDUCERS

if TYPE_CHECKING:
    from ddr_cli.data import Dataset, Sources
    from ddr_cli.spec import Spec


@dataclass(frozen=True)
class RunOutcome:
    """How a run ended.

    Parameters
    ----------
    folder : Path
        The result folder.
    planned : int
        Number of trials of the spec.
    done : int
        Trials that this run has done well.
    failed : int
        Trials whose last row says that they failed, timed out or were killed.
    skipped : int
        Trials that were done well before.
    interrupted : bool
        Whether the run was told to stop before its end; the same call resumes it.
    """

    folder: Path
    planned: int
    done: int
    failed: int
    skipped: int
    interrupted: bool = False

    @property
    def remaining(self) -> int:
        """Trials that have no row yet."""
        return self.planned - self.done - self.failed - self.skipped


def run_spec(
    spec: Spec,
    *,
    out: str | Path = "results",
    jobs: int = 1,
    timeout: float | None = None,
    fresh: bool = False,
    retry_failed: bool = False,
    memory_limit: int | None = None,
    sources: Sources | None = None,
    progress: Progress | None = None,
    executor: Executor | None = None,
    datasets: Datasets | None = None,
    plan: Plan | None = None,
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
    plan : Plan, optional
        The spec's plan, if it is made already.

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
    folder = Path(out) / spec.name
    datasets = datasets or Datasets(sources)
    plan = plan or make_plan(spec, datasets=datasets)
    rows = {} if fresh else rows_so_far(folder, plan)
    if to_do(plan, rows, retry_failed=retry_failed) or missing(folder, plan, rows):
        with _own_or_given(executor, jobs, memory_limit) as used:
            # Before the folder is made or touched: without data there is nothing to put there.
            dataset = datasets.load(spec, plan.data.options)
            with locked(folder):
                if fresh:
                    set_aside(folder)
                settings = {"jobs": jobs, "timeout": timeout, "memory_limit": memory_limit}
                return _run(
                    folder, plan, dataset, used, settings, retry_failed, progress or Silent()
                )
    manifest = Manifest(folder, plan)
    if not (manifest.is_saved and is_settled(folder, columns_of(plan), tuple(plan.trials))):
        with locked(folder):
            manifest.save()
            with Journal(folder / FILE_NAME, columns_of(plan)) as journal:
                journal.settle(plan.trials)
    return _outcome(folder, plan, rows, interrupted=False)


def count_to_do(
    plan: Plan, *, out: str | Path = "results", fresh: bool = False, retry_failed: bool = False
) -> int:
    """Return how many trials `run_spec` would run.

    Parameters
    ----------
    plan : Plan
        The spec's plan.
    out, fresh, retry_failed
        As for `run_spec`.

    Raises
    ------
    InputError
        If the folder holds another version's trials.
    """
    rows = {} if fresh else rows_so_far(Path(out) / plan.spec.name, plan)
    return len(to_do(plan, rows, retry_failed=retry_failed))


def _run(
    folder: Path,
    plan: Plan,
    dataset: Dataset,
    executor: Executor,
    settings: Mapping[str, Any],
    retry_failed: bool,
    progress: Progress,
) -> RunOutcome:
    """Run what is left to do in a folder that is locked."""
    before = rows_so_far(folder, plan)
    todo = to_do(plan, before, retry_failed=retry_failed)
    with Journal(folder / FILE_NAME, columns_of(plan)) as journal:
        manifest = Manifest(folder, plan)
        session = Session(plan, dataset, journal, manifest, progress)
        manifest.begin(settings, _packages(plan), len(before), session.sizes())
        progress.begin(plan.spec.name, len(plan.trials), len(plan.trials) - len(todo))
        try:
            redo = missing(folder, plan, before)
            interrupted = session.run(todo, executor, settings["timeout"], redo)
        finally:
            progress.end()
        journal.settle(plan.trials)
    return _outcome(folder, plan, before, interrupted=interrupted)


def _outcome(
    folder: Path, plan: Plan, before: Mapping[str, Mapping[str, str]], *, interrupted: bool
) -> RunOutcome:
    rows = rows_so_far(folder, plan)
    good = sum(row["status"] == OK for row in rows.values())
    skipped = sum(row["status"] == OK for row in before.values())
    return RunOutcome(
        folder,
        planned=len(plan.trials),
        done=good - skipped,
        failed=len(rows) - good,
        skipped=skipped,
        interrupted=interrupted,
    )


@contextmanager
def _own_or_given(
    executor: Executor | None, jobs: int, memory_limit: int | None
) -> Iterator[Executor]:
    if executor is not None:
        yield executor
        return
    own = LocalExecutor(jobs, memory_limit)
    try:
        yield own
    finally:
        own.stop()


def _packages(plan: Plan) -> set[str]:
    """Return the distributions beside ours that provide a piece of the spec."""
    origins = {
        evaluator_registry(piece.name).get(piece.name).origin for piece in plan.spec.evaluators
    }
    origins |= {REDUCERS.get(piece.name).origin for piece in plan.spec.reducers}
    return origins - {"ddr"}
