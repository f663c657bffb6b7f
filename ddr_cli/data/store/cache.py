"""The user's cache: a folder for incoming files, and the arrays parsed from files.

The cache is a convenience: damaged arrays are detected by their fingerprint and parsed again, and a
cache that can't be written to causes a warning, never a failed load.
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
from ddr_cli.data.card import Card, Layout, Options
from ddr_cli.data.dataset import Dataset, PredefinedSplit, canonical, fingerprint
from ddr_cli.data.formats import format_entry
from ddr_cli.data.store.sources import Sources

if TYPE_CHECKING:
    from numpy.typing import NDArray

# This is part of the key: increase it when the stored form changes.
_FORM = 2
# The keys of a card, other than its layouts, that affect the arrays.
_READING = ("name", "version", "keep", "merge", "names", "decimals", "split", "image_shape")
_META = (
    *("target_names", "fingerprint", "image_shape", "feature_names", "subclass_names"),
    *("group_names", "categorical", "categories"),
)
_SMALL_TYPES = (np.uint8, np.int16, np.float32)
_warned: set[Path] = set()


@contextmanager
def incoming_folder(card: Card, sources: Sources) -> Iterator[Path]:
    """Yield an empty folder for incoming files, which is removed at the end of the block.

    Meanwhile no other process installs the same data set. The folder is in the cache, so that a
    rename is enough to store a file; if the cache can't be written to, it is a temporary folder,
    and the files are only used for this load. Folders that killed processes left are removed the
    next time.
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
    """Turn an error of writing to the cache in the block into one warning per cache."""
    try:
        yield
    except OSError as error:
        if cache_dir not in _warned:
            _warned.add(cache_dir)
            warnings.warn(
                f"ddr can't write to the cache {cache_dir} ({error.strerror or error}) and "
                "continues without a cache. Set DDR_CACHE to a writable folder.",
                RuntimeWarning,
                stacklevel=4,
            )


def parsed_path(
    card: Card, layout: Layout, paths: Sequence[Path], chosen: Options, cache_dir: Path
) -> Path:
    """Return the path of the cached arrays that this card makes of these files.

    The name is a hash of everything that determines the arrays: the reading options in the card,
    the chosen options, the versions of card, format and ddr, and the content (not the path or date)
    of the files.
    """
    entry = format_entry(layout.format.name)
    key = {
        "form": _FORM,
        "ddr": __version__,
        "card": card.model_dump(mode="json", include={*_READING, "unlabelled"}),
        "layout": layout.model_dump(mode="json", exclude={"files": {"__all__": {"urls"}}}),
        "format": [entry.version, entry.source],
        "options": dict(chosen),
        "files": [_content_hash(path) for path in paths],
    }
    text = json.dumps(key, sort_keys=True)
    return cache_dir / "parsed" / f"{card.name}-{sha256(text.encode()).hexdigest()[:24]}.npz"


def _content_hash(path: Path) -> str:
    """Return the sha256 of the content of a file, or of the names and contents in a folder."""
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


def read_parsed(path: Path, card: Card) -> Dataset | None:
    """Return the cached data set at `path`, or None if there is none or it is damaged."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            dataset = _unpacked(stored, card)
        if fingerprint(dataset) == dataset.fingerprint:
            return dataset
    except Exception:
        pass
    with suppress(OSError):
        path.unlink()
    return None


def write_parsed(path: Path, dataset: Dataset) -> None:
    """Cache a data set at `path`: its arrays, and the other fields in one array of JSON."""
    X: Any = dataset.X
    arrays: dict[str, Any] = {"y": _small(dataset.y)}
    if isinstance(X, np.ndarray):
        arrays["dense"] = _small(X)
    else:
        arrays |= {"data": _small(X.data), "indices": X.indices, "indptr": X.indptr}
    parts = dataset.parts or {}
    for number, split in enumerate((dataset.split, *parts.values())):
        if split is not None:
            arrays |= {f"train_{number}": split.train, f"test_{number}": split.test}
    for name in ("groups", "subclasses"):
        if getattr(dataset, name) is not None:
            arrays[name] = getattr(dataset, name)
    meta = {name: getattr(dataset, name) for name in _META}
    meta |= {"shape": X.shape, "parts": list(parts)}
    arrays["meta"] = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path) as file:
        np.savez(file, allow_pickle=False, **arrays)


def _unpacked(stored: Mapping[str, Any], card: Card) -> Dataset:
    """Return the data set in arrays that `write_parsed` wrote."""
    meta: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in json.loads(stored["meta"].tobytes()).items()
    }
    shape = meta.pop("shape")
    meta["categories"] = tuple(map(tuple, meta["categories"]))

    def split(number: int) -> PredefinedSplit:
        return PredefinedSplit(stored[f"train_{number}"], stored[f"test_{number}"])

    parts = {name: split(number) for number, name in enumerate(meta.pop("parts"), start=1)}
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
        split=split(0) if "train_0" in stored else None,
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
