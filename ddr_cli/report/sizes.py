"""How many points a run's splits train and test on, which corrected intervals depend on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ddr_cli.core.errors import InputError
from ddr_cli.data.card import load_card
from ddr_cli.spec.model import Spec, is_card_path


def split_sizes(manifest: Mapping[str, Any], spec: Spec, family: str) -> tuple[int, int] | None:
    """Return the sizes of the training and the test part of a family of splits.

    Parameters
    ----------
    manifest : mapping
        A run's manifest. Its ``sizes``, where it has them, are what was drawn.
    spec : Spec
        The run's spec.
    family : str
        The kind of split.

    Returns
    -------
    tuple of int or None
        None where neither the manifest nor the data set's card tells, and where all points are
        trained on: then repeats share no split, and no correction is due.
    """
    if family == "whole":
        return None
    recorded = manifest.get("sizes", {}).get(family)
    if recorded is not None:
        return int(recorded["train"]), int(recorded["test"])
    if is_card_path(spec.dataset.name):
        return None
    try:
        card = load_card(spec.dataset.name)
    except InputError:
        return None
    if family in ("predefined", "resample"):
        return card.predefined
    total, train = card.n_samples, spec.split.train
    if total is None or train is None:
        return None
    match family:
        case "per_class":
            if not card.classes:
                return None
            size = int(train) * len(card.classes)
        case "fraction":
            size = int(train * total + 0.5)
        case _:
            size = int(train)
    return size, total - size
