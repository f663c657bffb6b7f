"""Supervised principal component analysis by the dependence on the labels (Barshan et al.)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import eigenpairs
from ddr_cli.reducers.discriminant import (
    LinearDiscriminant,
    MeansDiscriminant,
    requested_components,
)
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_classes, rank_of_centred


@registered(
    "reducer",
    "hsic_pca",
    "supervised principal component analysis (Barshan et al.)",
    label="HSIC PCA",
    look=("vermilion", "s"),
)
class HSICPCA(MeansDiscriminant):
    r"""Find the orthonormal directions with the largest dependence (HSIC) on the labels.

    The rows of `components_` are the leading eigenvectors of

    .. math:: X H L H X^T, \qquad L_{ij} = [y_i = y_j] + w [i = j],

    with the centring matrix :math:`H = I - 1 1^T / n`: they maximise
    :math:`\mathrm{tr}(H U^T X^T X U H L)`, n - 1 squared times the empirical HSIC between the
    embedding and the labels. With :math:`L = I` this is principal component analysis.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions. With ``pca_weight=0`` at most min(n_features, n_classes - 1), the rank
        of the matrix; otherwise at most the rank of the centred data. None: as many as possible.
        Default: as in `LDA`.
    pca_weight : float, default=0
        The weight w of the identity in the kernel of the labels; it adds w times the scatter of the
        samples. For each class, the kernel of the labels adds the squared class size times the
        squared mean, so values from 1 to the size of a class balance the two terms. A positive
        weight balances covariance with the labels and variance, as CSPCA [2]_ does. Default: as in
        the paper [1]_.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing dependence.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The eigenvalues, descending; their sum is the maximum.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with more features than samples when the class means separate the classes: it inverts no
    matrix.

    Avoid it when the classes vary much along the directions of their means, since it ignores the
    variance within classes, and, without `pca_weight`, for more than n_classes - 1 dimensions.

    As in principal component analysis, the units of the features matter.

    For n samples, d features and rank r: :math:`O(n d \min(n, d) + r^3)`.

    References
    ----------
    .. [1] E. Barshan, A. Ghodsi, Z. Azimifar, M. Zolghadri Jahromi, "Supervised principal component
       analysis: Visualization, classification and regression on subspaces and submanifolds",
       Pattern Recognition 44, 2011, 1357-1371.
    .. [2] T. Papazoglou, G. Yin, "Covariance Supervised Principal Component Analysis",
       arXiv:2506.19247, 2025.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> HSICPCA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    pca_weight: Annotated[float, Ge(0)] = 0.0

    def _check_rank(
        self, rank: int, points: Any, *, reason: str = "all features are constant"
    ) -> None:
        if self.pca_weight:  # the number of classes does not limit the rank
            LinearDiscriminant._check_rank(self, rank, points, reason=reason)
        else:
            super()._check_rank(rank, points, reason=reason)

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        if self.pca_weight:
            m = self.n_components or Z.shape[1]
        else:
            m = requested_components(self, Z.shape[1], points.shape[1])
        sums = np.zeros((len(self.classes_), Z.shape[1]))
        np.add.at(sums, code, Z)
        self.eigenvalues_, vectors = eigenpairs(sums.T @ sums + self.pca_weight * (Z.T @ Z), m)
        return vectors

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=3,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21 if self.pca_weight else 10)),
                "pca_weight": (0.0, 1.0, 10.0, 100.0),
            },
            max_components=rank_of_centred if self.pca_weight else one_less_than_classes,
        )
