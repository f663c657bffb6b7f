"""`ddr sweep`: a spec, or a data set and a reducer, swept over a parameter."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import (
    Backend,
    DataDir,
    Fresh,
    Jobs,
    MemoryLimit,
    Offline,
    Out,
    Overrides,
    Quiet,
    Repeats,
    RetryFailed,
    Scheduler,
    Timeout,
    memory_limit,
    sources,
)
from ddr_cli.core.errors import InputError

DEFAULT_SPEC = "landsat_ccdr"
DEFAULT_CLASSIFIER = "knn"


def sweep(
    spec: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC]",
            help=f"A spec's path or name; {DEFAULT_SPEC} unless --dataset is given.",
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
        str | None, typer.Option("--dataset", help="Sweep on this data set, without a spec.")
    ] = None,
    reducers: Annotated[
        list[str] | None, typer.Option("--reducer", help="With --dataset: the reducer.")
    ] = None,
    classifiers: Annotated[
        list[str] | None,
        typer.Option("--classifier", help=f"With --dataset: {DEFAULT_CLASSIFIER} if not given."),
    ] = None,
    overrides: Overrides = None,
    repeats: Repeats = None,
    out: Out = Path("results"),
    jobs: Jobs = 1,
    timeout: Timeout = None,
    memory: MemoryLimit = None,
    backend: Backend = "local",
    scheduler: Scheduler = None,
    fresh: Fresh = False,
    retry_failed: RetryFailed = False,
    data_dir: DataDir = None,
    offline: Offline = False,
    quiet: Quiet = False,
) -> None:
    """Sweep a parameter of a spec and end in a table and a curve.

    `ddr sweep --param beta` sweeps CCDR's beta on Landsat; `ddr sweep digits_ccdr_beta --param
    n_neighbors --values 2,4,8` another spec; `ddr sweep --dataset iris --reducer lda --param
    n_components` needs none.
    """
    from ddr_cli.cli.running import RunSettings, run_and_show
    from ddr_cli.spec import load_spec, make_spec, parse_values, with_sweep

    if not params:
        raise InputError("Name the parameter to sweep, such as --param beta.")
    if dataset is None:
        if reducers or classifiers:
            raise InputError("--reducer and --classifier go with --dataset; a spec has its own.")
        base = load_spec(spec or DEFAULT_SPEC, overrides=overrides or (), repeats=repeats)
    else:
        if spec is not None:
            raise InputError(f"Give either the spec '{spec}' or --dataset, not both.")
        if not reducers:
            raise InputError("Name the reducer to sweep, such as --reducer ccdr.")
        base = make_spec(
            dataset=dataset,
            reducers=reducers,
            classifiers=classifiers or [DEFAULT_CLASSIFIER],
            overrides=overrides or (),
            repeats=repeats,
        )
    if len(values or ()) > len(params):
        raise InputError("There are more --values than --param; give one --values per --param.")
    grids = [parse_values(text) for text in values or ()]
    padded = [*grids, *[None] * (len(params) - len(grids))]
    swept = with_sweep(base, dict(zip(params, padded, strict=True)))
    settings = RunSettings(
        out=out,
        jobs=jobs,
        timeout=timeout,
        memory_limit=memory_limit(memory),
        backend=backend,
        scheduler=scheduler,
        fresh=fresh,
        retry_failed=retry_failed,
        sources=sources(data_dir, offline),
        quiet=quiet,
    )
    run_and_show([swept], settings)
