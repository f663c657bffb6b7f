"""`ddr sweep`: a first look at how a parameter of a spec matters."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    Jobs,
    Out,
    Overrides,
    Quiet,
    RedoWords,
    Repeats,
    Trust,
    load,
)
from ddr_cli.core.errors import InputError, counted

DEFAULT_SPEC = "landsat_ccdr_beta"
DEFAULT_REPEATS = 10


def sweep(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]",
            help=f"Path or name of a spec (default: {DEFAULT_SPEC}).",
            autocompletion=completion.specs,
        ),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            help="Parameter to sweep, such as beta, n_components or classifier.n_neighbors. "
            "Repeat --param to sweep a grid.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--values",
            help="Values of --param: 0.01,0.1,1 or {log: [0.01, 10, 13]}; default: the method's "
            "grid. If you give --param several times, repeat --values in the same order.",
        ),
    ] = None,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    jobs: Jobs = 1,
    redo: RedoWords = None,
    trust: Trust = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Sweep a parameter of a spec; write a table and a curve.

    `ddr sweep --param beta` sweeps CCDR's beta on Landsat, with 10 re-splits. `ddr sweep
    digits_ccdr_beta --param n_neighbors --values 2,4,8` sweeps n_neighbors of the spec
    digits_ccdr_beta. To sweep your own choice of data and methods, begin with ddr new spec. For a
    long run, write the grid into the spec, or use ddr run SPEC --set sweep.reducer.beta=[0.1,1].
    """
    from ddr_cli.cli.run import run_and_show
    from ddr_cli.engine import Datasets, RunSettings, describe_plan
    from ddr_cli.spec import parse_values, with_sweep

    if not params:
        raise InputError("Name the parameter to sweep, such as --param beta.")
    if len(values or ()) > len(params):
        raise InputError("There are more --values than --param; use --values once per --param.")
    if spec is None and not any("repeats" in text for text in overrides or ()):
        # Few repeats suffice for a first look; the spec's own number takes five times as long.
        repeats = repeats or DEFAULT_REPEATS
    base = load(spec or DEFAULT_SPEC, trust, overrides, repeats)
    grids = [parse_values(text) for text in values or ()]
    padded = [*grids, *[None] * (len(params) - len(grids))]
    swept = with_sweep(base, dict(zip(params, padded, strict=True)))
    settings = RunSettings(out=out, jobs=jobs, redo=tuple(redo or ()), quiet=quiet or as_json)
    if not settings.quiet:
        facts = describe_plan(swept, out=out, datasets=Datasets())
        todo = facts.trials if "all" in settings.redo else facts.remaining
        size = f"{todo} of {facts.trials} trials to do, over {counted(facts.splits, 'split')}"
        typer.echo(f"{swept.name}: {size}.", err=True)
    run_and_show([swept], settings, as_json=as_json)
