"""A spec against its data set's card: what can be known to fail before any data is loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import JsonValue

from ddr_cli.core.errors import InputError
from ddr_cli.core.problems import DocumentError, as_clause, shown
from ddr_cli.data.card import Card, Expect, load_card
from ddr_cli.evaluation.splits import make_split
from ddr_cli.spec.components import Component
from ddr_cli.spec.estimators import PREFIXES
from ddr_cli.spec.model import DatasetRef, SplitSpec
from ddr_cli.spec.reading import Reader


def read_dataset(
    reader: Reader, raw: Any, base: Path | None
) -> tuple[DatasetRef, Expect, Card] | None:
    """Return the data set of a spec, what its card says of it, and the card.

    Parameters
    ----------
    reader : Reader
        Collects the problems: an unknown name, a card that is wrong, an option it doesn't have.
    raw : Any
        The value of ``dataset:``.
    base : Path or None
        The folder to which the path of a card is relative; None is the current one.
    """
    section = ("dataset",)
    given = {"name": raw} if isinstance(raw, str) else raw
    name = given.get("name") if isinstance(given, dict) else None
    if not isinstance(name, str) or not name:
        reader.problem(
            section,
            "dataset must be a name, the path of a card or a mapping with a name, "
            f"but is {shown(raw)}.",
        )
        return None
    try:
        card = load_card(name, base=base)
    except (InputError, OSError, ValueError, RuntimeError) as error:
        where = (*section, "name") if isinstance(raw, dict) else section
        wrong = error.problems if isinstance(error, DocumentError) else [as_clause(error)]
        for problem in wrong:
            reader.problem(where, str(problem))
        return None
    options = {key: value for key, value in given.items() if key != "name"}
    before = len(reader.problems)
    for key, value in options.items():
        try:
            card.choose({key: value})
        except InputError as error:
            reader.problem((*section, key), as_clause(error), key=key not in card.options)
    if len(reader.problems) > before:
        return None
    reference = DatasetRef(name=name, options=dict(card.choose(options)))
    return reference, card.expected(options), card


def check_split(reader: Reader, split: SplitSpec, card: Card, expect: Expect) -> int | None:
    """Check that the data set can be divided so, and return the size of the training part.

    Returns None where the card doesn't tell, or after noting a problem.
    """
    if split.kind in ("predefined", "resample"):
        if expect.split is not None:
            return expect.split.train
        if card.split is None:
            reader.problem(
                ("split", "kind"),
                f"{card.name} has no predefined split, which the kind {split.kind} needs; "
                "use fraction, per_class or labelled.",
            )
        return None
    if split.kind == "whole":
        return expect.samples
    if not expect.classes:
        return None
    y = np.repeat(np.arange(len(expect.classes)), list(expect.classes.values()))
    try:
        # The sizes of a split do not depend on its seed, so one stands for all of them.
        return len(make_split(split.kind, y, train=split.train, dataset=card.name).train)
    except InputError as error:
        reader.problem(("split", "train"), as_clause(error))
        return None


def check_neighbors(
    reader: Reader,
    components: Sequence[Component],
    sweep: Mapping[str, Sequence[JsonValue]],
    n_train: int,
    n_samples: int | None,
) -> None:
    """Check that no estimator is to look for more neighbours than there are points.

    A point is no neighbour of itself in a reducer's graph; a transductive one has the test points
    too.
    """
    for item in components:
        is_reducer = item.section == "reducers"
        points = n_samples if item.mode == "transductive" else n_train
        if points is None:
            continue
        most = points - 1 if is_reducer else points
        for name in item.params:
            if not name.startswith("n_neighbors"):
                continue
            key = f"{PREFIXES[item.section]}.{name}"
            path = ("sweep", key) if key in sweep else (*item.path, name)
            values = sweep.get(key, (item.params[name],))
            if any(isinstance(v, int) and v > most for v in values):
                largest = max(v for v in values if isinstance(v, int))
                reader.problem(
                    path,
                    f"{name} is {largest}, but {item.name} has only {points} points to look among.",
                )
