"""`ddr list`: the names that a spec or a card may use."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import TYPE_CHECKING, Annotated

import typer

from ddr_cli.cli.options import AsJson, in_width, print_json
from ddr_cli.core.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from ddr_cli.core.registry import Registry


KINDS = {
    "datasets": "data sets with a card",
    "reducers": "methods of dimensionality reduction",
    "classifiers": "classifiers that score an embedding",
    "measures": "scores of an embedding that need no classifier",
    "metrics": "metrics of classifiers",
    "splits": "ways to split data into a training and a test set",
    "preprocessors": "preprocessing steps",
    "formats": "file formats of cards",
    "generators": "generators of synthetic data",
    "papers": "reproduced papers",
    "configs": "shipped specs",
    "suites": "shipped suites",
}
_NAMES = ", ".join(KINDS)

_REGISTRIES = {
    "reducers": ("ddr_cli.reducers.registry", "REDUCERS"),
    "classifiers": ("ddr_cli.evaluation.evaluators", "CLASSIFIERS"),
    "measures": ("ddr_cli.evaluation.evaluators", "MEASURES"),
    "preprocessors": ("ddr_cli.evaluation.evaluators", "PREPROCESSORS"),
    "formats": ("ddr_cli.data.formats", "FORMATS"),
    "generators": ("ddr_cli.data.formats", "GENERATORS"),
}


def _names_and_summaries(kind: str) -> Iterable[tuple[str, str]]:
    # Each kind imports only what it lists: shell completion must stay fast.
    if kind in ("configs", "suites"):
        return _titles(kind)
    if kind == "datasets":
        from ddr_cli.data.cards import card_names, load_card

        return [(name, load_card(name).title) for name in card_names()]
    if kind == "metrics":
        from ddr_cli.evaluation.metrics import get_scale, metric_names

        scales = map(get_scale, metric_names())
        own = [(scale.name, f"{scale.title}, {scale.better} is better") for scale in scales]
        return [*own, ("roc_auc_ovr, ...", "every scikit-learn scorer (higher is better)")]
    if kind == "splits":
        from ddr_cli.evaluation.splits import SPLITS

        return SPLITS.items()
    if kind == "papers":
        from ddr_cli.papers.schema import load_paper, paper_names

        return [(name, load_paper(name).reference.title) for name in paper_names()]
    module, name = _REGISTRIES[kind]
    registry: Registry = getattr(import_module(module), name)
    return [(entry.name, entry.summary) for entry in registry.entries()]


def _titles(folder: str) -> Iterable[tuple[str, str]]:
    """Yield the names and titles of the shipped specs or suites, without importing an estimator."""
    from ddr_cli.core.registry import shipped_yaml
    from ddr_cli.core.yaml_loader import read_document

    for name, path in shipped_yaml(folder).items():
        try:
            data = read_document(path).data
        except InputError:
            data = None
        title = data.get("title") if isinstance(data, dict) else None
        yield name, title if isinstance(title, str) else f"(see 'ddr plan {name}')"


def list_names(
    kind: Annotated[
        str,
        typer.Argument(
            metavar="KIND",
            help=f"What to list: {_NAMES}.",
            autocompletion=lambda: list(KINDS),
        ),
    ] = "",
    as_json: AsJson = False,
) -> None:
    """List data sets, shipped specs and suites, or the components of specs and cards.

    Without KIND, the command lists all kinds.
    """
    if kind and kind not in KINDS:
        raise InputError(
            f"There is no kind {kind!r}.{did_you_mean(kind, KINDS)} The kinds are {_NAMES}."
        )
    rows = list(_names_and_summaries(kind) if kind else KINDS.items())
    if as_json:
        print_json([{"name": name, "summary": summary} for name, summary in rows])
        return
    width = max((len(name) for name, _ in rows), default=0)
    for name, summary in rows:
        typer.echo(in_width(f"{name:<{width}}  {summary}", indent=width + 2))
