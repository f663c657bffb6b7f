"""Regularised discriminant analysis (Friedman)."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.extmath import safe_sparse_dot

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.neighbors import is_sparse
from ddr_cli.numerics.scatter import data_span, scatter_matrices
from ddr_cli.reducers.discriminant import requested_components
from ddr_cli.reducers.reducer import Floats, Reducer
from ddr_cli.reducers.registry import Traits, one_less_than_classes

_SINGULAR = 1e-12  # relative size at which a variance counts as 0


@registered(
    "reducer",
    "rda",
    "scores of regularised discriminant analysis (Friedman)",
    label="RDA",
    look=("black", "D"),
)
class RDA(Reducer):
    r"""Embed by principal components of the scores of regularised discriminant analysis.

    Each class k of :math:`n_k` samples has a covariance between its own and the common one, shrunk
    towards a multiple of I,

    .. math:: \Sigma_k(\lambda) = \frac{(1 - \lambda) S_k + \lambda S}
        {(1 - \lambda) n_k + \lambda n}, \qquad
        \Sigma_k(\lambda, \gamma) = (1 - \gamma) \Sigma_k(\lambda)
        + \gamma \frac{\mathrm{tr} \Sigma_k(\lambda)}{p} I

    with the scatter :math:`S_k` of its samples, :math:`S = \sum_k S_k` and p features, and the
    score of a sample for class k is

    .. math:: d_k(x) = -\frac12 (x - m_k)^T \Sigma_k^{-1} (x - m_k) - \frac12 \ln |\Sigma_k|
        + \ln \frac{n_k}{n}.

    The method is a classifier: it predicts the class with the largest score. The embedding consists
    of the scores minus their mean over the classes (only differences matter), on their leading
    principal axes: n_classes - 1 dimensions contain all the information for the decision. With
    :math:`\lambda = 1` this is a linear projection on the directions of linear discriminant
    analysis; else it is quadratic.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most min(n_features, n_classes - 1). None: as many as possible.
        Default: as in scikit-learn.
    pooling : float, default=0.5
        :math:`\lambda`, between 0 (each class has its own covariance) and 1 (all classes have a
        common covariance). Default: our choice; the paper chooses the value by cross-validation.
    shrinkage : float, default=0.1
        :math:`\gamma`, between 0 and 1; with 1, distances are Euclidean up to a factor. Default:
        our choice; the paper chooses the value by cross-validation.

    Attributes
    ----------
    axes_ : ndarray of shape (n_components, n_classes)
        Principal axes of the centred scores, orthonormal, by decreasing variance.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when classes have different covariances and few samples each.

    Avoid it when a linear projection is needed: unless the covariance is pooled, the scores are
    quadratic. Two parameters must be chosen, so tune it.

    Where the rank r of the data is below the number of features p, every direction outside their
    span has the variance :math:`\gamma \, \mathrm{tr} \Sigma_k(\lambda) / p` in class k: classes
    with different covariances differ there too. No p x p matrix is formed. With ``shrinkage=0`` the
    covariances have no inverse there, and the scores are those in the span.

    For n samples, d features, rank r and C classes: :math:`O(n d \min(n, d) + C (n r^2 + r^3))`.

    References
    ----------
    .. [1] J. H. Friedman, "Regularized Discriminant Analysis", JASA 84, 1989, 165-175.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> RDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    _fitted = "axes_"

    n_components: Annotated[int, Ge(1)] | None = None
    pooling: Annotated[float, Ge(0), Le(1)] = 0.5
    shrinkage: Annotated[float, Ge(0), Le(1)] = 0.1

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code = self._points_and_classes(X, y)
        span, p = data_span(points), points.shape[1]
        m = requested_components(self, span.rank, p)
        self._check_rank(span.rank, points)
        Z, pooled = span.coordinates, scatter_matrices(span.coordinates, code)[0]
        centres, whiteners, constants, outside = [], [], [], []
        for k, label in enumerate(self.classes_):
            members = Z[code == k]
            count, mean = len(members), members.mean(axis=0)
            own = (members - mean).T @ (members - mean)
            weight = (1 - self.pooling) * count + self.pooling * len(Z)
            covariance = ((1 - self.pooling) * own + self.pooling * pooled) / weight
            sizes, vectors = np.linalg.eigh(covariance)
            ridge = self.shrinkage * sizes.sum() / p
            sizes = (1 - self.shrinkage) * sizes + ridge
            if not sizes[-1]:
                raise ValueError(
                    f"All samples of class {label} are identical. Increase pooling (now "
                    f"{self.pooling})."
                )
            if sizes[0] <= _SINGULAR * sizes[-1]:
                raise ValueError(
                    f"With pooling={self.pooling}, the covariance of class {label} is singular. "
                    f"Increase shrinkage (now {self.shrinkage}), for example to 0.1."
                )
            log_determinant = np.log(sizes).sum()
            if ridge:
                log_determinant += (p - span.rank) * np.log(ridge)
            centres.append(mean)
            whiteners.append(span.basis @ (vectors / np.sqrt(sizes)))
            constants.append(np.log(count / len(Z)) - log_determinant / 2)
            outside.append(1 / ridge if ridge else 0.0)
        self.means_ = span.mean + np.array(centres) @ span.basis.T
        self._whiteners, self._constants = np.array(whiteners), np.array(constants)
        self._mean, self._basis = span.mean, span.basis
        self._outside = np.array(outside) * (span.rank < p)
        scores = self._scores(points)
        self._score_means = scores.mean(axis=0)
        _, _, axes = np.linalg.svd(scores - self._score_means, full_matrices=False)
        self.axes_ = deterministic_signs(axes[:m].T).T
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        points = self._points(X)
        placed = (self._scores(points) - self._score_means) @ self.axes_.T
        return np.asarray(placed.astype(points.dtype))

    def _scores(self, points: Any) -> Floats:
        """Return the scores of the samples for each class, minus their mean over the classes."""
        scores = np.empty((np.shape(points)[0], len(self._constants)))
        scores[:] = self._constants
        if self._outside.any():
            scores -= np.outer(self._distances_from_span(points), self._outside) / 2
        for k, (mean, whitener) in enumerate(zip(self.means_, self._whiteners, strict=True)):
            white = safe_sparse_dot(points, whitener, dense_output=True) - mean @ whitener
            scores[:, k] -= np.einsum("ij,ij->i", white, white) / 2
        return np.asarray(scores - scores.mean(axis=1, keepdims=True))

    def _distances_from_span(self, points: Any) -> Floats:
        """Return the squared distance of each sample from the span of the training samples."""
        along = safe_sparse_dot(points, self._basis, dense_output=True) - self._mean @ self._basis
        if not is_sparse(points):
            rest = points - self._mean - along @ self._basis.T
            return np.asarray(np.einsum("ij,ij->i", rest, rest))
        squares = np.asarray(points.multiply(points).sum(axis=1)).ravel()
        squares += self._mean @ self._mean - 2 * (points @ self._mean)
        return np.asarray(np.maximum(squares - np.einsum("ij,ij->i", along, along), 0.0))

    _traits = Traits(
        version=3,
        nested=True,
        grids={
            "n_components": tuple(range(1, 10)),
            "pooling": (0.0, 0.125, 0.354, 0.65, 1.0),
            "shrinkage": (0.01, 0.1, 0.25, 0.5, 0.75),
        },
        grid_source="the paper's grids, with 0.01 and 0.1 instead of 0 and 1 for shrinkage",
        max_components=one_less_than_classes,
    )
