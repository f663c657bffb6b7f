"""Where a data set's files are: beside a user's card, in a mirror, in the cache."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Literal

from platformdirs import user_cache_path

from ddr_cli.core.errors import InputError
from ddr_cli.data.card import Card, CardFile, Layout, is_inside

_NO = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True)
class Sources:
    """Where data sets are looked for, in this order: mirrors, the cache, the internet.

    Parameters
    ----------
    data_dirs : tuple of Path
        Read-only mirrors, laid out as ``<folder>/<file>``.
    cache_dir : Path
        The user's cache; made when it is first written to.
    offline : bool
        Never download.
    attempts : int
        How often a download is tried from each address.
    timeout : float
        Seconds without a byte after which an attempt is given up.
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
        """Return `data_dirs` and then those of ``DDR_DATA``, with ``DDR_CACHE``.

        ``DDR_OFFLINE`` decides if `offline` is not given.
        """
        first = tuple(Path(folder).expanduser() for folder in data_dirs or ())
        for folder in first:
            if not folder.is_dir():
                raise InputError(f"The data folder {folder} (--data-dir) is not there.")
        named = os.environ.get("DDR_DATA", "").split(os.pathsep)
        cache = os.environ.get("DDR_CACHE")
        if offline is None:
            offline = os.environ.get("DDR_OFFLINE", "").strip().casefold() not in _NO
        return cls(
            data_dirs=first + tuple(Path(folder).expanduser() for folder in named if folder),
            cache_dir=Path(cache).expanduser() if cache else user_cache_path("ddr"),
            offline=offline,
        )


@dataclass(frozen=True)
class Place:
    """A folder in which files are looked for."""

    kind: Literal["card", "mirror", "cache"]
    folder: Path


@dataclass(frozen=True)
class Found:
    """The files of a layout, all of them there, and in which place each was found."""

    layout: Layout
    paths: tuple[Path, ...]
    places: tuple[Place, ...]

    @property
    def kind(self) -> str:
        """The kinds of place, joined when the files are in several."""
        return " + ".join(dict.fromkeys(place.kind for place in self.places))

    @property
    def cached(self) -> bool:
        """Whether a file is from the cache."""
        return any(place.kind == "cache" for place in self.places)


def cache_folder(card: Card, sources: Sources) -> Path:
    """Return the folder in the cache under which the raw files of a card are kept.

    Cards that ship with ddr share one, laid out as a mirror is; each other card has its own, since
    two users' cards may well both call a file ``data.csv``.
    """
    if card.shipped or card.path is None:
        return sources.cache_dir / "raw"
    mark = sha256(str(card.path.resolve()).encode()).hexdigest()[:8]
    return sources.cache_dir / "raw-of-cards" / f"{card.name}-{mark}"


def places(card: Card, sources: Sources) -> list[Place]:
    """Return the places in which the files of a card are looked for, in order."""
    beside = [] if card.shipped or card.path is None else [Place("card", card.path.parent)]
    mirrors = [Place("mirror", folder) for folder in sources.data_dirs]
    return [*beside, *mirrors, Place("cache", cache_folder(card, sources))]


def find_file(
    card: Card, file: CardFile, where: Sequence[Place]
) -> tuple[Path, Place] | tuple[None, None]:
    """Return the path of one file of a card and in which of some places it is."""
    for place in where:
        for name in (file.path, *file.also):
            inner = PurePosixPath(name).name
            if place.kind == "card":
                names = [name]
            else:
                names = [name, f"{card.name}/{inner}"] if is_inside(name) else []
            for path in map(place.folder.joinpath, names):
                # A mirror that may not be entered is as good as none.
                with suppress(OSError):
                    if path.exists():
                        return path, place
    return None, None


def locate(card: Card, sources: Sources) -> Found | None:
    """Return the first layout whose files are all there, or None."""
    where = places(card, sources)
    for layout in card.layouts:
        hits = [find_file(card, file, where) for file in layout.files]
        paths = tuple(path for path, _ in hits if path is not None)
        if len(paths) == len(hits):
            return Found(layout, paths, tuple(place for _, place in hits if place is not None))
    return None


def missing(card: Card, sources: Sources) -> list[CardFile]:
    """Return the missing files of the layout of which the fewest are."""
    where = places(card, sources)
    absent = [
        [file for file in layout.files if find_file(card, file, where)[0] is None]
        for layout in card.layouts
    ]
    return min(absent, key=len, default=[])
