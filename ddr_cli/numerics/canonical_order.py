"""An order of labelled points that doesn't depend on how they were listed or labelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Codes = NDArray[np.intp]


def canonical_order(X: Any, code: Codes) -> tuple[Codes, Codes]:
    """Return an order of the rows that is theirs alone, and the classes numbered along it.

    An iterative method rounds differently when its sums run in another order, and where its
    objective has several optima it may end at another. After this reordering the order of the
    rows and the names of the classes change nothing at all, as long as no two equal points are of
    different classes.

    Parameters
    ----------
    X : array or sparse of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.

    Returns
    -------
    order : ndarray of shape (n,)
        Row numbers, such that ``X[order]`` is sorted.
    ordered : ndarray of shape (n,)
        Class of each row of ``X[order]``; the first row's is 0, the next new one 1, and so on.
    """
    sparse: bool = sp.issparse(X)
    if sparse:
        # A row's product with a fixed vector is summed inside the row: the same wherever it is.
        direction = np.random.default_rng(0).standard_normal(X.shape[1])
        order = np.argsort(X @ direction, kind="stable")
    else:
        order = np.lexsort(X.T)
    _, first, inverse = np.unique(code[order], return_index=True, return_inverse=True)
    return order, np.argsort(np.argsort(first))[inverse]
