"""`ddr report`: the papers' numbers beside ours, from journals alone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.report.formats import Format

if TYPE_CHECKING:
    from rich.table import Table

    from ddr_cli.report import ReportOutcome
    from ddr_cli.report.assess import PaperResult

_STYLES = {
    "reproduced": "green",
    "better": "green",
    "holds": "green",
    "worse": "red",
    "differs": "red",
    "fails": "red",
    "undecided": "yellow",
    "unverifiable": "yellow",
    "not run": "dim",
    "not applicable": "dim",
}


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
            help="Write nothing; exit 1 if a verdict is worse than the one in verdicts.json.",
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
    for worse in outcome.regressions:
        typer.echo(f"Worse than recorded: {worse}", err=True)
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
    typer.echo("No verdict is worse than the one recorded.")


def _show(outcome: ReportOutcome) -> None:
    from rich.console import Console

    console = Console()
    for result in outcome.assessment.papers:
        for table in _tables(result):
            console.print(table)
    others = [summary.run for summary in outcome.assessment.others]
    if others:
        console.print("Other runs: " + "; ".join(f"{run.name} ({run.progress})" for run in others))


def _tables(result: PaperResult) -> Iterable[Table]:
    from rich.table import Table

    from ddr_cli.report.tables import described, ours_text, printed_text

    numbers = Table(title=f"{result.paper.short}: printed numbers", title_justify="left")
    for head in ("", "printed", "ours, the paper's setting", "ours, re-splits"):
        numbers.add_column(head, justify="right" if "ours" in head else "left")
    for item in result.artefacts:
        where = item.artefact.where
        if item.unverifiable:
            verdict = _coloured("unverifiable")
            numbers.add_row(f"{where}: {item.artefact.title}", "no number", verdict, verdict)
        for each in item.numbers if item.summaries else ():
            views = [
                f"{ours_text(judged, each.printed.metric)}\n{_coloured(judged.verdict)}"
                for judged in (each.own, each.resplits)
            ]
            what = f"{where}: {described(item.artefact, each)}"
            numbers.add_row(what, printed_text(each), *views)
        for sign in item.marks if item.summaries else ():
            views = [
                f"{judged.sign or judged.reason}\n{_coloured(judged.verdict)}"
                for judged in (sign.own, sign.resplits)
            ]
            numbers.add_row(f"{where}: {sign.mark.id}", sign.mark.printed or "–", *views)
    if numbers.row_count:
        states = [f"{item.artefact.where}: {item.state}" for item in result.artefacts if item.state]
        numbers.caption = "\n".join(states)
        yield numbers
    claims = Table(title=f"{result.paper.short}: claims", title_justify="left")
    for head in ("", "the paper says", "the paper's setting", "re-splits"):
        claims.add_column(head)
    for claim in result.claims:
        if {claim.own.verdict, claim.resplits.verdict} != {"not run"}:
            claims.add_row(
                result.paper.artefact(claim.claim.artefact).where,
                " ".join(claim.claim.sentence.split()),
                _coloured(claim.own.verdict),
                _coloured(claim.resplits.verdict),
            )
    if claims.row_count:
        yield claims


def _coloured(verdict: str) -> str:
    return f"[{_STYLES[verdict]}]{verdict}[/]"
