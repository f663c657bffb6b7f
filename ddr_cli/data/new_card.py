"""`ddr data new`: a card for the user's own files, with counts and fingerprint filled in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ddr_cli.core.atomic import atomic_write, clear_messages
from ddr_cli.core.errors import InputError
from ddr_cli.core.yaml_loader import dump, read_document
from ddr_cli.data.card import Card, check_card
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.store.cache import read_found
from ddr_cli.data.store.locate import Sources, locate


def write_new_card(
    name: str,
    *,
    format_name: str,
    paths: Sequence[Path],
    test_paths: Sequence[Path] = (),
    options: Mapping[str, Any] | None = None,
    title: str | None = None,
    unlabelled: bool = False,
    folder: Path = Path(),
    force: bool = False,
    sources: Sources | None = None,
) -> tuple[Path, Dataset]:
    """Write ``<folder>/<name>.yaml``; return its path and the data set that it describes.

    `paths` are the training part if there are `test_paths`; the paths in the card are relative to
    `folder`. A card that is there is replaced only by `force`.
    """
    target = folder / f"{name}.yaml"
    if target.exists() and not force:
        raise InputError(f"{target} is there already; --force replaces it.")
    for path in (*paths, *test_paths):
        if not path.exists():
            raise InputError(f"There is no file or folder {path}.")
    roles = [*((path, "train") for path in paths), *((path, "test") for path in test_paths)]
    content: dict[str, Any] = {
        "name": name,
        "title": title or name,
        "version": 1,
        "files": [
            {"path": Path(os.path.relpath(path, folder)).as_posix()}
            | ({"role": role} if test_paths else {})
            for path, role in roles
        ],
        "format": {"name": format_name, **(options or {})},
    }
    if test_paths:
        content["split"] = "by_file"
    if unlabelled:
        content["unlabelled"] = "keep"
    return target, _write(content, target, sources)


def renew_card(
    target: Path, *, force: bool = False, sources: Sources | None = None
) -> tuple[Path, Dataset]:
    """Have a user's card say what its files hold now; return its path and the data set."""
    if not force:
        raise InputError(f"{target} is there already; --force has it say what its files hold now.")
    content = dict(read_document(target).data)
    content.pop("expect", None)
    return target, _write(content, target, sources)


def _write(content: dict[str, Any], target: Path, sources: Sources | None) -> Dataset:
    """Write a card with what its files hold; return the data set."""
    folder = target.parent
    card = check_card(content, target)
    # The files are found from the card's folder, which must be there for that.
    with clear_messages(folder):
        folder.mkdir(parents=True, exist_ok=True)
    sources = sources or Sources.from_environment()
    found = locate(card, sources)
    if found is None:
        raise InputError(f"The files of {target} are not there.")
    dataset = read_found(card, found, card.choose(None), sources)
    content["expect"] = expect_of(card, dataset)
    with clear_messages(target):
        atomic_write(target, dump(content))
    return dataset


def expect_of(card: Card, dataset: Dataset) -> dict[str, Any]:
    """Return what a card says of a data set's arrays."""
    expect: dict[str, Any] = {
        "samples": dataset.n_samples,
        "features": dataset.n_features,
        "classes": dataset.class_counts,
    }
    if dataset.groups is not None:
        expect["groups"] = int(dataset.groups.max()) + 1
    if dataset.n_unlabelled:
        expect["unlabelled"] = dataset.n_unlabelled
    if dataset.n_missing or card.has_missing:
        expect["missing"] = dataset.n_missing
    if dataset.split is not None:
        expect["split"] = {"train": len(dataset.split.train), "test": len(dataset.split.test)}
    return expect | {"fingerprint": dataset.fingerprint}
