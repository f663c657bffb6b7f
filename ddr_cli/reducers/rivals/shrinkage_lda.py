"""Linear discriminant analysis with a shrunken covariance (Ledoit, Wolf; Friedman)."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt, Le

from ddr_cli.core.registry import registered
from ddr_cli.numerics.generalized_eigen import generalized_eigenpairs
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import (
    MeansDiscriminant,
    requested_components,
    usable_scatter,
)
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_classes


@registered(
    "reducer",
    "shrinkage_lda",
    "discriminant analysis with a shrunken covariance (Ledoit, Wolf)",
    label="shrinkage LDA",
    look=("dark red", "D"),
)
class ShrinkageLDA(MeansDiscriminant):
    r"""Fisher's discriminant analysis with the within-class covariance shrunk to a multiple of I.

    The rows :math:`a` of `components_` are the leading solutions of

    .. math:: S_b a = \lambda \left((1 - s) S_w + s \frac{\mathrm{tr} S_w}{d} I\right) a

    for d features, the covariance :math:`S_w` of the samples around their class's mean and the
    between-class scatter :math:`S_b`, both over n.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most min(n_features, n_classes - 1). None: as many as possible.
        Default: as in scikit-learn.
    shrinkage : "ledoit_wolf" or float, default="ledoit_wolf"
        The weight s, above 0 and at most 1; "ledoit_wolf" estimates the value with the smallest
        mean squared error. Default: as in the paper.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Discriminant directions, by decreasing ratio, along which the shrunken covariance is 1.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`.
    shrinkage_ : float
        The value of s.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when `LDA` is appropriate but there are few samples relative to the number of features:
    the shrinkage is computed from the data.

    Avoid it for classes with several clusters and for more than n_classes - 1 dimensions.

    It shrinks one covariance, that of all samples around their class means. (scikit-learn's
    ``LinearDiscriminantAnalysis(shrinkage="auto")`` shrinks the covariance of each class, with
    standardised features, and also the total covariance.) The units of the features matter.

    For n samples and d features: :math:`O(n d \min(n, d) + \min(n, d)^3)`.

    References
    ----------
    .. [1] O. Ledoit, M. Wolf, "A well-conditioned estimator for large-dimensional covariance
       matrices", Journal of Multivariate Analysis 88, 2004, 365-411.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ShrinkageLDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    shrinkage: Literal["ledoit_wolf"] | Annotated[float, Gt(0), Le(1)] = "ledoit_wolf"

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        n, d = points.shape
        m = requested_components(self, Z.shape[1], d)
        S_w, S_b = (scatter / n for scatter in scatter_matrices(Z, code))
        S_w = usable_scatter(S_w, S_b)
        s = self.shrinkage
        self.shrinkage_ = ledoit_wolf(Z, code, S_w, d) if s == "ledoit_wolf" else float(s)
        # Directions outside the span of the data, where only the ridge remains, are left out,
        # because the classes do not differ there.
        ridge = self.shrinkage_ * float(np.trace(S_w)) / d
        shrunken = (1 - self.shrinkage_) * S_w + ridge * np.eye(len(S_w))
        self.eigenvalues_, A = generalized_eigenpairs(S_b, shrunken, m, rank_tol=0)
        return A

    _traits = Traits(
        version=3,
        nested=True,
        grids={
            "n_components": tuple(range(1, 10)),
            "shrinkage": ("ledoit_wolf", 1e-3, 1e-2, 0.1, 0.3, 1.0),
        },
        max_components=one_less_than_classes,
    )


def ledoit_wolf(Z: Floats, code: Codes, S_w: Floats, d: int) -> float:
    """Return Ledoit and Wolf's shrinkage of the covariance of samples around their class means.

    `Z` are the coordinates of samples with `d` features in an orthonormal basis of their span; the
    norms depend on nothing else.
    """
    # The norms are fourth powers, which could overflow or become 0. Scaling by a power of two
    # prevents this and is exact.
    exponent = int(np.frexp(np.sqrt(np.trace(S_w)))[1])
    Z, S_w = np.ldexp(Z, -exponent), np.ldexp(S_w, -2 * exponent)
    means = np.array([Z[code == k].mean(axis=0) for k in range(code.max() + 1)])
    lengths = np.sum((Z - means[code]) ** 2, axis=1)
    size = float(np.sum(S_w**2))
    spread = size - float(np.trace(S_w)) ** 2 / d  # |S - (tr S / d) I|^2
    noise = (float(np.mean(lengths**2)) - size) / len(Z)
    # If S is a multiple of I, it is its own shrinkage target, so any shrinkage returns S.
    return float(np.clip(noise / spread, np.finfo(float).eps, 1.0)) if spread > 0 else 1.0
