"""`ddr fit` and `ddr apply`: the method to keep, fitted to all labelled points, and its use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import DataDir, Offline, Out, Overrides, SpecName, Trust, load, sources


def fit(
    spec: SpecName,
    save: Annotated[
        Path, typer.Option("--save", metavar="FILE", help="The model's file, such as model.skops.")
    ],
    reducer: Annotated[
        str | None, typer.Option("--reducer", help="Keep this reducer, by its name or label.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option("--classifier", help="Keep this classifier, by its name or label.")
    ] = None,
    overrides: Overrides = None,
    out: Out = Path("results"),
    data_dir: DataDir = None,
    offline: Offline = False,
    trust: Trust = False,
) -> None:
    """Fit a spec's winner to all labelled points and keep it in a file, without pickle.

    The winner is told by the spec's run: where it tunes, by the inner scores, in which no test
    point has a say; else by the mean over the test parts, which makes that mean too good for the
    winner. --reducer and --classifier choose by hand; a spec with one method needs no run.
    """
    from ddr_cli.data.card import load_card
    from ddr_cli.engine import Datasets, make_plan
    from ddr_cli.engine.model import fit_model, require_skops, save_model
    from ddr_cli.engine.winner import choose_winner
    from ddr_cli.engine.work.splits import check_prepared

    require_skops()
    loaded = load(spec, trust, overrides)
    datasets = Datasets(sources(data_dir, offline))
    plan = make_plan(loaded, datasets=datasets)
    winner = choose_winner(plan, out / loaded.name, reducer=reducer, classifier=classifier)
    dataset = datasets.load(loaded, plan.data.options)
    check_prepared(loaded, dataset)
    layouts = load_card(loaded.card).layouts
    reading = layouts[0].format.options if layouts else {}
    model = fit_model(
        loaded, winner, dataset, reading, lambda text: typer.echo(f"  {text}", err=True)
    )
    save_model(model, save)
    record = model.record
    typer.echo(f"{winner.title}: {winner.chosen}.")
    typer.echo(
        f"  {save}: fitted to {record.n_samples} points of {record.dataset}, {record.n_features} "
        f"features, {len(record.classes)} classes"
    )


def apply(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file that 'ddr fit' wrote.")],
    rows: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A table with the model's columns, or an .npy array."),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="A CSV file (default: standard output)."),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option("--trust", help="Load what a model holds beside pieces of this program."),
    ] = False,
) -> None:
    """Say what a model predicts for new rows, and where it places them.

    Columns are found by their names; labels are not needed, nor looked at if there are any.
    """
    import numpy as np
    import pandas as pd

    from ddr_cli.core.atomic import atomic_write, clear_messages
    from ddr_cli.data.formats.new_rows import read_new_rows
    from ddr_cli.engine.model import load_model

    loaded = load_model(model, trust=trust)
    record = loaded.record
    X = read_new_rows(
        rows,
        record.reading,
        n_features=record.n_features,
        names=record.feature_names,
        categories=record.categories,
        note=lambda text: typer.echo(f"  {text}", err=True),
    )
    places = loaded.embed(X)
    facts = {"row": np.arange(len(X)), "prediction": loaded.predict(places)}
    table = pd.DataFrame(facts | {f"x{i}": axis for i, axis in enumerate(places.T, start=1)})
    text = table.to_csv(index=False, lineterminator="\n")
    if out is None:
        typer.echo(text, nl=False)
        return
    with clear_messages(out):
        atomic_write(out, text)
    typer.echo(f"{len(X)} rows, {record.reducer} with {record.classifier} of {record.dataset}")
    typer.echo(f"  {out}")
