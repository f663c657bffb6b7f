"""`ddr score`: what a run has kept, scored by another metric or measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import DataDir, Offline, console, sources
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from ddr_cli.engine import Rescored


def score(
    folder: Annotated[Path, typer.Argument(metavar="RUN", help="A run's folder.")],
    metric: Annotated[
        str | None, typer.Option("--metric", help="A metric of predictions, see 'ddr list'.")
    ] = None,
    measure: Annotated[
        str | None, typer.Option("--measure", help="A measure of embeddings, see 'ddr list'.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of the measure, such as n_neighbors=3. May be repeated.",
        ),
    ] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Score a run that is done by another metric or measure, without running it again.

    The run's spec must have said 'keep: {predictions: true}' for a metric, 'keep: {embeddings:
    500}' for a measure. The scores of all trials are written to scores.csv in the run's folder.
    """
    if (metric is None) == (measure is None):
        raise InputError("Say what to score by: --metric NAME or --measure NAME.")
    if settings and measure is None:
        raise InputError("--set is for a measure's parameters; metrics have none.")
    from ddr_cli.engine import score_run

    rescored = score_run(
        folder,
        metric=metric,
        measure=measure,
        params=_params(settings or []),
        sources=sources(data_dir, offline),
    )
    console().print(_table(folder.resolve().name, rescored))
    typer.echo(f"  {folder / 'scores.csv'}")
    if rescored.missing:
        typer.echo(
            f"Of {rescored.missing} trials nothing is kept: they were run before "
            "the spec said so. Run it with --fresh to have them all.",
            err=True,
        )


def _params(settings: list[str]) -> dict[str, Any]:
    import yaml

    params = {}
    for setting in settings:
        name, sign, value = setting.partition("=")
        if not (name and sign):
            raise InputError(f"--set {setting} is not of the form KEY=VALUE.")
        try:
            params[name] = yaml.safe_load(value)
        except yaml.YAMLError:
            raise InputError(f"--set {setting}: the value is not YAML.") from None
    return params


def _table(name: str, rescored: Rescored) -> Table:
    """Return the mean over splits of each method and setting."""
    from rich.table import Table

    scale, scores = rescored.scale, rescored.table
    factor, unit = (100, " in %") if scale.rate else (1, "")
    on = "" if rescored.points is None else f", {rescored.points} points of each"
    shown = Table(title=f"{name}: {scale.title}{unit}, mean and standard deviation over splits{on}")
    families = scores["split"].str.replace(r"-\d+$", "", regex=True)
    keys = [*_keys(scores), "split"]
    for key in (*keys, "n"):
        shown.add_column(key.removeprefix("reducer.").removeprefix("classifier."))
    shown.add_column(scale.name, justify="right", no_wrap=True)
    for _, group in scores.assign(split=families).groupby(keys, dropna=False, sort=False):
        values = factor * group[scale.name]
        spread = f" ± {values.std():.2f}" if len(values) > 1 else ""
        cells = [_text(group[key].iloc[0]) for key in keys]
        shown.add_row(*cells, str(len(values)), f"{values.mean():.2f}{spread}")
    return shown


def _keys(scores: pd.DataFrame) -> list[str]:
    """Return the columns that tell rows apart: pieces, what their settings differ in, kinds."""
    columns = [str(name) for name in scores.columns]
    pieces = [name for name in ("reducer", "classifier") if name in columns]
    varying = [
        name
        for name in columns
        if "." in name
        and name != "split.train"
        and (scores.groupby(pieces)[name].nunique(dropna=False) > 1).any()
    ]
    return [
        *pieces,
        *varying,
        *(name for name in ("labels", "control", "tuned") if name in columns),
    ]


def _text(value: Any) -> str:
    import pandas as pd

    return "" if pd.isna(value) else f"{value:g}" if isinstance(value, float) else str(value)
