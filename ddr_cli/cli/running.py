"""What `ddr run` and `ddr sweep` share: run specs, derive their files, show what came out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ddr_cli.core.errors import DdrError
from ddr_cli.data import Sources
from ddr_cli.engine import (
    Datasets,
    Plan,
    Progress,
    RunOutcome,
    Whole,
    count_to_do,
    make_executor,
    make_plan,
    make_progress,
    run_spec,
)
from ddr_cli.engine.backends import Deferred
from ddr_cli.engine.executor import Executor, ExecutorError
from ddr_cli.spec import Spec

EXIT_SOME_FAILED = 1
EXIT_INTERRUPTED = 130

_CHECKOUT_SECONDS = 60.0


@dataclass(frozen=True)
class RunSettings:
    """How specs are run; the fields are those of the command line."""

    out: Path
    jobs: int
    timeout: float | None
    memory_limit: int | None
    backend: str
    scheduler: str | None
    fresh: bool
    retry_failed: bool
    sources: Sources
    quiet: bool


def run_and_show(specs: Sequence[Spec], settings: RunSettings) -> None:
    """Run specs one after the other, derive their files and print what came out.

    All of them share the processes, the data sets and the display of progress. A spec that can't
    be run does not keep the others from running.

    Raises
    ------
    DdrError
        If the only spec can't be run, or what runs the jobs is lost.
    typer.Exit
        With 130 if interrupted, the code of the first spec that could not be run, or 1 if some
        trials failed.
    """
    datasets = Datasets(settings.sources)
    executor = _executor(settings)
    endings: dict[str, RunOutcome | DdrError] = {}

    def give_up(spec: Spec, error: DdrError) -> None:
        if len(specs) == 1 or isinstance(error, ExecutorError):
            raise error
        typer.echo(f"Error: {spec.name}: {error}", err=True)
        endings[spec.name] = error

    try:
        ahead: list[tuple[Plan, int]] = []
        for spec in specs:
            try:
                ahead.append(_look_ahead(spec, settings, datasets))
            except DdrError as error:
                give_up(spec, error)
        progress = _progress(ahead, settings)
        for plan, _ in ahead:
            try:
                outcome = _run_one(plan, settings, progress, executor, datasets, len(specs) > 1)
            except DdrError as error:
                give_up(plan.spec, error)
                continue
            endings[plan.spec.name] = outcome
            if outcome.interrupted:
                raise typer.Exit(EXIT_INTERRUPTED)
    finally:
        executor.stop()
    if len(specs) > 1 and not settings.quiet:
        _show_all(endings, settings.out)
    if code := _exit_code(endings):
        raise typer.Exit(code)


def _look_ahead(spec: Spec, settings: RunSettings, datasets: Datasets) -> tuple[Plan, int]:
    """Return a spec's plan and how many of its trials are to do."""
    plan = make_plan(spec, datasets=datasets)
    return plan, count_to_do(
        plan, out=settings.out, fresh=settings.fresh, retry_failed=settings.retry_failed
    )


def _progress(ahead: Sequence[tuple[Plan, int]], settings: RunSettings) -> Progress:
    left = [to_do for _, to_do in ahead if to_do]
    if len(left) < 2:
        return make_progress(quiet=settings.quiet)
    total = sum(len(plan.trials) for plan, _ in ahead)
    whole = Whole(len(ahead), total, total - sum(left))
    return make_progress(quiet=settings.quiet, whole=whole)


def _executor(settings: RunSettings) -> Executor:
    def start() -> Executor:
        executor = make_executor(
            settings.backend, settings.jobs, settings.memory_limit, settings.scheduler
        )
        # What is needed in the end is loaded while the processes load what they need.
        import ddr_cli.report.build
        import ddr_cli.report.terminal  # noqa: F401

        return executor

    # A cluster that can't be used is to be known before anything is read.
    return start() if settings.backend != "local" or settings.scheduler else Deferred(start)


def _exit_code(endings: Mapping[str, RunOutcome | DdrError]) -> int:
    """Return the code of the first spec that could not be run, else 1 if any trial failed."""
    errors = [ending.exit_code for ending in endings.values() if isinstance(ending, DdrError)]
    failed = any(isinstance(each, RunOutcome) and each.failed for each in endings.values())
    return errors[0] if errors else EXIT_SOME_FAILED if failed else 0


def _show_all(endings: Mapping[str, RunOutcome | DdrError], out: Path) -> None:
    """Say in a line or two what became of several specs."""
    outcomes = [ending for ending in endings.values() if isinstance(ending, RunOutcome)]
    done, skipped = sum(each.done for each in outcomes), sum(each.skipped for each in outcomes)
    failed = sum(each.failed for each in outcomes)
    wrong = [name for name, ending in endings.items() if isinstance(ending, DdrError)]
    if not (done or failed or wrong):
        typer.echo(
            f"Nothing to do: all {skipped} trials of {len(outcomes)} specs were done before."
        )
        return
    parts = [f"{done} trials done now", f"{skipped} before"]
    parts += [f"{failed} failed"] if failed else []
    typer.echo(f"{len(outcomes)} specs in {out}: {', '.join(parts)}.")
    if wrong:
        typer.echo(f"Not run: {', '.join(wrong)}.", err=True)
    _show_next(out)


def _run_one(
    plan: Plan,
    settings: RunSettings,
    progress: Progress,
    executor: Executor,
    datasets: Datasets,
    one_of_several: bool,
) -> RunOutcome:
    outcome = run_spec(
        plan.spec,
        plan=plan,
        out=settings.out,
        jobs=settings.jobs,
        timeout=settings.timeout,
        fresh=settings.fresh,
        retry_failed=settings.retry_failed,
        memory_limit=settings.memory_limit,
        progress=progress,
        executor=executor,
        datasets=datasets,
    )
    kept = outcome.done + outcome.skipped
    if outcome.interrupted:
        typer.echo(
            f"Interrupted: {kept} of {outcome.planned} trials are kept in {outcome.folder}. "
            f"The same command resumes:\n  {_this_command()}",
            err=True,
        )
    if one_of_several and outcome.done == 0 and not outcome.failed and _is_derived(outcome.folder):
        return outcome
    if kept:
        from ddr_cli.report import write_run

        files = write_run(outcome.folder)
        if not settings.quiet and not outcome.interrupted:
            _show(outcome, files)
            if not one_of_several:
                _show_next(settings.out)
    if outcome.failed:
        typer.echo(
            f"{outcome.failed} of {outcome.planned} trials failed; 'ddr status {outcome.folder}' "
            "says why, the same command with --retry-failed runs them again.",
            err=True,
        )
    return outcome


def _is_derived(folder: Path) -> bool:
    """Tell whether the files made from a journal are there and no older than it."""
    # A checkout writes them all within moments, in any order.
    written = (folder / "trials.csv").stat().st_mtime - _CHECKOUT_SECONDS
    derived = [folder / name for name in ("summary.csv", "figure.svg", "figure.png")]
    return all(path.is_file() and path.stat().st_mtime >= written for path in derived)


def _show(outcome: RunOutcome, files: Sequence[Path]) -> None:
    if outcome.done == 0:
        typer.echo(f"{outcome.folder.name}: all {outcome.skipped} trials were done before.")
    from rich.console import Console

    from ddr_cli.report import run_table

    Console().print(run_table(outcome.folder))
    wrote = [outcome.folder / "trials.csv", *(path for path in files if path.suffix != ".svg")]
    for path in wrote:
        typer.echo(f"  {path}")


def _show_next(out: Path) -> None:
    typer.echo(f"Next: ddr report {shlex.quote(str(out))}")


def _this_command() -> str:
    # `--fresh` would put aside what the run has just kept.
    words = [word for word in sys.argv[1:] if word != "--fresh"]
    return shlex.join(["ddr", *words])
