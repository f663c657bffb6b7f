"""`ddr validate`: check specs without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ddr_cli.cli.options import Overrides, SpecNames, Trust, load, refuse_shared_folder
from ddr_cli.core.errors import InputError, counted
from ddr_cli.core.progress import progress_bar

if TYPE_CHECKING:
    from ddr_cli.spec import Spec

_FEW = 10  # so few specs need no progress bar, which would disturb a question about trust


def validate(specs: SpecNames, overrides: Overrides = None, trust: Trust = False) -> None:
    """Check the keys, types, ranges and names of specs without running them.

    The command prints every problem with its file, line and column.
    """
    from ddr_cli.spec import expand, left_out

    loaded: list[Spec] = []
    lines, problems = [], []
    for name in progress_bar(specs, "Specs") if len(specs) > _FEW else specs:
        try:
            spec = load(name, trust, overrides)
            loaded.append(spec)
            refuse_shared_folder(loaded)
        except InputError as error:
            problems.append(str(error))
        else:
            lines.append(f"{name}: valid, {counted(len(expand(spec)), 'trial')}")
            lines += [f"  {line}" for line in left_out(spec)]
    for line in lines:
        typer.echo(line)
    if problems:
        raise InputError("\n".join(problems))
