"""`ddr list`: the names that a spec may use."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated

import typer


class Kind(StrEnum):
    """What can be listed."""

    datasets = "datasets"
    reducers = "reducers"
    classifiers = "classifiers"
    preprocessors = "preprocessors"
    configs = "configs"


def _names_and_summaries(kind: Kind) -> Iterable[tuple[str, str]]:
    # Each kind imports what it lists and no more: completion must stay fast.
    if kind is Kind.configs:
        from ddr_cli.spec.titles import spec_titles

        return spec_titles().items()
    if kind is Kind.datasets:
        from ddr_cli.data.card import card_names, load_card

        return [(name, load_card(name).title) for name in card_names()]
    if kind is Kind.reducers:
        from ddr_cli.reducers.registry import REDUCERS

        return [(entry.name, entry.summary) for entry in REDUCERS.entries()]
    if kind is Kind.classifiers:
        from ddr_cli.evaluation.registry import CLASSIFIERS

        return [(entry.name, entry.summary) for entry in CLASSIFIERS.entries()]
    from ddr_cli.evaluation.preprocess import PREPROCESSORS

    return [(entry.name, entry.summary) for entry in PREPROCESSORS.entries()]


def list_names(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
) -> None:
    """List the data sets, reducers, classifiers, preprocessing steps or shipped specs."""
    rows = list(_names_and_summaries(kind))
    width = max((len(name) for name, _ in rows), default=0)
    for name, summary in rows:
        typer.echo(f"{name:<{width}}  {summary}")
