"""The card of a user's own files, with their counts and fingerprint filled in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import InputError
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.load import write_card
from ddr_cli.data.store.sources import Sources


def write_own_card(
    target: Path,
    *,
    title: str,
    format_name: str,
    options: Mapping[str, Any],
    paths: Sequence[Path],
    test_paths: Sequence[Path],
    unlabelled: bool,
    force: bool,
    sources: Sources,
) -> Dataset:
    """Write a card at `target`, ``NAME.yaml``; return the data set that it describes.

    If there are `test_paths`, `paths` are the training set. Paths in the card are relative to its
    folder. An existing card is replaced only by `force`.
    """
    if target.exists() and not force:
        raise InputError(f"{target} is there already; --force replaces it.")
    roles = [*((path, "train") for path in paths), *((path, "test") for path in test_paths)]
    content: dict[str, Any] = {
        "name": target.stem,
        "title": title,
        "version": 1,
        "files": [
            {"path": Path(os.path.relpath(path, target.parent)).as_posix()}
            | ({"role": role} if test_paths else {})
            for path, role in roles
        ],
        "format": {"name": format_name, **options},
    }
    if test_paths:
        content["split"] = "by_file"
    if unlabelled:
        content["unlabelled"] = "keep"
    return write_card(content, target, sources)


def renew_card(target: Path, *, force: bool, sources: Sources) -> Dataset:
    """Let a user's card state what its files hold now; return the data set."""
    if not force:
        raise InputError(f"{target} is there already; --force has it say what its files hold now.")
    return write_card(dict(read_document(target).data), target, sources)
