"""Which files of a data set are available, and whether they are what its card says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ddr_cli.data.card import Card, Scalar
from ddr_cli.data.cards import load_card
from ddr_cli.data.store.sources import Sources, locate, missing


def dataset_status(card: Card, sources: Sources) -> dict[str, Any]:
    """Return what a card states and which of its files are available, without opening them.

    `place` is embedded, card, mirror, cache or missing, joined by `` + `` if files are in several,
    and `folder` the first of these; `bytes` is the size of the available files, else the one that
    the card states; `download` says whether every missing file has an address.
    """
    found = None if card.embedded else locate(card, sources)
    absent = [] if card.embedded or found else missing(card, sources)
    if found is not None:
        size: int | None = sum(_size(path) for path in found.paths)
    else:
        stated = [file.bytes for file in card.files if file.bytes is not None]
        size = sum(stated) if stated and len(stated) == len(card.files) else None
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


class Check(NamedTuple):
    """The outcome (ok, differs, missing) of verifying a data set with one choice of options."""

    label: str
    outcome: str
    detail: str
    seconds: float


def check_dataset(card: Card, sources: Sources) -> Iterator[Check]:
    """Read a data set from its files and check it, with every choice that the card lists.

    Nothing is downloaded, and cached arrays are not used.
    """
    for options in ({}, *(variant.options for variant in card.variants)):
        chosen = ", ".join(f"{key}={value}" for key, value in options.items())
        label = f"{card.name} ({chosen})" if chosen else card.name
        start = time.perf_counter()
        outcome, detail = _check(card, options, sources)
        yield Check(label, outcome, detail, time.perf_counter() - start)
        if outcome == "missing":
            return


def _check(card: Card, options: dict[str, Scalar], sources: Sources) -> tuple[str, str]:
    from ddr_cli.data.assemble import DataMismatchError
    from ddr_cli.data.load import generate, read_found

    if card.openml is not None:
        return "missing", "it was not downloaded from OpenML yet"
    chosen = card.choose(options)
    try:
        if card.embedded:
            dataset = generate(card, chosen)
            place = "embedded"
        else:
            found = locate(card, sources)
            if found is None:
                absent = ", ".join(file.path for file in missing(card, sources))
                return "missing", f"{absent} is in no mirror and not in the cache"
            dataset = read_found(card, found, chosen, sources, from_parsed=False)
            place = found.kind
    except DataMismatchError as error:
        return "differs", str(error)
    known = "" if card.expected(options).fingerprint else "; the card states no fingerprint"
    return "ok", (
        f"{dataset.n_samples} x {dataset.n_features}, {len(dataset.target_names)} classes, "
        f"{place}{known}"
    )


def fetch_missing(card: Card, sources: Sources) -> str:
    """Download the missing files of a data set and say where it is now."""
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
