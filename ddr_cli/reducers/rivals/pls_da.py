"""Partial least squares discriminant analysis."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ddr_cli.core.registry import registered
from ddr_cli.numerics.kernels import feature_moments
from ddr_cli.numerics.scatter import Span, data_span
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred

_REPRODUCED = 1e-8  # relative size at which the residual of the class indicators counts as 0


@registered(
    "reducer",
    "pls_da",
    "partial least squares discriminant analysis",
    label="PLS-DA",
    look=("dark red", "o"),
)
class PLSDA(LinearDiscriminant):
    r"""Embed by the components of a partial least squares regression of class indicators.

    One after the other, for the centred samples X and the centred indicators Y of the classes,

    .. math:: w_l = \arg\max_{|w| = 1} |Y^T X_l w|, \qquad t_l = X_l w_l, \qquad
        X_{l+1} = X_l - \frac{t_l t_l^T}{t_l^T t_l} X_l;

    the embedding is :math:`T = X W (P^T W)^{-1}` with the loadings
    :math:`p_l = X_l^T t_l / t_l^T t_l`, and `components_` is the transpose of the matrix that X is
    multiplied by.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. If fewer components already
        reproduce the indicators, PLS-DA warns and uses only these. Default: as in scikit-learn.
    scale : bool, default=False
        Divide features and indicators by their standard deviation first. After a principal
        component analysis, this whitens the principal components, and they are no longer ordered by
        variance. Default: our choice; scikit-learn's default is True.

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

    A component needs what the ones before left of the indicators. When they left rounding alone,
    the next components would be rounding, too: they would change with the order of the samples, so
    they are not computed. This is frequent with ``scale=True`` after a principal component analysis
    on few samples, where one component reproduces two classes.

    For n samples, d features, rank r, C classes and m dimensions:
    :math:`O(n d \min(n, d) + m n r C)`.

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

    scale: bool = False

    def _span_of(self, points: Any) -> Span:
        if not self.scale:
            return super()._span_of(points)
        n = points.shape[0]
        deviation = np.sqrt(feature_moments(points)[1] * n / (n - 1))
        unit = np.where(deviation > 0, deviation, 1.0)
        span = data_span(points / unit)
        return Span(span.mean * unit, span.basis / unit[:, None], span.coordinates)

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        Y = np.eye(len(self.classes_))[code]
        Y -= Y.mean(axis=0)
        if self.scale:
            Y /= Y.std(axis=0, ddof=1)
        within_span = np.linalg.qr(Z)[0]
        Y = within_span @ (within_span.T @ Y)
        all_of_it, left = np.linalg.norm(Y), Z.copy()
        weights, loadings = np.zeros((2, Z.shape[1], self.n_components))
        for found in range(self.n_components):
            if np.linalg.norm(Y) <= _REPRODUCED * all_of_it:
                warnings.warn(
                    f"n_components={self.n_components}, but {found} components already reproduce "
                    "the class indicators exactly; no more components are computed.",
                    stacklevel=3,
                )
                weights, loadings = weights[:, :found], loadings[:, :found]
                break
            w = np.linalg.svd(left.T @ Y, full_matrices=False)[0][:, 0]
            t = left @ w
            p = t @ left / (t @ t)
            left -= np.outer(t, p)
            Y -= np.outer(t, t @ Y / (t @ t))
            weights[:, found], loadings[:, found] = w, p
        return np.asarray(weights @ np.linalg.inv(loadings.T @ weights))

    _traits = Traits(
        version=3,
        nested=True,
        grids={"n_components": tuple(range(1, 21)), "scale": (False, True)},
        max_components=rank_of_centred,
    )
