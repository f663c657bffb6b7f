"""`ddr describe`: the meaning of a name, and the intrinsic dimension of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.completion import describable
from ddr_cli.cli.options import (
    Trust,
    allowed,
    console,
    in_width,
    is_suite,
    load_suite,
    print_table,
)
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import located


def describe(
    name: Annotated[
        str,
        typer.Argument(
            help="The name of a data set, component, paper, spec or suite; ./mine.py:MyMethod; or "
            "the folder of a run.",
            autocompletion=describable,
        ),
    ],
    dimension: Annotated[
        bool,
        typer.Option(
            "--dimension", help="For a data set: estimate the intrinsic dimension of each class."
        ),
    ] = False,
    trust: Trust = False,
) -> None:
    """Describe a data set, reducer, classifier, measure, preprocessing step, spec or suite.

    The command also describes metrics, kinds of split, file formats, generators and papers. The
    description of a method includes a line to paste into a spec. For the folder of a run, such as
    results/nmmp_iris, the command prints sentences for the section "Experiments" of a paper, and
    the BibTeX of the methods and the data set.
    """
    if (Path(name) / "manifest.json").is_file():
        from ddr_cli.report.experiments import experiments

        typer.echo(experiments(Path(name)))
        return
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.data.cards import card_names
    from ddr_cli.papers.schema import describe_paper, paper_names
    from ddr_cli.report.descriptions import describe as description

    def suite_text(name: str) -> str:
        text = load_suite(name, trust).describe()
        return f"{text}\n\nleaderboard: ddr suite table {name}"

    more = [(paper_names(), describe_paper), (shipped_yaml("suites"), suite_text)]
    text = (
        suite_text(name)
        if is_suite(name)
        else allowed(trust, lambda: description(located(name, None), *more))
    )
    if dimension and not (name in card_names() or name.endswith((".yaml", ".yml"))):
        raise InputError(
            f"'{name}' is not a data set, but --dimension needs one; see 'ddr list datasets'."
        )
    typer.echo(in_width(text))
    if dimension:
        _print_dimensions(name)


def _print_dimensions(name: str) -> None:
    from ddr_cli.core.progress import progress_bar
    from ddr_cli.data import load_dataset
    from ddr_cli.evaluation.intrinsic_dimension import estimate_class_dimension
    from ddr_cli.report.descriptions import dimension_notes, dimension_table

    dataset = load_dataset(name)
    found = [
        estimate_class_dimension(each, dataset.X[dataset.y == code])
        for code, each in enumerate(progress_bar(dataset.target_names, "Classes"))
    ]
    typer.echo("")
    print_table(console(), dimension_table(dataset.name, found))
    for note in dimension_notes(found):
        typer.echo(in_width(note))
