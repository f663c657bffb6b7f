"""`ddr data import`: files that the user has, verified and copied into the cache."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path, PurePosixPath

from ddr_cli.core.errors import InputError
from ddr_cli.data.admit import admit, locked, staging
from ddr_cli.data.archive import is_archive, member_names, members
from ddr_cli.data.assemble import DataMismatchError
from ddr_cli.data.card_model import Card, CardFile, Layout, is_inside
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.locate import Sources

_PACKED = (".zip", ".tar.gz", ".tgz", ".tar")


@dataclass(frozen=True)
class _Candidate:
    """A file that was given: its path as given, and how it is copied."""

    name: str
    copy: Callable[[Path], object]


def import_dataset(card: Card, given: Sequence[Path], sources: Sources) -> Dataset:
    """Copy a data set's files into the cache, if they are what the card describes.

    Parameters
    ----------
    card : Card
        The data set.
    given : sequence of Path
        The files, folders that hold them, or archives that hold them. A folder also stands for an
        archive that was unpacked into it.
    sources : Sources
        Says where the cache is.

    Raises
    ------
    InputError
        If a path is not there, a file lacks, or the files are not the data set; nothing is kept.
    """
    if card.embedded:
        raise InputError(f"The data set '{card.name}' needs no files; there is nothing to import.")
    outside = [
        file.path for layout in card.layouts for file in layout.files if not is_inside(file.path)
    ]
    if outside:
        raise InputError(
            f"The card '{card.name}' says where {outside[0]} is; put it there, or change the card."
        )
    for path in given:
        if not path.exists():
            raise InputError(f"There is no file or folder {path}.")
    candidates = [candidate for path in given for candidate in _candidates(path)]
    reasons = []
    with locked(card, sources):
        for layout in card.layouts:
            matches = [_match(file, candidates, given, layout) for file in layout.files]
            lacking = [
                file.path for file, match in zip(layout.files, matches, strict=True) if not match
            ]
            if lacking:
                reasons.append(f"what was given lacks {', '.join(lacking)}")
                continue
            try:
                return _import_layout(card, layout, [match for match in matches if match], sources)
            except DataMismatchError as error:
                reasons.append(str(error).rstrip("."))
    raise InputError(f"Nothing was imported for '{card.name}': {'; '.join(reasons)}.")


def _import_layout(
    card: Card, layout: Layout, matches: Sequence[tuple[str, _Candidate]], sources: Sources
) -> Dataset:
    with staging(card, sources) as folder:
        fresh = {}
        for number, (name, candidate) in enumerate(matches):
            target = folder / str(number) / PurePosixPath(name).name
            target.parent.mkdir()
            candidate.copy(target)
            fresh[name] = target
        names = ", ".join(candidate.name for _, candidate in matches)
        return admit(
            card,
            layout,
            list(fresh.values()),
            fresh,
            card.choose(None),
            sources,
            f"files given ({names})",
        )


def _candidates(path: Path) -> Iterator[_Candidate]:
    for file in _files_below(path) if path.is_dir() else [path]:
        yield _Candidate(file.as_posix(), _copier(file))
    if is_archive(path):
        for name in member_names(path):
            yield _Candidate(f"{path.as_posix()}/{name}", _unpacker(path, name))


def _files_below(folder: Path) -> list[Path]:
    return sorted(child for child in folder.rglob("*") if child.is_file())


def _copier(path: Path) -> Callable[[Path], object]:
    return lambda target: shutil.copyfile(path, target)


def _unpacker(path: Path, name: str) -> Callable[[Path], object]:
    def unpack(target: Path) -> None:
        for _, content in members(path, wanted=lambda member: member == name):
            target.write_bytes(content)

    return unpack


def _packer(folder: Path) -> Callable[[Path], object]:
    """Return a function that packs a folder into the archive that its unpacked files came from."""

    def pack(target: Path) -> None:
        files = _files_below(folder)
        if target.suffix == ".zip":
            with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
                for file in files:
                    packed.write(file, file.relative_to(folder.parent).as_posix())
        else:
            with tarfile.open(target, "w:gz") as packed:
                for file in files:
                    packed.add(file, file.relative_to(folder.parent).as_posix())

    return pack


def _match(
    file: CardFile, candidates: Sequence[_Candidate], given: Sequence[Path], layout: Layout
) -> tuple[str, _Candidate] | None:
    """Return the best of what was given for a file of the card, and the path that it matches."""
    pairs = [
        (name, candidate)
        for name in file.names
        for candidate in candidates
        if _common(name, candidate.name)
    ]
    if pairs:
        return max(pairs, key=lambda pair: _common(pair[0], pair[1].name))
    if len(layout.files) == len(given) == 1:
        if given[0].is_dir():
            if file.path.endswith(_PACKED):
                return file.path, _Candidate(str(given[0]), _packer(given[0]))
        else:
            return file.path, candidates[0]
    return None


def _common(name: str, other: str) -> int:
    """Return how many parts two paths have in common at their ends, in whatever case."""
    ends = zip(
        reversed(PurePosixPath(name.casefold()).parts),
        reversed(PurePosixPath(other.casefold()).parts),
        strict=False,
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
