"""Writing to the cache: never an error that stops a load."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_warned: set[Path] = set()


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
