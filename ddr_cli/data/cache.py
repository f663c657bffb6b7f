"""The cache of parsed arrays, so that a data set is parsed from its files only once.

A cached file is a convenience: a damaged one is found by its fingerprint and made anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from hashlib import file_digest, sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ddr_cli import __version__
from ddr_cli.core.atomic import atomic_open
from ddr_cli.data.card_model import Card, Layout, Scalar
from ddr_cli.data.dataset import Dataset, PredefinedSplit
from ddr_cli.data.fingerprint import canonical, fingerprint_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Part of the key: raised when the stored form changes.
_FORM = 1
_SMALL_TYPES = (np.uint8, np.int16, np.float32)
_META = "meta"


def parsed_path(
    card: Card,
    layout: Layout,
    paths: Sequence[Path],
    chosen: Mapping[str, Scalar],
    cache_dir: Path,
) -> Path:
    """Return where the arrays parsed from these files, by this card, are kept.

    The name depends on all that decides the arrays: what the card says of the reading, the chosen
    options, and the content (not the place or date) of the files.
    """
    settings = card.model_dump(
        mode="json", include={"name", "version", "keep", "merge", "names", "decimals", "split"}
    )
    key = {
        "form": _FORM,
        "ddr": __version__,
        "card": settings,
        "image_shape": card.image_shape,
        "layout": layout.model_dump(mode="json", exclude={"files": {"__all__": {"urls"}}}),
        "options": dict(chosen),
        "files": [content_hash(path) for path in paths],
    }
    text = json.dumps(key, sort_keys=True)
    return cache_dir / "parsed" / f"{card.name}-{sha256(text.encode()).hexdigest()[:24]}.npz"


def content_hash(path: Path) -> str:
    """Return the sha256 of a file's content, or of a folder's names and contents."""
    if not path.is_dir():
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    digest = sha256()
    for child in sorted(path.rglob("*")):
        if child.is_file():
            digest.update(f"{child.relative_to(path).as_posix()}\0".encode())
            digest.update(bytes.fromhex(content_hash(child)))
    return digest.hexdigest()


def read_parsed(path: Path, card: Card) -> Dataset | None:
    """Return the data set kept at `path`, or None if there is none or it is damaged."""
    if not path.is_file():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            dataset = _unpack(stored, card)
    except Exception:
        # Whatever is wrong with the file, parsing anew is the answer.
        dataset = None
    if dataset is None:
        with suppress(OSError):
            path.unlink()
    return dataset


def write_parsed(path: Path, dataset: Dataset) -> None:
    """Keep a data set at `path`, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_open(path) as file:
        np.savez(file, allow_pickle=False, **_pack(dataset))


def _pack(dataset: Dataset) -> dict[str, Any]:
    """Return the arrays of a data set by name, names and other small things as JSON in one."""
    arrays: dict[str, Any] = {"y": _small(dataset.y)}
    X: Any = dataset.X
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
    meta = {
        "shape": [dataset.n_samples, dataset.n_features],
        "target_names": dataset.target_names,
        "image_shape": dataset.image_shape,
        "feature_names": dataset.feature_names,
        "subclass_names": dataset.subclass_names,
        "fingerprint": dataset.fingerprint,
    }
    return arrays | {_META: np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)}


def _unpack(stored: Mapping[str, Any], card: Card) -> Dataset | None:
    """Return the data set of what `_pack` made, or None if it is not what was packed."""
    meta = json.loads(stored[_META].tobytes())
    X: Any
    if "dense" in stored:
        X = canonical(stored["dense"])
    else:
        from scipy.sparse import csr_array

        parts = (stored["data"].astype(np.float64), stored["indices"], stored["indptr"])
        X = csr_array(parts, shape=tuple(meta["shape"]))
        X.has_sorted_indices = X.has_canonical_format = True
    dataset = Dataset(
        name=card.name,
        title=card.title,
        X=X,
        y=stored["y"].astype(np.int64),
        target_names=tuple(meta["target_names"]),
        fingerprint=meta["fingerprint"],
        split=PredefinedSplit(stored["train"], stored["test"]) if "train" in stored else None,
        image_shape=_tuple(meta["image_shape"]),
        feature_names=_tuple(meta["feature_names"]),
        groups=stored.get("groups"),
        subclasses=stored.get("subclasses"),
        subclass_names=_tuple(meta["subclass_names"]),
    )
    return dataset if fingerprint_of(dataset) == dataset.fingerprint else None


def _small(values: NDArray[Any]) -> NDArray[Any]:
    """Return `values` in the smallest type that holds them exactly."""
    for small in _SMALL_TYPES:
        with np.errstate(invalid="ignore", over="ignore"):
            narrow = values.astype(small)
        if np.array_equal(narrow, values, equal_nan=True):
            return narrow
    return values


def _tuple(values: list[Any] | None) -> Any:
    return None if values is None else tuple(values)
