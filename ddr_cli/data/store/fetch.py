"""Downloading a data set into the cache, and the message of one that can't be had."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from tempfile import mkdtemp

from ddr_cli.core.errors import DataUnavailableError, DdrError
from ddr_cli.core.registry import shipped_yaml
from ddr_cli.core.yaml_loader import read_document
from ddr_cli.data.card import Card, Layout, Options, load_card
from ddr_cli.data.dataset import DataMismatchError, Dataset
from ddr_cli.data.store.cache import incoming_folder, install
from ddr_cli.data.store.download import DownloadFailedError, download
from ddr_cli.data.store.locate import Place, Sources, find_file, locate, places

_PLACE_NAMES = {
    "card": "beside the card, {}",
    "mirror": "mirror {} (DDR_DATA or --data-dir)",
    "cache": "cache {}",
}


def fetch(card: Card, chosen: Options, sources: Sources, *, again: bool = False) -> Dataset:
    """Download the missing files of a data set (`again`: also those in the cache, as damaged).

    Of several processes that ask for the same data set one downloads; the others wait for it. If
    a file came from no address, or what came is not the data set, the cache is as it was before.
    """
    if sources.offline:
        raise unavailable(card, sources, [])
    failures: list[str] = []
    with incoming_folder(card, sources) as folder:
        for layout in card.layouts:
            try:
                return _fetch_layout(card, layout, chosen, sources, folder, again=again)
            except (DownloadFailedError, DataMismatchError) as error:
                failures += str(error).splitlines()
    raise unavailable(card, sources, failures)


def _fetch_layout(
    card: Card, layout: Layout, chosen: Options, sources: Sources, folder: Path, *, again: bool
) -> Dataset:
    found = locate(card, sources)
    if found is not None:
        # Another process was faster, or had the same damage to mend.
        source = "files in the cache"
        try:
            return install(card, found.layout, found.paths, {}, chosen, sources, source)
        except DataMismatchError:
            if not again:
                raise
    where = [place for place in places(card, sources) if not (again and place.kind == "cache")]
    here = [find_file(card, file, where)[0] for file in layout.files]
    for file, path in zip(layout.files, here, strict=True):
        if path is None and not file.urls:
            raise DownloadFailedError(f"{file.path}: the card names no address to download it from")
    paths: list[Path] = []
    fresh: dict[str, Path] = {}
    for file, path in zip(layout.files, here, strict=True):
        if path is None:
            path = Path(mkdtemp(dir=folder)) / Path(file.path).name
            download(file, path, sources)
            fresh[file.path] = path
        paths.append(path)
    return install(card, layout, paths, fresh, chosen, sources, "files that were downloaded")


def unavailable(card: Card, sources: Sources, failures: Sequence[str]) -> DataUnavailableError:
    """Return the error that says where a data set was looked for and what can be done.

    `failures` says why it could not be downloaded, a line for each address; none when offline.
    """
    looked = [
        f"  {_PLACE_NAMES[place.kind].format(place.folder)}: {_found(card, place)}"
        for place in places(card, sources)
    ]
    name = card.name if card.shipped or card.path is None else str(card.path)
    fate = "downloads are off" if sources.offline else "could not be downloaded"
    home = card.home or "their distributor"
    reasons = "; ".join(failures) or f"{fate}; its files are from {home}"
    return DataUnavailableError(
        "\n".join(
            [
                f"The data set '{card.name}' is not available locally and {fate}. Tried:",
                *looked,
                *(f"  {line}" for line in failures),
                *advice(name, home),
            ]
        ),
        f"{card.name}: not available; {reasons}",
    )


def advice(name: str, home: str) -> list[str]:
    """Return the lines that say what can be done where a data set can't be had."""
    lines = [
        f"put the files (from {home}) into the cache: ddr data import {name} PATH...",
        "or name a folder that has them, laid out as <folder>/<file>: DDR_DATA=FOLDER",
    ]
    embedded = [name for name, path in shipped_yaml("configs").items() if _is_embedded(path)]
    if embedded:
        lines.append(f"or run a spec that needs no download: {', '.join(embedded)}")
    return ["What you can do:", *(f"  - {line}" for line in lines)]


def _found(card: Card, place: Place) -> str:
    if not place.folder.is_dir():
        return "no such folder"
    files = card.layouts[0].files
    absent = [file.path for file in files if find_file(card, file, [place])[0] is None]
    return f"no {', '.join(absent)}" if absent else "files that are not the data set"


def _is_embedded(spec: Path) -> bool:
    try:
        dataset = read_document(spec).data["dataset"]
        name = dataset["name"] if isinstance(dataset, dict) else dataset
        return "/" not in name and load_card(name).embedded
    except (KeyError, TypeError, DdrError):
        # A broken spec is for `ddr validate` to report, not for this message.
        return False
