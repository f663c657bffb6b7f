"""`ddr run`: run specs, derive their tables and figures, and print the results."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import (
    AsJson,
    Backend,
    DataDir,
    Jobs,
    MemoryLimit,
    Out,
    Overrides,
    Quiet,
    RedoWords,
    Repeats,
    Sandbox,
    Scheduler,
    SpecNames,
    Timeout,
    Trust,
    console,
    load,
    print_json,
    print_table,
    refuse_shared_folder,
    sources,
)
from ddr_cli.core.errors import EXIT_FAILED, EXIT_INTERRUPTED, DdrError, counted

if TYPE_CHECKING:
    from ddr_cli.comparison.summary import Summary
    from ddr_cli.engine import RunOutcome, RunSettings
    from ddr_cli.spec import Spec

_CHECKOUT_SECONDS = 60.0


def run(
    specs: SpecNames,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory_limit: MemoryLimit = None,
    backend: Backend = "local",
    scheduler: Scheduler = None,
    redo: RedoWords = None,
    allow_failed: Annotated[
        bool, typer.Option("--allow-failed", help="Exit with 0 even if some trials failed.")
    ] = False,
    data_dir: DataDir = None,
    trust: Trust = False,
    sandbox: Sandbox = False,  # noqa: ARG001 (its callback acts)
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run experiments; write a log, a table and a figure for each spec.

    The same command resumes an interrupted run; finished trials are not repeated.
    """
    from ddr_cli.engine import RunSettings

    loaded = [load(name, trust, overrides, repeats) for name in specs]
    refuse_shared_folder(loaded)
    settings = RunSettings(
        out=out,
        jobs=jobs,
        timeout=timeout,
        memory_limit=memory_limit,
        backend=backend,
        scheduler=scheduler,
        redo=tuple(redo or ()),
        quiet=quiet or as_json,
    )
    run_and_show(loaded, settings, data_dir, allow_failed=allow_failed, as_json=as_json)


def run_and_show(
    specs: Sequence[Spec],
    settings: RunSettings,
    data_dirs: Sequence[Path] | None = None,
    *,
    allow_failed: bool = False,
    as_json: bool = False,
) -> None:
    """Run specs, write tables and figures, and print the results.

    The exit code is 130 if the run was interrupted. If specs cannot be run, the first error
    determines the exit code. If trials failed, the exit code is 1, except with `--allow-failed`.
    """
    from ddr_cli.engine import run_specs
    from ddr_cli.spec import left_out

    for spec in () if settings.quiet else specs:
        for line in left_out(spec):
            typer.echo(f"{spec.name}: {line}")

    def load_libraries() -> None:
        # Load the modules for the results now, while the worker processes load their libraries.
        import ddr_cli.papers.figure_notes
        import ddr_cli.report.run_files

        if not settings.quiet:
            import ddr_cli.report.run_tables  # noqa: F401

    summaries: dict[str, Any] = {}
    endings = run_specs(
        specs,
        settings,
        sources=sources(data_dirs),
        ended=lambda outcome: _show(
            outcome,
            settings,
            one_of_several=len(specs) > 1,
            summaries=summaries if as_json else None,
        ),
        refused=lambda spec, error: typer.echo(f"Error: {spec.name}: {error}", err=True),
        started=load_libraries,
    )
    if as_json:
        print_json(summaries)
    elif len(specs) > 1 and not settings.quiet:
        _show_all(endings, settings.out)
    exit_unless_done(endings, allow_failed=allow_failed)


def exit_unless_done(
    endings: Mapping[str, RunOutcome | DdrError], *, allow_failed: bool = False
) -> None:
    """Exit with 130 if interrupted, with the first error's code, or with 1 if trials failed."""
    outcomes = [each for each in endings.values() if not isinstance(each, DdrError)]
    if any(outcome.interrupted for outcome in outcomes):
        typer.echo(f"To resume the run, repeat the same command:\n  {_this_command()}", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    for ending in endings.values():
        if isinstance(ending, DdrError):
            raise typer.Exit(ending.exit_code)
    if any(outcome.failed for outcome in outcomes) and not allow_failed:
        raise typer.Exit(EXIT_FAILED)


def new_failures(endings: Mapping[str, RunOutcome | DdrError]) -> bool:
    """Return whether any trial failed that had not failed before."""
    outcomes = [each for each in endings.values() if not isinstance(each, DdrError)]
    return any(outcome.failed > outcome.failed_before for outcome in outcomes)


def _show(
    outcome: RunOutcome,
    settings: RunSettings,
    *,
    one_of_several: bool,
    summaries: dict[str, Any] | None,
) -> None:
    """Derive the files of a finished run, and print its results or keep them in `summaries`."""
    kept = outcome.done + outcome.skipped
    if outcome.interrupted:
        ended = kept + outcome.failed
        typer.echo(
            f"Interrupted: {ended} of {outcome.planned} trials are saved in {outcome.folder}.",
            err=True,
        )
    # A git checkout writes all files within moments, in any order. With several specs, small
    # differences in time are therefore ignored; the files of a single spec are made again.
    is_derived = outcome.done == 0 and _is_derived(
        outcome.folder, _CHECKOUT_SECONDS if one_of_several else 0.0
    )
    needed = summaries is not None or not (one_of_several or settings.quiet)
    if is_derived and not outcome.failed and not needed:
        return
    if kept:
        from ddr_cli.comparison.summary import summary_of

        summary = summary_of(outcome.folder)
        if not is_derived:
            from ddr_cli.papers.figure_notes import notes_on
            from ddr_cli.report.run_files import write_run

            write_run(summary, notes_on(summary))
        if summaries is not None:
            summaries[outcome.folder.name] = summary.rows
        elif not settings.quiet and not outcome.interrupted:
            _show_results(outcome, summary)
            if not one_of_several:
                _show_next(settings.out)
    if outcome.failed:
        typer.echo(
            f"{outcome.failed} of {outcome.planned} trials failed; 'ddr status {outcome.folder} "
            "--reasons' shows why. Repeat these trials with --redo failed.",
            err=True,
        )


def _show_results(outcome: RunOutcome, summary: Summary) -> None:
    if outcome.done == 0:
        done = f"{outcome.skipped} of {outcome.planned}"
        if outcome.skipped == outcome.planned:
            done = f"all {outcome.planned}"
        typer.echo(f"{outcome.folder.name}: {done} trials are already done.")
    from ddr_cli.report.run_tables import control_table, run_table
    from ddr_cli.rows.log import TRIAL_FILES

    screen = console()
    print_table(screen, run_table(summary))
    if (controls := control_table(summary)) is not None:
        print_table(screen, controls)
    has_controls = (summary.run.trials["control"] != "").any()
    journals = TRIAL_FILES if has_controls else TRIAL_FILES[:1]
    for name in (*journals, "summary.csv", "figure.png", "shuffled_labels.png"):
        if (outcome.folder / name).is_file():
            typer.echo(f"  {outcome.folder / name}")


def _show_all(endings: Mapping[str, RunOutcome | DdrError], out: Path) -> None:
    """Print a summary of several specs, unless they were interrupted."""
    outcomes = [each for each in endings.values() if not isinstance(each, DdrError)]
    if any(outcome.interrupted for outcome in outcomes):
        return
    done, skipped = sum(each.done for each in outcomes), sum(each.skipped for each in outcomes)
    failed = sum(each.failed for each in outcomes)
    refused = [name for name, ending in endings.items() if isinstance(ending, DdrError)]
    if not (done or failed or refused):
        typer.echo(f"Nothing to do: all {skipped} trials of {len(outcomes)} specs are done.")
        return
    if outcomes:
        parts = [f"{counted(done, 'trial')} done now", f"{skipped} done before"]
        parts += [f"{failed} failed"] * bool(failed)
        typer.echo(f"{counted(len(outcomes), 'spec')} in {out}: {', '.join(parts)}.")
    if refused:
        typer.echo(f"Specs that could not run: {', '.join(refused)}.", err=True)
    if outcomes:
        _show_next(out)


def _show_next(out: Path) -> None:
    typer.echo(f"Next: ddr report {shlex.quote(str(out))}")


def _is_derived(folder: Path, slack: float) -> bool:
    """Return whether the files derived from the journals and a manifest are up to date."""
    from ddr_cli.rows.log import TRIAL_FILES
    from ddr_cli.rows.manifest import MANIFEST

    sources = (folder / name for name in (*TRIAL_FILES, MANIFEST))
    written = max(path.stat().st_mtime for path in sources if path.is_file())
    derived = [folder / name for name in ("summary.csv", "figure.svg", "figure.png")]
    return all(path.is_file() and path.stat().st_mtime >= written - slack for path in derived)


def _this_command() -> str:
    """Return the command that resumes, without options that would replace rows a second time."""
    words = iter(sys.argv[1:])
    kept: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        if option == "--redo":
            value = value if equals else next(words, "")
            kept += ["--redo", value] * (value == "failed")
        else:
            kept.append(word)
    return shlex.join(["ddr", *kept])
