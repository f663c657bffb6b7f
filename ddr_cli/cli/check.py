"""`ddr check`: tests, on tiny data, of everything that a run requires of a method."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    Sandbox,
    Trust,
    allowed,
    assigned,
    console,
    print_json,
    print_table,
)
from ddr_cli.core.errors import EXIT_FAILED
from ddr_cli.core.own_code import located

if TYPE_CHECKING:
    from ddr_cli.engine.contracts import Checked
    from ddr_cli.show.page import Grid


def check(
    name: Annotated[
        str,
        typer.Argument(
            help="A reducer or classifier: a name, ./mine.py:MyMethod or package.module:Class.",
            autocompletion=completion.pieces,
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PARAMETER=VALUE",
            help="A parameter of the reducer or classifier. May be repeated.",
        ),
    ] = None,
    as_json: AsJson = False,
    trust: Trust = False,
    sandbox: Sandbox = False,  # noqa: ARG001 (its callback acts)
) -> None:
    """Check in seconds that a method meets the requirements of a run, such as determinism.

    If a method fails a check, the command states what this means for a run and exits with code 1.
    """
    from ddr_cli.engine.contracts import check_piece

    given = dict(assigned("--set", text) for text in settings or ())
    # A method of scikit-learn runs in this process, and may print its progress.
    with redirect_stdout(sys.stderr):
        found = allowed(trust, lambda: check_piece(located(name, None), given))
    if as_json:
        print_json([asdict(checked) for checked in found])
    else:
        for checked in found:
            _show(checked)
    if any(checked.failing for checked in found):
        raise typer.Exit(EXIT_FAILED)


def _show(checked: Checked) -> None:
    print_table(console(), _table(checked))
    for finding in checked.failing:
        typer.echo(f"{finding.contract}: {finding.meaning}")
    held = sum(finding.holds is True for finding in checked.findings)
    typer.echo(f"The method meets {held} requirements and fails {len(checked.failing)}.\n")


def _table(checked: Checked) -> Grid:
    import pandas as pd

    from ddr_cli.show.page import Badge, Grid

    what = "a reducer" if checked.section == "reducers" else "a classifier"
    words = {True: Badge("yes", "good"), False: Badge("no", "bad"), None: Badge("-", "dim")}
    rows = [(each.contract, words[each.holds], each.note) for each in checked.findings]
    frame = pd.DataFrame(rows, columns=["contract", "holds", "how"])
    return Grid(frame, f"{checked.name} as {what}", left=("holds", "how"), narrow=True)
