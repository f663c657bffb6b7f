"""The names of data sets, and the code that reads cards. This module does not import NumPy."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ddr_cli.core.errors import InputError
from ddr_cli.core.positions import Document
from ddr_cli.core.registry import Entry, Registry, shipped_yaml
from ddr_cli.core.validation import validated
from ddr_cli.core.yaml_loader import parse, read_text
from ddr_cli.data.card import OPENML, Call, Card
from ddr_cli.data.formats import FORMATS
from ddr_cli.data.store.sources import Sources

in_memory: dict[str, Card] = {}
"""The cards of data sets that this program holds as arrays, by name."""


def card_names() -> list[str]:
    """Return the names of all data sets.

    Returns
    -------
    list of str
        The shipped data sets, then those of other packages.
    """
    return _registry().names()


@cache
def _registry() -> Registry:
    # The entry point of another package is the path of its card. The shipped cards are listed too,
    # so that no package can take their names.
    shipped = [Entry(name, str(path), "") for name, path in shipped_yaml("datasets").items()]
    return Registry("data set", shipped, "ddr.datasets", listed_as="datasets")


def load_card(name_or_path: str | Path, *, base: Path | None = None) -> Card:
    """Read the card of a data set.

    Parameters
    ----------
    name_or_path : str or Path
        A name, or the path of a card: text with a slash or ending in ``.yaml``.
    base : Path, optional
        The folder that relative paths start from. Default: the current folder.

    Returns
    -------
    Card
        The card.

    Raises
    ------
    InputError
        If there is no such data set, or the card is not valid; the message lists every problem with
        its position.
    """
    text = str(name_or_path)
    if text.startswith("openml:"):
        return _openml_card(text)
    ending = Path(text).suffix.lower()
    is_card = ending in ("", ".yaml", ".yml")
    is_table = not is_card and any(ending in FORMATS.ours[n].endings for n in ("csv", "table"))
    if isinstance(name_or_path, Path) or "/" in text or (is_card and ending) or is_table:
        path = (base or Path()) / Path(text).expanduser()
        if not path.is_file():
            raise InputError(f"{path} is not a file; check the path.")
        if is_table:
            raise InputError(f"{path} is a table, not a card; 'ddr new data {path}' writes a card.")
        return read_card(path)
    if text in in_memory:
        return in_memory[text]
    if text in (shipped := shipped_yaml("datasets")):
        return read_card(shipped[text], shipped=True)
    try:
        entry = _registry().get(text)
    except InputError as error:
        reason = str(error).removesuffix(".")
        raise InputError(f"{reason}; for your own card, use its path, ./NAME.yaml.") from None
    return read_card(Path(str(entry.load())))


def _openml_card(name: str) -> Card:
    """Return the card that was stored at the download, or one that only states the number."""
    if not re.fullmatch(r"[1-9][0-9]*", number := name.partition(":")[2]):
        raise InputError(f"'{name}' is not a data set; give an OpenML number, as in openml:31.")
    kept = Sources.from_environment().openml_card(int(number))
    if kept.is_file():
        return read_card(kept)
    return Card(
        name=kept.stem,
        title=f"OpenML's data set {number}",
        home=f"https://www.openml.org/d/{number}",
        generate=Call.model_validate({"name": OPENML, "number": int(number)}),
    )


def read_card(path: Path, *, shipped: bool = False) -> Card:
    """Read and check a card; the files of a shipped card are not searched next to it."""
    return _card_of(*read_text(path)).with_path(path, shipped=shipped)


@lru_cache(maxsize=64)
def _card_of(content: bytes, source: str) -> Card:
    # The result is cached, because a suite has about ten specs on each data set.
    return validated(parse(content, source), Card, "a card")


def check_card(content: dict[str, Any], path: Path) -> Card:
    """Return the card with that content, as if it had been read from `path`."""
    card = validated(Document(str(path), content), Card, "a card")
    return card.with_path(path, shipped=False)
