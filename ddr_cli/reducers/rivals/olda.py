"""Orthogonal linear discriminant analysis (Ye)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import eigenpairs
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import MeansDiscriminant, requested_components
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_classes


@registered(
    "reducer",
    "olda",
    "orthogonal linear discriminant analysis (Ye)",
    label="OLDA",
    look=("blue", "s"),
)
class OLDA(MeansDiscriminant):
    r"""Find orthonormal directions with a large ratio of between-class scatter to total scatter.

    The leading solutions of :math:`S_b g = \lambda S_t g` on the span of the data, which
    diagonalise both scatter matrices, made orthonormal one after the other:
    :math:`G = Q R`, and `components_` is :math:`Q^T`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most min(n_features, n_classes - 1). None: as many as possible.
        Default: as in scikit-learn.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions; the first m span the m leading solutions.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        Fraction :math:`\lambda` of between-class in total scatter of each solution, at most 1.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with more features than samples when directions should be orthonormal.

    Do not judge it by its training samples if there are fewer samples than features: each class of
    the training set is then mapped to a single point, but new samples are not.

    It is defined where the scatter matrices are singular. With linearly independent samples (fewer
    than features) every :math:`\lambda` is 1: all training samples of a class are then mapped to a
    single point. With fewer dimensions than solutions, those along the leading principal components
    are taken, with a warning.

    For n samples, d features and rank r: :math:`O(n d \min(n, d) + r^3)`.

    References
    ----------
    .. [1] J. Ye, "Characterization of a Family of Algorithms for Generalized Discriminant Analysis
       on Undersampled Problems", JMLR 6, 2005, 483-502.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> OLDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        m = requested_components(self, Z.shape[1], points.shape[1])
        # The columns of Z are orthogonal, so dividing them by their lengths whitens the total
        # scatter.
        length = np.linalg.norm(Z, axis=0)
        between = scatter_matrices(Z / length, code)[1]
        self.eigenvalues_, vectors = eigenpairs(between, m)
        return np.asarray(np.linalg.qr(vectors / length[:, None])[0])

    _traits = Traits(
        version=3,
        nested=True,
        grids={"n_components": tuple(range(1, 10))},
        max_components=one_less_than_classes,
    )
