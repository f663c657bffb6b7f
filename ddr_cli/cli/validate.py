"""`ddr validate`: check specs without running anything."""

from __future__ import annotations

import typer

from ddr_cli.cli.options import Overrides, SpecNames, Trust, load
from ddr_cli.core.errors import InputError
from ddr_cli.core.progress import track

_FEW = 10  # so few specs need no progress bar, which would disturb a question about trust


def validate(specs: SpecNames, overrides: Overrides = None, trust: Trust = False) -> None:
    """Check the keys, types, ranges and names of specs without running them.

    The command prints every problem with its file, line and column.
    """
    from ddr_cli.spec import expand, left_out

    lines, problems = [], []
    for name in track(specs, "Specs") if len(specs) > _FEW else specs:
        try:
            spec = load(name, trust, overrides)
        except InputError as error:
            problems.append(str(error))
        else:
            lines.append(f"{name}: valid, {len(expand(spec))} trials")
            lines += [f"  {line}" for line in left_out(spec)]
    for line in lines:
        typer.echo(line)
    if problems:
        raise InputError("\n".join(problems))
