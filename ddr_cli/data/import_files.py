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
from ddr_cli.data.assemble import DataMismatchError
from ddr_cli.data.card import Card, CardFile, Layout, is_inside
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.files import is_archive, read_members
from ddr_cli.data.load import install
from ddr_cli.data.store.cache import incoming_folder
from ddr_cli.data.store.sources import Sources

_PACKED = (".zip", ".tar.gz", ".tgz", ".tar")

# A file of the user: its path and, if it is in an archive, its name there.
_Source = tuple[Path, str | None]


def import_files(card: Card, given: Sequence[Path], sources: Sources) -> Dataset:
    """Copy the files of a data set into the cache, if they are what the card describes.

    They are `given` as files, as folders or archives that hold them, or as the folder that an
    archive was unpacked into. If one is missing or they are not the data set, none is copied.
    """
    if card.embedded:
        raise InputError(f"The data set '{card.name}' needs no files; there is nothing to import.")
    files = [file.path for layout in card.layouts for file in layout.files]
    if outside := [path for path in files if not is_inside(path)]:
        raise InputError(
            f"The card '{card.name}' says where {outside[0]} is; put it there, or change the card."
        )
    candidates: dict[str, _Source] = {}
    for path in given:
        if not path.exists():
            raise InputError(f"There is no file or folder {path}.")
        if path.is_dir():
            below = sorted(child for child in path.rglob("*") if child.is_file())
            candidates |= {file.as_posix(): (file, None) for file in below}
            continue
        require_file(path)
        candidates[path.as_posix()] = (path, None)
        if is_archive(path):
            candidates |= {f"{path.as_posix()}/{n}": (path, n) for n, _ in read_members(path)}
    reasons = []
    with incoming_folder(card, sources) as folder:
        for layout in card.layouts:
            matches = [_match(file, candidates, given, layout) for file in layout.files]
            missing = [f.path for f, match in zip(layout.files, matches, strict=True) if not match]
            if missing:
                reasons.append(f"missing in what was given: {', '.join(missing)}")
                continue
            found = [match for match in matches if match]
            fresh = {path: _copied(path, source, folder) for path, _, source in found}
            names = ", ".join(name for _, name, _ in found)
            how = (fresh, card.choose(None), sources, f"files given ({names})")
            try:
                return install(card, layout, list(fresh.values()), *how)
            except DataMismatchError as error:
                reasons.append(str(error).rstrip("."))
    raise InputError(f"Nothing was imported for '{card.name}': {'; '.join(reasons)}.")


def _copied(path: str, source: _Source, folder: Path) -> Path:
    """Return the copy, in a folder below `folder`, of the file that a card calls `path`."""
    target = Path(mkdtemp(dir=folder)) / PurePosixPath(path).name
    origin, member = source
    if member is not None:
        for _, content in read_members(origin, wanted=partial(eq, member)):
            target.write_bytes(content)
    elif origin.is_dir():
        # The unpacked files of an archive are packed again.
        kind, origin = "zip" if target.suffix == ".zip" else "gztar", origin.resolve()
        packed = shutil.make_archive(f"{target}.new", kind, origin.parent, origin.name)
        Path(packed).replace(target)
    else:
        shutil.copyfile(origin, target)
    return target


def _match(
    file: CardFile, candidates: Mapping[str, _Source], given: Sequence[Path], layout: Layout
) -> tuple[str, str, _Source] | None:
    """Return the best candidate for a file of a card: the card's path for it, its name, and it."""
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
    """Return how many parts two paths share at their ends, in any case."""
    ends = zip(
        reversed(PurePosixPath(path.casefold()).parts),
        reversed(PurePosixPath(other.casefold()).parts),
        strict=False,
    )
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
