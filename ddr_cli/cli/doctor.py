"""`ddr doctor`: what this machine offers, and whether a small run has the numbers it should."""

from __future__ import annotations

from pathlib import Path

import typer

from ddr_cli.cli.options import AsJson, DataDir, Out, in_width, sources

_EXIT_CHECK_SAID_NO = 1
_MARKS = {True: "ok", False: "WRONG", None: ""}


def doctor(out: Out = Path("results"), data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show versions, BLAS and threads, disk, the data that are here, and a self-test's number.

    Exits with 1 if the self-test fails, or a folder that runs need is full or can't be written to.
    """
    import json

    from ddr_cli.engine.doctor import examine

    findings = []
    for found in examine(out, sources(data_dir, offline=True)):
        findings.append(found)
        if not as_json:
            line = f"{_MARKS[found.good]:<6}{found.name:<14}{found.detail}"
            typer.echo(in_width(line, indent=20))
    if as_json:
        typer.echo(json.dumps([found._asdict() for found in findings], indent=2))
    if any(found.good is False for found in findings):
        raise typer.Exit(_EXIT_CHECK_SAID_NO)
