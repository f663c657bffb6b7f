"""`ddr data`: find, download, check and add data sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli import completion
from ddr_cli.cli.options import (
    AsJson,
    Offline,
    console,
    in_width,
    print_json,
    print_table,
    sources,
)
from ddr_cli.core.errors import EXIT_FAILED, DataUnavailableError, InputError, listed

if TYPE_CHECKING:
    from ddr_cli.data.card import Card
    from ddr_cli.data.dataset import Dataset

app = typer.Typer(
    help="Find, download and check data sets; add your own.",
    no_args_is_help=True,
)

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME...",
        help="Names of data sets, or paths of your own cards.",
        autocompletion=completion.datasets,
    ),
]
All = Annotated[bool, typer.Option("--all", help="All data sets that ddr knows.")]


def _cards(names: list[str] | None, *, everything: bool) -> list[Card]:
    from ddr_cli.data.cards import card_names, load_card

    if everything and names:
        raise InputError("Name data sets or use --all, but not both.")
    if not everything and not names:
        raise InputError("Name a data set, or use --all; 'ddr data status' shows the names.")
    return [load_card(name) for name in (card_names() if everything else names or ())]


def _of_suite(name: str) -> list[Card]:
    from ddr_cli.cli.options import load_suite
    from ddr_cli.data.cards import load_card

    suite = load_suite(name, trust=False)
    base = None if suite.path is None else suite.path.parent
    return [load_card(dataset, base=base) for dataset in suite.datasets]


@app.command("status")
def status(
    names: Names = None,
    as_json: AsJson = False,
) -> None:
    """Show the size, licence, location and missing files of data sets (default: all)."""
    import pandas as pd
    from rich.filesize import decimal

    from ddr_cli.data.status import dataset_status
    from ddr_cli.report.table import Table

    cards = _cards(names, everything=not names)
    places = sources(None, offline=True)
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
    table = Table(pd.DataFrame(records), left=("found", "licence"), narrow=True)
    print_table(console(), table)
    lines = sorted({f"{row['place']}: {row['folder']}" for row in rows if row["folder"]})
    absent = [row for row in rows if row["missing"]]
    for row in absent:
        unknown = "" if row["download"] else " (the card has no download address)"
        lines.append(f"Missing files of {row['name']}: {', '.join(row['missing'])}{unknown}")
    if absent:
        lines.append(
            f"Download the files with 'ddr data fetch {absent[0]['name']}' (or --all), import your "
            "own with 'ddr data import', or set DDR_DATA=FOLDER."
        )
    for line in lines:
        typer.echo(in_width(line, indent=2))


@app.command("verify")
def verify(names: Names = None, everything: All = False) -> None:
    """Read the files of data sets, compare them with the cards, and count duplicates.

    A sample has an exact duplicate if another sample has equal features. A sample has a near
    duplicate if, after standardisation, another sample is at most a tenth of the median
    nearest-neighbour distance away.

    The exit code is 1 if a data set does not match its card, and 3 if a data set is missing.
    """
    from ddr_cli.data.status import check_dataset

    places = sources(None, offline=True)
    outcomes = []
    for card in _cards(names, everything=everything):
        for check in check_dataset(card, places):
            typer.echo(f"{check.outcome:<7} {check.label}: {check.detail}")
            outcomes.append(check.outcome)
    if "differs" in outcomes:
        raise typer.Exit(EXIT_FAILED)
    if "missing" in outcomes:
        raise typer.Exit(DataUnavailableError.exit_code)


@app.command("fetch")
def fetch(
    names: Names = None,
    everything: All = False,
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            metavar="SUITE",
            help="Use all data sets of this suite (a path or the name of a shipped suite).",
            autocompletion=completion.suites,
        ),
    ] = None,
    offline: Offline = False,
) -> None:
    """Download and verify data sets that are neither in the cache nor in a DDR_DATA folder.

    If a download fails, the command continues, lists the failed data sets at the end and exits
    with code 3. To resume, run the same command again.
    """
    from ddr_cli.data.status import fetch_missing
    from ddr_cli.data.store.download import advice

    if suite and (names or everything):
        raise InputError("Name data sets or use --suite, but not both.")
    cards = _of_suite(suite) if suite else _cards(names, everything=everything)
    places = sources(None, offline)
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
        what_to_do = advice("NAME", "the places listed above")
        raise DataUnavailableError(
            "\n".join(
                [
                    f"{len(failed)} of {len(cards)} data sets are unavailable: "
                    f"{', '.join(failed)}.",
                    *what_to_do,
                ]
            )
        )


@app.command("import")
def import_(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The data set.")],
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Files of the data set, or folders or archives that contain the files.",
        ),
    ],
) -> None:
    """Copy the files of a data set into the cache if the files match the card."""
    from ddr_cli.data.cards import load_card
    from ddr_cli.data.import_files import import_files

    card = load_card(name)
    dataset = import_files(card, paths, sources(None, offline=True))
    typer.echo(
        f"{card.name}: imported and verified; {dataset.n_samples} samples x "
        f"{dataset.n_features} features, {len(dataset.target_names)} classes."
    )


Columns = list[str] | None


@app.command("new")
def new(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="A data file or folder, or a card whose files have changed. With --path: a "
            "name for the data set.",
        ),
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", help="File format: csv, table, npz, mat, libsvm, ... (default: detected)."
        ),
    ] = None,
    path: Annotated[
        list[Path] | None, typer.Option("--path", help="A data file or folder. May be repeated.")
    ] = None,
    test: Annotated[
        list[Path] | None,
        typer.Option("--test", help="A file with predefined test samples. May be repeated."),
    ] = None,
    label: Annotated[
        str | None,
        typer.Option("--label", help="The class column, by name or index (-1 is the last)."),
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(
            "--groups",
            help="The column (or array) of groups, such as subjects.",
        ),
    ] = None,
    categorical: Annotated[
        Columns, typer.Option("--categorical", help="A column of text. May be repeated.")
    ] = None,
    ignore: Annotated[
        Columns, typer.Option("--ignore", help="A column to ignore. May be repeated.")
    ] = None,
    feature: Annotated[
        Columns,
        typer.Option(
            "--feature",
            help="A numeric column to use as a feature, not as an id or class. May be repeated.",
        ),
    ] = None,
    missing_value: Annotated[
        Columns,
        typer.Option("--missing-value", help="Text that marks a missing value. May be repeated."),
    ] = None,
    unlabelled: Annotated[
        bool | None,
        typer.Option(
            "--unlabelled/--no-unlabelled",
            help="Treat rows without a label, or with -1, as unlabelled training samples.",
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept all proposals.")] = False,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", metavar="KEY=VALUE", help="An option of the file format. May be repeated."
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing card.")] = False,
) -> None:
    """Read your files and write a card with the number of samples and features and a fingerprint.

    If the files do not determine a setting of the card, the command names the option that sets it,
    with the proposed value or the possible values. `--yes` accepts all proposals.
    """
    from ddr_cli.data.formats import FORMATS
    from ddr_cli.data.new_card import format_of, look_at, renew_card, write_new_card

    where = sources(None, offline=True)
    if file.endswith((".yaml", ".yml")) and not path:
        _print_card(Path(file), renew_card(Path(file), force=force, sources=where))
        return
    paths = path or [Path(file)]
    for each in (*paths, *(test or ())):
        if not each.exists():
            raise InputError(f"There is no file or folder {each}; check the path.")
    said = _options(option or ())
    for key, one in (("label", label), ("groups", groups)):
        if one is not None:
            said[key] = _value(f"--{key} {one}", one)
    for key, several in (("categorical", categorical), ("ignore", ignore), ("feature", feature)):
        if several:
            said[key] = [_value(f"--{key} {one}", one) for one in several]
    said |= {"missing_values": missing_value} if missing_value else {}
    said |= {} if unlabelled is None else {"unlabelled": unlabelled}
    name = format_name or format_of(paths[0])
    FORMATS.get(name)
    seen = look_at(paths[0], name, said, yes=yes)
    typer.echo(f"Detected in {file} (format {name}){':' if seen.facts else '.'}")
    width = max(map(len, seen.facts), default=0)
    for topic, facts in seen.facts.items():
        typer.echo(in_width(f"  {topic:<{width}}  {', '.join(facts)}", indent=width + 4))
    called = file if path else Path(paths[0].name.removesuffix(".gz")).stem
    card, dataset = write_new_card(
        called, name, seen, paths, test or (), force=force, sources=where
    )
    _print_card(card, dataset)


def _options(texts: Sequence[str]) -> dict[str, Any]:
    """Return the options of a format that are given as KEY=VALUE."""
    found = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign:
            raise InputError(f"--option {text} must have the form KEY=VALUE.")
        found[key] = _value(f"--option {text}", value)
    return found


def _print_card(card: Path, dataset: Dataset) -> None:
    """Print a description of a new card and the next steps."""
    counts = ", ".join(f"{key} {count}" for key, count in dataset.class_counts.items())
    if dataset.n_unlabelled:
        counts += f", unlabelled {dataset.n_unlabelled}"
    if dataset.group_names is not None:
        counts += f"; {len(dataset.group_names)} groups"
    if dataset.n_missing:
        counts += f"; {dataset.n_missing} missing values"
    typer.echo(f"{card}: {dataset.n_samples} samples x {dataset.n_features} features; {counts}.")
    if len(dataset.target_names) == 1:
        typer.echo(
            "All samples have the same class; use another class column with --label COLUMN --force."
        )
        return
    from ddr_cli.data.cards import load_card
    from ddr_cli.data.new_card import OTHER_UNITS, ratio_of_spreads
    from ddr_cli.spec.feasible import needed_steps

    described = load_card(card)
    steps = needed_steps(described)
    if single := [str(name) for name, count in dataset.class_counts.items() if count == 1]:
        typer.echo(
            f"Classes with only one sample: {listed(single)}. To exclude them, write the other "
            f"classes into the card, such as 'keep: [a, b]', and run 'ddr data new {card} --force'."
        )
    path = card if card.is_absolute() else f"./{card}"
    typer.echo(f"In a spec in the same folder, write 'dataset: ./{card.name}'.")
    if steps:
        typer.echo(f"The data need preprocessing; also write 'preprocess: [{', '.join(steps)}]'.")
    is_table = described.format is not None and described.format.name in ("csv", "table")
    if is_table and (ratio := ratio_of_spreads(dataset.X)) > OTHER_UNITS:
        typer.echo(
            f"The standard deviations of the features differ by a factor of up to {ratio:,.0f}. "
            "With 'preprocess: [standardize]' in a spec, all features have equal weight."
        )
    words = "".join(f" --preprocess {step}" for step in steps)
    typer.echo("Next:")
    if not dataset.n_unlabelled:
        typer.echo(f"  ddr embed {path} --reducer lfda{words}")
    typer.echo(f"  ddr new spec my_spec --dataset {path} --reducer lda --reducer pca")


def _value(option: str, text: str) -> Any:
    from ddr_cli.core.yaml_loader import parse_value

    try:
        return parse_value(text)
    except InputError as error:
        raise InputError(f"{option}: {error} If the value is text, put it in quotes.") from None
