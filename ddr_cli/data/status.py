"""Which files of a data set are available, and fetching the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ddr_cli.data.card import Card
from ddr_cli.data.cards import load_card
from ddr_cli.data.store.sources import Sources, locate, missing


def dataset_status(card: Card, sources: Sources) -> dict[str, Any]:
    """Return what a card states and which of its files are available; no file is opened.

    `place` is embedded, card, mirror, cache or missing, joined by `` + `` if files are in several,
    and `folder` is the first of these; `bytes` is the size of the available files, or the size that
    the card states (0: unknown); `download` tells whether every missing file has an address.
    """
    found = None if card.embedded else locate(card, sources)
    absent = [] if card.embedded or found else missing(card, sources)
    stated = [file.bytes or 0 for file in card.files]
    size = sum(map(_size, found.paths)) if found else sum(stated) * all(stated)
    return {
        "name": f"openml:{card.openml}" if card.openml else card.name,
        "samples": card.expect.samples,
        "features": card.expect.features,
        "classes": len(card.expect.classes or ()) or None,
        "bytes": size,
        "place": "embedded" if card.embedded else found.kind if found else "missing",
        "folder": str(found.folders[0].path) if found else "",
        "missing": [file.path for file in absent],
        "download": all(file.urls for file in absent),
        "licence": card.licence,
    }


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(child.stat().st_size for child in path.rglob("*") if child.is_file())
    return path.stat().st_size


def fetch_missing(card: Card, sources: Sources) -> str:
    """Download the missing files of a data set and return its new location."""
    if card.embedded:
        return "needs no files"
    found = locate(card, sources)
    if found is not None:
        return f"available ({found.kind})"
    from ddr_cli.data.load import load_from_card
    from ddr_cli.data.store.download import unavailable

    load_from_card(card, sources=sources)
    if card.openml is not None:
        card = load_card(f"openml:{card.openml}")
    found = locate(card, sources)
    if found is None:
        raise unavailable(card, sources, ["downloaded, but the cache is not writable"])
    return f"downloaded ({', '.join(map(str, found.paths))})"
