"""The message of a data set that can't be had: what was tried, and what can be done."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ddr_cli.core.errors import DataUnavailableError, DdrError
from ddr_cli.core.marked_yaml import read_document
from ddr_cli.core.resources import shipped_yaml
from ddr_cli.data.card import load_card
from ddr_cli.data.card_model import Card
from ddr_cli.data.locate import Place, Sources, lacking, places

_PLACE_NAMES = {
    "card": "beside the card, {}",
    "mirror": "mirror {} (DDR_DATA or --data-dir)",
    "cache": "cache {}",
}


def unavailable(card: Card, sources: Sources, failures: Sequence[str]) -> DataUnavailableError:
    """Return the error that says where a data set was looked for and what can be done.

    Parameters
    ----------
    card : Card
        The data set.
    sources : Sources
        Where it was looked for.
    failures : sequence of str
        Why it could not be downloaded, a line for each address; none when offline.
    """
    looked = [
        f"  {_PLACE_NAMES[place.kind].format(place.folder)}: {_found(card, place)}"
        for place in places(card, sources)
    ]
    name = card.name if card.shipped or card.path is None else str(card.path)
    advice = [
        f"put the files (from {card.home or 'their distributor'}) into the cache: "
        f"ddr data import {name} PATH...",
        "or name a folder that has them, laid out as <folder>/<file>: DDR_DATA=FOLDER",
    ]
    fate = "downloads are off" if sources.offline else "could not be downloaded"
    specs = specs_without_download()
    if specs:
        advice.append(f"or run a spec that needs no download: {', '.join(specs)}")
    return DataUnavailableError(
        "\n".join(
            [
                f"The data set '{card.name}' is not here and {fate}. Tried:",
                *looked,
                *(f"  {line}" for line in failures),
                "What you can do:",
                *(f"  - {line}" for line in advice),
            ]
        )
    )


def _found(card: Card, place: Place) -> str:
    if not place.folder.is_dir():
        return "no such folder"
    absent = lacking(card, place)
    return f"no {', '.join(absent)}" if absent else "files that are not the data set"


def specs_without_download() -> list[str]:
    """Return the names of the shipped specs whose data set needs no file."""
    return [name for name, path in shipped_yaml("configs").items() if _is_embedded(path)]


def _is_embedded(spec: Path) -> bool:
    try:
        dataset = read_document(spec).data["dataset"]
        name = dataset["name"] if isinstance(dataset, dict) else dataset
        return "/" not in name and load_card(name).embedded
    except (KeyError, TypeError, DdrError):
        # A broken spec is for `ddr validate` to report, not for this message.
        return False
