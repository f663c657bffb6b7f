"""The user's cache: files that were verified, and the arrays that were parsed from files.

What it holds is a convenience: damaged arrays are found by their fingerprint and made anew, and a
cache that can't be written to costs a warning, never a load.
"""

from __future__ import annotations

import json
import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli import __version__
from ddr_cli.core.atomic import atomic_open, require_file
from ddr_cli.core.errors import DdrError
from ddr_cli.data.card import Card, Layout, Options
from ddr_cli.data.dataset import (
    DataMismatchError,
    Dataset,
    PredefinedSplit,
    assemble,
    canonical,
    differences,
    fingerprint,
    verify,
)
from ddr_cli.data.formats import read_files
from ddr_cli.data.store.locate import Found, Sources, cache_folder

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Part of the key: raised when the stored form changes.
_FORM = 1
_META = (
    *("target_names", "fingerprint", "image_shape", "feature_names", "subclass_names"),
    *("group_names", "categorical", "categories"),
)
_SMALL_TYPES = (np.uint8, np.int16, np.float32)
_warned: set[Path] = set()


def read_found(
    card: Card, found: Found, chosen: Options, sources: Sources, *, from_parsed: bool = True
) -> Dataset:
    """Return the data set in files that are there, or that was parsed from the same ones before."""
    source = f"files found at {', '.join(map(str, found.paths))}"
    try:
        kept = _parsed_path(card, found.layout, found.paths, chosen, sources.cache_dir)
    except OSError as error:
        raise DataMismatchError(f"The {source} can't be read: {error.strerror}.") from error
    if from_parsed:
        dataset = _read_parsed(kept, card)
        if dataset is not None and not differences(dataset, card.expected(chosen)):
            return dataset
    dataset = _parse(card, found.layout, found.paths, chosen, source, blame_files=card.shipped)
    with optional_writing(sources.cache_dir):
        _write_parsed(kept, dataset)
    return dataset


def install(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    fresh: Mapping[str, Path],
    chosen: Options,
    sources: Sources,
    source: str,
) -> Dataset:
    """Verify the files of a layout, then move the `fresh` ones, by their path, into the cache.

    If they are not the data set, nothing is moved; `source` is what they are called in messages.
    """
    blame_files = bool(fresh) or card.shipped
    usual = card.choose(None)
    dataset = _parse(card, layout, paths, usual, source, blame_files=blame_files)
    if dict(chosen) != usual:
        dataset = _parse(card, layout, paths, chosen, source, blame_files=blame_files)
    kept = _parsed_path(card, layout, paths, chosen, sources.cache_dir)
    with optional_writing(sources.cache_dir):
        for name, path in fresh.items():
            target = cache_folder(card, sources) / name
            target.parent.mkdir(parents=True, exist_ok=True)
            path.replace(target)
        _write_parsed(kept, dataset)
    return dataset


@contextmanager
def incoming_folder(card: Card, sources: Sources) -> Iterator[Path]:
    """Give an empty folder for files on their way, gone when the block ends.

    Meanwhile no other process installs the same data set. The folder is in the cache, so that a
    file gets to its place by a rename; where that can't be written to, it is a temporary one, and
    the files serve this once. What a killed process left is removed the next time.
    """
    from filelock import FileLock

    folder = sources.cache_dir / "incoming" / card.name
    locks = sources.cache_dir / "locks"
    with ExitStack() as stack:
        with optional_writing(sources.cache_dir):
            locks.mkdir(parents=True, exist_ok=True)
            stack.enter_context(FileLock(locks / f"{card.name}.lock"))
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if not folder.is_dir():
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ddr-")))
        yield folder


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

    When reading fails, `blame_files` says that they are at fault, and not the card.
    """
    try:
        raw = read_files(layout, paths, chosen, card.name)
        dataset = assemble(card, raw, layout.files)
    except Exception as error:
        # A damaged file can make a parser raise anything.
        if isinstance(error, DdrError) and not blame_files:
            raise
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise DataMismatchError(
            f"The {source} can't be read as the data set '{card.name}' "
            f"(format {layout.format.name}): {reason}."
        ) from error
    return verify(card, dataset, chosen, source)


def _parsed_path(
    card: Card, layout: Layout, paths: Sequence[Path], chosen: Options, cache_dir: Path
) -> Path:
    """Return where the arrays parsed from these files, by this card, are kept.

    The name depends on all that decides the arrays: what the card says of the reading, the chosen
    options, and the content (not the place or date) of the files.
    """
    said = {"name", "version", "keep", "merge", "names", "decimals", "split", "image_shape"}
    said |= {"unlabelled"} if card.unlabelled else set()
    key = {
        "form": _FORM,
        "ddr": __version__,
        "card": card.model_dump(mode="json", include=said),
        "layout": layout.model_dump(mode="json", exclude={"files": {"__all__": {"urls"}}}),
        "options": dict(chosen),
        "files": [_content_hash(path) for path in paths],
    }
    text = json.dumps(key, sort_keys=True)
    return cache_dir / "parsed" / f"{card.name}-{sha256(text.encode()).hexdigest()[:24]}.npz"


def _content_hash(path: Path) -> str:
    """Return the sha256 of a file's content, or of a folder's names and contents."""
    if not path.is_dir():
        require_file(path)
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    digest = sha256()
    for child in sorted(path.rglob("*")):
        if child.is_file():
            digest.update(f"{child.relative_to(path).as_posix()}\0".encode())
            digest.update(bytes.fromhex(_content_hash(child)))
    return digest.hexdigest()


def _read_parsed(path: Path, card: Card) -> Dataset | None:
    """Return the data set kept at `path`, or None if there is none or it is damaged."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            dataset = _unpack(stored, card)
        if fingerprint(dataset) == dataset.fingerprint:
            return dataset
    except Exception:
        pass
    with suppress(OSError):
        path.unlink()
    return None


def _write_parsed(path: Path, dataset: Dataset) -> None:
    """Keep a data set at `path`: its arrays, and names and other small things as JSON in one."""
    X: Any = dataset.X
    arrays = {"y": _small(dataset.y)}
    if isinstance(X, np.ndarray):
        arrays["dense"] = _small(X)
    else:
        arrays |= {"data": _small(X.data), "indices": X.indices, "indptr": X.indptr}
    if dataset.split is not None:
        arrays |= {"train": dataset.split.train, "test": dataset.split.test}
    if dataset.groups is not None:
        arrays["groups"] = dataset.groups
    if dataset.subclasses is not None:
        arrays["subclasses"] = dataset.subclasses
    parts = dataset.parts or {}
    for number, split in enumerate(parts.values()):
        arrays |= {f"train_{number}": split.train, f"test_{number}": split.test}
    meta = {name: getattr(dataset, name) for name in _META}
    meta |= {"shape": X.shape, "parts": list(parts)}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _unpack(stored: Mapping[str, Any], card: Card) -> Dataset:
    """Return the data set in what `_write_parsed` kept."""
    meta: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(stored["meta"].tobytes()).items()
    }
    shape = meta.pop("shape")
    # What was kept before there were any is read anew where it has codes.
    meta["categories"] = tuple(map(tuple, meta["categories"] if meta.get("categorical") else ()))
    parts = {
        name: PredefinedSplit(stored[f"train_{number}"], stored[f"test_{number}"])
        for number, name in enumerate(meta.pop("parts", ()))
    }
    X: Any
    if "dense" in stored:
        X = canonical(stored["dense"])
    else:
        from scipy.sparse import csr_array

        arrays = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
        X = csr_array(arrays, shape=shape)
        X.has_sorted_indices = X.has_canonical_format = True
    return Dataset(
        name=card.name,
        title=card.title,
        X=X,
        y=stored["y"].astype(np.int64),
        split=PredefinedSplit(stored["train"], stored["test"]) if "train" in stored else None,
        groups=stored.get("groups"),
        subclasses=stored.get("subclasses"),
        parts=parts or None,
        **meta,
    )


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """Return `values` in the smallest type that holds them exactly."""
    for small in _SMALL_TYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = values.astype(small)
        if np.array_equal(narrow, values, equal_nan=True):
            return narrow
    return values
