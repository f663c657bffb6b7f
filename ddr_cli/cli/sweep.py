"""`ddr sweep`: a spec, or a data set and a reducer, swept over a parameter."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    DEFAULT_CLASSIFIER,
    ClassifierNames,
    DatasetName,
    ReducerNames,
    RunOptions,
    allowed,
    load,
    takes_run_options,
)
from ddr_cli.core.errors import InputError, counted

if TYPE_CHECKING:
    from ddr_cli.spec import Spec

DEFAULT_SPEC = "landsat_ccdr_beta"
DEFAULT_REPEATS = 10
MANY_TRIALS = 1000


@takes_run_options
def sweep(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]",
            help=f"Path or name of a spec (default without --dataset: {DEFAULT_SPEC}).",
            autocompletion=completion.specs,
        ),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            help="Parameter to sweep, such as beta, n_components or classifier.n_neighbors. "
            "Repeat --param to sweep all combinations of several grids.",
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
    dataset: DatasetName = None,
    reducers: ReducerNames = None,
    classifiers: ClassifierNames = None,
    yes: Annotated[
        bool, typer.Option("--yes", help=f"Start even if there are more than {MANY_TRIALS} trials.")
    ] = False,
    *,
    options: RunOptions,
) -> None:
    """Sweep a parameter of a spec, and write a table and a curve.

    `ddr sweep --param beta` sweeps CCDR's beta on Landsat, with 10 re-splits. `ddr sweep
    digits_ccdr_beta --param n_neighbors --values 2,4,8` sweeps n_neighbors of the spec
    digits_ccdr_beta. `ddr sweep --dataset iris --reducer lda --param n_components` needs no spec.
    """
    from ddr_cli.cli.run import run_and_show
    from ddr_cli.spec import parse_values, with_sweep

    if not params:
        raise InputError("Name the parameter to sweep, such as --param beta.")
    if dataset is None:
        if reducers or classifiers:
            raise InputError("Use --reducer and --classifier only with --dataset.")
        repeats = options.repeats
        if spec is None and not any("repeats" in text for text in options.overrides or ()):
            # Few repeats suffice for a first look; the spec's own number takes five times as long.
            repeats = repeats or DEFAULT_REPEATS
        base = load(spec or DEFAULT_SPEC, options.trust, options.overrides, repeats)
    else:
        if spec is not None:
            raise InputError(f"Give either the spec '{spec}' or --dataset, not both.")
        if not reducers:
            raise InputError("Name the reducer to sweep, such as --reducer ccdr.")
        base = _spec_of(dataset, reducers, classifiers, params, options)
    if len(values or ()) > len(params):
        raise InputError("There are more --values than --param; use --values once per --param.")
    grids = [parse_values(text) for text in values or ()]
    padded = [*grids, *[None] * (len(params) - len(grids))]
    swept = with_sweep(base, dict(zip(params, padded, strict=True)))
    _tell_size(swept, options, yes=yes)
    run_and_show([swept], options)


def _spec_of(
    dataset: str,
    reducers: list[str],
    classifiers: list[str] | None,
    params: list[str],
    options: RunOptions,
) -> Spec:
    from ddr_cli.spec import make_spec

    # The default n_components may be impossible here, but the sweep replaces it.
    names = [param.removeprefix("reducer.") for param in params]
    return allowed(
        options.trust,
        lambda: make_spec(
            dataset=dataset,
            reducers=reducers,
            classifiers=classifiers or [DEFAULT_CLASSIFIER],
            sweep={"reducer.n_components": [1]} if "n_components" in names else None,
            overrides=options.overrides or (),
            repeats=options.repeats,
        ),
    )


def _tell_size(spec: Spec, options: RunOptions, *, yes: bool) -> None:
    """Print the amount of work, and ask before a large sweep starts."""
    from ddr_cli.engine import Datasets, describe_plan

    datasets = Datasets(options.sources())
    facts = describe_plan(spec, out=options.out, datasets=datasets)
    todo = facts.trials if "all" in (options.redo or ()) else facts.remaining
    splits = counted(facts.splits, "split")
    size = f"{spec.name}: {todo} of {facts.trials} trials to do, over {splits}"
    if todo <= MANY_TRIALS or yes or facts.conflict:
        if not options.quiet:
            typer.echo(f"{size}.", err=True)
        return
    from ddr_cli.engine.progress import duration

    if facts.seconds_left is not None:
        size += f"; about {duration(facts.seconds_left)} left at the last run's speed"
    shorter = "To shorten the run, set --repeats (splits) or --jobs (processes)"
    if not sys.stdin.isatty() or os.environ.get("CI"):
        raise InputError(f"{size}. Use --yes to start. {shorter}.")
    typer.echo(f"{size}. {shorter}.", err=True)
    if not typer.confirm("Start?", err=True):
        raise typer.Exit(InputError.exit_code)
