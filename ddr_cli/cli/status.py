"""`ddr status`: the progress of runs or of a suite."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import AsJson, Hours, Trust, in_width, is_suite, print_json
from ddr_cli.cli.suite import Results, show_status
from ddr_cli.core.errors import EXIT_FAILED, InputError


def status(
    results: Annotated[
        Path,
        typer.Argument(
            help="The folder of a run, the folder that contains the run folders, or a suite.",
            autocompletion=completion.suites,
        ),
    ] = Path("results"),
    hours: Hours = None,
    out: Results = Path("results"),
    as_json: AsJson = False,
    reasons: Annotated[
        bool,
        typer.Option("--reasons", help="Show the line of code that raised each failure."),
    ] = False,
    trust: Trust = False,
) -> None:
    """Show the progress of runs: trials done, failures and their reasons, and the time left.

    Unreadable runs are named and skipped (exit code 1).

    `ddr status lite` shows which trials of a suite are done, stale or missing, by data set and by
    method. Stale rows belong to another version of the suite, the data, a method or a setting;
    tables omit them, and `ddr suite run` replaces them. With --hours, it also estimates the CPU
    time that is left, and how many splits this budget covers.
    """
    from ddr_cli.engine import run_status

    if not results.is_dir() and is_suite(str(results)):
        show_status(str(results), out, hours, as_json=as_json, trust=trust)
        return
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
