"""`ddr data`: where data sets are, getting them, checking them, adding one's own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import AsJson, DataDir, Offline, sources
from ddr_cli.core.errors import DataUnavailableError, InputError

if TYPE_CHECKING:
    from rich.table import Table

    from ddr_cli.data.card import Card

app = typer.Typer(
    help="Data sets: where they are, getting and checking them, adding your own.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...",
        help="Data sets, or paths of cards of your own.",
        autocompletion=completion.datasets,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All data sets that ddr knows.")]

_EXIT_CHECK_SAID_NO = 1


def _cards(names: list[str] | None, *, everything: bool) -> list[Card]:
    from ddr_cli.data.card import card_names, load_card

    if everything and names:
        raise InputError("Name data sets or say --all, not both.")
    if not everything and not names:
        raise InputError("Name a data set, or say --all; 'ddr data status' shows their names.")
    return [load_card(name) for name in (card_names() if everything else names or ())]


@app.command("status")
def status(
    names: Names = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show every data set: its size, its licence, where it is found, what is missing."""
    from ddr_cli.data.status import dataset_status

    places = sources(data_dir, offline=True)
    rows = [dataset_status(card, places) for card in _cards(names, everything=not names)]
    if as_json:
        import json

        typer.echo(json.dumps(rows, indent=2))
        return
    from rich.console import Console

    Console().print(_table(rows))
    absent = [row["name"] for row in rows if row["place"] == "missing"]
    if absent:
        typer.echo(
            f"'ddr data fetch {absent[0]}' (or --all) downloads; 'ddr data import' takes files "
            "that you have; DDR_DATA=FOLDER names a folder that holds them."
        )


def _table(rows: list[dict[str, Any]]) -> Table:
    from rich import box
    from rich.filesize import decimal
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("name", no_wrap=True)
    table.add_column("samples x features", justify="right", no_wrap=True)
    table.add_column("classes", justify="right")
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("found", overflow="fold")
    table.add_column("licence", overflow="fold")
    table.add_column("missing", overflow="fold")
    for row in rows:
        table.add_row(
            row["name"],
            f"{row['samples'] or '?'} x {row['features'] or '?'}",
            str(row["classes"] or "?"),
            "-" if row["bytes"] is None else decimal(row["bytes"], precision=0),
            f"{row['place']} {row['folder']}".rstrip() if row["place"] != "missing" else "-",
            row["licence"] or "not stated",
            ", ".join(row["missing"]) + ("" if row["download"] else " (no address known)"),
        )
    return table


@app.command("fetch")
def fetch(
    names: Names = None,
    everything: All = False,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Download data sets that are neither in a mirror nor in the cache, and verify them."""
    from ddr_cli.data.status import fetch_missing
    from ddr_cli.data.store.fetch import advice

    places, cards = sources(data_dir, offline), _cards(names, everything=everything)
    failed = []
    for card in cards:
        try:
            typer.echo(f"{card.name}: {fetch_missing(card, places)}")
        except DataUnavailableError as error:
            if len(cards) == 1:
                raise
            typer.echo(error.short, err=True)
            failed.append(card.name)
    if failed:
        what_to_do = advice("NAME", "where the lines above say")
        raise DataUnavailableError(
            "\n".join([f"Unavailable data sets: {', '.join(failed)}.", *what_to_do])
        )


@app.command("verify")
def verify(
    names: Names = None,
    everything: All = False,
    data_dir: DataDir = None,
) -> None:
    """Read data sets from their files and check counts and fingerprints against their cards.

    Exits with 1 if one is not what its card says, with 3 if one is not here.
    """
    from ddr_cli.data.status import check_dataset

    places = sources(data_dir, offline=True)
    outcomes = []
    for card in _cards(names, everything=everything):
        for check in check_dataset(card, places):
            typer.echo(f"{check.outcome:<7} {check.label}: {check.detail} ({check.seconds:.2f} s)")
            outcomes.append(check.outcome)
    if "differs" in outcomes:
        raise typer.Exit(_EXIT_CHECK_SAID_NO)
    if "missing" in outcomes:
        raise typer.Exit(DataUnavailableError.exit_code)


@app.command("import")
def import_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set.")],
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="PATH...", help="Its files, or folders or archives with them."),
    ],
) -> None:
    """Copy a data set's files into the cache, if they are what its card says."""
    from ddr_cli.data.card import load_card
    from ddr_cli.data.store.imports import import_dataset

    card = load_card(name)
    dataset = import_dataset(card, paths, sources(None, offline=True))
    typer.echo(
        f"{card.name}: imported; {dataset.n_samples} x {dataset.n_features}, "
        f"{len(dataset.target_names)} classes, verified."
    )


@app.command("new")
def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the data set is called.")],
    format_name: Annotated[
        str,
        typer.Option("--format", help="csv, npz, mat, libsvm, letor, images, text, ..."),
    ],
    path: Annotated[list[Path], typer.Option("--path", help="A file or folder. May be repeated.")],
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", help="A file of the test part, if the data set comes split."),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="The class column, by name or index (-1 is the last)."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            help="The column (or array) that says what belongs together, such as a subject.",
        ),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="KEY=VALUE", help="An option of the format. May be repeated."
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="A title for tables.")] = None,
    out: Annotated[Path, typer.Option("--out", help="The folder of the card.")] = Path(),
    force: Annotated[bool, typer.Option("--force", help="Replace a card that is there.")] = False,
) -> None:
    """Write a card for files of your own, with counts and fingerprint filled in."""
    from ddr_cli.data.new_card import write_new_card

    options = {}
    for text in option or ():
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--option {text}: write it as KEY=VALUE.")
        options[key] = _value(f"--option {text}", value)
    if label is not None:
        options["label"] = _value(f"--label {label}", label)
    if groups is not None:
        options["groups"] = _value(f"--groups {groups}", groups)
    card, dataset = write_new_card(
        name,
        format_name=format_name,
        paths=path,
        test_paths=test or (),
        options=options,
        title=title,
        folder=out,
        force=force,
        sources=sources(None, offline=True),
    )
    counts = ", ".join(f"{key} {count}" for key, count in dataset.class_counts.items())
    if dataset.group_names is not None:
        counts += f"; {len(dataset.group_names)} groups"
    typer.echo(f"{card}: {dataset.n_samples} samples x {dataset.n_features} features; {counts}.")
    typer.echo(f"In a spec beside it: 'dataset: ./{card.name}'.")


def _value(option: str, text: str) -> Any:
    from ddr_cli.core.yaml_loader import parse_value

    try:
        return parse_value(text)
    except InputError as error:
        raise InputError(f"{option}: {error} Put text in quotes.") from None
