"""Linear optimal low-rank projection, LOL (Vogelstein et al.)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import eigenpairs
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred

_DEPENDENT = 1e-8  # a remainder of a unit vector that is shorter than this is rounding


@registered(
    "reducer",
    "lol",
    "linear optimal low-rank projection (Vogelstein et al.)",
    label="LOL",
    look=("sky", "s"),
)
class LOL(LinearDiscriminant):
    r"""Project on differences of class means, then on directions of large within-class variance.

    `components_` are the columns, made orthonormal one after the other, of

    .. math:: A = [m_{(2)} - m_{(1)}, \ldots, m_{(C)} - m_{(1)}, v_1, v_2, \ldots]

    with :math:`m_{(k)}` the mean of the k-th largest class and :math:`v_j` the principal components
    of the samples after each class's mean is subtracted.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. The first C - 1 dimensions
        contain the differences of the C class means. Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too. Among classes of equal size the first counts as the larger.

    Notes
    -----
    Use it with many more features than samples: it only needs means and principal components.

    Avoid it when the means differ along directions in which the classes vary much: it does not
    compare the two.

    A column that is a linear combination of earlier columns is left out. As in principal component
    analysis, the units of the features matter.

    For n samples, d features, rank r and m dimensions: :math:`O(n d \min(n, d) + r^3 + r m^2)`.

    References
    ----------
    .. [1] J. T. Vogelstein, E. W. Bridgeford, M. Tang, D. Zheng, C. Douville, R. Burns,
       M. Maggioni, "Supervised dimensionality reduction for big data", Nature Communications 12,
       2021, 2872.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LOL(n_components=3).fit_transform(X, y).shape
    (150, 3)
    """

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        by_size = np.argsort(-np.bincount(code), kind="stable")
        means = np.array([Z[code == k].mean(axis=0) for k in by_size])
        within, _ = scatter_matrices(Z, code)
        principal = eigenpairs(within, len(within))[1]
        return _orthonormal(np.hstack([(means[1:] - means[0]).T, principal]), self.n_components)

    _traits = Traits(
        version=3,
        nested=True,
        grids={"n_components": tuple(range(1, 21))},
        max_components=rank_of_centred,
    )


def _orthonormal(columns: Floats, m: int) -> Floats:
    """Return the first `m` columns that are independent of the preceding ones, made orthonormal."""
    found = np.empty((len(columns), 0))
    for column in columns.T:
        new = column / max(float(np.linalg.norm(column)), np.finfo(float).tiny)
        for _ in range(2):  # the second pass removes the rounding of the first
            new = new - found @ (found.T @ new)
        length = np.linalg.norm(new)
        if length > _DEPENDENT:
            found = np.column_stack([found, new / length])
        if found.shape[1] == m:
            break
    return found
