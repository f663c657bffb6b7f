"""Loads a data set: card, files (found or downloaded), and arrays, which are checked and cached."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from ddr_cli.core.atomic import as_input_errors, atomic_write
from ddr_cli.core.errors import DdrError, InputError
from ddr_cli.core.yaml_loader import dump
from ddr_cli.data.card import ARRAYS, Card, Layout, Options
from ddr_cli.data.cards import check_card, load_card, read_card
from ddr_cli.data.dataset import (
    DataMismatchError,
    Dataset,
    assemble,
    differences,
    expect_of,
    verify,
)
from ddr_cli.data.formats import GENERATORS, call_checked, read_files
from ddr_cli.data.store.cache import (
    incoming_folder,
    optional_writing,
    parsed_path,
    read_parsed,
    write_parsed,
)
from ddr_cli.data.store.sources import Found, Sources, cache_folder, find_file, folders_of, locate


def load_dataset(
    name_or_path: str | Path, *, options: Options | None = None, sources: Sources | None = None
) -> Dataset:
    """Return a data set, verified against its card.

    Parameters
    ----------
    name_or_path : str or Path
        A name (see `card_names`), or the path of your own card.
    options : mapping, optional
        Options of the card, such as ``{"resize": "block_mean"}`` for coil20.
    sources : Sources, optional
        Where to search for files. Default: the environment variables decide.

    Returns
    -------
    Dataset
        With ``.X .y .target_names .fingerprint`` and, if it has one, ``.split``.

    Raises
    ------
    InputError
        If there is no such data set or option, or the card is not valid.
    DataUnavailableError
        If its files are neither in a mirror nor in the cache and cannot be downloaded. The message
        lists what was tried and what you can do.
    DataMismatchError
        If the files do not hold the data set that the card describes.
    """
    return load_from_card(load_card(name_or_path), options=options, sources=sources)


def load_from_card(
    card: Card, *, options: Options | None = None, sources: Sources | None = None
) -> Dataset:
    """Return the data set of a card; as `load_dataset`."""
    chosen = card.choose(options)
    if card.generate is not None and card.generate.name == ARRAYS:
        from ddr_cli.data.arrays import dataset_in_memory

        return dataset_in_memory(card.name)
    sources = sources or Sources.from_environment()
    if card.openml is not None:
        from ddr_cli.data.store.download import download_table

        path, content = download_table(card.openml, sources)
        write_card(content, path, sources)
        card = read_card(path)
    if card.generate is not None:
        return generate(card, chosen)
    found = locate(card, sources)
    if found is not None:
        try:
            return read_found(card, found, chosen, sources)
        except DataMismatchError:
            # Damaged files in the cache can be downloaded again; a mirror belongs to the user.
            if sources.offline or "cache" not in found.kind:
                raise
            warnings.warn(
                f"The files {', '.join(map(str, found.paths))} no longer match the card "
                f"'{card.name}', so ddr downloads them again.",
                RuntimeWarning,
                stacklevel=2,
            )
    return _download(card, chosen, sources, again=found is not None)


def generate(card: Card, chosen: Options) -> Dataset:
    """Return the data set that the generator of a card creates, verified against the card."""
    assert card.generate is not None
    name = card.generate.name
    generator = (GENERATORS.ours.get(name) or GENERATORS.get(name)).load()
    owner = f"The card '{card.name}': the generator '{name}'"
    raw = call_checked(generator, {**card.generate.options, **chosen}, owner)
    return verify(card, assemble(card, raw), chosen, "generated arrays")


def read_found(card: Card, found: Found, chosen: Options, sources: Sources) -> Dataset:
    """Return the data set in files that were found, or its cached arrays."""
    source = f"files found at {', '.join(map(str, found.paths))}"
    try:
        kept = parsed_path(card, found.layout, found.paths, chosen, sources.cache_dir)
    except OSError as error:
        raise DataMismatchError(
            f"The {source} can't be read ({error.strerror}); check the permissions."
        ) from error
    dataset = read_parsed(kept, card)
    if dataset is None or differences(dataset, card.expected(chosen)):
        dataset = _parse(card, found.layout, found.paths, chosen, source, blame_files=card.shipped)
        with optional_writing(sources.cache_dir):
            write_parsed(kept, dataset)
    return dataset


def _parse(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    chosen: Options,
    source: str,
    *,
    blame_files: bool,
) -> Dataset:
    """Return the data set in the files of a layout, verified against the card.

    If they can't be read, `blame_files` makes the message blame the files, not the card.
    """
    name = layout.format.name
    try:
        raw = read_files(name, paths, {**layout.format.options, **chosen}, card.name)
        dataset = assemble(card, raw, layout.files)
    except Exception as error:
        # A damaged file can make a parser raise anything.
        if isinstance(error, DdrError) and not blame_files:
            raise
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise DataMismatchError(
            f"The {source} can't be read as the data set '{card.name}' (format {name}): {reason}."
        ) from error
    return verify(card, dataset, chosen, source)


def install(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    fresh: Mapping[str, Path],
    chosen: Options,
    sources: Sources,
    source: str,
) -> Dataset:
    """Verify the files of a layout, then move the `fresh` ones (by their path) into the cache.

    If they are not the data set, nothing is moved; messages call them `source`.
    """
    blame_files = bool(fresh) or card.shipped
    usual = card.choose(None)
    dataset = _parse(card, layout, paths, usual, source, blame_files=blame_files)
    if dict(chosen) != usual:
        dataset = _parse(card, layout, paths, chosen, source, blame_files=blame_files)
    kept = parsed_path(card, layout, paths, chosen, sources.cache_dir)
    with optional_writing(sources.cache_dir):
        for name, path in fresh.items():
            target = cache_folder(card, sources) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
        write_parsed(kept, dataset)
    return dataset


def _download(card: Card, chosen: Options, sources: Sources, *, again: bool) -> Dataset:
    """Download the missing files of a data set (`again`: also the damaged ones in the cache).

    If several processes request the same data set, one downloads it and the others wait. If a file
    can't be downloaded, or the files are not the data set, the cache is unchanged.
    """
    from ddr_cli.data.store.download import DownloadFailedError, unavailable

    if sources.offline:
        raise unavailable(card, sources, [])
    failures: list[str] = []
    with incoming_folder(card, sources) as folder:
        for layout in card.layouts:
            try:
                return _download_layout(card, layout, chosen, sources, folder, again=again)
            except (DownloadFailedError, DataMismatchError) as error:
                failures += str(error).splitlines()
    raise unavailable(card, sources, failures)


def _download_layout(
    card: Card, layout: Layout, chosen: Options, sources: Sources, folder: Path, *, again: bool
) -> Dataset:
    from ddr_cli.data.store.download import DownloadFailedError, download

    if found := locate(card, sources):
        # Another process has downloaded the files, or repaired them, in the meantime.
        source = "files in the cache"
        try:
            return install(card, found.layout, found.paths, {}, chosen, sources, source)
        except DataMismatchError:
            if not again:
                raise
    where = [at for at in folders_of(card, sources) if not (again and at.kind == "cache")]
    hits = [(file, find_file(card, file, where)) for file in layout.files]
    for file, hit in hits:
        if not hit and not file.urls:
            raise DownloadFailedError(f"the card has no URL for {file.path}")
    paths: list[Path] = []
    fresh: dict[str, Path] = {}
    for file, hit in hits:
        path = hit[0] if hit else Path(mkdtemp(dir=folder)) / Path(file.path).name
        if not hit:
            download(file, path, sources)
            fresh[file.path] = path
        paths.append(path)
    return install(card, layout, paths, fresh, chosen, sources, "files that were downloaded")


def write_card(content: dict[str, Any], target: Path, sources: Sources) -> Dataset:
    """Write a card that describes the current content of its files; return their data set."""
    content = {key: value for key, value in content.items() if key != "expect"}
    card = check_card(content, target)
    # The paths of the files are relative to the folder of the card, so it has to exist.
    with as_input_errors(target.parent):
        target.parent.mkdir(parents=True, exist_ok=True)
    found = locate(card, sources)
    if found is None:
        raise InputError(f"The files of {target} do not exist; check the paths in the card.")
    dataset = read_found(card, found, card.choose(None), sources)
    atomic_write(target, dump(content | {"expect": expect_of(card, dataset)}))
    return dataset
