"""Where the files of data sets are: next to a user's card, in a mirror, in the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

from platformdirs import user_cache_path

from ddr_cli.core.atomic import is_inside
from ddr_cli.core.errors import InputError
from ddr_cli.data.card import Card, CardFile, Layout

_NO = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True)
class Sources:
    """Where to search for data sets, in this order: mirrors, the cache, the internet.

    Parameters
    ----------
    data_dirs : tuple of Path
        Read-only mirrors, laid out as ``<folder>/<file>``.
    cache_dir : Path
        The user's cache; the first download creates it.
    offline : bool
        Do not download.
    attempts : int
        Number of download attempts per address.
    timeout : float
        Seconds without data after which an attempt fails.
    """

    data_dirs: tuple[Path, ...]
    cache_dir: Path
    offline: bool = False
    attempts: int = 3
    timeout: float = 30.0

    @classmethod
    def from_environment(
        cls, data_dirs: Sequence[Path] | None = None, offline: bool | None = None
    ) -> Sources:
        """Return the sources that the environment variables define.

        Parameters
        ----------
        data_dirs : sequence of Path, optional
            Mirrors to search before those of ``DDR_DATA``.
        offline : bool, optional
            Do not download. Default: ``DDR_OFFLINE`` decides.

        Returns
        -------
        Sources
            The mirrors, and the cache of ``DDR_CACHE``.
        """
        first = tuple(Path(folder).expanduser() for folder in data_dirs or ())
        for folder in first:
            if not folder.is_dir():
                raise InputError(f"--data-dir {folder} is not a folder; check the path.")
        named = os.environ.get("DDR_DATA", "").split(os.pathsep)
        cache = os.environ.get("DDR_CACHE")
        if offline is None:
            offline = os.environ.get("DDR_OFFLINE", "").strip().casefold() not in _NO
        return cls(
            data_dirs=first + tuple(Path(folder).expanduser() for folder in named if folder),
            cache_dir=Path(cache).expanduser() if cache else user_cache_path("ddr"),
            offline=offline,
        )

    def openml_card(self, number: int) -> Path:
        """Return the path of the cached card of an OpenML data set.

        Parameters
        ----------
        number : int
            The number of the data set at OpenML.

        Returns
        -------
        Path
            The path, which may not exist yet.
        """
        return self.cache_dir / "openml" / str(number) / f"openml-{number}.yaml"


class Folder(NamedTuple):
    """A folder in which the files of a card are searched."""

    kind: Literal["card", "mirror", "cache"]
    path: Path


@dataclass(frozen=True)
class Found:
    """The files of a layout, all of which exist, and the folder in which each was found."""

    layout: Layout
    paths: tuple[Path, ...]
    folders: tuple[Folder, ...]

    @property
    def kind(self) -> str:
        """The kinds of folder, joined if the files are in several."""
        return " + ".join(dict.fromkeys(folder.kind for folder in self.folders))


def cache_folder(card: Card, sources: Sources) -> Path:
    """Return the folder in the cache under which the raw files of a card are kept.

    Shipped cards share one, laid out as a mirror is. Every other card has its own, since the cards
    of two users may both call a file ``data.csv``.
    """
    if card.shipped or card.path is None:
        return sources.cache_dir / "raw"
    mark = sha256(str(card.path.resolve()).encode()).hexdigest()[:8]
    return sources.cache_dir / "raw-of-cards" / f"{card.name}-{mark}"


def folders_of(card: Card, sources: Sources) -> list[Folder]:
    """Return the folders in which the files of a card are searched, in order."""
    beside = [] if card.shipped or card.path is None else [Folder("card", card.path.parent)]
    mirrors = [Folder("mirror", path) for path in sources.data_dirs]
    return [*beside, *mirrors, Folder("cache", cache_folder(card, sources))]


def find_file(card: Card, file: CardFile, folders: Sequence[Folder]) -> tuple[Path, Folder] | None:
    """Return the path of a file of a card, and which of the folders holds it."""
    for folder in folders:
        for name in (file.path, *file.also):
            names = [name]
            if folder.kind != "card":
                names = [name, f"{card.name}/{PurePosixPath(name).name}"] if is_inside(name) else []
            for path in map(folder.path.joinpath, names):
                # A mirror that this user may not enter counts as empty.
                with suppress(OSError):
                    if path.exists():
                        return path, folder
    return None


def _search(
    card: Card, sources: Sources
) -> Iterator[tuple[Layout, list[tuple[Path, Folder]], list[CardFile]]]:
    """Yield each layout with its existing files and its missing ones."""
    folders = folders_of(card, sources)
    for layout in card.layouts:
        hits = [(file, find_file(card, file, folders)) for file in layout.files]
        yield layout, [hit for _, hit in hits if hit], [file for file, hit in hits if not hit]


def locate(card: Card, sources: Sources) -> Found | None:
    """Return the first layout of which all files exist, or None."""
    for layout, hits, missing_files in _search(card, sources):
        if not missing_files:
            return Found(layout, tuple(path for path, _ in hits), tuple(at for _, at in hits))
    return None


def missing(card: Card, sources: Sources) -> list[CardFile]:
    """Return the missing files of the layout that lacks the fewest, downloadable ones first."""
    absent = (files for _, _, files in _search(card, sources))
    return min(
        absent, key=lambda files: (not all(file.urls for file in files), len(files)), default=[]
    )
