"""`ddr embed`: a first look at a data set through reducers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import DEFAULT_CLASSIFIER, DataDir, Offline, Trust, allowed, sources
from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from ddr_cli.engine import Look
    from ddr_cli.spec import Spec

_WIDTH = 2


def embed(
    dataset: Annotated[str, typer.Argument(metavar="DATA", help="A data set, or a card's path.")],
    reducers: Annotated[
        list[str], typer.Option("--reducer", help="The reducer. Repeated, a panel for each.")
    ],
    dim: Annotated[
        int | None,
        typer.Option("--dim", min=1, help=f"Number of dimensions (default: {_WIDTH})."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="NAME=VALUE",
            help="A parameter of the reducer, such as beta=0.5, or a spec's setting. Repeatable.",
        ),
    ] = None,
    steps: Annotated[
        list[str] | None,
        typer.Option(
            "--preprocess",
            help="A step before it, such as standardize or '{name: pca, n_components: 20}'. "
            "May be repeated.",
        ),
    ] = None,
    train: Annotated[
        float | None,
        typer.Option(
            "--train",
            help="Share of the points, or of the groups if there are any, that train (default: the "
            "data set's own split, or 0.5).",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Another split (default: 0).")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture", metavar="FILE", help="A .png or .svg (default: DATA_REDUCER.png)."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Write the coordinates as CSV."),
    ] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
    trust: Trust = False,
) -> None:
    """Fit reducers to a data set's training part, and draw where they place all of its points.

    `ddr embed digits --reducer lfda` draws a picture; `--set n_neighbors=5` sets a parameter,
    `--out coords.csv` writes the coordinates with each point's row, label and part. The error is
    that of nearest neighbours on the test points of this one split: a look, not a result.
    """
    from ddr_cli.core.atomic import atomic_write, clear_messages
    from ddr_cli.engine import Datasets, first_looks

    if picture is not None and picture.suffix not in (".png", ".svg"):
        raise InputError(f"{picture} must end in .png or .svg.")
    spec = allowed(
        trust, lambda: _spec(dataset, reducers, dim, settings or [], steps or [], train, seed)
    )
    datasets = Datasets(sources(data_dir, offline))
    looks = list(first_looks(spec, datasets, lambda text: typer.echo(f"  {text}", err=True)))
    groups = ", no group in both," if spec.split.kind == "grouped" else ""
    for look in looks:
        n = look.kept.part.count("train")
        typer.echo(
            f"{look.label}: {n} training and {len(look.rows) - n} test points{groups} in "
            f"{look.kept.n_components} dimension(s); {DEFAULT_CLASSIFIER} error on the test points "
            f"{100 * look.error:.2f} %"
        )
    if out is not None:
        import pandas as pd

        text = pd.concat([look.table() for look in looks]).to_csv(index=False, lineterminator="\n")
        with clear_messages(out):
            atomic_write(out, text)
        typer.echo(f"  {out}")
    if picture is not None or out is None:
        path = picture or Path(f"{spec.name}.png")
        with clear_messages(path):
            atomic_write(path, _drawn(path, spec, looks))
        typer.echo(f"  {path}")


def _spec(
    dataset: str,
    reducers: list[str],
    dim: int | None,
    settings: list[str],
    steps: list[str],
    train: float | None,
    seed: int | None,
) -> Spec:
    """Return a spec of one split."""
    from ddr_cli.core.yaml_loader import parse_value
    from ddr_cli.data.card import load_card
    from ddr_cli.spec import make_spec
    from ddr_cli.spec.estimators import settable_names
    from ddr_cli.spec.model import KEYS

    card = load_card(dataset)
    # Rows of one group on both sides would make the error too good.
    kind = "grouped" if card.has_groups else "fraction"
    split: dict[str, Any] = {"kind": kind, "train": 0.5, "repeats": 1}
    if train is None and seed is None and card.split is not None:
        split = {"kind": "predefined"}
    elif train is not None:
        split["train"] = train
    if seed is not None:
        split["seed"] = seed
    items: list[str | dict[str, Any]] = []
    for name in reducers:
        has_width = "n_components" in settable_names("reducers", name)
        if dim is not None and not has_width:
            raise InputError(f"{name} has no number of dimensions to set with --dim.")
        items.append({"name": name, "n_components": dim or _WIDTH} if has_width else name)
    known = (*KEYS, "reducer", "classifier")
    return make_spec(
        dataset=dataset,
        reducers=items,
        classifiers=[DEFAULT_CLASSIFIER],
        controls=[],
        split=split,
        preprocess=[parse_value(step) for step in steps],
        overrides=[
            text if text.partition("=")[0].partition(".")[0] in known else f"reducer.{text}"
            for text in settings
        ],
    )


def _drawn(path: Path, spec: Spec, looks: list[Look]) -> bytes:
    from ddr_cli.data.card import load_card
    from ddr_cli.figures import draw_looks
    from ddr_cli.figures.style import image_bytes

    return image_bytes(path, lambda: draw_looks(load_card(spec.card).title, looks))
