"""`ddr list`: the names that a spec or a card may use."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.core.errors import InputError

if TYPE_CHECKING:
    from ddr_cli.core.registry import Registry


class Kind(StrEnum):
    """What can be listed."""

    datasets = "datasets"
    reducers = "reducers"
    classifiers = "classifiers"
    measures = "measures"
    preprocessors = "preprocessors"
    formats = "formats"
    generators = "generators"
    configs = "configs"


def _names_and_summaries(kind: Kind) -> Iterable[tuple[str, str]]:
    # Each kind imports what it lists and no more: completion must stay fast.
    if kind is Kind.configs:
        return _spec_titles()
    if kind is Kind.datasets:
        from ddr_cli.data.card import card_names, load_card

        return [(name, load_card(name).title) for name in card_names()]
    return [(entry.name, entry.summary) for entry in _registry(kind).entries()]


def _spec_titles() -> Iterable[tuple[str, str]]:
    """Yield the names and titles of the shipped specs; no estimator is loaded for it."""
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.core.yaml_loader import read_document

    for name, path in shipped_yaml("configs").items():
        try:
            data = read_document(path).data
        except InputError:
            data = None
        title = data.get("title") if isinstance(data, dict) else None
        yield name, title if isinstance(title, str) else f"(see 'ddr validate {name}')"


def _registry(kind: Kind) -> Registry:
    if kind is Kind.reducers:
        from ddr_cli.reducers.registry import REDUCERS

        return REDUCERS
    if kind is Kind.classifiers:
        from ddr_cli.evaluation.registry import CLASSIFIERS

        return CLASSIFIERS
    if kind is Kind.measures:
        from ddr_cli.evaluation.registry import MEASURES

        return MEASURES
    if kind is Kind.preprocessors:
        from ddr_cli.evaluation.registry import PREPROCESSORS

        return PREPROCESSORS
    if kind is Kind.formats:
        from ddr_cli.data.formats import FORMATS

        return FORMATS
    from ddr_cli.data.synthetic import GENERATORS

    return GENERATORS


def list_names(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
) -> None:
    """List the data sets, shipped specs, or what a spec or a card may name."""
    rows = list(_names_and_summaries(kind))
    width = max((len(name) for name, _ in rows), default=0)
    for name, summary in rows:
        typer.echo(f"{name:<{width}}  {summary}")
