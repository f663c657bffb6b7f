"""`ddr data import`: files that the user has, verified and copied into the cache."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import takewhile
from operator import eq
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError
from ddr_cli.data.archives import is_archive, read_members
from ddr_cli.data.card import Card, CardFile, Layout, is_inside
from ddr_cli.data.dataset import DataMismatchError, Dataset
from ddr_cli.data.store.cache import incoming_folder, install
from ddr_cli.data.store.locate import Sources

_PACKED = (".zip", ".tar.gz", ".tgz", ".tar")

# A file that was given: its path, and for a file in an archive its name there.
_Given = tuple[Path, str | None]


def import_dataset(card: Card, given: Sequence[Path], sources: Sources) -> Dataset:
    """Copy a data set's files into the cache, if they are what the card describes.

    They are `given` as files, as folders or archives that hold them, or as the folder that an
    archive was unpacked into. If one is missing or they are not the data set, nothing is kept.
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
        if not path.is_dir():
            require_file(path)
    reasons = []
    candidates: dict[str, _Given] = {}
    for path in given:
        files = _files_below(path) if path.is_dir() else [path]
        candidates |= {file.as_posix(): (file, None) for file in files}
        if is_archive(path):
            members = [name for name, _ in read_members(path)]
            candidates |= {f"{path.as_posix()}/{name}": (path, name) for name in members}
    with incoming_folder(card, sources) as folder:
        for layout in card.layouts:
            matches = [_match(file, candidates, given, layout) for file in layout.files]
            missing = [
                file.path for file, match in zip(layout.files, matches, strict=True) if not match
            ]
            if missing:
                reasons.append(f"missing in what was given: {', '.join(missing)}")
                continue
            try:
                matched = [match for match in matches if match]
                return _import_layout(card, layout, matched, sources, folder)
            except DataMismatchError as error:
                reasons.append(str(error).rstrip("."))
    raise InputError(f"Nothing was imported for '{card.name}': {'; '.join(reasons)}.")


def _import_layout(
    card: Card,
    layout: Layout,
    matches: Sequence[tuple[str, str, _Given]],
    sources: Sources,
    folder: Path,
) -> Dataset:
    fresh = {}
    for path, _, (source, member) in matches:
        target = Path(mkdtemp(dir=folder)) / PurePosixPath(path).name
        if member is not None:
            for _name, content in read_members(source, wanted=partial(eq, member)):
                target.write_bytes(content)
        elif source.is_dir():
            _pack(source, target)
        else:
            shutil.copyfile(source, target)
        fresh[path] = target
    names = ", ".join(name for _, name, _ in matches)
    files = list(fresh.values())
    usual = card.choose(None)
    return install(card, layout, files, fresh, usual, sources, f"files given ({names})")


def _files_below(folder: Path) -> list[Path]:
    return sorted(child for child in folder.rglob("*") if child.is_file())


def _pack(folder: Path, target: Path) -> None:
    """Pack a folder into the archive that its unpacked files came from."""
    kind = "zip" if target.suffix == ".zip" else "gztar"
    folder = folder.resolve()
    packed = shutil.make_archive(f"{target}.new", kind, folder.parent, folder.name)
    Path(packed).replace(target)


def _match(
    file: CardFile, candidates: Mapping[str, _Given], given: Sequence[Path], layout: Layout
) -> tuple[str, str, _Given] | None:
    """Return the path of a card's file under which the best candidate comes, its name, and it."""
    pairs = [
        (path, name)
        for path in (file.path, *file.also)
        for name in candidates
        if _common_parts(path, name)
    ]
    if pairs:
        path, name = max(pairs, key=lambda pair: _common_parts(*pair))
        return path, name, candidates[name]
    if len(layout.files) == len(given) == 1:
        only = given[0]
        if not only.is_dir() or file.path.endswith(_PACKED):
            return file.path, str(only), (only, None)
    return None


def _common_parts(path: str, other: str) -> int:
    """Return how many parts two paths have in common at their ends, in whatever case."""
    ends = zip(
        reversed(PurePosixPath(path.casefold()).parts),
        reversed(PurePosixPath(other.casefold()).parts),
        strict=False,
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
