"""Data sets' cards: their names, and reading one. No NumPy is loaded for it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from ddr_cli.core.document import Document, Rules
from ddr_cli.core.errors import InputError
from ddr_cli.core.marked_yaml import read_document
from ddr_cli.core.models import validated
from ddr_cli.core.registry import Entry, Registry
from ddr_cli.core.resources import shipped_yaml
from ddr_cli.data.card_model import Card

__all__ = ["Card", "card_names", "check_card", "load_card", "read_card"]

# A card may state thousands of classes, and many classes are called by a number.
_RULES = Rules(max_bytes=2**20, max_values=50_000, any_key=True)


def card_names() -> list[str]:
    """Return the names of all data sets: the shipped ones, then other packages'."""
    return _registry().names()


@cache
def _shipped() -> dict[str, Path]:
    return shipped_yaml("datasets")


@cache
def _registry() -> Registry:
    # Another package's entry point is the path of its card; the shipped ones are in the table so
    # that no package can take their names.
    shipped = [Entry(name, str(path), "") for name, path in _shipped().items()]
    return Registry("data set", shipped, "ddr.datasets", listed_as="datasets")


def load_card(name_or_path: str | Path, *, base: Path | None = None) -> Card:
    """Return the card of a data set.

    Parameters
    ----------
    name_or_path : str or Path
        A name, or the path of a card: text with a slash or ending in ``.yaml``.
    base : Path, optional
        The folder that a relative path is relative to; the current one if not given.

    Raises
    ------
    InputError
        If there is no such data set, or the card is wrong: every problem, each with file, line
        and column.
    """
    text = str(name_or_path)
    if isinstance(name_or_path, Path) or "/" in text or text.endswith((".yaml", ".yml")):
        path = (base or Path()) / Path(text).expanduser()
        if not path.is_file():
            raise InputError(f"There is no card at {path}.")
        return read_card(path)
    if text in _shipped():
        return read_card(_shipped()[text], shipped=True)
    try:
        entry = _registry().get(text)
    except InputError as error:
        everything = str(error).removesuffix(".")
        raise InputError(
            f"{everything}; a card of your own is named by its path, ./NAME.yaml."
        ) from None
    return read_card(Path(str(entry.load())))


def read_card(path: Path, *, shipped: bool = False) -> Card:
    """Read and check a card.

    Parameters
    ----------
    path : Path
        Its file.
    shipped : bool
        Whether it ships with ddr, so that nothing lies beside it.

    Raises
    ------
    InputError
        If the card is wrong: every problem, each with file, line and column.
    """
    document = read_document(path, _RULES)
    return validated(document, Card, "a card").at(path, shipped=shipped)


def check_card(content: dict[str, Any], path: Path) -> Card:
    """Return the card of `content`, as if it were read from `path`.

    Raises
    ------
    InputError
        If the card is wrong.
    """
    return validated(Document(str(path), content), Card, "a card").at(path, shipped=False)
