"""The content fingerprint of a data set: what the arrays are, wherever they came from.

Mirrors pack archives anew, so a checksum of a file says little; the fingerprint is taken over the
arrays in one canonical form (little-endian, C order, -0.0 as 0.0, one NaN, CSR without duplicates
or stored zeros) and is the same from any packing and on any platform.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ddr_cli.data.dataset import Dataset, PredefinedSplit
    from ddr_cli.data.raw import Features

# Part of the hash: a change of the canonical form must change every fingerprint.
_FORM = b"ddr data set, canonical form 1"
_BLOCK_ROWS = 1024


class _Hash(Protocol):
    def update(self, data: bytes, /) -> object: ...


def canonical(X: Any) -> Features:
    """Return X as float64 in the canonical form.

    Parameters
    ----------
    X : array-like or sparse array of shape (n_samples, n_features)
        The features.

    Returns
    -------
    ndarray or csr_array
        C-ordered, or CSR with sorted indices, no duplicates and no stored zeros. -0.0 is 0.0.
    """
    if not hasattr(X, "tocsr"):
        dense = np.array(X, dtype=np.float64, order="C")
        dense += 0.0  # makes -0.0 into 0.0
        return dense
    from scipy.sparse import csr_array

    sparse = csr_array(X, dtype=np.float64, copy=True)
    sparse.sum_duplicates()
    sparse.eliminate_zeros()
    sparse.sort_indices()
    return sparse


def fingerprint(
    X: Features,
    y: NDArray[np.int64],
    target_names: Sequence[str],
    *,
    split: PredefinedSplit | None = None,
    groups: NDArray[np.int64] | None = None,
    subclasses: NDArray[np.int64] | None = None,
    subclass_names: Sequence[str] | None = None,
) -> str:
    """Return the fingerprint of a data set whose X is in the canonical form.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features)
        The features, as `canonical` returns them.
    y : ndarray of shape (n_samples,)
        The class of each row, an index into `target_names`.
    target_names : sequence of str
        The classes' names; their order counts, since it decides ties.
    split : PredefinedSplit, optional
        The predefined split.
    groups, subclasses : ndarray of shape (n_samples,), optional
        See `ddr_cli.data.dataset.Dataset`.
    subclass_names : sequence of str, optional
        The names of the subclasses.

    Returns
    -------
    str
        ``"sha256:<64 hex digits>"``.
    """
    digest = sha256(_FORM)
    if isinstance(X, np.ndarray):
        _add(digest, "dense", str(X.shape).encode())
        for start in range(0, X.shape[0], _BLOCK_ROWS):
            digest.update(_float_bytes(X[start : start + _BLOCK_ROWS]))
    else:
        _add(digest, "csr", str(tuple(map(int, X.shape))).encode())
        _add(digest, "indptr", _integer_bytes(X.indptr))
        _add(digest, "indices", _integer_bytes(X.indices))
        _add(digest, "data", _float_bytes(X.data))
    _add(digest, "y", _integer_bytes(y))
    _add(digest, "target_names", *(name.encode() for name in target_names))
    if split is not None:
        _add(digest, "split", _integer_bytes(split.train), _integer_bytes(split.test))
    if groups is not None:
        _add(digest, "groups", _integer_bytes(groups))
    if subclasses is not None:
        _add(digest, "subclasses", _integer_bytes(subclasses))
        _add(digest, "subclass_names", *(name.encode() for name in subclass_names or ()))
    return f"sha256:{digest.hexdigest()}"


def fingerprint_of(dataset: Dataset) -> str:
    """Return the fingerprint that a data set with these arrays has, whatever it says."""
    return fingerprint(
        dataset.X,
        dataset.y,
        dataset.target_names,
        split=dataset.split,
        groups=dataset.groups,
        subclasses=dataset.subclasses,
        subclass_names=dataset.subclass_names,
    )


def _add(digest: _Hash, label: str, *parts: bytes) -> None:
    # Each part's length is hashed too: ("ab", "c") must differ from ("a", "bc").
    digest.update(f"|{label}:{len(parts)}".encode())
    for part in parts:
        digest.update(f":{len(part)}:".encode())
        digest.update(part)


def _integer_bytes(values: NDArray[Any]) -> bytes:
    return np.ascontiguousarray(values, dtype="<i8").tobytes()


def _float_bytes(values: NDArray[Any]) -> bytes:
    block = np.ascontiguousarray(values, dtype="<f8")
    missing = np.isnan(block)
    if missing.any():
        block = np.where(missing, np.nan, block)
    return block.tobytes()
