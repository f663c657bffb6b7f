"""The `npz` format: NumPy archives."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.core.registry import registered
from ddr_cli.data.files import UNPACKED_LIMIT
from ddr_cli.data.formats import Features, RawData, concatenate_rows, find_named

# The array names that `scipy.sparse.save_npz` writes.
_SPARSE_KEYS = {"data", "indices", "indptr", "shape"}


@registered("format", "npz", "NumPy archive of X and y", endings=(".npz",))
def read_npz(
    paths: Sequence[Path],
    *,
    data: str = "X",
    label: str = "y",
    groups: str | None = None,
) -> RawData:
    """Read NumPy archives, one block of rows from each.

    X may have three dimensions (samples, height, width): then each sample is an image. A sparse X
    is stored as the arrays ``data``, ``indices``, ``indptr`` and ``shape`` (what
    `scipy.sparse.save_npz` writes, for CSR or CSC) beside the label array, and stays sparse.

    Options
    -------
    data, label: The names of the arrays with the features and the classes.
    groups: The name of the array of the groups.
    """
    return concatenate_rows([_read_one(Path(path), data, label, groups) for path in paths])


def _read_one(path: Path, data: str, label: str, groups: str | None) -> RawData:
    arrays = load_npz(path)
    features, shape = _features(path, arrays, data)
    return RawData(
        features,
        _row_values(path, arrays, label, features.shape[0]),
        image_shape=shape,
        groups=None if groups is None else _row_values(path, arrays, groups, features.shape[0]),
    )


def load_npz(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays in a NumPy archive, by name."""
    try:
        with zipfile.ZipFile(path) as archive:
            total = sum(member.file_size for member in archive.infolist())
        if total > UNPACKED_LIMIT:
            raise InputError(f"{path}: unpacks to {total} bytes; it is not read.")
        with np.load(path, allow_pickle=False) as content:
            return dict(content)
    except OSError as error:
        raise InputError(f"{path}: can't be read: {error.strerror or error}.") from None
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = "it holds Python objects" if "pickle" in str(error) else str(error)
        raise InputError(f"{path}: not a NumPy archive that can be read: {reason}.") from None


def _features(
    path: Path, arrays: Mapping[str, NDArray[Any]], data: str
) -> tuple[Features, tuple[int, int] | None]:
    if data not in arrays and arrays.keys() >= _SPARSE_KEYS:
        kind = str(arrays["format"].item()) if "format" in arrays else "csr"
        build = {"csr": sp.csr_array, "csc": sp.csc_array}.get(kind.removeprefix("b").strip("'"))
        if build is None:
            raise InputError(f"{path}: a sparse matrix must be stored as csr or csc, not {kind}.")
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return build(parts, shape=tuple(arrays["shape"].tolist())), None
    X = find_named(path, arrays, data, "array")
    if X.dtype.kind not in "biuf":
        raise InputError(f"{path}: the array '{data}' holds no numbers ({X.dtype}).")
    if X.ndim == 3:
        return X.reshape(len(X), -1), (X.shape[1], X.shape[2])
    if X.ndim != 2:
        raise InputError(
            f"{path}: the array '{data}' has {X.ndim} dimensions; 2 (or 3) are needed."
        )
    return X, None


def _row_values(
    path: Path, arrays: Mapping[str, NDArray[Any]], name: str, n_samples: int
) -> NDArray[Any]:
    values: NDArray[Any] = find_named(path, arrays, name, "array")
    if values.size != n_samples:
        raise InputError(f"{path}: '{name}' has {values.size} values for {n_samples} samples.")
    return values.reshape(-1)
