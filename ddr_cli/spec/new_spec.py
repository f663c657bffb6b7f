"""`ddr new spec`: a commented spec for a data set and methods, checked before it is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.core.own_code import located
from ddr_cli.core.parameters import parameter_model
from ddr_cli.core.yaml_loader import flow
from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.spec.cells import expand
from ddr_cli.spec.estimators import load_factory, registry_of, traits_of
from ddr_cli.spec.feasible import WIDTH, needed_steps
from ddr_cli.spec.load import load_spec
from ddr_cli.spec.model import Control
from ddr_cli.spec.schema import FIRST_LINE, write_schema

_SPLITS = {
    "resample": "New splits of the points, at the sizes of the data set's own split.",
    "grouped": "Half of the groups train, the others are tested, drawn anew for each repeat.",
    "fraction": "Half of the points train, half are tested, drawn anew for each repeat.",
}


def write_spec(
    name: str,
    *,
    dataset: str,
    reducers: Sequence[str],
    classifiers: Sequence[str],
    sweep: Mapping[str, Any],
    tuned: bool,
) -> tuple[Path, int]:
    """Write ``<name>.yaml`` here, and the schema by which editors check it.

    Returns the path and how many trials the spec has.

    Raises InputError if the file is there, or if what it would hold is no right spec.
    """
    path = Path(f"{name.removesuffix('.yaml')}.yaml")
    if path.exists():
        raise InputError(f"{path} is there already; choose another name.")
    text = _text(path, load_card(dataset), dataset, reducers, classifiers, sweep, tuned)
    with clear_messages(path):
        atomic_write(path, text)
    try:
        spec = load_spec(path)
    except InputError:
        path.unlink()
        raise
    write_schema(path.parent)
    return path, len(expand(spec))


def _text(
    path: Path,
    card: Card,
    dataset: str,
    reducers: Sequence[str],
    classifiers: Sequence[str],
    sweep: Mapping[str, Any],
    tuned: bool,
) -> str:
    kind = "resample" if card.split else "grouped" if card.has_groups else "fraction"
    split: dict[str, Any] = {"kind": kind, "train": 0.5, "repeats": 10, "seed": 0}
    if card.split:
        del split["train"]
    size = f"{card.expect.samples} x {card.expect.features}" if card.expect.samples else card.title
    lines = [
        FIRST_LINE,
        f"# 'ddr validate {path}' checks it, 'ddr plan {path}' says what it will do,",
        f"# 'ddr run {path} --jobs 2' runs it.",
        f"title: {flow(f'{_and(reducers)} on {card.name}')}",
        f"dataset: {flow(dataset)}  # {size}",
        "",
        f"# {_SPLITS[kind]} 'ddr list splits' shows others.",
        f"split: {flow(split)}",
        "",
        "# Steps fitted on the training part alone, such as standardize: 'ddr list preprocessors'.",
        f"preprocess: {flow(needed_steps(card))}",
        "",
        "# What any method is held against, beside those below; [] leaves it out.",
        f"controls: {flow(list(get_args(Control)))}",
        "",
        "# 'ddr describe NAME' shows all parameters of a method, as a spec takes them.",
        "reducers:",
        *(_item("reducers", name, card, sweep) for name in reducers),
        "classifiers:",
        *(_item("classifiers", name, card, sweep) for name in classifiers),
        "",
    ]
    if sweep:
        lines += [
            "# Every method that has the parameter runs at each value: a list, or a rule such as",
            "# {log: [0.01, 10, 7]}.",
            "sweep:",
            *(f"  {key}: {flow(grid)}" for key, grid in sweep.items()),
            "",
        ]
    if tuned:
        lines += [
            "# Beside its defaults each method runs with settings chosen by inner folds of the",
            "# training part, of at most 16.",
            "tune: {folds: 3, budget: 16}",
            "",
        ]
    return "\n".join([*lines, "# 'ddr list metrics' shows others.", "metrics: [error]", ""])


def _item(section: str, name: str, card: Card, sweep: Mapping[str, Any]) -> str:
    factory = load_factory(section, located(name, None))
    params: dict[str, Any] = {}
    field = parameter_model(factory).model_fields.get(WIDTH)
    if section == "reducers" and field is not None and f"reducer.{WIDTH}" not in sweep:
        params[WIDTH] = 2 if field.is_required() else field.default
        if isinstance(params[WIDTH], int) and (most := _most(factory, params, card)) is not None:
            params[WIDTH] = min(params[WIDTH], most)
    text = flow({"name": name, **params}) if params else flow(name)
    summary = registry_of(section).get(name).summary
    return f"  - {text}" + (f"  # {summary}" if summary else "")


def _most(factory: Any, params: Mapping[str, Any], card: Card) -> int | None:
    """Return how many dimensions a method offers on half of a data set, if both tell."""
    most, expect = traits_of("reducers", factory, params).max_components, card.expect
    if most is None or not (expect.samples and expect.features and expect.classes):
        return None
    return max(1, int(most(expect.samples // 2, expect.features, len(expect.classes))))


def _and(names: Sequence[str]) -> str:
    return ", ".join(name.rpartition(":")[2] for name in names)
