"""`ddr suite`: many methods on many data sets under one protocol."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli.options import (
    AsJson,
    Backend,
    Hours,
    Jobs,
    Quiet,
    RedoWords,
    Sandbox,
    Scheduler,
    SuiteName,
    Trust,
    allowed,
    console,
    in_width,
    load_suite,
    print_json,
    print_table,
)
from ddr_cli.cli.run import exit_unless_done, new_failures
from ddr_cli.core.errors import EXIT_FAILED, InputError

if TYPE_CHECKING:
    from ddr_cli.show.page import Grid
    from ddr_cli.suite.definition import Suite
    from ddr_cli.suite.own_method import Joined
    from ddr_cli.suite.remaining import SuitePart

_AUDITED = 3  # number of data sets on which a suite's own methods are audited

app = typer.Typer(
    help="Compare many methods on many data sets under one protocol.", no_args_is_help=True
)

Out = Annotated[
    Path,
    typer.Option("--out", help="Write results to OUT/suite_<name>/.", file_okay=False),
]
Results = Annotated[
    Path,
    typer.Option("--out", help="The folder that contains suite_<name>/.", file_okay=False),
]
Tracks = Annotated[
    list[str] | None,
    typer.Option("--track", metavar="NAME", help="Only this track. May be repeated."),
]
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only",
        metavar="NAME",
        help="Use only this data set, or the data sets of this group. May be repeated.",
    ),
]
OwnMethod = Annotated[
    str,
    typer.Argument(help="Your method: ./mine.py:MyMethod, package.module:Class or a name."),
]
Classifier = Annotated[
    str | None,
    typer.Option(
        "--classifier",
        metavar="NAME",
        help="Compare methods with this classifier (default: the suite's first classifier).",
    ),
]
Metric = Annotated[
    str | None,
    typer.Option(
        "--metric", help="Compare methods by this metric (default: the suite's first metric)."
    ),
]


def _parts(
    suite: Suite,
    out: Path,
    tracks: list[str] | None = None,
    only: list[str] | None = None,
) -> list[SuitePart]:
    """Return the parts of a suite; the libraries of its methods need not be installed."""
    from ddr_cli.core.extras import nothing_fitted
    from ddr_cli.suite.remaining import folder_of, parts_of

    with nothing_fitted():
        found = parts_of(suite, folder_of(suite, out), tracks=tracks or (), only=only or ())
    if not found:
        raise InputError("No data set matches --track and --only; 'ddr plan SUITE' shows them.")
    return found


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
    """Run a suite's missing and stale trials, or resume an interrupted run.

    The command runs one split of every data set before it starts the next split, so an
    interrupted run covers all data sets. After --hours of CPU time, the
    command starts no further split.
    """
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite import definition
    from ddr_cli.suite.audits import audit_parts
    from ddr_cli.suite.published import begin_with_fetched
    from ddr_cli.suite.remaining import folder_of, run_suite, seen_again
    from ddr_cli.suite.tables import progress_line

    suite = load_suite(name, trust)
    if suite.frozen is not None:
        raise InputError(
            f"{suite.name} is frozen since {suite.frozen.date}: {suite.frozen.why} To run all of "
            "it again, copy its file under another name and remove the key frozen."
        )
    begin_with_fetched(suite.name, out)
    parts, folder = _parts(suite, out, tracks, only), folder_of(suite, out)
    if redo or any(part.stale or part.plan.trials.keys() - part.status.keys() for part in parts):
        # What is left to fit needs the libraries: this refuses a suite whose methods lack theirs.
        allowed(trust, lambda: definition.load_suite(name))
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
    # A failed trial is a result: on that split the method gets the majority-class baseline's score.
    exit_unless_done(endings, allow_failed=not new_failures(endings))


def _print_error(text: str) -> None:
    typer.echo(f"Error: {text}", err=True)


def show_status(name: str, out: Path, hours: float | None, *, as_json: bool, trust: bool) -> None:
    """Print which trials of a suite are done, stale or missing, by data set and by method."""
    from ddr_cli.suite.tables import status_shown

    suite = load_suite(name, trust)
    parts = _parts(suite, out)
    if as_json:
        print_json({part.spec.name: part.tallies.to_dict("index") for part in parts})
    else:
        _print_shown(*status_shown(suite, parts, hours))


def _print_shown(tables: list[Grid], notes: list[str]) -> None:
    for each in tables:
        print_table(console(), each)
    for line in notes:
        typer.echo(in_width(line, indent=2))


@app.command("table")
def table(
    name: SuiteName,
    out: Results = Path("results"),
    track: Annotated[
        str, typer.Option("--track", metavar="NAME", help="The track to compare.")
    ] = "inductive",
    only: Only = None,
    classifier: Classifier = None,
    metric: Metric = None,
    defaults: Annotated[
        bool,
        typer.Option(
            "--defaults",
            help="Show results with default instead of tuned parameters.",
        ),
    ] = False,
    as_json: AsJson = False,
    trust: Trust = False,
) -> None:
    """Show the leaderboard of a suite: the results of each method over the data sets."""
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.leaderboard import leaderboard
    from ddr_cli.suite.names import CLASSIFIER_TRACK, INDUCTIVE
    from ddr_cli.suite.remaining import folder_of
    from ddr_cli.suite.tables import board_shown

    suite = load_suite(name, trust)
    # The table of choices also includes the classifiers on all features.
    more = {CLASSIFIER_TRACK} & suite.tracks.keys() if track == INDUCTIVE else ()
    bench = benchmark_of(
        suite, folder_of(suite, out), tracks=[track, *more], only=only or (), results=out
    )
    board = leaderboard(
        bench.rows,
        classifier=classifier,
        metric=metric,
        tuned=not defaults and suite.tunes(track),
        track=track,
        baseline=suite.baseline_of(track),
    )
    if not as_json:
        _print_shown(*board_shown(bench, board))
        return
    records = json.loads(board.table.to_json(orient="records"))
    for row in records:
        own = bench.submissions.get(row["method"])
        if own is not None and own.card.track == track:
            row |= {"verified": own.verified, "card": own.card.model_dump()}
    print_json(records)


@app.command("page")
def page(
    name: SuiteName,
    out: Results = Path("results"),
    rows: Annotated[
        Path | None,
        typer.Option(
            "--rows",
            metavar="FILE",
            help="Instead of pages, write all results to FILE: one long table (.csv), or an "
            "archive to publish (.tar.xz).",
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Write a suite's pages: the leaderboard, and one page per method and per data set.

    They are in OUT/report/suite_<name>/ and work without a network. The table of `--rows` has the
    columns method, data set, split, metric, value, seconds and setting. The archive has the trial
    logs, the suite, CITATION.cff and checksums. The same results always give identical files.
    """
    from ddr_cli.report.page import PAGE
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.pages import write_benchmark
    from ddr_cli.suite.remaining import folder_of

    if rows is not None and not rows.name.endswith((".csv", ".tar.xz")):
        raise InputError(f"--rows {rows} must end in .csv or .tar.xz.")
    suite = load_suite(name, trust)
    if rows is not None:
        _export(suite, out, rows)
        return
    files, is_made = write_benchmark(benchmark_of(suite, folder_of(suite, out), results=out), out)
    page = next(path for path in files if path.name == PAGE)
    told = "written" if is_made else "are up to date: no result, setting or code has changed"
    typer.echo(f"{len(files)} files {told}.\nThe leaderboard: {page}")


def _export(suite: Suite, out: Path, file: Path) -> None:
    from ddr_cli.core.atomic import atomic_write
    from ddr_cli.show.csv import csv
    from ddr_cli.show.page import Grid
    from ddr_cli.suite.archive import write_archive
    from ddr_cli.suite.benchmark import benchmark_of
    from ddr_cli.suite.remaining import folder_of
    from ddr_cli.suite.rows import long_rows

    folder = folder_of(suite, out)
    if file.suffix == ".xz":
        names = write_archive(suite, _parts(suite, out), folder, file)
        typer.echo(f"An archive of {len(names)} files:\n  {file}")
        return
    rows = long_rows(benchmark_of(suite, folder).trials)
    atomic_write(file, csv(Grid(rows)))
    typer.echo(f"A table of {len(rows)} rows:\n  {file}")


@app.command("fetch")
def fetch(
    name: SuiteName,
    source: Annotated[
        str | None,
        typer.Option(
            "--from",
            metavar="FILE_OR_URL",
            help="Archive to use instead of the release's archive.",
        ),
    ] = None,
) -> None:
    """Download the published results of a shipped suite, verify them, and keep them in the cache.

    All suite commands use the downloaded results if ./results has no results of the suite.
    """
    from ddr_cli.spec.load import find_yaml
    from ddr_cli.suite.published import fetch

    folder, n_files = fetch(find_yaml(name, "suites", "suite"), source)
    typer.echo(f"{n_files} files in the cache:\n  {folder}\nNext: ddr suite table {name}")


@app.command("add")
def add(
    method: OwnMethod,
    name: SuiteName = "lite",
    out: Results = Path("results"),
    only: Only = None,
    hours: Hours = None,
    jobs: Jobs = 1,
    trust: Trust = False,
) -> None:
    """Run your own method on the splits that all methods of a suite completed; show its rank.

    The command tunes the method over its declared grids or, without grids, over the suite's
    values of n_components.
    Its rows are in suite_<suite>_<method>/. The same command resumes an interrupted run.
    """
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite.own_method import join

    suite = load_suite(name, trust)
    settings = RunSettings(out=out, jobs=jobs)
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
    if joined.ours:
        _show(joined)
    exit_unless_done(joined.endings, allow_failed=not new_failures(joined.endings))


def _show(joined: Joined) -> None:
    """Print the leaderboards around a user's own method; the last line is its rank."""
    from ddr_cli.suite.audits import audit_line
    from ddr_cli.suite.tables import leaderboard_notes, leaderboard_table, own_method_lines

    rows, suite = joined.rows, joined.suite
    tunes = suite.tunes(joined.track)
    for tuned in (False, True) if tunes else (False,):
        board = joined.board(rows, tuned=tuned)
        print_table(console(), leaderboard_table(board, most=5, own=joined.label))
        if tuned or not tunes:
            notes = [*leaderboard_notes(board, suite.methods_of(joined.track))]
            notes.append(audit_line(joined.audits, short=True))
            if tunes and not joined.is_tuned:
                notes.append(
                    f"{joined.label} has nothing to tune; its tuned and default results are equal"
                )
            for line in notes:
                typer.echo(in_width(line, indent=2))
        for line in own_method_lines(board, rows, joined.label):
            typer.echo(in_width(line, indent=2))


@app.command("submit")
def submit(
    method: OwnMethod,
    name: SuiteName = "lite",
    card: Annotated[
        Path | None,
        typer.Option(
            "--card",
            metavar="FILE",
            help="A YAML file with authors, paper, year and licence. A method that selects or "
            "combines other methods also needs `kind: ensemble`.",
        ),
    ] = None,
    out: Results = Path("results"),
    jobs: Jobs = 1,
    trust: Trust = False,
) -> None:
    """Run your own method as `ddr suite add` does, and prepare a folder for a pull request.

    The folder, suite_<suite>_<method>/, contains the rows, the manifests, the audit, the method's
    file and a card. The fields of the new card come from --card, or else from an earlier card in
    the folder. Missing fields come from the metadata of the method's package, or from the
    method's docstring.
    """
    from ddr_cli.core.own_code import class_name
    from ddr_cli.engine import RunSettings
    from ddr_cli.suite.names import FOLDER
    from ddr_cli.suite.own_method import join
    from ddr_cli.suite.submission import card_of, write_submission

    suite = load_suite(name, trust)
    folder = out / f"{FOLDER}{suite.name}_{class_name(method)}"
    checked = allowed(trust, lambda: card_of(method, folder, name, card))
    joined = join(suite, method, RunSettings(out=out, jobs=jobs), told=_print_error)
    write_submission(joined, method, folder, checked)
    typer.echo(f"The submission: {folder}\nNext: ddr suite verify {folder} --trust")


@app.command("verify")
def verify(
    folder: Annotated[Path, typer.Argument(help="A folder that 'ddr suite submit' wrote.")],
    splits: Annotated[
        int, typer.Option("--splits", min=1, help="Number of splits to rerun on each data set.")
    ] = 1,
    jobs: Jobs = 1,
    trust: Trust = False,
    sandbox: Sandbox = False,  # noqa: ARG001 (its callback acts)
) -> None:
    """Rerun a submitted method on randomly chosen splits, and compare its old and new values.

    The method's processes never receive test labels. If all old and new values except times are
    bitwise equal, the command records the verification in verified.json. If a value differs, the
    command shows both values, names the libraries whose versions differ, and exits with code 1.
    """
    from ddr_cli.engine import RunSettings
    from ddr_cli.show.page import Grid
    from ddr_cli.suite.submission import Submission, verify

    submission = Submission.read(folder)
    settings = RunSettings(jobs=jobs)
    suite = load_suite(submission.card.suite, trust)
    found = allowed(trust, lambda: verify(submission, suite, settings, splits=splits))
    if len(found.differences):
        print_table(console(), Grid(found.differences, left=("split", "classifier"), narrow=True))
    for line in found.problems:
        _print_error(line)
    if not found.is_equal:
        typer.echo(
            f"{submission.card.label} is not verified: the results of the rerun differ.", err=True
        )
        raise typer.Exit(EXIT_FAILED)
    typer.echo(
        f"{submission.card.label} is verified: {found.rows} rows equal those in the submission "
        f"(data sets: {found.datasets}, splits of each: {found.splits})."
    )
