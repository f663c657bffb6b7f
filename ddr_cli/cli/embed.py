"""`ddr embed`: a first look at a data set through reducers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import DEFAULT_CLASSIFIER, Trust, allowed
from ddr_cli.core.errors import DdrError, InputError

if TYPE_CHECKING:
    from ddr_cli.spec import Spec


def embed(
    dataset: Annotated[
        str, typer.Argument(metavar="DATA", help="A data set, or the path of a card.")
    ],
    reducers: Annotated[
        list[str],
        typer.Option(
            "--reducer", help="A reducer. May be repeated: the picture has one panel per reducer."
        ),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the reducer, such as n_components=3, or a setting of the spec, "
            "such as split.train=0.7 or preprocess=[standardize]. May be repeated.",
        ),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="Picture to write: .png, .svg or .pdf (default: DATA_REDUCER.png).",
        ),
    ] = None,
    trust: Trust = False,
) -> None:
    """Fit reducers to the training set of a data set and plot the embedding of all samples.

    For example, `ddr embed digits --reducer lfda --set n_neighbors=5` plots a single split in two
    dimensions and saves only the picture. The command also prints the test error of a
    nearest-neighbour classifier. A single split gives a first impression, not a result.
    """
    from tempfile import TemporaryDirectory

    from ddr_cli.api import Results
    from ddr_cli.charts.style import FORMS, FORMS_TEXT, image_bytes
    from ddr_cli.core.atomic import atomic_write
    from ddr_cli.engine import Progress, run_spec

    if picture is not None and picture.suffix not in FORMS:
        raise InputError(f"The file name of the picture, {picture}, must end in {FORMS_TEXT}.")
    spec = allowed(trust, lambda: _spec(dataset, reducers, settings or []))
    path = picture or Path(f"{spec.name}.png")
    progress = Progress()
    progress.note = lambda text: typer.echo(f"  {text}", err=True)  # type: ignore[method-assign]
    with TemporaryDirectory(prefix="ddr-embed-") as folder:
        outcome = run_spec(spec, out=Path(folder), progress=progress)
        if outcome.interrupted:
            raise KeyboardInterrupt
        results = Results(outcome.folder)
        for trial in results.trials.query("status != 'ok'").to_dict("records"):
            raise DdrError(f"{trial['reducer']} failed: {trial['reason']}")
        drawn = image_bytes(path, results.figure)
    for item, error in zip(spec.reducers, results.trials["error"], strict=True):
        typer.echo(f"{item.label}: test error {100 * error:.2f} % ({DEFAULT_CLASSIFIER})")
    atomic_write(path, drawn)
    typer.echo(f"  {path}")


def _spec(dataset: str, reducers: list[str], settings: list[str]) -> Spec:
    """Return a spec of one split that keeps the embeddings of its samples."""
    from ddr_cli.data.cards import load_card
    from ddr_cli.spec import make_spec
    from ddr_cli.spec.estimators import load_factory, settable_names
    from ddr_cli.spec.model import KEYS
    from ddr_cli.spec.new import possible_width

    card = load_card(dataset)
    if card.unlabelled:
        raise InputError(
            f"'ddr embed' can't draw the unlabelled samples of {card.name}; use 'ddr run'."
        )
    # Groups with rows in both the training and the test set would make the error too low.
    kind = "grouped" if card.has_groups else "fraction"
    split: dict[str, Any] = {"kind": kind, "train": 0.5, "repeats": 1}
    items: list[str | dict[str, Any]] = [
        {"name": name, "n_components": possible_width(load_factory("reducers", name), card, 2)}
        if "n_components" in settable_names("reducers", name)
        else name
        for name in reducers
    ]
    known = (*KEYS, "reducer", "classifier")
    return make_spec(
        dataset=dataset,
        title=card.title,
        reducers=items,
        classifiers=[DEFAULT_CLASSIFIER],
        controls=[],
        split={"kind": "predefined"} if card.split is not None else split,
        embeddings={"points": 20_000},
        overrides=[
            text if text.partition("=")[0].partition(".")[0] in known else f"reducer.{text}"
            for text in settings
        ],
    )
