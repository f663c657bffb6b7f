"""`ddr status`: how far runs are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import AsJson, in_width
from ddr_cli.core.errors import InputError


def status(
    results: Annotated[
        Path, typer.Argument(help="A run's folder, or the folder that holds the runs'.")
    ] = Path("results"),
    as_json: AsJson = False,
    reasons: Annotated[
        bool,
        typer.Option("--reasons", help="Show where in its code each reason of a failure arose."),
    ] = False,
) -> None:
    """Show how far runs are: done, failed and why, to do, and the time that is left."""
    import json

    from ddr_cli.engine import run_status

    folders = _run_folders(results)
    if not folders:
        raise InputError(
            f"There is no run in {results}; 'ddr run SPEC' makes one, --out says where."
        )
    runs = [run_status(folder, reasons=reasons) for folder in folders]
    if as_json:
        typer.echo(json.dumps([run.as_dict() for run in runs], indent=2))
    else:
        for run in runs:
            typer.echo(in_width(str(run), indent=2))


def _run_folders(results: Path) -> list[Path]:
    if (results / "manifest.json").is_file():
        return [results]
    return sorted(path.parent for path in results.glob("*/manifest.json"))
