"""Reads files, folders and archives in memory, with limits; it never writes a member to disk.

Nothing is unpacked to disk, so no member's path can lead out of a folder. (Unpacked files would
take 3 ms each on a slow disk: 11 s instead of 0.6 s for the 3970 newsgroup posts.)
"""

from __future__ import annotations

import gzip
import lzma
import re
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path, PurePosixPath

from ddr_cli.core.atomic import require_file
from ddr_cli.core.errors import InputError, unreadable
from ddr_cli.core.limits import TookTooLongError, time_limit

# Far more than the papers' data sets need. A gzip file can unpack to a thousand times its size.
UNPACKED_LIMIT = 2 * 1024**3
MOST_FILES = 200_000

_CHUNK = 1 << 20
_LONGEST_SEARCH = 5.0
DAMAGE = (
    tarfile.TarError,
    zipfile.BadZipFile,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    NotImplementedError,  # a zip packed by a method that Python can't unpack
    RuntimeError,  # an encrypted zip
)


def read_bytes(path: Path) -> bytes:
    """Return the content of a file, unpacked if it is a gzip file, whatever its name."""
    require_file(path)
    try:
        with path.open("rb") as file:
            if file.read(2) != b"\x1f\x8b":
                return path.read_bytes()
        with gzip.open(path) as unpacked:
            content = unpacked.read(UNPACKED_LIMIT + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path} is a damaged gzip file ({error}); copy it again.") from None
    except OSError as error:
        raise unreadable(path, error) from None
    if len(content) > UNPACKED_LIMIT:
        raise InputError(f"{path} unpacks to more than the limit of {UNPACKED_LIMIT} bytes.")
    return content


def decoded_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the content of a text file, plain or gzip."""
    content = read_bytes(path)
    try:
        return content.decode(encoding)
    except (ValueError, LookupError) as error:
        raise InputError(f"{path} is not {encoding} text ({error}); set `encoding`.") from None


def check_zip(path: Path) -> None:
    """Reject a zip file that unpacks to too much, before a library unpacks it."""
    with zipfile.ZipFile(path) as archive:
        total = sum(member.file_size for member in archive.infolist())
    if total > UNPACKED_LIMIT:
        raise InputError(f"{path} unpacks to {total} bytes; the limit is {UNPACKED_LIMIT}.")


def is_archive(path: Path) -> bool:
    """Return whether a file is a zip or tar archive, whatever its name."""
    try:
        return path.is_file() and (zipfile.is_zipfile(path) or tarfile.is_tarfile(path))
    except (OSError, EOFError, zlib.error):
        return False


def read_members(
    path: Path, *, wanted: Callable[[str], bool] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each file in a zip or tar archive (gz, bz2, xz or plain).

    Names have forward slashes and no leading ``./``. Folders, links, devices, names that lead out
    of the archive, files of file managers (``__MACOSX``, dot files) and members whose name is not
    `wanted` are skipped. An archive that unpacks to more than `UNPACKED_LIMIT` bytes or holds more
    than `MOST_FILES` files is rejected.
    """
    read = _zip_members if zipfile.is_zipfile(path) else _tar_members
    total = 0
    try:
        for count, (size, name, content) in enumerate(read(path), start=1):
            # Unwanted files count, too: a tar archive must be unpacked to get past them.
            total += size
            if total > UNPACKED_LIMIT:
                raise InputError(
                    f"{path} unpacks to more than the limit of {UNPACKED_LIMIT} bytes."
                )
            if count > MOST_FILES:
                raise InputError(f"{path} contains more files than the limit of {MOST_FILES}.")
            inner = _inner_name(name)
            if content is not None and inner is not None and (wanted is None or wanted(inner)):
                yield inner, content()
    except DAMAGE as error:
        # The error of a file in no known format has a line for each format that was tried.
        why = next(iter(str(error).splitlines()), "").rstrip(":")
        raise InputError(f"{path} is a damaged archive ({why}); copy it again.") from None
    except OSError as error:
        raise unreadable(path, error) from None


# A member's stated size, its name, and a function that returns its content, which is no larger.
_Member = tuple[int, str, Callable[[], bytes] | None]


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            content = None if info.is_dir() else partial(archive.read, info)
            yield info.file_size, info.filename, content


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path) as archive:
        for info in archive:
            file = archive.extractfile(info) if info.isreg() else None
            yield info.size, info.name, file.read if file else None
        # Reading on verifies gzip's checksum, which follows the archive's end and padding.
        while archive.fileobj is not None and (rest := archive.fileobj.read(_CHUNK)):
            yield len(rest), "", None


def _inner_name(name: str) -> str | None:
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in "/."]
    if not parts or any(part == "__MACOSX" or part.startswith(".") for part in parts):
        return None
    return "/".join(parts)


def check_packing(path: Path) -> None:
    """Read a gzip, zip or tar file to its end, so that its own checksums are checked."""
    if is_archive(path):
        for _ in read_members(path):
            pass
    else:
        read_bytes(path)


def walk_folder(
    path: Path, *, pattern: str, endings: Sequence[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of each wanted file in a folder or archive, in no set order.

    A file is wanted if its full name or the last part of it matches the shell pattern `pattern`,
    and it ends with one of `endings` (in lower case), if there are any. Hidden files are skipped.
    """

    def wanted(name: str) -> bool:
        last = name.rpartition("/")[2]
        return (fnmatchcase(name, pattern) or fnmatchcase(last, pattern)) and (
            not endings or last.lower().endswith(tuple(endings))
        )

    if not path.is_dir():
        yield from read_members(path, wanted=wanted)
        return
    for file in path.rglob("*"):
        parts = file.relative_to(path).parts
        name = "/".join(parts)
        if file.is_file() and wanted(name) and not any(part[0] == "." for part in parts):
            yield name, read_bytes(file)


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Return a sort key that puts ``a2`` before ``a10``."""
    return tuple(
        (0, int(part), "") if part.isdecimal() else (1, 0, part)
        for part in re.split(r"([0-9]+)", name)
        if part
    )


def file_labeller(label: str) -> Callable[[str], str]:
    """Return a function that maps the name of a file, with its folders, to its label.

    `label` is ``folder``, which means the name of the file's folder, or a pattern.
    """
    return _folder if label == "folder" else pattern_labeller(label)


def pattern_labeller(label: str) -> Callable[[str], str]:
    """Return a function that finds the single group of a regular expression in a name."""
    try:
        expression = re.compile(label)
    except re.error as error:
        raise InputError(f"The label pattern '{label}' is not valid: {error}.") from None
    if expression.groups != 1:
        raise InputError(
            f"The label pattern '{label}' needs 1 group in parentheses, not {expression.groups}."
        )

    def found(name: str) -> str:
        try:
            with time_limit(_LONGEST_SEARCH):
                match = expression.search(name)
        except TookTooLongError:
            raise InputError(
                f"The label pattern '{label}' is too slow for '{name}'; remove nested repetitions."
            ) from None
        if match is None or match.group(1) is None:
            raise InputError(f"The label pattern '{label}' does not match the file name '{name}'.")
        return match.group(1)

    return found


def _folder(name: str) -> str:
    parts = name.split("/")
    if len(parts) < 2:
        raise InputError(
            f"The file '{name}' is not in a class's folder; set `label` to a pattern of file names."
        )
    return parts[-2]
