"""Kernel matrices between points, and the width that suits them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.metrics.pairwise import pairwise_kernels

from ddr_cli.numerics.nearest import Points


def kernel_width(points: Points, gamma: Literal["scale"] | float) -> float:
    """Return `gamma`, or for "scale" the reciprocal of the points' total variance.

    Parameters
    ----------
    points : array or sparse of shape (n, d)
    gamma : "scale" or float
        "scale" is ``1 / (d * points.var())``, as for scikit-learn's support vector machines; 1
        where all values are equal.
    """
    if gamma != "scale":
        return float(gamma)
    exact: Any = points.astype(np.float64)
    sparse: bool = sp.issparse(exact)
    square = exact.multiply(exact) if sparse else exact**2
    spread = float(square.mean() - exact.mean() ** 2) * points.shape[1]
    return 1 / spread if spread > 0 else 1.0


def kernel_matrix(
    A: Points,
    B: Points,
    kernel: str | Callable[[Any, Any], float],
    *,
    gamma: float,
    degree: int,
    coef0: float,
) -> NDArray[np.float64]:
    """Return the kernel's values between the rows of `A` and of `B`, in float64 and dense.

    Parameters
    ----------
    A, B : array or sparse of shapes (n, d) and (m, d)
    kernel : str or callable
        A kernel of scikit-learn's ``pairwise_kernels``, or a function of two points.
    gamma, degree, coef0
        Parameters of those kernels that have them.
    """
    own = {} if callable(kernel) else {"gamma": gamma, "degree": degree, "coef0": coef0}
    K = pairwise_kernels(
        A.astype(np.float64), B.astype(np.float64), metric=kernel, filter_params=True, **own
    )
    # A linear kernel of sparse points is sparse.
    sparse: bool = sp.issparse(K)
    return np.asarray(K.toarray() if sparse else K, dtype=np.float64)
