"""`ddr new`: a file to start from, for your own method, spec or data."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import (
    ClassifierNames,
    DatasetName,
    Force,
    ReducerNames,
    Trust,
    Yes,
    allowed,
    assigned,
    in_width,
    sources,
)
from ddr_cli.core.errors import InputError, listed

if TYPE_CHECKING:
    from ddr_cli.data import Dataset

app = typer.Typer(help="Create a file for your own method, spec or data.", no_args_is_help=True)


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
    kind = "datasets" if option == "--dataset" else what
    answer: str = typer.prompt(f"Which {what} ('ddr list {kind}')", default)
    return answer


def _swept(text: str) -> tuple[str, Any]:
    from ddr_cli.spec import parse_values

    parameter, equals, values = text.partition("=")
    if not equals:
        raise InputError(f"--sweep {text} is not a sweep; write reducer.n_components=1,2,3.")
    return parameter, parse_values(values)


@app.command("data")
def data(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Data files or folders, or a card whose files have changed. The card is named "
            "after the first.",
        ),
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", help="File format: csv, table, npz, mat, libsvm, ... (default: detected)."
        ),
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
        typer.Option("--groups", help="The column (or array) of groups, such as subjects."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="An option of the file format, such as skip_lines=3, or what columns are: "
            "ignore=[a,b], feature=[c], categorical=[d]. May be repeated.",
        ),
    ] = None,
    yes: Yes = False,
    force: Force = False,
) -> None:
    """Read your files and write a card with the number of samples and features and a fingerprint.

    What the files leave open is a question: the command names the option that answers it, with the
    proposed value or the possible ones. `--yes` accepts all proposals.
    """
    from ddr_cli.data.formats import FORMATS
    from ddr_cli.data.new_card import format_of, look_at, renew_card, write_new_card

    where, first = sources(offline=True), files[0]
    if first.suffix in (".yaml", ".yml"):
        _print_card(first, renew_card(first, force=force, sources=where))
        return
    for each in (*files, *(test or ())):
        if not each.exists():
            raise InputError(f"There is no file or folder {each}; check the path.")
    said = dict(assigned("--set", text) for text in settings or ())
    for key, one in (("label", label), ("groups", groups)):
        if one is not None:
            said |= [assigned(f"--{key}", f"{key}={one}")]
    name = format_name or format_of(first)
    FORMATS.get(name)
    seen = look_at(first, name, said, yes=yes)
    typer.echo(f"Detected in {first} (format {name}){':' if seen.facts else '.'}")
    width = max(map(len, seen.facts), default=0)
    for topic, facts in seen.facts.items():
        typer.echo(in_width(f"  {topic:<{width}}  {', '.join(facts)}", indent=width + 4))
    called = Path(first.name.removesuffix(".gz")).stem
    card, dataset = write_new_card(
        called, name, seen, files, test or (), force=force, sources=where
    )
    _print_card(card, dataset)


def _counts(dataset: Dataset) -> str:
    counts = ", ".join(f"{key} {count}" for key, count in dataset.class_counts.items())
    if dataset.n_unlabelled:
        counts += f", unlabelled {dataset.n_unlabelled}"
    if dataset.group_names is not None:
        counts += f"; {len(dataset.group_names)} groups"
    if dataset.n_missing:
        counts += f"; {dataset.n_missing} missing values"
    return f"{dataset.n_samples} samples x {dataset.n_features} features; {counts}"


def _print_card(card: Path, dataset: Dataset) -> None:
    """Print a description of a new card and the next steps."""
    typer.echo(f"{card}: {_counts(dataset)}.")
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
            f"classes into the card, such as 'keep: [a, b]', and run 'ddr new data {card} --force'."
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
    words = f" --set preprocess=[{','.join(steps)}]" if steps else ""
    typer.echo("Next:")
    if not dataset.n_unlabelled:
        typer.echo(f"  ddr embed {path} --reducer lfda{words}")
    typer.echo(f"  ddr new spec my_spec --dataset {path} --reducer lda --reducer pca")
