"""What `ddr run` and `ddr sweep` share: run specs, derive their files, show what came out."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from ddr_cli.core.errors import DdrError
from ddr_cli.data import Sources
from ddr_cli.engine import Progress, RunOutcome, make_progress, run_spec
from ddr_cli.report import overview, write_run
from ddr_cli.spec import Spec

EXIT_SOME_FAILED = 1
EXIT_INTERRUPTED = 130


@dataclass(frozen=True)
class RunSettings:
    """How specs are run; the fields are those of the command line."""

    out: Path
    jobs: int
    timeout: float | None
    fresh: bool
    retry_failed: bool
    sources: Sources
    quiet: bool


def run_and_show(specs: Sequence[Spec], settings: RunSettings) -> None:
    """Run specs one after the other, derive their files and print what came out.

    A spec that can't be run does not keep the others from running.

    Raises
    ------
    typer.Exit
        With 130 if interrupted, the code of the first spec that could not be run, or 1 if some
        trials failed.
    """
    progress = make_progress(quiet=settings.quiet)
    code = 0
    for spec in specs:
        try:
            outcome = _run_one(spec, settings, progress)
        except DdrError as error:
            if len(specs) == 1:
                raise
            typer.echo(f"Error: {spec.name}: {error}", err=True)
            code = code or error.exit_code
            continue
        if outcome.interrupted:
            raise typer.Exit(EXIT_INTERRUPTED)
        if outcome.failed:
            code = code or EXIT_SOME_FAILED
    if code:
        raise typer.Exit(code)


def _run_one(spec: Spec, settings: RunSettings, progress: Progress) -> RunOutcome:
    outcome = run_spec(
        spec,
        out=settings.out,
        jobs=settings.jobs,
        timeout=settings.timeout,
        fresh=settings.fresh,
        retry_failed=settings.retry_failed,
        sources=settings.sources,
        progress=progress,
    )
    kept = outcome.done + outcome.skipped
    if outcome.interrupted:
        typer.echo(
            f"Interrupted: {kept} of {outcome.planned} trials are kept in {outcome.folder}. "
            f"The same command resumes:\n  {_this_command()}",
            err=True,
        )
    if kept:
        files = write_run(outcome.folder)
        if not settings.quiet and not outcome.interrupted:
            _show(outcome, files)
    if outcome.failed:
        typer.echo(
            f"{outcome.failed} of {outcome.planned} trials failed; 'ddr status {outcome.folder}' "
            "says why, the same command with --retry-failed runs them again.",
            err=True,
        )
    return outcome


def _show(outcome: RunOutcome, files: Sequence[Path]) -> None:
    if outcome.done == 0:
        typer.echo(f"{outcome.folder.name}: all {outcome.skipped} trials were done before.")
    from rich.console import Console

    Console().print(overview(outcome.folder))
    wrote = [outcome.folder / "trials.csv", *(path for path in files if path.suffix != ".svg")]
    for path in wrote:
        typer.echo(f"  {path}")
    typer.echo(f"Next: ddr report {shlex.quote(str(outcome.folder.parent))}")


def _this_command() -> str:
    # `--fresh` would put aside what the run has just kept.
    words = [word for word in sys.argv[1:] if word != "--fresh"]
    return shlex.join(["ddr", *words])
