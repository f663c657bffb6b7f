"""The `idx` format: arrays of bytes or numbers, as MNIST's distributors pack them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import read_bytes
from ddr_cli.data.formats import RawData, concatenate_rows

_TYPES = {8: ">u1", 9: ">i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}


@registered("format", "idx", "IDX files, as MNIST's: samples, then their labels; plain or gz")
def read_idx(paths: Sequence[Path], *, scale: Literal["none", "unit"] = "none") -> RawData:
    """Read IDX files in pairs, plain or gzip: samples, then their labels.

    Samples of two dimensions are images, a row each, their pixels row by row.

    Options
    -------
    scale: Values as they are, or divided by the largest that their type holds (bytes: 255).
    """
    if len(paths) % 2:
        raise InputError(
            f"{paths[-1]}: IDX files come in pairs, samples and then their labels; here are "
            f"{len(paths)}."
        )
    pairs = zip(paths[::2], paths[1::2], strict=True)
    found = concatenate_rows([_read_pair(Path(X), Path(y), scale) for X, y in pairs])
    sizes = [size for rows in found.sizes or () for size in (rows, 0)]
    return RawData(found.X, found.labels, image_shape=found.image_shape, sizes=tuple(sizes))


def _read_pair(samples: Path, labels: Path, scale: str) -> RawData:
    X, y = _array(samples), _array(labels)
    if X.ndim < 2 or y.ndim != 1 or y.dtype.kind == "f":
        raise InputError(
            f"{samples}, {labels}: the first must hold samples and the second their labels."
        )
    if len(X) != len(y):
        raise InputError(f"{labels}: holds {len(y)} labels for {len(X)} samples.")
    features = X.reshape(len(X), -1).astype(np.float64)
    if scale == "unit":
        if X.dtype.kind == "f":
            raise InputError(f"{samples}: `scale: unit` is for whole numbers.")
        features /= np.iinfo(X.dtype).max
    shape = (X.shape[1], X.shape[2]) if X.ndim == 3 else None
    return RawData(features, y.astype(np.int64), image_shape=shape)


def is_idx(content: bytes) -> bool:
    """Return whether a file begins as an IDX file does: two zeros, a type, the dimensions."""
    return len(content) > 3 and content[:2] == b"\0\0" and content[2] in _TYPES and content[3] > 0


def _array(path: Path) -> NDArray[Any]:
    content = read_bytes(path)
    if not is_idx(content):
        raise InputError(f"{path}: not an IDX file: it does not begin with its magic number.")
    start = 4 + 4 * content[3]
    kind = np.dtype(_TYPES[content[2]])
    header = np.frombuffer(content[4:start].ljust(start - 4, b"\0"), ">u4")
    shape = tuple(header.tolist())
    if len(content) - start != math.prod(shape) * kind.itemsize:
        raise InputError(
            f"{path}: {max(len(content) - start, 0)} bytes follow the header, which tells of "
            f"{' x '.join(map(str, shape))} values of {kind.itemsize}."
        )
    return np.frombuffer(content, kind, offset=start).reshape(shape)
