"""`ddr compare`: methods against each other, paired in a run and by rank across runs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from ddr_cli.report.compare import Comparison, Ranks


def compare(
    folders: Annotated[
        list[Path], typer.Argument(help="Result folders, such as results/nmmp_iris.")
    ],
    metric: Annotated[
        str | None, typer.Option("--metric", help="What is compared; a run's first if not given.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            "--against", metavar="METHOD", help="Differences are to this one; else the first."
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

    Of a swept parameter each method's best setting counts, so a method with more settings had more
    tries.
    """
    from rich.console import Console

    from ddr_cli.report.compare import compare as compare_runs

    found = compare_runs(folders, metric=metric, against=against)
    console = Console()
    for run, rows in found.rows.groupby("run", sort=False):
        console.print(_table(found, str(run), rows))
    if found.ranks is not None:
        console.print(_ranks(found.ranks))
    if csv is not None:
        from ddr_cli.report.writing import to_csv

        _write(csv, to_csv(found.rows).encode())
    if picture is not None:
        _draw(found, picture)


def _table(found: Comparison, run: str, rows: Any) -> Table:
    from rich.table import Table

    from ddr_cli.report.names import difference_text, metric_axis, number

    table = Table(title=f"{run}: {metric_axis(found.metric)}", title_justify="left")
    table.add_column("method")
    for head in ("mean ± sd", f"less {found.against}", "95 % corrected interval", "p"):
        table.add_column(head, justify="right")
    for row in rows.to_dict("records"):
        name = f"{row['method']} ({row['setting']})" if row["setting"] else row["method"]
        mean = f"{number(row['mean'], found.metric, unit=False)} ± "
        cells = ["", "", ""]
        if _is_there(row, "difference"):
            cells[0] = difference_text(row["difference"], found.metric, unit=False)
        if _is_there(row, "p_value"):
            low, high = (
                difference_text(row[end], found.metric, unit=False) for end in ("low", "high")
            )
            cells[1:] = f"{low} to {high}", f"{row['p_value']:.2g}"
        table.add_row(name, mean + number(row["sd"], found.metric, unit=False), *cells)
    return table


def _is_there(row: dict[str, Any], column: str) -> bool:
    value = row.get(column)
    return value is not None and value == value


def _ranks(ranks: Ranks) -> Table:
    from rich.table import Table

    table = Table(title=f"Ranks over {len(ranks.means)} runs", title_justify="left")
    table.add_column("method")
    table.add_column("average rank", justify="right")
    for method, rank in ranks.average.items():
        table.add_row(str(method), f"{rank:.2f}")
    if ranks.p_value == ranks.p_value:
        table.caption = (
            f"Friedman's test of no difference: chi² {ranks.statistic:.2f}, p = {ranks.p_value:.2g}"
        )
    else:
        table.caption = "Friedman's test needs three runs and three methods in common or more."
    return table


def _draw(found: Comparison, path: Path) -> None:
    from ddr_cli.core.errors import InputError
    from ddr_cli.report.compare import draw_ranks
    from ddr_cli.report.style import rendered

    if path.suffix not in (".png", ".svg"):
        raise InputError(f"--picture {path} must end in .png or .svg.")
    svg, png = rendered(draw_ranks(found))
    _write(path, svg if path.suffix == ".svg" else png)


def _write(path: Path, content: bytes) -> None:
    from ddr_cli.core.atomic import atomic_write, clear_messages

    with clear_messages(path):
        atomic_write(path, content)
    typer.echo(f"  {path}")
