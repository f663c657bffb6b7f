"""Where a data set's files are: beside a user's card, in a mirror, in the cache."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
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
        """Return the sources that the options and the environment name.

        Parameters
        ----------
        data_dirs : sequence of Path, optional
            Mirrors that are looked in before those of ``DDR_DATA`` (colon-separated).
        offline : bool, optional
            Never download; ``DDR_OFFLINE`` decides if not given.

        Raises
        ------
        InputError
            If a folder of `data_dirs` is not there.
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


def locate(card: Card, sources: Sources) -> Found | None:
    """Return the first layout whose files are all there, or None."""
    for layout in card.layouts:
        hits = [_find(card, file, sources) for file in layout.files]
        found = [hit for hit in hits if hit is not None]
        if len(found) == len(hits):
            paths, where = zip(*found, strict=True)
            return Found(layout, tuple(paths), tuple(where))
    return None


def missing(card: Card, sources: Sources) -> list[CardFile]:
    """Return the files that lack of the layout of which the fewest lack."""
    lacking = [
        [file for file in layout.files if _find(card, file, sources) is None]
        for layout in card.layouts
    ]
    return min(lacking, key=len, default=[])


def lacking(card: Card, place: Place) -> list[str]:
    """Return which files of a card's first layout are not in a place."""
    first = card.layouts[0].files
    return [file.path for file in first if _in_place(card, file, place) is None]


def find_file(card: Card, file: CardFile, sources: Sources, *, cached: bool = True) -> Path | None:
    """Return where one file of a card is, or None; not in the cache if `cached` is false."""
    hit = _find(card, file, sources, cached=cached)
    return None if hit is None else hit[0]


def _find(
    card: Card, file: CardFile, sources: Sources, *, cached: bool = True
) -> tuple[Path, Place] | None:
    for place in places(card, sources):
        path = _in_place(card, file, place)
        if path is not None and (cached or place.kind != "cache"):
            return path, place
    return None


def _in_place(card: Card, file: CardFile, place: Place) -> Path | None:
    paths = (place.folder / name for name in _names(card, file, place))
    return next(filter(_is_there, paths), None)


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:
        # A mirror that may not be entered is as good as none; the next place may have the file.
        return False


def _names(card: Card, file: CardFile, place: Place) -> Iterator[str]:
    for name in file.names:
        if place.kind == "card":
            yield name
        elif is_inside(name):
            yield name
            yield f"{card.name}/{PurePosixPath(name).name}"
