"""The way into the cache, for downloads and imports alike: aside first, verified, then renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock

from ddr_cli.data.cache import parsed_path, write_parsed
from ddr_cli.data.card_model import Card, Layout, Scalar
from ddr_cli.data.dataset import Dataset
from ddr_cli.data.locate import Sources, cache_folder
from ddr_cli.data.parse import parse_files
from ddr_cli.data.writing import optional_writing


@contextmanager
def locked(card: Card, sources: Sources) -> Iterator[None]:
    """Keep other processes from bringing the same data set into the cache meanwhile."""
    with ExitStack() as stack:
        with optional_writing(sources.cache_dir):
            folder = sources.cache_dir / "locks"
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(folder / f"{card.name}.lock"))
        yield


@contextmanager
def staging(card: Card, sources: Sources) -> Iterator[Path]:
    """Give an empty folder for files on their way, gone when the block ends.

    It is in the cache, so that a file gets to its place by a rename; where that can't be written
    to, it is a temporary folder, and the files serve this once. What a killed process left of it
    is removed the next time; `locked` must be held.
    """
    folder = sources.cache_dir / "incoming" / card.name
    with ExitStack() as stack:
        with optional_writing(sources.cache_dir):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if not folder.is_dir():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ddr-")))
        yield folder


def admit(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    fresh: Mapping[str, Path],
    chosen: Mapping[str, Scalar],
    sources: Sources,
    source: str,
) -> Dataset:
    """Verify the files of a layout, then move the new ones among them into the cache.

    Parameters
    ----------
    card, layout
        What the files must be.
    paths : sequence of Path
        Where each file of the layout is now.
    fresh : mapping of str to Path
        Those of them that are to be moved into the cache, by their path in it.
    chosen : mapping of str to bool, int, float or str
        The value of every option of the card.
    sources : Sources
        Says where the cache is.
    source : str
        What the files are called in messages.

    Returns
    -------
    Dataset
        With the chosen options.

    Raises
    ------
    DataMismatchError
        If they are not the data set; nothing is moved.
    """
    usual = card.choose(None)
    dataset = parse_files(card, layout, paths, usual, source, blame_files=bool(fresh))
    if dict(chosen) != usual:
        dataset = parse_files(card, layout, paths, chosen, source, blame_files=bool(fresh))
    kept = parsed_path(card, layout, paths, chosen, sources.cache_dir)
    with optional_writing(sources.cache_dir):
        for name, path in fresh.items():
            target = cache_folder(card, sources) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
        write_parsed(kept, dataset)
    return dataset
