"""Maximum margin criterion (Li, Jiang, Zhang)."""

from __future__ import annotations

from typing import Any

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import eigenpairs
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer", "mmc", "maximum margin criterion (Li et al.)", label="MMC", look=("dark red", "s")
)
class MMC(LinearDiscriminant):
    r"""Maximise the between-class minus the within-class scatter, without a matrix inverse.

    The rows :math:`w` of `components_` are the leading eigenvectors in

    .. math:: (S_b - S_w) w = \lambda w, \qquad
        S_b = \frac1n \sum_k n_k (m_k - m)(m_k - m)^T, \quad
        S_w = \frac1n \sum_i (x_i - m_{y_i})(x_i - m_{y_i})^T.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing margin.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The margin :math:`\lambda` along each direction, in squared units of the data. At most
        n_classes - 1 margins are positive; along the other directions classes vary more than their
        means differ.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with more features than samples when directions should be orthonormal: it inverts no
    matrix.

    Avoid it when the variance within classes is much larger than that between classes: the
    differences are then negative, and the first directions are those with little variance.

    As in principal component analysis, the units of the features matter.

    For n samples, d features and rank r: :math:`O(n d \min(n, d) + r^3)`.

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
        self.eigenvalues_, vectors = eigenpairs((between - within) / len(Z), self.n_components)
        return vectors

    _traits = Traits(
        version=3,
        nested=True,
        grids={"n_components": tuple(range(1, 21))},
        max_components=rank_of_centred,
    )
