"""`ddr compare`: methods against each other, paired in a run and by rank across runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="Result folders, such as results/nmmp_iris.")
    ],
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Metric to compare (default: the run's first metric)."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="METHOD",
            help="Reference method for differences (default: the first).",
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the comparison as CSV.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Write a critical-difference diagram (.png or .svg) of three runs or more.",
        ),
    ] = None,
) -> None:
    """Compare methods: corrected differences on the same splits, and ranks across data sets.

    Swept methods are compared at their best setting, which favours methods with larger grids.
    """
    from rich.console import Console

    from ddr_cli.comparison.methods import compare as compare_runs
    from ddr_cli.report.tables import to_csv
    from ddr_cli.report.terminal import comparison_tables

    found = compare_runs(folders, metric=metric, against=against)
    console = Console()
    for table in comparison_tables(found):
        console.print(table)
    if csv is not None:
        _write(csv, to_csv(found.rows))
    if picture is not None:
        from ddr_cli.figures.rank_diagram import draw_ranks
        from ddr_cli.figures.style import image_bytes

        _write(picture, image_bytes(picture, lambda: draw_ranks(found)))


def _write(path: Path, content: str | bytes) -> None:
    from ddr_cli.core.atomic import atomic_write, clear_messages

    with clear_messages(path):
        atomic_write(path, content)
    typer.echo(f"  {path}")
