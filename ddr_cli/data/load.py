"""Loading a data set by its name or card: found, or downloaded; parsed, or from the cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ddr_cli.data.assemble import DataMismatchError, differences
from ddr_cli.data.cache import parsed_path, read_parsed, write_parsed
from ddr_cli.data.card import load_card
from ddr_cli.data.card_model import Card, Options, Scalar
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.locate import Found, Sources, locate
from ddr_cli.data.parse import generate, parse_files
from ddr_cli.data.writing import optional_writing


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
    if card.embedded:
        return generate(card, chosen)
    sources = sources or Sources.from_environment()
    found = locate(card, sources)
    if found is not None:
        try:
            return read_found(card, found, chosen, sources)
        except DataMismatchError:
            # What was damaged in the cache can be downloaded again; a mirror is the user's.
            if not found.cached or sources.offline:
                raise
    from ddr_cli.data.fetch import fetch

    return fetch(card, chosen, sources, again=found is not None)


def read_found(
    card: Card,
    found: Found,
    chosen: Mapping[str, Scalar],
    sources: Sources,
    *,
    from_parsed: bool = True,
) -> Dataset:
    """Return the data set in files that are there.

    Parameters
    ----------
    card, chosen, sources
        As elsewhere.
    found : Found
        The files.
    from_parsed : bool
        Whether arrays that were parsed from the same files before will do.

    Raises
    ------
    DataMismatchError
        If the files are not the data set that the card describes.
    """
    source = f"files found at {', '.join(map(str, found.paths))}"
    try:
        kept = parsed_path(card, found.layout, found.paths, chosen, sources.cache_dir)
    except OSError as error:
        raise DataMismatchError(f"The {source} can't be read: {error.strerror}.") from error
    if from_parsed:
        dataset = read_parsed(kept, card)
        if dataset is not None and not differences(dataset, card.expected(chosen)):
            return dataset
    dataset = parse_files(card, found.layout, found.paths, chosen, source)
    with optional_writing(sources.cache_dir):
        write_parsed(kept, dataset)
    return dataset
