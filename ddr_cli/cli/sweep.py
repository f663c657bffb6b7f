"""`ddr sweep`: a spec, or a data set and a reducer, swept over a parameter."""

from __future__ import annotations

from typing import Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import RunOptions, allowed, load, takes_run_options
from ddr_cli.core.errors import InputError

DEFAULT_SPEC = "landsat_ccdr"
DEFAULT_CLASSIFIER = "knn"


@takes_run_options
def sweep(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]",
            help=f"A spec's path or name; {DEFAULT_SPEC} unless --dataset is given.",
            autocompletion=completion.specs,
        ),
    ] = None,
    params: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            help="The parameter: beta, n_components, classifier.n_neighbors, ... "
            "Repeated, the grids are crossed.",
        ),
    ] = None,
    values: Annotated[
        list[str] | None,
        typer.Option(
            "--values",
            help="Its values, 0.01,0.1,1 or {log: [0.01, 10, 13]}; the reducer's own grid if not "
            "given. Repeated in the order of --param.",
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            "--dataset",
            help="Sweep on this data set, without a spec.",
            autocompletion=completion.datasets,
        ),
    ] = None,
    reducers: Annotated[
        list[str] | None,
        typer.Option(
            "--reducer",
            help="With --dataset: the reducer.",
            autocompletion=completion.reducers,
        ),
    ] = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option(
            "--classifier",
            help=f"With --dataset: {DEFAULT_CLASSIFIER} if not given.",
            autocompletion=completion.classifiers,
        ),
    ] = None,
    *,
    options: RunOptions,
) -> None:
    """Sweep a parameter of a spec and end in a table and a curve.

    `ddr sweep --param beta` sweeps CCDR's beta on Landsat; `ddr sweep digits_ccdr_beta --param
    n_neighbors --values 2,4,8` another spec; `ddr sweep --dataset iris --reducer lda --param
    n_components` needs none.
    """
    from ddr_cli.cli.run import run_and_show
    from ddr_cli.spec import make_spec, parse_values, with_sweep

    if not params:
        raise InputError("Name the parameter to sweep, such as --param beta.")
    if dataset is None:
        if reducers or classifiers:
            raise InputError("--reducer and --classifier go with --dataset; a spec has its own.")
        base = load(spec or DEFAULT_SPEC, options.trust, options.overrides, options.repeats)
    else:
        if spec is not None:
            raise InputError(f"Give either the spec '{spec}' or --dataset, not both.")
        if not reducers:
            raise InputError("Name the reducer to sweep, such as --reducer ccdr.")
        # Its default number of dimensions, which the sweep replaces, need not be possible.
        names = [param.removeprefix("reducer.") for param in params]
        base = allowed(
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
    if len(values or ()) > len(params):
        raise InputError("There are more --values than --param; give one --values per --param.")
    grids = [parse_values(text) for text in values or ()]
    padded = [*grids, *[None] * (len(params) - len(grids))]
    swept = with_sweep(base, dict(zip(params, padded, strict=True)))
    run_and_show([swept], options)
