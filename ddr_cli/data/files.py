"""Opening a data file: plain or gzip by its content, with a limit on what it may unpack to."""

from __future__ import annotations

import gzip
import io
import zlib
from pathlib import Path

from ddr_cli.core.errors import InputError

# Larger than any data set of the papers by far; a gzip file can claim a thousand times its size.
UNPACKED_LIMIT = 2 * 1024**3


def read_bytes(path: Path, *, limit: int = UNPACKED_LIMIT) -> bytes:
    """Return the content of a file, unpacked if it is a gzip file whatever its name.

    Raises
    ------
    InputError
        If the file can't be read, is a damaged gzip file, or unpacks to more than `limit` bytes.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            if file.read(2) != b"\x1f\x8b":
                return path.read_bytes()
        with gzip.open(path) as unpacked:
            content = unpacked.read(limit + 1)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the gzip file is damaged or cut short ({error}).") from None
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    if len(content) > limit:
        raise InputError(f"{path}: unpacks to more than {limit} bytes; it is not read.")
    return content


def open_bytes(path: Path) -> io.BytesIO:
    """Return the content of a file, unpacked, as an open binary file."""
    return io.BytesIO(read_bytes(path))


def read_text(path: Path, encoding: str = "utf-8-sig") -> str:
    """Return the content of a text file, plain or gzip.

    Raises
    ------
    InputError
        If the file can't be read or is not text in `encoding`.
    """
    content = read_bytes(path)
    try:
        return content.decode(encoding)
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(
            f"{path}: not text in the encoding {encoding} ({error}); state `encoding`."
        ) from None
