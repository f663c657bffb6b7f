"""`ddr data`: find and download data sets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    console,
    in_width,
    is_suite,
    load_suite,
    print_json,
    print_table,
    sources,
)
from ddr_cli.core.errors import DataUnavailableError, InputError

if TYPE_CHECKING:
    from ddr_cli.data.card import Card

app = typer.Typer(
    help="Find and download data sets.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...",
        help="Names of data sets or suites, or paths of your own cards.",
        autocompletion=completion.datasets_and_suites,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All data sets that ddr knows.")]


def _cards(names: list[str] | None, *, everything: bool) -> list[Card]:
    from ddr_cli.data.cards import card_names, load_card

    if everything and names:
        raise InputError("Name data sets or use --all, but not both.")
    if not everything and not names:
        raise InputError("Name a data set, or use --all; 'ddr data status' shows the names.")
    cards: list[Card] = []
    for name in card_names() if everything else names or ():
        if is_suite(name):
            suite = load_suite(name, trust=False)
            base = None if suite.path is None else suite.path.parent
            cards += [load_card(dataset, base=base) for dataset in suite.datasets]
        else:
            cards.append(load_card(name))
    return cards


@app.command("status")
def status(
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Show the size, licence, location and missing files of data sets (default: all)."""
    import pandas as pd
    from rich.filesize import decimal

    from ddr_cli.data.status import dataset_status
    from ddr_cli.show.page import Grid

    cards = _cards(names, everything=not names)
    places = sources(offline=True)
    rows = [dataset_status(card, places) for card in cards]
    if as_json:
        print_json(rows)
        return
    counts = ("samples", "features", "classes")
    records = [
        {
            "name": row["name"],
            **{name: str(row[name] or "?") for name in counts},
            "size": "-" if not row["bytes"] else decimal(row["bytes"], precision=0),
            "found": row["place"],
            # Only the name of the licence; `ddr describe` shows its conditions.
            "licence": row["licence"].partition(";")[0].partition(",")[0] or "not stated",
        }
        for row in rows
    ]
    table = Grid(pd.DataFrame(records), left=("found", "licence"), narrow=True)
    print_table(console(), table)
    lines = sorted({f"{row['place']}: {row['folder']}" for row in rows if row["folder"]})
    absent = [row for row in rows if row["missing"]]
    for row in absent:
        unknown = "" if row["download"] else " (the card has no download address)"
        lines.append(f"Missing files of {row['name']}: {', '.join(row['missing'])}{unknown}")
    if absent:
        lines.append(
            f"Download the files with 'ddr data fetch {absent[0]['name']}' (or --all), or put them "
            f"into a folder as FOLDER/{absent[0]['missing'][0]} and set DDR_DATA=FOLDER."
        )
    for line in lines:
        typer.echo(in_width(line, indent=2))


@app.command("fetch")
def fetch(
    names: Names = None,
    everything: All = False,
) -> None:
    """Download and verify data sets that are neither in the cache nor in a DDR_DATA folder.

    If a download fails, the command continues, lists the failed data sets at the end and exits
    with code 3. To resume, run the same command again.
    """
    from ddr_cli.data.status import fetch_missing
    from ddr_cli.data.store.download import advice

    cards = _cards(names, everything=everything)
    places = sources()
    failed = []
    for number, card in enumerate(cards, start=1):
        count = f"{number}/{len(cards)} " if len(cards) > 1 else ""
        try:
            typer.echo(f"{count}{card.name}: {fetch_missing(card, places)}")
        except DataUnavailableError as error:
            if len(cards) == 1:
                raise
            typer.echo(f"{count}{error.short}", err=True)
            failed.append(card.name)
    if failed:
        what_to_do = advice("the places listed above", "<folder>/<file>")
        raise DataUnavailableError(
            "\n".join(
                [
                    f"{len(failed)} of {len(cards)} data sets are unavailable: "
                    f"{', '.join(failed)}.",
                    *what_to_do,
                ]
            )
        )
