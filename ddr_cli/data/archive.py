"""Reading archives in memory: bounded, and without ever writing under a member's own name.

Nothing here unpacks to disk, so no member's path can leave a folder; and both what an archive says
it holds and what it really gives are bounded, so a small file can't fill the memory.
"""

from __future__ import annotations

import gzip
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from ddr_cli.core.errors import InputError
from ddr_cli.data.files import UNPACKED_LIMIT

_CHUNK = 1 << 20
_DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    NotImplementedError,  # a zip packed by a method that Python can't unpack
    RuntimeError,  # an encrypted zip
)


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip or tar archive, whatever its name."""
    try:
        return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))
    except (OSError, EOFError, zlib.error):
        return False


def members(
    path: Path,
    *,
    wanted: Callable[[str], bool] | None = None,
    limit: int = UNPACKED_LIMIT,
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file in a zip or tar archive (gz, bz2, xz or plain).

    Parameters
    ----------
    path : Path
        The archive.
    wanted : callable, optional
        Takes a member's name and says whether it is read.
    limit : int
        The most bytes that all members together may have.

    Yields
    ------
    (str, bytes)
        In the order of the archive. Names have forward slashes and no leading ``./``. Folders,
        links, devices, names that lead out of the archive and what file managers leave behind
        (``__MACOSX``, dot files) are passed over.

    Raises
    ------
    InputError
        If it is no archive, is damaged, or unpacks to more than `limit` bytes.
    """
    with _plain_errors(path):
        if zipfile.is_zipfile(path):
            yield from _zip_members(path, wanted, limit)
        else:
            yield from _tar_members(path, wanted, limit)


def member_names(path: Path) -> list[str]:
    """Return the names that `members` would give.

    Raises
    ------
    InputError
        If it is no archive or is damaged.
    """
    names = []
    with _plain_errors(path):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                names = [info.filename for info in packed.infolist() if not info.is_dir()]
        else:
            total = 0
            with tarfile.open(path) as archive:
                for info in archive:
                    total += info.size
                    _check_size(path, total, UNPACKED_LIMIT)
                    if info.isreg():
                        names.append(info.name)
    return [name for name in map(_clean, names) if name is not None]


def check_packing(path: Path) -> None:
    """Read a gzip, zip or tar file to its end, so that its own checksums are checked.

    A file that is neither is not looked at.

    Raises
    ------
    InputError
        If it is damaged or unpacks to too much.
    """
    with _plain_errors(path):
        if is_archive(path):
            for _ in members(path):
                pass
            return
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        if packed:
            total = 0
            with gzip.open(path) as unpacked:
                while chunk := unpacked.read(_CHUNK):
                    total += len(chunk)
                    _check_size(path, total, UNPACKED_LIMIT)


def _zip_members(
    path: Path, wanted: Callable[[str], bool] | None, limit: int
) -> Iterator[tuple[str, bytes]]:
    left = limit
    with zipfile.ZipFile(path) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        _check_size(path, sum(info.file_size for info in infos), limit)
        for info in infos:
            name = _clean(info.filename)
            if name is None or (wanted is not None and not wanted(name)):
                continue
            with archive.open(info) as file:
                content = file.read(left + 1)
            left -= len(content)
            _check_size(path, limit - left, limit)
            yield name, content


def _tar_members(
    path: Path, wanted: Callable[[str], bool] | None, limit: int
) -> Iterator[tuple[str, bytes]]:
    total = 0
    with tarfile.open(path) as archive:
        for info in archive:
            # Also what is not wanted has to be unpacked to get past it.
            total += info.size
            _check_size(path, total, limit)
            name = _clean(info.name)
            if not info.isreg() or name is None or (wanted is not None and not wanted(name)):
                continue
            file = archive.extractfile(info)
            if file is not None:
                yield name, file.read()
        # gzip's checksum stands behind the tar archive's end and padding.
        behind = 0
        while archive.fileobj is not None and (rest := archive.fileobj.read(_CHUNK)):
            behind += len(rest)
            _check_size(path, behind, limit)


def _clean(name: str) -> str | None:
    path = PurePosixPath(name.replace("\\", "/"))
    parts = [part for part in path.parts if part not in ("/", ".")]
    if not parts or any(part == "__MACOSX" or part.startswith(".") for part in parts):
        return None
    return "/".join(parts)


def _check_size(path: Path, size: int, limit: int) -> None:
    if size > limit:
        raise InputError(f"{path}: unpacks to more than {limit} bytes; it is not read.")


@contextmanager
def _plain_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except _DAMAGE as error:
        raise InputError(f"{path}: the archive is damaged or cut short ({error}).") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
