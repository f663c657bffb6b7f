"""`ddr compare`: methods against each other, paired on the same splits and across data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ddr_cli.cli.options import console, in_width, print_table


def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="Result folders, such as results/nmmp_iris.")
    ],
    metric: Annotated[
        str | None,
        typer.Option("--metric", help="Metric to compare (default: the first run's first metric)."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against",
            metavar="METHOD",
            help="Reference method for differences (default: the first).",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods", metavar="A,B", help="Compare these methods alone. May be repeated."
        ),
    ] = None,
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="The only classifier, by its name or label (default: the first setting of each).",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Take this setting instead of each method's best, such as n_components=10. May "
            "be repeated.",
        ),
    ] = None,
    equivalence: Annotated[
        float,
        typer.Option(
            "--equivalence", help="The largest difference that counts as equal; 0.01 is one point."
        ),
    ] = 0.01,
    as_json: Annotated[
        str | None,
        typer.Option(
            "--json", metavar="FILE", help="Write all of it as JSON; - for standard output alone."
        ),
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write the differences as CSV.")
    ] = None,
    markdown: Annotated[
        Path | None,
        typer.Option("--markdown", metavar="FILE", help="Write the tables as Markdown."),
    ] = None,
    latex: Annotated[
        Path | None, typer.Option("--latex", metavar="FILE", help="Write the tables as LaTeX.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Draw the matrix of all pairs of methods (.png or .svg).",
        ),
    ] = None,
) -> None:
    """Compare methods: corrected differences on the same splits, and pairs across data sets.

    What is said of two methods never depends on which others are compared; only p-values after
    Holm's correction, which stand beside the plain ones, depend on how many comparisons are made.
    Methods that saw the test points, unlabelled, have tables of their own. Swept methods are
    compared at their best setting, which favours methods with larger grids, or at that of --at.
    """
    from ddr_cli.comparison.methods import compare as compare_runs
    from ddr_cli.report.comparison import comparison_json, comparison_tables
    from ddr_cli.report.table import Table

    found = compare_runs(
        folders,
        metric=metric,
        against=against,
        methods=methods or (),
        classifier=classifier,
        at=at or (),
        equivalence=equivalence,
    )
    tables = list(comparison_tables(found))
    if as_json == "-":
        typer.echo(comparison_json(found), nl=False)
    else:
        screen = console()
        for table in tables:
            print_table(screen, table)
        for note in found.notes:
            typer.echo(in_width(f"  {note}", indent=2))
    # With --json - standard output holds nothing but JSON.
    quiet = as_json == "-"
    if as_json not in (None, "-"):
        _write(Path(as_json), comparison_json(found), quiet)
    if csv is not None:
        _write(csv, Table(found.differences).csv(), quiet)
    if markdown is not None:
        texts = [each.markdown() for each in tables] + [f"{note}\n" for note in found.notes]
        _write(markdown, "\n".join(texts), quiet)
    if latex is not None:
        texts = [each.latex() for each in tables] + [f"% {note}" for note in found.notes]
        _write(latex, "\n".join(texts) + "\n", quiet)
    if picture is not None:
        from ddr_cli.figures.pair_matrix import draw_pairs
        from ddr_cli.figures.style import image_bytes

        _write(picture, image_bytes(picture, lambda: draw_pairs(found)), quiet)


def _write(path: Path, content: str | bytes, quiet: bool) -> None:
    from ddr_cli.core.atomic import atomic_write, clear_messages

    with clear_messages(path):
        atomic_write(path, content)
    if not quiet:
        typer.echo(f"  {path}")
