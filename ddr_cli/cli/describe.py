"""`ddr describe`: what a name stands for, and of a data set its samples and its dimension."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.completion import describable
from ddr_cli.cli.options import (
    DataDir,
    Offline,
    Trust,
    allowed,
    console,
    in_width,
    print_table,
    sources,
)
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import located


class Method(StrEnum):
    """The graphs that the intrinsic dimension is estimated from."""

    gmst = "gmst"
    knn = "knn"


def describe(
    name: Annotated[
        str,
        typer.Argument(
            help="A data set, anything that a spec or a card names (also ./mine.py:MyMethod), a "
            "paper, or a spec.",
            autocompletion=describable,
        ),
    ],
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="For a data set of images: write some samples to a .png or .svg.",
        ),
    ] = None,
    dimension: Annotated[
        bool,
        typer.Option("--dimension", help="For a data set: estimate its intrinsic dimension."),
    ] = False,
    method: Annotated[
        Method | None,
        typer.Option("--method", help="With --dimension: use one graph (default: both)."),
    ] = None,
    of_class: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="NAME",
            help="With --dimension: only this class (default: each). May be repeated.",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="With --dimension: all points together instead of each class."
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="With --dimension: random seed (default: 0)."),
    ] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
    trust: Trust = False,
) -> None:
    """Describe a data set, reducer, classifier, measure, preprocessing step or spec.

    Likewise a metric, a kind of split, a file format, a generator or a paper. What a method's line
    shows can be pasted into a spec.
    """
    from ddr_cli.data.card import card_names
    from ddr_cli.report.descriptions import describe as description

    text = allowed(trust, lambda: description(located(name, None)))
    if dimension:
        if not (name in card_names() or name.endswith((".yaml", ".yml"))):
            raise InputError(
                f"--dimension applies to data sets only; '{name}' is not one. 'ddr list datasets' "
                "shows their names."
            )
        if whole and of_class:
            raise InputError("Give --whole or --class, not both.")
    elif method is not None or of_class or whole or seed is not None:
        raise InputError("--method, --class, --whole and --seed go with --dimension.")
    typer.echo(in_width(text, flow=True))
    if picture is not None:
        _write_picture(name, picture, data_dir, offline)
    if dimension:
        groups = [None] if whole else of_class
        _print_dimensions(name, method, groups, seed or 0, data_dir, offline)


def _write_picture(name: str, picture: Path, data_dir: list[Path] | None, offline: bool) -> None:
    from ddr_cli.data import load_dataset
    from ddr_cli.figures.image_samples import write_samples

    dataset = load_dataset(name, sources=sources(data_dir, offline))
    typer.echo(f"picture: {write_samples(dataset, picture)}")


def _print_dimensions(
    name: str,
    method: Method | None,
    groups: Sequence[str | None] | None,
    seed: int,
    data_dir: list[Path] | None,
    offline: bool,
) -> None:
    from ddr_cli.data import load_dataset
    from ddr_cli.engine import make_progress
    from ddr_cli.evaluation.dimension import Graph, estimate_group_dimensions
    from ddr_cli.report.terminal import dimension_notes, dimension_table

    dataset = load_dataset(name, sources=sources(data_dir, offline))
    methods: Sequence[Graph] = (method.value,) if method else ("gmst", "knn")
    progress = make_progress(unit="estimates")
    total = len(dataset.target_names if groups is None else groups) * len(methods)
    progress.begin(dataset.name, total, 0)
    try:
        found = estimate_group_dimensions(
            dataset.X,
            dataset.y,
            dataset.target_names,
            groups=groups,
            methods=methods,
            random_state=seed,
            owner=dataset.name,
            advance=lambda done: progress.advance(int(done), int(not done)),
        )
    finally:
        progress.end()
    typer.echo("")
    print_table(console(), dimension_table(dataset.name, found, methods))
    for note in dimension_notes(found, methods, seed):
        typer.echo(in_width(note))
