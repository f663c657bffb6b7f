"""Locality Preserving Projections (He and Niyogi, NIPS 2003)."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike

from ddr_cli.core.registry import registered
from ddr_cli.numerics.approximate import Search
from ddr_cli.numerics.generalized_eigen import generalized_eigenpairs
from ddr_cli.numerics.kernels import local_scaling_form
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.numerics.scatter import data_span, laplacian_form, symmetric
from ddr_cli.reducers.reducer import Floats, GraphReducer, LinearReducer
from ddr_cli.reducers.registry import Traits, rank_of_centred

_CONSTANT = 1e-7  # the span counts as containing the constant vector up to this error per sample


@registered(
    "reducer",
    "lpp",
    "locality preserving projections (He, Niyogi)",
    label="LPP",
    look=("green", "^"),
)
class LPP(GraphReducer, LinearReducer):
    r"""Keep neighbours near each other: the linear form of Laplacian eigenmaps.

    The rows :math:`a` of `components_` are the solutions of

    .. math:: X L X^T a = \lambda X D X^T a, \qquad a^T X D X^T a = \mathrm{tr} D,

    with the smallest :math:`\lambda`, for the Laplacian :math:`L = D - W` of the neighbour graph.
    Labels are not used. The mean square of each dimension, weighted by D, is thus 1. The paper uses
    1 instead of the trace, so its embedding shrinks as the number of samples grows.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the data. Default: our choice.
    n_neighbors : int, default=10
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        Default: our choice.
    weights : {"heat", "binary", "local_scaling"}, default="heat"
        "heat": :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`. "binary": 1. "local_scaling":
        :math:`\exp(-\|x_i - x_j\|^2 / (\sigma_i \sigma_j))` between all samples, where
        :math:`\sigma_i` is the distance of sample i to its `n_neighbors`-th nearest neighbour. This
        is the affinity of LFDA, which uses the 7th neighbour. Default: as in the paper.
    epsilon : "mean" or float, default="mean"
        Bandwidth of the heat kernel in squared units of the data; "mean" is the mean squared
        distance to the `n_neighbors` nearest neighbours. Default: our choice.
    neighbors : {"exact", "approximate", "auto"}, default="exact"
        How the neighbours of the training samples are searched. "approximate" uses faiss (extra
        `approximate`). "auto" is exact up to 50,000 samples. The search for the neighbours of new
        samples is always exact. Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, smoothest first.
    mean_ : ndarray of shape (n_features,)
        Zeros: LPP is defined on the data as they are.
    eigenvalues_ : ndarray of shape (n_components,)
        :math:`\lambda`, ascending, in [0, 2].
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, estimated on a random subset;
        1 if exact.

    Notes
    -----
    Use it when neighbours should stay neighbours, a linear map for new samples is needed, and there
    are no labels.

    Avoid it when neighbouring samples often belong to different classes and the classes matter:
    labels are not used. With more features than samples apply PCA first.

    The constraint depends on where the origin is; the paper applies PCA first, which centres the
    data. Directions outside the span of the data are left out. If the span holds a direction on
    which all samples have the same coordinate (data that are not centred and have as many features
    as samples, or features that sum to a constant), this uninformative direction would come first
    with eigenvalue 0; it is left out, like the constant vector of Laplacian eigenmaps.

    For n samples, d features and rank r: :math:`O(n^2 d)` for the neighbours,
    :math:`O(n r (k + r) + r^3)` for the rest.

    References
    ----------
    .. [1] X. He, P. Niyogi, "Locality Preserving Projections", NIPS 2003.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, _ = load_iris(return_X_y=True)
    >>> LPP(n_components=2).fit_transform(X).shape
    (150, 2)
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 10
    weights: Literal["heat", "binary", "local_scaling"] = "heat"
    epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean"
    neighbors: Search = "exact"

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        neighbors: Neighbors | None = None,
    ) -> LPP:
        points = self._points(X, y, reset=True)
        span = data_span(points, centre=False)
        self._check_rank(span.rank, points)
        smooth, scale = self._forms(points, span.coordinates, neighbors)
        constant = _constant_direction(span.coordinates)
        if constant is not None:
            self._check_rank(span.rank - 1, points)
            # This raises the eigenvalue of the constant from 0 to 3; all others are at most 2.
            image = scale @ constant
            smooth = smooth + 3 * np.outer(image, image) / (constant @ image)
        self.eigenvalues_, A = generalized_eigenpairs(
            smooth, scale, self.n_components, largest=False
        )
        self._keep_directions(span, A, points.dtype)
        return self

    def _forms(self, points: Any, Z: Floats, neighbors: Neighbors | None) -> tuple[Floats, Floats]:
        """Return X L X' and X D X' in the coordinates `Z`, divided by the trace of D."""
        if self.weights == "local_scaling":
            smooth, degree = local_scaling_form(Z, self.n_neighbors)
        else:
            W, _ = self._affinity(points, neighbors)
            smooth = laplacian_form(Z, W)
            degree = np.asarray(W.sum(axis=1), dtype=np.float64).ravel()
        total = degree.sum()
        return smooth / total, symmetric(Z.T @ (degree[:, None] * Z)) / total

    _traits = Traits(
        version=5,
        nested=True,
        transductive=True,
        neighbors=True,
        supervised=False,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (3, 5, 7, 10, 15, 20),
            "weights": ("heat", "binary", "local_scaling"),
        },
        max_components=rank_of_centred,
    )

    def __ddr_traits__(self) -> Traits:
        traits = super().__ddr_traits__()
        is_searched = self.weights != "local_scaling"
        return traits if is_searched else replace(traits, neighbors=False, library=None)


def _constant_direction(Z: Floats) -> Floats | None:
    """Return t with Z t = 1, if there is one; the columns of Z are orthogonal."""
    t = Z.sum(axis=0) / np.einsum("ij,ij->j", Z, Z)
    exact: bool = np.abs(Z @ t - 1).max() <= _CONSTANT
    return t if exact else None
