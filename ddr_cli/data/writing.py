"""Writing to the cache: all of a file or nothing, and never an error that stops a load."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from typing import IO

_warned: set[Path] = set()


@contextmanager
def replaced(path: Path) -> Iterator[IO[bytes]]:
    """Give a binary file that appears at `path`, complete, if the block ends without an error.

    Whoever reads at `path` meanwhile sees the old file or the new one, never a part.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    written = path.with_name(f".{path.name}.{token_hex(4)}.part")
    try:
        with written.open("xb") as file:
            yield file
        written.replace(path)
    finally:
        written.unlink(missing_ok=True)


@contextmanager
def optional_writing(cache_dir: Path) -> Iterator[None]:
    """Turn an error of writing to the cache in the block into one warning for each cache."""
    try:
        yield
    except OSError as error:
        if cache_dir not in _warned:
            _warned.add(cache_dir)
            warnings.warn(
                f"The cache {cache_dir} can't be written to ({error.strerror or error}); going on "
                "without it. Set DDR_CACHE to a folder that can.",
                RuntimeWarning,
                stacklevel=4,
            )
