"""`ddr new`: a file to start from, for your own method or spec."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from ddr_cli.cli.options import ClassifierNames, DatasetName, Force, ReducerNames, Trust, allowed
from ddr_cli.core.errors import InputError

app = typer.Typer(help="Create a file for your own method or spec.", no_args_is_help=True)


@app.command("method")
def method(
    name: Annotated[
        str, typer.Argument(help="Name of the new file, without .py, such as my_method.")
    ],
    force: Force = False,
) -> None:
    """Create a working method of about 40 lines, and a test of the method."""
    from ddr_cli.spec.new import write_method

    code, test, called = write_method(name, force=force)
    typer.echo(f"Wrote {code} and {test}. Next:")
    typer.echo(f"  ddr check {called} --trust")
    typer.echo(f"  ddr new spec my_spec --dataset iris --reducer {called} --reducer lda --trust")


@app.command("spec")
def spec(
    name: Annotated[str, typer.Argument(help="Name of the new file, without .yaml.")],
    dataset: DatasetName = None,
    reducers: ReducerNames = None,
    classifiers: ClassifierNames = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            "--sweep",
            metavar="PARAMETER=VALUES",
            help="Sweep a parameter, such as reducer.n_components=1,2,3. May be repeated.",
        ),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Tune each method on inner folds of each training set.")
    ] = False,
    trust: Trust = False,
    force: Force = False,
) -> None:
    """Write a commented spec that is ready to run, and a schema that lets editors check it.

    In a terminal, the command asks for missing options.
    """
    from ddr_cli.spec.new import write_spec

    dataset = dataset or _asked("data set", "--dataset", "iris")
    reducers = reducers or _asked("reducers", "--reducer", "lda pca").split()
    found = allowed(
        trust,
        lambda: write_spec(
            name,
            dataset=dataset,
            reducers=reducers,
            classifiers=classifiers or ["knn"],
            sweep=dict(map(_swept, sweep or ())),
            tuned=tune,
            force=force,
        ),
    )
    path, trials = found
    word = " --trust" if trust else ""
    typer.echo(f"Wrote {path}: {trials} trials. Next:\n  ddr run {path} --jobs 2{word}")


def _asked(what: str, option: str, default: str) -> str:
    if not sys.stdin.isatty():
        raise InputError(f"Name the {what}, such as {option} {default.split()[0]}.")
    listed = "datasets" if option == "--dataset" else what
    answer: str = typer.prompt(f"Which {what} ('ddr list {listed}')", default)
    return answer


def _swept(text: str) -> tuple[str, Any]:
    from ddr_cli.spec import parse_values

    parameter, equals, values = text.partition("=")
    if not equals:
        raise InputError(f"--sweep {text} is not a sweep; write reducer.n_components=1,2,3.")
    return parameter, parse_values(values)
