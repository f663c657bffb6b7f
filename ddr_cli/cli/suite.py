"""`ddr suite`: many methods on many data sets under one protocol."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    Backend,
    Jobs,
    Quiet,
    RedoWords,
    RunOptions,
    Scheduler,
    Trust,
    allowed,
    console,
    in_width,
    print_table,
)
from ddr_cli.core.errors import EXIT_FAILED, EXIT_INTERRUPTED, DdrError, InputError

if TYPE_CHECKING:
    from ddr_cli.engine import RunOutcome
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.remaining import Part

app = typer.Typer(help="Many methods on many data sets under one protocol.", no_args_is_help=True)

SuiteName = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        help="A suite's path, or the name of a shipped one.",
        autocompletion=completion.suites,
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", help="The folder in which suite_<name>/ is made.", file_okay=False),
]
Tracks = Annotated[
    list[str] | None,
    typer.Option("--track", metavar="NAME", help="This track alone. May be repeated."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help="This data set or group alone. May be repeated."),
]
Hours = Annotated[float | None, typer.Option("--hours", min=0.0, help="A budget of CPU hours.")]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier", metavar="NAME", help="The classifier to compare by (default: the first)."
    ),
]
Metric = Annotated[
    str | None, typer.Option("--metric", help="Metric to compare by (default: the first).")
]


def _parts(
    suite: Suite,
    out: Path,
    tracks: list[str] | None,
    only: list[str] | None,
) -> list[Part]:
    from ddr_cli.engine import Datasets
    from ddr_cli.suite.remaining import folder_of, parts_of

    folder = folder_of(suite, out)
    found = parts_of(suite, folder, datasets=Datasets(), tracks=tracks or (), only=only or ())
    if not found:
        raise InputError("No data set is in this track; 'ddr suite status' lists the data sets.")
    return found


def _load(name: str, trust: bool) -> Suite:
    from ddr_cli.suite.definition import load_suite

    return allowed(trust, lambda: load_suite(name))


@app.command("plan")
def plan(
    name: SuiteName,
    hours: Hours = None,
    out: Out = Path("results"),
    tracks: Tracks = None,
    only: Only = None,
    trust: Trust = False,
) -> None:
    """Estimate the CPU time of what is left of a suite, from the rows it has.

    With --hours, show what such a budget would cover.
    """
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.remaining import costs_of
    from ddr_cli.suite.tables import cost_table, covered, one_line, plan_notes, plan_tables

    with nothing_fitted():
        suite = _load(name, trust)
        parts = _parts(suite, out, tracks, only)
    costs = costs_of(parts)
    table = cost_table(parts, costs)
    screen = console()
    for shown in plan_tables(table):
        print_table(screen, shown)
    for line in [*plan_notes(table), one_line(suite, parts)]:
        typer.echo(in_width(line, indent=2))
    if hours is not None:
        typer.echo(covered(parts, costs, hours))


@app.command("run")
def run(
    name: SuiteName,
    hours: Hours = None,
    out: Out = Path("results"),
    tracks: Tracks = None,
    only: Only = None,
    jobs: Jobs = 1,
    backend: Backend = "local",
    scheduler: Scheduler = None,
    redo: RedoWords = None,
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Run the missing and stale trials of a suite; the same command resumes an interrupted run.

    One split of every data set is run before the next split of any, so an interrupted run covers
    all of them. After --hours CPU hours, no further split is started.
    """
    suite = _load(name, trust)
    options = RunOptions(
        out=out,
        jobs=jobs,
        backend=backend,
        scheduler=scheduler,
        redo=redo,
        quiet=quiet,
    )
    _run(suite, options, tracks, only, hours)


def _run(
    suite: Suite,
    options: RunOptions,
    tracks: list[str] | None = None,
    only: list[str] | None = None,
    hours: float | None = None,
) -> None:
    """Run a suite and print its progress."""
    from dataclasses import replace

    from ddr_cli.suite.remaining import folder_of, run_suite, seen_again
    from ddr_cli.suite.tables import one_line

    parts = _parts(suite, options.out, tracks, only)
    folder = folder_of(suite, options.out)
    endings = run_suite(
        suite,
        parts,
        replace(options.settings(), out=folder),
        hours=hours,
        told=lambda text: typer.echo(f"Error: {text}", err=True),
    )
    if not options.quiet:
        typer.echo(one_line(suite, seen_again(parts)))
        typer.echo(f"  {folder}")
    _end(endings)


def _end(endings: Mapping[str, RunOutcome | DdrError]) -> None:
    """Exit as `ddr run` does where not all is done."""
    errors = [each for each in endings.values() if isinstance(each, DdrError)]
    outcomes = [each for each in endings.values() if not isinstance(each, DdrError)]
    if any(each.interrupted for each in outcomes):
        typer.echo("Interrupted; the same command resumes.", err=True)
        raise typer.Exit(EXIT_INTERRUPTED)
    if errors:
        raise typer.Exit(errors[0].exit_code)
    if any(each.failed for each in outcomes):
        raise typer.Exit(EXIT_FAILED)


@app.command("status")
def status(
    name: SuiteName,
    out: Out = Path("results"),
    tracks: Tracks = None,
    only: Only = None,
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """Show which trials of a suite are done, stale or missing, by data set and by method.

    Rows of another version of the suite, the data, a method or a setting are stale: they are not
    used, and `ddr suite run` replaces them.
    """
    import json

    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.tables import one_line, status_tables

    with nothing_fitted():
        suite = _load(name, trust)
        parts = _parts(suite, out, tracks, only)
    if as_json:
        content = {
            part.spec.name: {
                method: tally._asdict() | {"missing": tally.missing}
                for method, tally in part.tallies.items()
            }
            for part in parts
        }
        typer.echo(json.dumps(content, indent=2))
        return
    screen = console()
    for table in status_tables(parts):
        print_table(screen, table)
    typer.echo(one_line(suite, parts))


@app.command("table")
def table(
    name: SuiteName,
    out: Out = Path("results"),
    track: Annotated[
        str, typer.Option("--track", metavar="NAME", help="The track that is compared.")
    ] = "inductive",
    only: Only = None,
    classifier: Classifier = None,
    metric: Metric = None,
    defaults: Annotated[
        bool, typer.Option("--defaults", help="Methods at their defaults instead of tuned.")
    ] = False,
    trust: Trust = False,
) -> None:
    """Show the leaderboard of a suite's rows: the results of each method over the data sets."""
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.rows import suite_rows
    from ddr_cli.suite.tables import leaderboard_notes, leaderboard_table, trust_notes

    suite = _load(name, trust)
    parts = _parts(suite, out, [track], only)
    rows = suite_rows(parts)
    board = leaderboard(
        rows,
        classifier=classifier,
        metric=metric,
        tuned=not defaults and suite.tracks[track].tune is not None,
        track=track,
        baseline=suite.baseline_of(track),
    )
    print_table(console(), leaderboard_table(board))
    notes = leaderboard_notes(board, suite.methods_of(track))
    for line in [*notes, *trust_notes(board, rows, parts[0].spec, suite.errata)]:
        typer.echo(in_width(line, indent=2))


@app.command("page")
def page(
    name: SuiteName,
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Write a suite's pages: the leaderboard, and one page per method and per data set.

    The files are in report/suite_<name>/ and need no network.
    """
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.pages import write_benchmark

    suite = _load(name, trust)
    bench = benchmark_of(suite, _parts(suite, out, None, None))
    files = write_benchmark(bench, out)
    typer.echo(f"{len(files)} files written.\nThe leaderboard: {files[1]}")


@app.command("export")
def export(
    name: SuiteName,
    file: Annotated[Path, typer.Argument(help="The CSV to write, such as rows.csv.")],
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Write all rows as one long CSV: method, data set, split, metric, value, seconds, setting."""
    from ddr_cli.core.atomic import atomic_write, clear_messages
    from ddr_cli.report.table import Table
    from ddr_cli.suite.rows import long_rows, suite_rows

    suite = _load(name, trust)
    rows = long_rows(suite_rows(_parts(suite, out, None, None)))
    with clear_messages(file):
        atomic_write(file, Table(rows).csv())
    typer.echo(f"{len(rows)} rows\n  {file}")


@app.command("archive")
def archive(
    name: SuiteName,
    file: Annotated[
        Path | None, typer.Argument(help="The archive to write: suite_<name>_v<version>.zip.")
    ] = None,
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Write a suite's results as one zip file: journals, the suite, CITATION.cff and checksums.

    The same rows make the same bytes.
    """
    from ddr_cli.suite.archive import archive_name, write_archive
    from ddr_cli.suite.remaining import folder_of
    from ddr_cli.suite.tables import one_line

    suite = _load(name, trust)
    parts = _parts(suite, out, None, None)
    file = file or Path(f"{archive_name(suite)}.zip")
    names = write_archive(suite, parts, folder_of(suite, out), file)
    typer.echo(one_line(suite, parts))
    typer.echo(f"  {file}: {len(names)} files, {file.stat().st_size / 1e6:.2g} MB")


@app.command("add")
def add(
    method: Annotated[
        str, typer.Argument(help="Such as ./mine.py:MyMethod, package.module:Class, or a name.")
    ],
    name: SuiteName = "lite",
    out: Out = Path("results"),
    only: Only = None,
    hours: Hours = None,
    jobs: Jobs = 1,
    trust: Trust = False,
    quiet: Quiet = False,
) -> None:
    """Run your own method on the splits that a suite's methods have finished; show its rank.

    It is tuned over the grids that it declares, or over the suite's numbers of dimensions. Its rows
    are in suite_<suite>_<method>/, and the same command resumes an interrupted run.
    """
    from ddr_cli.suite.own_method import join
    from ddr_cli.suite.tables import leaderboard_notes, leaderboard_table, own_method_lines

    suite = _load(name, trust)
    options = RunOptions(out=out, jobs=jobs, quiet=quiet)
    joined = allowed(
        trust,
        lambda: join(
            suite,
            method,
            options.settings(),
            only=only or (),
            hours=hours,
            told=lambda text: typer.echo(f"Error: {text}", err=True),
        ),
    )
    if joined.ours:
        rows, tunes = joined.rows, suite.tracks["inductive"].tune is not None
        for tuned in (True, False) if tunes else (False,):
            board = joined.board(rows, tuned=tuned)
            print_table(console(), leaderboard_table(board, most=5, own=joined.label))
            for line in own_method_lines(board, rows, joined.label):
                typer.echo(in_width(line, indent=4))
        if tunes and not joined.is_tuned:
            untuned = (
                "has nothing to tune (no n_components, no grids of its own): tuned it is as at its"
            )
            typer.echo(in_width(f"{joined.label} {untuned} defaults"))
        for line in leaderboard_notes(board, suite.methods_of("inductive")):
            typer.echo(in_width(line, indent=2))
    _end(joined.endings)
