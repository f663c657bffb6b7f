"""Downloading a data set into the cache."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ddr_cli.data.admit import admit, locked, staging
from ddr_cli.data.assemble import DataMismatchError
from ddr_cli.data.card_model import Card, Layout, Scalar
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.download import DownloadFailedError, download
from ddr_cli.data.locate import Sources, find_file, locate
from ddr_cli.data.unavailable import unavailable


def fetch(
    card: Card, chosen: Mapping[str, Scalar], sources: Sources, *, again: bool = False
) -> Dataset:
    """Download what lacks of a data set, keep it in the cache and return the data set.

    Of several processes that ask for the same data set one downloads; the others wait for it.

    Parameters
    ----------
    card : Card
        The card of a data set with files.
    chosen : mapping of str to bool, int, float or str
        The value of every option of the card.
    sources : Sources
        Where to look first.
    again : bool
        Download also what the cache has, because it is damaged.

    Raises
    ------
    DataUnavailableError
        If a file came from no address, or what came is not the data set. The cache is then as it
        was before.
    """
    if sources.offline:
        raise unavailable(card, sources, [])
    failures: list[str] = []
    with locked(card, sources):
        for layout in card.layouts:
            try:
                return _fetch_layout(card, layout, chosen, sources, again=again)
            except (DownloadFailedError, DataMismatchError) as error:
                failures += str(error).splitlines()
    raise unavailable(card, sources, failures)


def _fetch_layout(
    card: Card, layout: Layout, chosen: Mapping[str, Scalar], sources: Sources, *, again: bool
) -> Dataset:
    found = locate(card, sources)
    if found is not None:
        # Another process was faster, or had the same damage to mend.
        try:
            return admit(card, found.layout, found.paths, {}, chosen, sources, "files in the cache")
        except DataMismatchError:
            if not again:
                raise
    here = [find_file(card, file, sources, cached=not again) for file in layout.files]
    for file, path in zip(layout.files, here, strict=True):
        if path is None and not file.urls:
            raise DownloadFailedError(f"{file.path}: the card names no address to download it from")
    with staging(card, sources) as folder:
        paths: list[Path] = []
        fresh: dict[str, Path] = {}
        for number, (file, path) in enumerate(zip(layout.files, here, strict=True)):
            if path is None:
                path = folder / str(number) / file.file_name
                path.parent.mkdir()
                download(file, path, sources)
                fresh[file.path] = path
            paths.append(path)
        return admit(card, layout, paths, fresh, chosen, sources, "files that were downloaded")
