"""`ddr compare`: methods compared in pairs on the same splits and across data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli.options import AsJson, console, in_width, print_table
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from ddr_cli.comparison.compare import Comparison

_ENDINGS = (".md", ".tex", ".csv", ".json", ".png", ".svg", ".pdf")


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
            help="Reference method for differences (default: the first method).",
        ),
    ] = None,
    methods: Annotated[
        list[str] | None,
        typer.Option(
            "--methods", metavar="A,B", help="Compare only these methods. May be repeated."
        ),
    ] = None,
    classifier: Annotated[
        str | None,
        typer.Option(
            "--classifier",
            metavar="NAME",
            help="Include only the classifier with this name or label (default: all classifiers, "
            "each at its first setting).",
        ),
    ] = None,
    at: Annotated[
        list[str] | None,
        typer.Option(
            "--at",
            metavar="NAME=VALUE",
            help="Compare methods at this setting, such as n_components=10 or labels=5, instead of "
            "at each method's best setting. May be repeated.",
        ),
    ] = None,
    equivalence: Annotated[
        float,
        typer.Option(
            "--equivalence",
            help="Largest difference at which methods count as equal; 0.01 is one percentage "
            "point.",
        ),
    ] = 0.01,
    as_json: AsJson = False,
    save: Annotated[
        list[Path] | None,
        typer.Option(
            "--save",
            metavar="FILE",
            help="File to write: tables (.md, .tex), differences (.csv), all results (.json) or "
            "the matrix of all pairs of methods (.png, .svg, .pdf). May be repeated.",
        ),
    ] = None,
) -> None:
    """Compare methods by paired differences of a metric, on each data set and across data sets.

    Each difference is between two methods on the same split.

    The comparison of two methods does not depend on the other methods. Only the p-values after
    Holm's correction depend on the number of comparisons; the tables also show the uncorrected
    p-values. Methods that are fitted to unlabelled test samples are in separate tables. If a
    parameter is swept, --at selects the value at which methods are compared. Without --at, the
    command compares each method at its best setting, which favours methods with larger grids.
    """
    from ddr_cli.comparison.compare import compare as compare_runs
    from ddr_cli.core.atomic import atomic_write
    from ddr_cli.report.comparison_tables import comparison_json, comparison_tables

    for path in save or ():
        if path.suffix not in _ENDINGS:
            raise InputError(f"--save {path} must end in {', '.join(_ENDINGS)}.")
    found = compare_runs(
        folders,
        metric=metric,
        against=against,
        methods=methods or (),
        classifier=classifier,
        at=at or (),
        equivalence=equivalence,
    )
    if as_json:
        typer.echo(comparison_json(found), nl=False)
    else:
        screen = console()
        for table in comparison_tables(found):
            print_table(screen, table)
        for note in found.notes:
            typer.echo(in_width(f"  {note}", indent=2))
    for path in save or ():
        atomic_write(path, _content(path, found))
        if not as_json:
            typer.echo(f"  {path}")


def _content(path: Path, found: Comparison) -> str | bytes:
    """Return the part of a comparison that is written to a file with that ending."""
    from ddr_cli.report.comparison_tables import comparison_json, comparison_tables
    from ddr_cli.show.csv import csv
    from ddr_cli.show.latex import latex
    from ddr_cli.show.markdown import markdown
    from ddr_cli.show.page import Grid, Text

    tables = comparison_tables(found)
    match path.suffix:
        case ".json":
            return comparison_json(found)
        case ".csv":
            return csv(Grid(found.differences))
        case ".md":
            return markdown([*tables, *map(Text, found.notes)])
        case ".tex":
            return "\n".join(latex(each, found.notes) for each in tables)
    from ddr_cli.charts.style import image_bytes
    from ddr_cli.report.pair_chart import draw_pairs

    return image_bytes(path, lambda: draw_pairs(found))
