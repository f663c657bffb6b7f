"""Loading a data set by its name or card: found, downloaded, or generated."""

from __future__ import annotations

import warnings
from pathlib import Path

from ddr_cli.data.arrays import given_dataset
from ddr_cli.data.card import GIVEN, Card, Options, load_card, read_card
from ddr_cli.data.dataset import DataMismatchError, Dataset, assemble, verify
from ddr_cli.data.formats import call_checked
from ddr_cli.data.store.cache import read_found
from ddr_cli.data.store.locate import Sources, locate
from ddr_cli.data.synthetic import GENERATORS


def load_dataset(
    name_or_path: str | Path, *, options: Options | None = None, sources: Sources | None = None
) -> Dataset:
    """Return a data set, verified against its card.

    Parameters
    ----------
    name_or_path : str or Path
        A name (`card_names` gives all), or the path of a card of your own.
    options : mapping, optional
        Options of the card, such as ``{"resize": "block_mean"}`` for coil20.
    sources : Sources, optional
        Where to look; the environment decides if not given.

    Returns
    -------
    Dataset
        With ``.X .y .target_names .fingerprint`` and, where there is one, ``.split``.

    Raises
    ------
    InputError
        If there is no such data set or option, or the card is wrong.
    DataUnavailableError
        If its files are in no mirror and no cache and can't be downloaded; the message says what
        was tried and what can be done.
    DataMismatchError
        If files are there but are not the data set that the card describes.
    """
    card = load_card(name_or_path)
    return load_from_card(card, options=options, sources=sources)


def load_from_card(
    card: Card, *, options: Options | None = None, sources: Sources | None = None
) -> Dataset:
    """Return the data set of a card; as `load_dataset`."""
    chosen = card.choose(options)
    if card.generate is not None and card.generate.name == GIVEN:
        return given_dataset(card.name)
    sources = sources or Sources.from_environment()
    if card.openml is not None:
        from ddr_cli.data.store.openml import fetch_openml

        card = read_card(fetch_openml(card.openml, sources))
    if card.generate is not None:
        return generate(card, chosen)
    found = locate(card, sources)
    if found is not None:
        try:
            return read_found(card, found, chosen, sources)
        except DataMismatchError:
            # What was damaged in the cache can be downloaded again; a mirror is the user's.
            if not found.cached or sources.offline:
                raise
            warnings.warn(
                f"{', '.join(map(str, found.paths))}: no more the data set '{card.name}', as its "
                "card has it; downloading it again.",
                RuntimeWarning,
                stacklevel=2,
            )
    from ddr_cli.data.store.fetch import fetch

    return fetch(card, chosen, sources, again=found is not None)


def generate(card: Card, chosen: Options) -> Dataset:
    """Return the data set that a card's generator makes, verified against the card."""
    if card.generate is None:
        raise ValueError(f"the card '{card.name}' has no generator")
    raw = call_checked(
        GENERATORS.load(card.generate.name),
        {**card.generate.options, **chosen},
        f"The card '{card.name}': the generator '{card.generate.name}'",
    )
    return verify(card, assemble(card, raw), chosen, "generated arrays")
