"""`ddr describe`: what a data set, reducer, classifier, preprocessing step or spec is."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ddr_cli.cli.options import DataDir, Offline, sources
from ddr_cli.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from ddr_cli.core.registry import Registry


_SPLIT_EXAMPLES = {
    "predefined": ("",),
    "resample": (", repeats: 50, seed: 0", ", repeats: 50, predefined: true"),
    "per_class": (", train: 20, repeats: 10",),
    "fraction": (", train: 0.7, repeats: 10",),
    "labelled": (", train: 500, repeats: 10",),
    "kfold": (", folds: 5, repeats: 2",),
    "grouped": (", folds: 5, repeats: 2", ", folds: leave_one_out", ", train: 0.8, repeats: 20"),
    "given": (", file: splits.csv", ", column: part"),
    "whole": (", repeats: 10",),
}


_SPLIT_NOTES = {
    "grouped": "The card's format names the column of the groups: 'ddr data new ... --groups "
    "subject'. Groups are\ndrawn such that every training part has all classes.",
    "given": "The file is a CSV table beside the spec: its first line names the splits, and below "
    "it stands a\nline for each row of the data set, each cell train, test or, for a row of "
    "neither part, empty. A\ncolumn of the data's own table has the same values; the card's "
    "format names it in 'parts'.",
}


class Method(StrEnum):
    """The graphs that the intrinsic dimension is estimated from."""

    gmst = "gmst"
    knn = "knn"


def describe(
    name: Annotated[
        str,
        typer.Argument(
            help="A data set, reducer, classifier, preprocessing step, metric, split or spec."
        ),
    ],
    picture: Annotated[
        Path | None,
        typer.Option(
            "--picture",
            metavar="FILE",
            help="For a data set of images: write some samples to a .png or .svg.",
        ),
    ] = None,
    dimension: Annotated[
        bool,
        typer.Option("--dimension", help="For a data set: estimate its intrinsic dimension."),
    ] = False,
    method: Annotated[
        Method | None,
        typer.Option("--method", help="With --dimension: use one graph (default: both)."),
    ] = None,
    of_class: Annotated[
        list[str] | None,
        typer.Option(
            "--class",
            metavar="NAME",
            help="With --dimension: only this class (default: each). May be repeated.",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option(
            "--whole", help="With --dimension: all points together instead of each class."
        ),
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option("--seed", min=0, help="With --dimension: random seed (default: 0)."),
    ] = None,
    data_dir: DataDir = None,
    offline: Offline = False,
) -> None:
    """Describe a data set, reducer, classifier, measure, preprocessing step or shipped spec.

    Likewise a metric, or a kind of split.
    """
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.data.card import card_names
    from ddr_cli.evaluation.metrics import metric_names
    from ddr_cli.evaluation.registry import CLASSIFIERS, MEASURES, PREPROCESSORS
    from ddr_cli.evaluation.splits import SPLITS
    from ddr_cli.reducers.registry import REDUCERS

    describers: dict[str, Callable[[str], None]] = {
        **dict.fromkeys(metric_names(), _describe_metric),
        **dict.fromkeys(SPLITS, _describe_split),
        **dict.fromkeys(shipped_yaml("configs"), _describe_spec),
        **{
            name: partial(_describe_estimator, registry)
            for registry in (PREPROCESSORS, CLASSIFIERS, MEASURES, REDUCERS)
            for name in registry.names()
        },
        **dict.fromkeys(card_names(), _describe_dataset),
    }
    if dimension:
        if describers.get(name, _describe_dataset) is not _describe_dataset:
            raise InputError(
                f"--dimension applies to data sets only; '{name}' is not one. 'ddr list datasets' "
                "shows their names."
            )
        if whole and of_class:
            raise InputError("Give --whole or --class, not both.")
    elif method is not None or of_class or whole or seed is not None:
        raise InputError("--method, --class, --whole and --seed go with --dimension.")
    if name.endswith((".yaml", ".yml")):
        _describe_dataset(name)
    elif name in describers:
        describers[name](name)
    else:
        raise InputError(
            f"Unknown name {name!r}.{did_you_mean(name, describers)} 'ddr list "
            "datasets', '... reducers', '... classifiers' and '... configs' show the names."
        )
    if picture is not None:
        _write_picture(name, picture, data_dir, offline)
    if dimension:
        groups = [None] if whole else of_class
        _print_dimensions(name, method, groups, seed or 0, data_dir, offline)


def _write_picture(name: str, picture: Path, data_dir: list[Path] | None, offline: bool) -> None:
    from ddr_cli.data import load_dataset
    from ddr_cli.figures.image_samples import write_samples

    dataset = load_dataset(name, sources=sources(data_dir, offline))
    typer.echo(f"picture: {write_samples(dataset, picture)}")


def _print_dimensions(
    name: str,
    method: Method | None,
    groups: Sequence[str | None] | None,
    seed: int,
    data_dir: list[Path] | None,
    offline: bool,
) -> None:
    from rich.console import Console

    from ddr_cli.data import load_dataset
    from ddr_cli.engine import make_progress
    from ddr_cli.evaluation.dimension import Graph, estimate_group_dimensions
    from ddr_cli.report.terminal import dimension_notes, dimension_table

    dataset = load_dataset(name, sources=sources(data_dir, offline))
    methods: Sequence[Graph] = (method.value,) if method else ("gmst", "knn")
    progress = make_progress(unit="estimates")
    total = len(dataset.target_names if groups is None else groups) * len(methods)
    progress.begin(dataset.name, total, 0)
    try:
        found = estimate_group_dimensions(
            dataset.X,
            dataset.y,
            dataset.target_names,
            groups=groups,
            methods=methods,
            random_state=seed,
            owner=dataset.name,
            advance=lambda done: progress.advance(int(done), int(not done)),
        )
    finally:
        progress.end()
    typer.echo("")
    Console().print(dimension_table(dataset.name, found, methods))
    for note in dimension_notes(found, methods, seed):
        typer.echo(note)


def _describe_estimator(registry: Registry, name: str) -> None:
    from ddr_cli.core.parameters import parameter_model
    from ddr_cli.evaluation.registry import get_evaluator_traits
    from ddr_cli.reducers.registry import get_traits

    factory = registry.load(name)
    typer.echo(f"{name} ({registry.kind})\n\n{inspect.getdoc(factory) or 'No description.'}\n")
    fields = parameter_model(factory).model_fields
    if fields:
        typer.echo("In a spec:")
        defaults = ", ".join(f"{key}: {_as_yaml(field.default)}" for key, field in fields.items())
        typer.echo(f"  {{name: {name}, {defaults}}}\n")
    if registry.kind == "preprocessor":
        return
    is_reducer = registry.kind == "reducer"
    traits: Any = (get_traits if is_reducer else get_evaluator_traits)(factory())
    facts = {"paper": traits.paper, "version": traits.version}
    if is_reducer:
        modes = [mode for mode in ("out_of_sample", "transductive") if getattr(traits, mode)]
        nested = "nested: a wider fit contains the narrower ones" if traits.nested else None
        labels = "uses the labels" if traits.supervised else "ignores the labels"
        if traits.semi_supervised:
            labels += ", and learns from points without one (y = -1)"
        facts |= {"labels": labels, "modes": ", ".join(modes), "dimensions": nested}
        facts |= {"usually after": ", ".join(traits.preprocess), "library": traits.library}
    _print_facts(facts | {"default grids": ", ".join(traits.grids)})


def _describe_metric(name: str) -> None:
    from ddr_cli.evaluation.metrics import VALUED, get_scale

    scale = get_scale(name)
    typer.echo(f"{name} (metric)\n\n{scale.title}\n")
    needs = VALUED[name].needs if name in VALUED else ()
    _print_facts(
        {
            "better": scale.better,
            "range": "0 to 1, shown in percent" if scale.rate else None,
            "classifiers": f"those with {' or '.join(needs)}" if needs else None,
            "in a spec": f"metrics: [{name}]",
        }
    )


def _describe_split(kind: str) -> None:
    from ddr_cli.evaluation.splits import SPLITS

    typer.echo(f"{kind} (split)\n\n{SPLITS[kind]}\n\nIn a spec:")
    for example in _SPLIT_EXAMPLES[kind]:
        typer.echo(f"  split: {{kind: {kind}{example}}}")
    if kind in _SPLIT_NOTES:
        typer.echo("\n" + _SPLIT_NOTES[kind])


def _as_yaml(value: Any) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)


def _print_facts(facts: dict[str, Any]) -> None:
    for label, value in facts.items():
        if value is not None and value != "":
            typer.echo(f"{label}: {value}")


def _describe_spec(name: str) -> None:
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.spec import expand, load_spec

    spec = load_spec(name)
    typer.echo(f"{name} (spec)\n\n{spec.title}")
    _print_facts(
        {
            "description": spec.description,
            "paper": f"{spec.paper.name}, {spec.paper.artefact}" if spec.paper else None,
            "data set": spec.dataset.name,
            "trials": len(expand(spec)),
            "run it": f"ddr run {name}",
        }
    )
    typer.echo("\n" + shipped_yaml("configs")[name].read_text(encoding="utf-8").rstrip())


def _describe_dataset(name: str) -> None:
    from ddr_cli.data.card import load_card

    card = load_card(name)
    expect = card.expect
    typer.echo(f"{card.name} (data set)\n\n{card.title}\n\n{card.description}".rstrip() + "\n")
    _print_facts(
        {
            "samples x features": f"{expect.samples} x {expect.features}",
            "images": " x ".join(map(str, card.image_shape)) if card.image_shape else None,
            "split": f"{expect.split.train} train, {expect.split.test} test"
            if expect.split
            else None,
            "classes": ", ".join(f"{label} {n}" for label, n in (expect.classes or {}).items()),
            "groups": expect.groups,
            "papers": ", ".join(card.papers),
            "citation": card.citation,
            "licence": card.licence,
            "home": card.home,
            "version": card.version,
            "fingerprint": expect.fingerprint,
        }
    )
    for option, meaning in card.options.items():
        values = meaning.choices or (meaning.default,)
        shown = " | ".join(
            f"{value} (default)" if value == meaning.default else str(value) for value in values
        )
        typer.echo(f"option {option}: {shown}; {meaning.summary}")
