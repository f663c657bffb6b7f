"""`ddr report`: the papers' numbers beside ours, from journals alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.report import Format

if TYPE_CHECKING:
    from ddr_cli.report import ReportOutcome


def report(
    results: Annotated[
        Path, typer.Argument(help="The folder that holds the runs' folders.")
    ] = Path("results"),
    paper: Annotated[
        str | None, typer.Option("--paper", metavar="NAME", help="Only this paper, such as ccdr.")
    ] = None,
    format: Annotated[
        Format, typer.Option("--format", help="Tables in one form, the page, or all of them.")
    ] = Format.all,
    check: Annotated[
        bool,
        typer.Option(
            "--check",
            help="Write nothing; exit 1 if a verdict of verdicts.json is lost.",
        ),
    ] = False,
) -> None:
    """Rebuild tables, figures, verdicts and one page from the journals of all runs."""
    from ddr_cli.report import check_report, write_report

    if check:
        outcome = check_report(results, paper=paper)
    else:
        outcome = write_report(results, paper=paper, format=format)
    _show(outcome)
    for lost in outcome.regressions:
        typer.echo(f"Lost since the record: {lost}", err=True)
    if check:
        _conclude(outcome, results)
        return
    typer.echo(f"{len(outcome.files)} files written below {results}.")
    if outcome.page:
        typer.echo(f"The report: {outcome.page}")


def _conclude(outcome: ReportOutcome, results: Path) -> None:
    from ddr_cli.core.errors import InputError

    if not outcome.recorded:
        raise InputError(
            f"{results} holds no verdicts to check against; 'ddr report {results}' records them."
        )
    if outcome.regressions:
        raise typer.Exit(1)
    typer.echo("No recorded verdict is lost.")


def _show(outcome: ReportOutcome) -> None:
    from rich.console import Console

    from ddr_cli.report.terminal import paper_tables

    console = Console()
    for result in outcome.assessment.papers:
        for table in paper_tables(result):
            console.print(table)
    others = [summary.run for summary in outcome.assessment.others]
    if others:
        console.print("Other runs: " + "; ".join(f"{run.name} ({run.progress})" for run in others))
