"""`ddr status`: the progress of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import AsJson, in_width, print_json
from ddr_cli.core.errors import EXIT_FAILED, InputError


def status(
    results: Annotated[
        Path,
        typer.Argument(help="The folder of a run, or the folder that contains the run folders."),
    ] = Path("results"),
    as_json: AsJson = False,
    reasons: Annotated[
        bool,
        typer.Option("--reasons", help="Show the line of code that raised each failure."),
    ] = False,
) -> None:
    """Show the progress of runs: trials done, failures and their reasons, and the time left.

    If a run cannot be read, the command names the run, shows the other runs and exits with code 1.
    """
    from ddr_cli.engine import run_status

    folders = _run_folders(results)
    if not folders:
        raise InputError(f"{results} has no runs; start one with 'ddr run SPEC --out {results}'.")
    runs, unread = [], []
    for folder in folders:
        try:
            runs.append(run_status(folder, reasons=reasons))
        except InputError as error:
            unread.append(error)
    if not runs:
        raise InputError("\n".join(map(str, unread)))
    if as_json:
        print_json([run.as_dict() for run in runs])
    else:
        for run in runs:
            typer.echo(in_width(str(run), indent=2))
    for reason in unread:
        typer.echo(f"Skipped: {reason}", err=True)
    if unread:
        raise typer.Exit(EXIT_FAILED)


def _run_folders(results: Path) -> list[Path]:
    if (results / "manifest.json").is_file():
        return [results]
    return sorted(path.parent for path in results.glob("*/manifest.json"))
