"""Classical multidimensional scaling (Torgerson, 1952), with Gower's formula for new samples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from scipy import spatial

from ddr_cli.core.registry import registered
from ddr_cli.numerics.classical_mds import classical_scaling
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points

_ASYMMETRY = 1e-8  # relative asymmetry of given distances that is more than rounding


@registered(
    "reducer",
    "mds",
    "classical multidimensional scaling (Torgerson)",
    label="MDS",
    look=("orange", "o"),
)
class MDS(Embedding):
    r"""Embed samples so that distances in the embedding approximate the given distances.

    With :math:`B = -\frac12 J \Delta J`, :math:`\Delta` being the squared distances and
    :math:`J = I - 1 1^T / n`, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l` for the
    leading eigenpairs of B.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in scikit-learn.
    metric : {"euclidean", "cityblock", "chebyshev", "cosine", "precomputed"}, default="euclidean"
        The distances. With "euclidean", the embedding is that of principal component analysis. With
        "precomputed", X contains the distances. Default: as in scikit-learn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding, centred, in units of the distances.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.

    Notes
    -----
    Use it to preserve all distances, given or Euclidean, and above all the large ones.

    Avoid it when only distances between nearby samples are meaningful, as on a curved surface (use
    `isomap`). With Euclidean distances it is a more expensive PCA.

    This is not scikit-learn's ``MDS``, which minimises the stress by iteration (SMACOF) and cannot
    transform new samples; it is scikit-learn's ``ClassicalMDS`` with Gower's formula: a sample at
    the distances :math:`d_i` from the others is embedded at

    .. math:: y_l = \frac{1}{2 \lambda_l} \sum_i y_{il} (b_{ii} - d_i^2),

    the projection of the position that the distances determine. A training sample keeps its
    embedding.

    Dimensions in which the samples do not vary are zero. Distances that are not Euclidean also give
    negative eigenvalues; an `n_components` that would reach these is an error.

    For n samples, d features and m dimensions: :math:`O(n^2 d)`, and :math:`O(n^2 m)` for each
    Lanczos restart.

    References
    ----------
    .. [1] W. S. Torgerson, "Multidimensional Scaling: I. Theory and Method", Psychometrika 17,
       1952, 401-419.
    .. [2] J. C. Gower, "Adding a Point to Vector Diagrams in Multivariate Analysis", Biometrika 55,
       1968, 582-585.

    Examples
    --------
    >>> model = MDS(n_components=1).fit([[0.0, 0.0], [3.0, 4.0]])
    >>> model.transform([[6.0, 8.0]]).round(6).tolist() in ([[7.5]], [[-7.5]])
    True
    """

    _takes_sparse = False

    n_components: Annotated[int, Ge(1)] = 2
    metric: Literal["euclidean", "cityblock", "chebyshev", "cosine", "precomputed"] = "euclidean"

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> MDS:
        points = self._points(X, y, reset=True)
        self._check_values(points)
        n, m = len(points), self.n_components
        self._check_dimensions(n)
        self._X = points
        squared = self._distances(points) ** 2
        if self.metric == "precomputed":
            _check_symmetric(squared)
        rank = points.shape[1] if self.metric == "euclidean" else None
        self._scaling = classical_scaling(squared, m, rank=rank)
        self.eigenvalues_ = self._scaling.eigenvalues
        self.embedding_ = self._scaling.embedding.astype(points.dtype)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        self._check_values(points)
        placed = self._scaling.placed(self._distances(points) ** 2)
        return np.asarray(placed.astype(points.dtype))

    def _check_values(self, points: NDArray[Any]) -> None:
        if self.metric == "cosine" and not points.any(axis=1).all():
            raise ValueError(
                f"metric='cosine': row {int(np.argmin(points.any(axis=1)))} is zero; remove it."
            )
        if self.metric == "precomputed" and points.min() < 0:
            raise ValueError("Precomputed distances must not be negative.")

    def _distances(self, points: NDArray[Any]) -> Floats:
        """Return the distances from samples to the training samples."""
        if self.metric == "precomputed":
            return np.asarray(points, dtype=np.float64)
        return np.asarray(spatial.distance.cdist(points, self._X, self.metric))

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=3,
            nested=True,
            transductive=self.metric != "precomputed",
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "metric": ("euclidean", "cityblock", "chebyshev", "cosine"),
            },
            max_components=one_less_than_points,
        )


def _check_symmetric(squared: Floats) -> None:
    if np.abs(squared - squared.T).max() > _ASYMMETRY * squared.max():
        raise ValueError("Precomputed distances must be symmetric.")
    if np.abs(np.diag(squared)).max() > _ASYMMETRY * squared.max():
        raise ValueError("The precomputed distance from a sample to itself must be 0.")
