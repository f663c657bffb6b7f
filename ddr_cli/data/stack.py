"""Joining the rows that came from several files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ddr_cli.core.errors import InputError
from ddr_cli.data.raw import Features, RawData


def stack(parts: Sequence[RawData]) -> RawData:
    """Return the rows of all parts, one after the other; `sizes` says how many each gave.

    Raises
    ------
    InputError
        If there is no part, a part has no rows, or the parts don't have the same columns.
    """
    if not parts:
        raise InputError("The data set names no file.")
    first = parts[0]
    for number, part in enumerate(parts, start=1):
        if not part.X.shape[0]:
            raise InputError(f"File {number} of the data set holds no rows of data.")
        if part.X.shape[1] != first.X.shape[1] or part.image_shape != first.image_shape:
            raise InputError(
                f"File {number} of the data set has {part.X.shape[1]} features, the first "
                f"{first.X.shape[1]}: they can't be one data set."
            )
    return RawData(
        _rows([part.X for part in parts]),
        np.concatenate([part.labels for part in parts]),
        feature_names=first.feature_names,
        image_shape=first.image_shape,
        sizes=tuple(int(part.X.shape[0]) for part in parts),
        groups=_joined([part.groups for part in parts]),
        subclasses=_joined([part.subclasses for part in parts]),
    )


def _rows(blocks: Sequence[Features]) -> Features:
    if len(blocks) == 1:
        return blocks[0]
    dense = [block for block in blocks if isinstance(block, np.ndarray)]
    if len(dense) == len(blocks):
        return np.concatenate(dense)
    return sp.csr_array(sp.vstack([sp.csr_array(block) for block in blocks], format="csr"))


def _joined(columns: Sequence[NDArray[Any] | None]) -> NDArray[Any] | None:
    present = [column for column in columns if column is not None]
    return np.concatenate(present) if len(present) == len(columns) else None
