"""Maximum margin criterion (Li, Jiang, Zhang)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ddr_cli.core.registry import registered
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer", "mmc", "maximum margin criterion (Li et al.)", label="MMC", look=("dark red", "s")
)
class MMC(LinearDiscriminant):
    r"""Maximise the between-class less the within-class scatter: no inverse, so no singularity.

    The rows :math:`w` of `components_` are the leading eigenvectors in

    .. math:: (S_b - S_w) w = \lambda w, \qquad
        S_b = \frac1n \sum_k n_k (m_k - m)(m_k - m)^T, \quad
        S_w = \frac1n \sum_i (x_i - m_{y_i})(x_i - m_{y_i})^T.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions, at most the rank of the centred data. Default: ours.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing margin.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        The margin :math:`\lambda` along each, in squared units of the data. At most one less than
        there are classes are positive; those after widen the classes more than they part them.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.

    Notes
    -----
    Use it with more features than points, when directions should be orthonormal: it inverts
    nothing.

    Not when the spread within classes is much larger than between them: the differences are then
    negative, and the first directions are those of little variance.

    The units of the features matter, as for principal component analysis.

    For n points, d features and rank r: :math:`O(n d \min(n, d) + r^3)`.

    References
    ----------
    .. [1] H. Li, T. Jiang, K. Zhang, "Efficient and Robust Feature Extraction by Maximum Margin
       Criterion", NIPS 16, 2003; IEEE Trans. Neural Networks 17(1), 2006, 157-165.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        within, between = scatter_matrices(Z, code)
        values, vectors = np.linalg.eigh((between - within) / len(Z))
        leading = slice(-1, -self.n_components - 1, -1)
        self.eigenvalues_ = values[leading]
        return np.asarray(vectors[:, leading])

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=2,
            nested=True,
            grids={"n_components": tuple(range(1, 21))},
            max_components=rank_of_centred,
        )
