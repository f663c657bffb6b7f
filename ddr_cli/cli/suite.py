"""`ddr suite`: many methods on many data sets under one protocol."""

from __future__ import annotations

from functools import partial
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
    Sandbox,
    Scheduler,
    Trust,
    allowed,
    console,
    in_width,
    print_json,
    print_table,
    records,
)
from ddr_cli.cli.run import exit_unless_done, new_failures
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.remaining import SuitePart

_AUDITED = 3  # data sets on which a suite's own methods are audited

app = typer.Typer(
    help="Compare many methods on many data sets under one protocol.", no_args_is_help=True
)

SuiteName = Annotated[
    str,
    typer.Argument(
        metavar="SUITE",
        help="Path of a suite, or the name of a shipped suite.",
        autocompletion=completion.suites,
    ),
]
Out = Annotated[
    Path,
    typer.Option("--out", help="The folder in which suite_<name>/ is created.", file_okay=False),
]
Tracks = Annotated[
    list[str] | None,
    typer.Option("--track", metavar="NAME", help="Only this track. May be repeated."),
]
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME", help="Only this data set or group. May be repeated."),
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
) -> list[SuitePart]:
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


def _planned(
    name: str,
    out: Path,
    trust: bool,
    tracks: list[str] | None = None,
    only: list[str] | None = None,
) -> tuple[Suite, list[SuitePart]]:
    """Return a suite and its parts without the libraries that only a fit needs."""
    from ddr_cli.core.extras import nothing_fitted

    with nothing_fitted():
        suite = _load(name, trust)
        return suite, _parts(suite, out, tracks, only)


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
    sandbox: Sandbox = False,  # noqa: ARG001 (its callback acts)
    quiet: Quiet = False,
) -> None:
    """Run a suite's missing and stale trials; the same command resumes.

    The command runs one split of every data set before the next split of any, so an interrupted run
    covers all data sets. After --hours of CPU time, it starts no further split.
    """
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite.audits import audit_parts
    from ddr_cli.suite.remaining import folder_of, run_suite, seen_again
    from ddr_cli.suite.tables import progress_line

    suite = _load(name, trust)
    parts, folder = _parts(suite, out, tracks, only), folder_of(suite, out)
    settings = RunSettings(
        out=folder,
        jobs=jobs,
        backend=backend,
        scheduler=scheduler,
        redo=tuple(redo or ()),
        quiet=quiet,
    )
    endings = run_suite(suite, parts, settings, hours=hours, told=_print_error)
    begun = [part for part in seen_again(parts) if part.status and part.track == "inductive"]
    if not any(getattr(each, "interrupted", False) for each in endings.values()):
        audit_parts(begun[:_AUDITED], folder, told=_print_error, quiet=quiet)
    if not quiet:
        typer.echo(progress_line(suite, seen_again(parts)))
        typer.echo(f"  {folder}")
    # A failed trial is a result: the method scores as the majority-class baseline there.
    exit_unless_done(endings, allow_failed=not new_failures(endings))


def _print_error(text: str) -> None:
    typer.echo(f"Error: {text}", err=True)


@app.command("status")
def status(
    name: SuiteName,
    hours: Hours = None,
    out: Out = Path("results"),
    tracks: Tracks = None,
    only: Only = None,
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """Show which trials of a suite are done, stale or missing, by data set and by method.

    Stale rows belong to another version of the suite, the data, a method or a setting. Tables leave
    them out, and a run replaces them. With --hours, the command also estimates the CPU time of the
    remaining trials from the existing rows, and shows what the budget would cover.
    """
    from ddr_cli.suite.remaining import cost_table
    from ddr_cli.suite.tables import (
        covered,
        plan_notes,
        plan_tables,
        progress_line,
        status_tables,
    )

    suite, parts = _planned(name, out, trust, tracks, only)
    if as_json:
        print_json({part.spec.name: part.tallies.to_dict("index") for part in parts})
        return
    tables, lines = [*status_tables(parts)], [progress_line(suite, parts)]
    if hours is not None:
        times = cost_table(parts)
        tables += plan_tables(times)
        lines = [*plan_notes(times), *lines, covered(parts, times, hours)]
    for table in tables:
        print_table(console(), table)
    for line in lines:
        typer.echo(in_width(line, indent=2))


@app.command("table")
def table(
    name: SuiteName,
    out: Out = Path("results"),
    track: Annotated[
        str, typer.Option("--track", metavar="NAME", help="The track to compare.")
    ] = "inductive",
    only: Only = None,
    classifier: Classifier = None,
    metric: Metric = None,
    defaults: Annotated[
        bool,
        typer.Option(
            "--defaults", help="Compare methods at their defaults instead of tuned methods."
        ),
    ] = False,
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """Show the leaderboard of a suite: the results of each method over the data sets."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.benchmark import CLASSIFIERS, benchmark_of
    from ddr_cli.suite.definition import INDUCTIVE
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.tables import (
        choices_table,
        leaderboard_notes,
        leaderboard_table,
        trust_notes,
    )

    with nothing_fitted():
        suite = _load(name, trust)
        # Classifiers on all features are a choice, too.
        tracks = [INDUCTIVE, CLASSIFIERS] if track == INDUCTIVE else [track]
        known = [each for each in tracks if each in (track, *suite.tracks)]
        parts = _parts(suite, out, known, only)
    bench = benchmark_of(suite, parts)
    board = leaderboard(
        bench.rows,
        classifier=classifier,
        metric=metric,
        tuned=not defaults and suite.tracks[track].tune is not None,
        track=track,
        baseline=suite.baseline_of(track),
    )
    if as_json:
        print_json(records(board.table))
        return
    print_table(console(), leaderboard_table(board))
    if len(found := bench.choices_of(board)):
        print_table(console(), choices_table(found, board))
    notes = leaderboard_notes(board, suite.methods_of(track))
    for line in [*notes, *trust_notes(board, bench.rows, parts[0].spec, suite.errata)]:
        typer.echo(in_width(line, indent=2))


@app.command("page")
def page(
    name: SuiteName,
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Write a suite's pages: the leaderboard, and one page per method and per data set.

    The files are in report/suite_<name>/ and work without a network.
    """
    from ddr_cli.report.page import PAGE
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.pages import write_benchmark

    suite, parts = _planned(name, out, trust)
    files, is_made = write_benchmark(benchmark_of(suite, parts), out)
    page = next(path for path in files if path.name == PAGE)
    told = "written" if is_made else "unchanged: no row, no setting and no code has changed"
    typer.echo(f"{len(files)} files {told}.\nThe leaderboard: {page}")


@app.command("export")
def export(
    name: SuiteName,
    file: Annotated[
        Path, typer.Argument(help="rows.csv: one long table; results.zip: an archive to publish.")
    ],
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Write all rows of a suite, as one long table (.csv) or as an archive to publish (.zip).

    The table has the columns method, data set, split, metric, value, seconds and setting. The
    archive contains the trial logs, the suite, CITATION.cff and checksums. The same rows give
    identical files.
    """
    from ddr_cli.core.atomic import atomic_write, clear_messages
    from ddr_cli.report.table import Table
    from ddr_cli.suite.archive import write_archive
    from ddr_cli.suite.remaining import folder_of
    from ddr_cli.suite.rows import long_rows, suite_rows

    if file.suffix not in (".csv", ".zip"):
        raise InputError(f"{file} must end in .csv or .zip.")
    suite, parts = _planned(name, out, trust)
    if file.suffix == ".zip":
        names = write_archive(suite, parts, folder_of(suite, out), file)
        typer.echo(f"{len(names)} files\n  {file}")
        return
    rows = long_rows(suite_rows(parts))
    with clear_messages(file):
        atomic_write(file, Table(rows).csv())
    typer.echo(f"{len(rows)} rows\n  {file}")


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
    sandbox: Sandbox = False,  # noqa: ARG001 (its callback acts)
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Run your own method on the splits that all methods of a suite completed; show its rank.

    The command tunes the method over its declared grids, or over the suite's numbers of dimensions.
    Its rows are in suite_<suite>_<method>/. The same command resumes an interrupted run.
    """
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite.audits import audit_lines
    from ddr_cli.suite.own_method import join
    from ddr_cli.suite.tables import leaderboard_notes, leaderboard_table, own_method_lines

    with nothing_fitted():
        suite = _load(name, trust)
    settings = RunSettings(out=out, jobs=jobs, quiet=quiet or as_json)
    joined = allowed(
        trust,
        lambda: join(
            suite,
            method,
            settings,
            only=only or (),
            hours=hours,
            told=partial(typer.echo, err=True),
        ),
    )
    if joined.ours and as_json:
        board = joined.board(joined.rows, tuned=suite.tracks[joined.track].tune is not None)
        print_json({"method": joined.label, "leaderboard": records(board.table)})
    elif joined.ours:
        rows, tunes = joined.rows, suite.tracks[joined.track].tune is not None
        for tuned in (True, False) if tunes else (False,):
            board = joined.board(rows, tuned=tuned)
            print_table(console(), leaderboard_table(board, most=5, own=joined.label))
            for line in own_method_lines(board, rows, joined.label):
                typer.echo(in_width(line, indent=4))
        if tunes and not joined.is_tuned:
            typer.echo(
                in_width(
                    f"{joined.label} has nothing to tune (no n_components, no own grids): tuned "
                    "and default results are equal"
                )
            )
        for line in leaderboard_notes(board, suite.methods_of(joined.track)):
            typer.echo(in_width(line, indent=2))
        for line in audit_lines(joined.audits):
            typer.echo(in_width(f"Audit, {line}", indent=2))
    exit_unless_done(joined.endings, allow_failed=not new_failures(joined.endings))
