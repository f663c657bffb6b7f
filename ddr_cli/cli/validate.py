"""`ddr validate`: check specs without running anything."""

from __future__ import annotations

import typer

from ddr_cli.cli.options import Overrides, SpecNames, Trust, load
from ddr_cli.core.errors import InputError


def validate(specs: SpecNames, overrides: Overrides = None, trust: Trust = False) -> None:
    """Check the keys, types, ranges and names of specs without running them.

    The command prints every problem with its file, line and column.
    """
    from ddr_cli.spec import expand, left_out

    problems = []
    for name in specs:
        try:
            spec = load(name, trust, overrides)
        except InputError as error:
            problems.append(str(error))
        else:
            typer.echo(f"{name}: valid, {len(expand(spec))} trials")
            for line in left_out(spec):
                typer.echo(f"  {line}")
    if problems:
        raise InputError("\n".join(problems))
