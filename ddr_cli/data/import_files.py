"""`ddr data import`: files that the user has, verified and copied into the cache."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from operator import eq
from pathlib import Path, PurePosixPath
from tempfile import mkdtemp

from ddr_cli.core.atomic import is_inside, require_file
from ddr_cli.core.errors import InputError
from ddr_cli.data.card import Card
from ddr_cli.data.dataset import DataMismatchError, Dataset
from ddr_cli.data.files import is_archive, read_members
from ddr_cli.data.load import install
from ddr_cli.data.store.cache import incoming_folder
from ddr_cli.data.store.sources import Sources

_PACKED = (".zip", ".tar.gz", ".tgz", ".tar")

# A function that copies each given file, by the file's path. The path of a file in an archive
# begins with the archive's path.
_Offered = dict[str, Callable[[Path], object]]


def import_files(card: Card, given: Sequence[Path], sources: Sources) -> Dataset:
    """Copy the files of a data set into the cache, if they are what the card describes.

    They are `given` as files, as folders or archives that contain them, or as the folder of an
    unpacked archive. If one is missing or they are not the data set, none is copied.
    """
    if card.embedded:
        raise InputError(f"The data set '{card.name}' needs no files; there is nothing to import.")
    files = [file for layout in card.layouts for file in layout.files]
    if outside := [file.path for file in files if not is_inside(file.path)]:
        raise InputError(f"'ddr data import' can't copy a file to {outside[0]}; copy it yourself.")
    offered: _Offered = {}
    for path in given:
        offered |= _offered_by(path)
    reasons = []
    with incoming_folder(card, sources) as folder:
        for layout in card.layouts:
            found = {file.path: _best([file.path, *file.also], offered) for file in layout.files}
            if len(layout.files) == len(given) == 1 and not any(found.values()):
                found = _only_file(layout.files[0].path, given[0], offered)
            if absent := [path for path, name in found.items() if not name]:
                reasons.append(f"these files are missing: {', '.join(absent)}")
                continue
            fresh = {path: Path(mkdtemp(dir=folder)) / PurePosixPath(path).name for path in found}
            for wanted, name in found.items():
                offered[name](fresh[wanted])
            source = f"given files ({', '.join(found.values())})"
            paths, usual = list(fresh.values()), card.choose(None)
            try:
                return install(card, layout, paths, fresh, usual, sources, source)
            except DataMismatchError as error:
                reasons.append(str(error).rstrip("."))
    raise InputError(f"Nothing was imported for '{card.name}': {'; '.join(reasons)}.")


def _offered_by(path: Path) -> _Offered:
    if not path.exists():
        raise InputError(f"There is no file or folder {path}; check the path.")
    if path.is_dir():
        below = sorted(child for child in path.rglob("*") if child.is_file())
        return {file.as_posix(): partial(shutil.copyfile, file) for file in below}
    require_file(path)
    offered: _Offered = {path.as_posix(): partial(shutil.copyfile, path)}
    for name, _ in read_members(path) if is_archive(path) else ():
        offered[f"{path.as_posix()}/{name}"] = partial(_copy_member, path, name)
    return offered


def _only_file(path: str, given: Path, offered: _Offered) -> dict[str, str]:
    """Return the only given path as the only file of a card, whatever its name."""
    name = given.as_posix()
    if given.is_dir() and path.endswith(_PACKED):
        # The card requires an archive, and the user gave its unpacked folder: pack it again.
        offered[name] = partial(_pack, given.resolve())
    return {path: name if name in offered else ""}


def _best(paths: Sequence[str], offered: _Offered) -> str:
    """Return the name that shares the longest end with one of these paths; "" if none does."""
    pairs = [(_common_parts(path, name), name) for path in paths for name in offered]
    shared, name = max(pairs, key=lambda pair: pair[0], default=(0, ""))
    return name if shared else ""


def _common_parts(path: str, other: str) -> int:
    """Return how many trailing parts two paths share, ignoring case."""
    ends = [reversed(PurePosixPath(each.casefold()).parts) for each in (path, other)]
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(*ends, strict=False)))


def _copy_member(archive: Path, name: str, target: Path) -> None:
    for _, content in read_members(archive, wanted=partial(eq, name)):
        target.write_bytes(content)


def _pack(folder: Path, target: Path) -> None:
    kind = "zip" if target.suffix == ".zip" else "gztar"
    Path(shutil.make_archive(f"{target}.new", kind, folder.parent, folder.name)).replace(target)
