"""What rounding must not decide: numbers without their last bits, and the largest of equal values.

The last bits of a sum depend on the processor. Distances are compared in `neighbors`, eigenvectors
chosen in `eigen`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EQUAL = 2.0**-36
"""Fraction of the largest value up to which two values count as equal."""


def steady(values: Any, size: float, precision: float = 2.0**-28) -> Any:
    """Return numbers without their last bits: multiples of this fraction of the size.

    The fraction is to be far below what the result needs and far above rounding.
    """
    if not size:
        return values
    # A power of two, so that the unit itself does not depend on rounding.
    unit = 2.0 ** np.ceil(np.log2(precision * size))
    return np.round(values / unit) * unit


def steady_value(value: float) -> float:
    """Return an objective's value without its last bits."""
    return float(steady(value, abs(value), 2.0**-40))


def first_largest(values: Floats) -> NDArray[np.intp]:
    """Return the column of each row's largest value; of equal values, the first.

    Values without columns are those of the second of two classes, minus those of the first.
    """
    if values.ndim == 1:
        values = np.column_stack([-values, values])
    rounding = EQUAL * float(np.abs(values).max(initial=0.0))
    return np.asarray(np.argmax(values >= values.max(axis=1, keepdims=True) - rounding, axis=1))
