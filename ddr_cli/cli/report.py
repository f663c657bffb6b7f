"""`ddr report`: the papers' numbers next to ours, computed from the journals alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli.options import AsJson, console, print_json
from ddr_cli.core.errors import EXIT_FAILED, counted
from ddr_cli.report import Format

if TYPE_CHECKING:
    from ddr_cli.papers.report import ReportOutcome

_MOST_OWN_RUNS = 5


def report(
    results: Annotated[
        Path, typer.Argument(help="The folder that contains the run folders.")
    ] = Path("results"),
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="NAME", help="Paper to report, such as ccdr.")
    ] = None,
    format: Annotated[
        Format,
        typer.Option(
            "--format",
            help="What to write: tables in one format, the page, or the figures as PDF files. "
            "all: everything except the PDF files.",
        ),
    ] = Format.all,
    full: Annotated[
        bool,
        typer.Option("--full", help="Print every number and claim, not only the totals."),
    ] = False,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing; exit with 1 if the trial logs no longer support a verdict in "
            "verdicts.json.",
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Rebuild tables, figures, verdicts and one page from the trial logs of all runs.

    Runs that belong to no paper get their table, paired differences and failures. Unreadable runs
    are named and skipped (exit code 1).
    """
    from ddr_cli.papers.report import check_report, write_report

    if check:
        outcome = check_report(results, paper=paper)
    else:
        outcome = write_report(results, paper=paper, format=format)
    if as_json:
        _print_json(outcome)
    else:
        _show(outcome, full=full)
    for reason in outcome.assessment.unread:
        typer.echo(f"Skipped: {reason}", err=True)
    for lost in outcome.regressions:
        typer.echo(f"Recorded verdict lost: {lost}", err=True)
    if check:
        _conclude(outcome, results)
        return
    same, files = len(outcome.unchanged), len(outcome.files)
    kept = f"; {counted(same, 'figure')} unchanged" if same else ""
    typer.echo(
        f"{counted(files, 'file')} {'is' if files == 1 else 'are'} up to date in {results}{kept}.",
        err=as_json,
    )
    if outcome.page and not as_json:
        size = outcome.page.stat().st_size
        typer.echo(f"The report: {outcome.page} ({size / 1e6:.2f} MB)")
    if outcome.assessment.unread:
        raise typer.Exit(EXIT_FAILED)


def _print_json(outcome: ReportOutcome) -> None:
    """Print the verdicts by paper, and the summaries of the runs without a paper."""
    from ddr_cli.papers.record import verdict_record

    runs = {each.run.name: each.rows for each in outcome.assessment.others}
    print_json({"papers": verdict_record(outcome.assessment.verdicts), "runs": runs})


def _conclude(outcome: ReportOutcome, results: Path) -> None:
    from ddr_cli.core.errors import InputError

    if not outcome.recorded:
        raise InputError(f"{results} has no recorded verdicts; run 'ddr report {results}' first.")
    if outcome.regressions or outcome.assessment.unread:
        raise typer.Exit(EXIT_FAILED)
    typer.echo("The trial logs still support every recorded verdict.", err=True)


def _show(outcome: ReportOutcome, *, full: bool) -> None:
    from ddr_cli.papers.terminal import count_grids, paper_grids
    from ddr_cli.report.run_page import run_blocks, totals_table
    from ddr_cli.show.terminal import show

    screen = console()
    papers, own = outcome.assessment.papers, outcome.assessment.others
    if papers and not full:
        show(count_grids(outcome.assessment), screen)
    for result in papers if full else ():
        show(paper_grids(result), screen)
    # With papers, or with many own runs, each own run is only one line of a table.
    shown = full or (not papers and len(own) <= _MOST_OWN_RUNS)
    for run in own if shown else ():
        show(run_blocks(run), screen)
    if own and not shown:
        show([totals_table(own)], screen)
    if not full and (papers or not shown):
        typer.echo("To see every number and claim, add --full or open the page.")
