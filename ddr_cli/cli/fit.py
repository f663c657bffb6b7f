"""`ddr fit`: the selected method, fitted to all labelled samples and saved."""

from __future__ import annotations

import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import Out, Overrides, SpecName, Trust, load


def fit(
    spec: SpecName,
    save: Annotated[
        Path, typer.Option("--save", metavar="FILE", help="File to write, such as model.skops.")
    ],
    reducer: Annotated[
        str | None, typer.Option("--reducer", help="Name or label of the reducer to fit.")
    ] = None,
    classifier: Annotated[
        str | None, typer.Option("--classifier", help="Name or label of the classifier to fit.")
    ] = None,
    overrides: Overrides = None,
    out: Out = Path("results"),
    trust: Trust = False,
) -> None:
    """Fit a spec's best method to all labelled samples and save it as a scikit-learn pipeline.

    The command selects the best method from the results of `ddr run`: by the score on the inner
    folds if the spec tunes its methods, and otherwise by the mean test score. The mean test score
    of the selected method is optimistic. --reducer and --classifier select a method by name. If the
    spec has only one method, you need not run the spec first. The saved file contains no pickle.
    The command prints the lines of Python that load the file.
    """
    from ddr_cli.core.atomic import require_folder_of
    from ddr_cli.core.own_code import is_code
    from ddr_cli.engine import Datasets, make_plan
    from ddr_cli.engine.pipeline import fit_pipeline, require_skops, save_pipeline
    from ddr_cli.engine.winner import choose_winner
    from ddr_cli.engine.work.draws import check_prepared

    require_skops()
    require_folder_of(save)
    loaded = load(spec, trust, overrides)
    datasets = Datasets()
    plan = make_plan(loaded, datasets=datasets)
    winner = choose_winner(plan, out / loaded.name, reducer=reducer, classifier=classifier)
    dataset = datasets.load(loaded, plan.data.options)
    check_prepared(loaded, dataset)
    with redirect_stdout(sys.stderr):  # the methods may print; stdout is the code to copy
        pipeline = fit_pipeline(
            loaded, winner, dataset, lambda text: typer.echo(f"  {text}", err=True)
        )
    types = save_pipeline(pipeline, save)
    typer.echo(f"{winner.title}: {winner.chosen}. The model is in {save}; load and use it:\n")
    names = [step.name for step in loaded.preprocess]
    names += [winner.reducer.name, winner.classifier.name]
    for name in (each for each in names if is_code(each) and ".py:" in each):
        # skops loads a class from a user's file only if that file has been loaded before.
        typer.echo("from ddr_cli.core.own_code import load_code, trust")
        typer.echo(f"trust(); load_code({name!r})")
    typer.echo("import skops.io")
    typer.echo(f"model = skops.io.load({str(save)!r}, trusted={types})")
    typer.echo(
        f"model.predict(X)  # X: the {dataset.n_features} features of {dataset.name}, in the same "
        "order and encoding"
    )
    columns = dataset.feature_names or [f"x{i}" for i in range(dataset.n_features)]
    for column, texts in zip(dataset.categorical, dataset.categories, strict=True):
        codes = ", ".join(f"{code} = {text}" for code, text in enumerate(texts))
        typer.echo(f"# {columns[column]}: {codes}")
