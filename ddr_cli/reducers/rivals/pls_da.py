"""Partial least squares discriminant analysis."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike
from sklearn.cross_decomposition import PLSRegression

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.reducers.reducer import LinearReducer
from ddr_cli.reducers.registry import Traits, rank_of_centred

_TOL, _MAX_ITER = 1e-16, 5000  # of the power iteration, which is cheap


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "pls_da",
    "partial least squares discriminant analysis",
    label="PLS-DA",
    look=("dark red", "o"),
)
class PLSDA(LinearReducer):
    r"""The components of a partial least squares regression of the classes' indicators.

    One after the other, for the centred samples X and the centred indicators Y of the classes,

    .. math:: w_l = \arg\max_{|w| = 1} |Y^T X_l w|, \qquad t_l = X_l w_l, \qquad
        X_{l+1} = X_l - \frac{t_l t_l^T}{t_l^T t_l} X_l;

    the embedding is :math:`T = X W (P^T W)^{-1}` with the loadings
    :math:`p_l = X_l^T t_l / t_l^T t_l`, and `components_` is the transpose of the matrix that X is
    multiplied by.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions, at most the rank of the centred data; fewer, with a warning, if fewer already
        reproduce the indicators. Default: scikit-learn's.
    scale : bool, default=True
        Divide features and indicators by their standard deviation first, as is usual. Default:
        scikit-learn's.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, in order; the columns of the embedding are uncorrelated.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with many correlated features and few samples, such as spectra.

    Avoid it when classes differ in their variances rather than in their means, and when their
    borders are curved. The units of the features matter.

    This is scikit-learn's ``PLSRegression`` with its power iteration continued to the precision of
    a float.

    For n samples, d features, C classes and m dimensions: :math:`O(m n (d + C))` for each
    iteration.

    References
    ----------
    .. [1] M. Barker, W. Rayens, "Partial least squares for discrimination", Journal of Chemometrics
       17, 2003, 166-173.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> PLSDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    _needs_labels = True
    _takes_sparse = False

    n_components: Annotated[int, Ge(1)] = 2
    scale: bool = True

    def fit(self, X: ArrayLike, y: ArrayLike) -> PLSDA:
        points, code = self._points_and_classes(X, y)
        centred = points - points.mean(axis=0)
        self._check_rank(int(np.linalg.matrix_rank(centred)), points)
        model = PLSRegression(self.n_components, scale=self.scale, max_iter=_MAX_ITER, tol=_TOL)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="y residual is constant")
            model.fit(points.astype(np.float64), np.eye(len(self.classes_))[code])
        found = int(np.count_nonzero(np.linalg.norm(model.x_weights_, axis=0)))
        if found < self.n_components:
            warnings.warn(
                f"n_components={self.n_components}, but {found} components already reproduce the "
                "indicators of the classes; only these are computed.",
                stacklevel=2,
            )
        directions = model.x_rotations_[:, :found] / model._x_std[:, None]
        self.components_ = deterministic_signs(directions).T.astype(points.dtype)
        self.mean_ = np.asarray(model._x_mean, dtype=points.dtype)
        return self

    def __ddr_traits__(self) -> Traits:
        return Traits(
            nested=True,
            grids={"n_components": tuple(range(1, 21)), "scale": (False, True)},
            max_components=rank_of_centred,
        )
