"""Classical multidimensional scaling (Torgerson, 1952), with Gower's formula for new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist

from ddr_cli.core.registry import registered
from ddr_cli.numerics.classical_mds import classical_scaling
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points

_ASYMMETRY = 1e-8  # relative difference of two given distances that is more than rounding


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "mds",
    "classical multidimensional scaling (Torgerson)",
    label="MDS",
    look=("orange", "o"),
)
class MDS(Embedding):
    r"""Place points such that their distances are those given, as far as the dimensions allow.

    With :math:`B = -\frac12 J \Delta J`, :math:`\Delta` being the squared distances and
    :math:`J = I - 1 1^T / n`, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l` for the
    leading eigenpairs of B.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding. Default: scikit-learn's.
    metric : {"euclidean", "cityblock", "chebyshev", "cosine", "precomputed"}, default="euclidean"
        The distances. With "euclidean" the embedding is that of principal component analysis;
        "precomputed" says that X holds distances. Default: scikit-learn's.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed points, centred, in units of the distances.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.

    Notes
    -----
    Use it when distances, given or Euclidean, should be kept as a whole, the large ones above
    all.

    Not when only near points are comparable, as on a curved surface (`isomap`). With Euclidean
    distances it is PCA at a higher price.

    This is not scikit-learn's ``MDS``, which minimises the stress by iteration (SMACOF) and has no
    way to place a new point; it is its ``ClassicalMDS`` with Gower's: a point at the distances
    :math:`d_i` from the others is placed at

    .. math:: y_l = \frac{1}{2 \lambda_l} \sum_i y_{il} (b_{ii} - d_i^2),

    the projection of where the distances put it. A training point is placed where it is.

    Dimensions in which the points have no extent are zero. Distances that are not Euclidean give
    negative eigenvalues, too; dimensions as far down as these are refused.

    For n points, d features and m dimensions: :math:`O(n^2 d)`, and :math:`O(n^2 m)` for each of
    Lanczos' restarts.

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
        """Place the rows of `X`, or the points of which it holds the distances."""
        points = self._points(X, y, reset=True)
        self._check_values(points)
        n, m = len(points), self.n_components
        self._check_dimensions(n)
        self._X = points
        squared = self._distances(points) ** 2
        if self.metric == "precomputed":
            _check_symmetric(squared)
        rank = points.shape[1] if self.metric == "euclidean" else None
        self._scaling = classical_scaling(squared, m, distances="these", rank=rank)
        self.eigenvalues_ = self._scaling.eigenvalues
        self.embedding_ = self._scaling.embedding.astype(points.dtype)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Place points, or those of whose distances to the training points X has rows, by Gower."""
        points = self._points(X)
        self._check_values(points)
        placed = self._scaling.placed(self._distances(points) ** 2)
        return np.asarray(placed.astype(points.dtype))

    def _check_values(self, points: NDArray[Any]) -> None:
        if self.metric == "cosine" and not points.any(axis=1).all():
            raise ValueError(
                f"metric='cosine', but row {int(np.argmin(points.any(axis=1)))} is zero and has no "
                f"direction; leave such rows out or take another metric."
            )
        if self.metric == "precomputed" and points.min() < 0:
            raise ValueError("Precomputed distances must not be negative.")

    def _distances(self, points: NDArray[Any]) -> Floats:
        """Return the distances from points to the training points."""
        if self.metric == "precomputed":
            return np.asarray(points, dtype=np.float64)
        return np.asarray(cdist(points, self._X, self.metric))

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=2,
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
    if squared.shape[0] != squared.shape[1]:
        raise ValueError(f"Precomputed distances must be square; X has the shape {squared.shape}.")
    if np.abs(squared - squared.T).max() > _ASYMMETRY * squared.max():
        raise ValueError("Precomputed distances must be symmetric.")
    if np.abs(np.diag(squared)).max() > _ASYMMETRY * squared.max():
        raise ValueError("Precomputed distances must be 0 from a point to itself.")
