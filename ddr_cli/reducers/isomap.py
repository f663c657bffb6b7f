r"""Isomap: scikit-learn's, with what it leaves to chance or version pinned.

J. B. Tenenbaum, V. de Silva and J. C. Langford, "A Global Geometric Framework for Nonlinear
Dimensionality Reduction", Science 290, 2000.
"""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import SparseEfficiencyWarning
from scipy.sparse.csgraph import connected_components
from sklearn import manifold
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import KernelCenterer

from ddr_cli.core.parameters import check_parameters
from ddr_cli.reducers.registry import Traits
from ddr_cli.reducers.wrapped import WrappedEmbedding


class Isomap(WrappedEmbedding):
    r"""Place points such that their distances are the lengths of paths over the neighbour graph.

    Classical multidimensional scaling of the geodesic distances: with
    :math:`B = -\frac12 J \Delta J`, :math:`\Delta` being their squares and
    :math:`J = I - 1 1^T / n`, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l` for the
    leading eigenpairs of B.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding.
    n_neighbors : int, default=5
        Points are connected if either is among the other's `n_neighbors` nearest.
    disconnected : {"connect", "raise"}, default="connect"
        What to do if the neighbour graph is in several parts: connect each two by their shortest
        bridge, as scikit-learn does, and warn; or refuse.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed points, centred, in units of the data.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.
    n_parts_ : int
        Parts of the neighbour graph before it was connected.
    model_ : sklearn.manifold.Isomap
        The fitted estimator behind `transform`, which links a new point to its `n_neighbors`
        nearest training points and projects its geodesic distances.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The defaults are those of scikit-learn 1.9 and passed on explicitly: ``n_neighbors=5,
    radius=None, metric="minkowski", p=2`` (Euclidean), ``path_method="auto",
    neighbors_algorithm="auto", tol=0, max_iter=None, n_jobs=None``. One differs:
    ``eigen_solver="dense"``, since "auto" takes ARPACK above 200 points, from a start that no
    parameter fixes, so that no two fits agree to the last bit.

    Dimensions in which the points have no extent are zero. Geodesic distances need not be
    Euclidean, and then give negative eigenvalues, too; dimensions as far down as these are refused.

    For n points: :math:`O(n^2 (k + \log n))` for the paths, :math:`O(n^3)` for the eigenvectors:
    about 50 seconds for 4,400 points on one core.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A Global Geometric Framework for
       Nonlinear Dimensionality Reduction", Science 290, 2000, 2319-2323.

    Examples
    --------
    >>> angle = np.linspace(0, np.pi, 50)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = Isomap(n_components=1).fit(arc)
    >>> round(float(np.ptp(model.embedding_)), 2)
    3.14
    """

    eigenvalues_: NDArray[np.float64]
    n_parts_: int

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        n_neighbors: Annotated[int, Ge(1)] = 5,
        disconnected: Literal["connect", "raise"] = "connect",
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.disconnected = disconnected

    def fit(self, X: ArrayLike, y: Any = None) -> Isomap:  # noqa: ARG002 (scikit-learn's signature)
        """Embed the rows of `X`.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        Isomap
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are too few points for `n_neighbors` or
            `n_components`, the geodesic distances have fewer Euclidean dimensions, or the graph is
            in several parts and `disconnected` is "raise".
        """
        check_parameters(self)
        given = self._checked(X)
        n, points = given.shape[0], given.astype(np.float64)
        if self.n_neighbors >= n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, but with n_samples = {n} a point has at most "
                f"{n - 1}."
            )
        graph = NearestNeighbors(n_neighbors=self.n_neighbors).fit(points).kneighbors_graph()
        self.n_parts_ = int(connected_components(graph, directed=False)[0])
        if self.n_parts_ > 1:
            self._say_disconnected()
        model = manifold.Isomap(
            n_neighbors=self.n_neighbors,
            radius=None,
            n_components=self.n_components,
            eigen_solver="dense",
            tol=0,
            max_iter=None,
            path_method="auto",
            neighbors_algorithm="auto",
            n_jobs=None,
            metric="minkowski",
            p=2,
            metric_params=None,
        )
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="The number of connected components")
                warnings.filterwarnings("ignore", category=SparseEfficiencyWarning)
                embedding = model.fit_transform(points)
        except ValueError as error:
            # With the geodesics at hand only their eigenvalues can be at fault.
            if not hasattr(model, "dist_matrix_"):
                raise
            B = KernelCenterer().fit_transform(-0.5 * model.dist_matrix_**2)
            values = np.linalg.eigvalsh(B)
            raise ValueError(
                f"n_components={self.n_components}, but the geodesic distances are not Euclidean "
                f"and have {int(np.sum(values > 1e-10 * values[-1]))} dimensions with a positive "
                f"eigenvalue."
            ) from error
        self.eigenvalues_ = model.kernel_pca_.eigenvalues_
        self._keep(model, embedding, given.dtype)
        return self

    def _say_disconnected(self) -> None:
        what = f"The graph of {self.n_neighbors} neighbours is in {self.n_parts_} parts"
        if self.disconnected == "raise":
            raise ValueError(
                f"{what}; a larger n_neighbors, or disconnected='connect', joins them."
            )
        warnings.warn(
            f"{what}; each two were connected by their shortest bridge. A larger n_neighbors may "
            f"do without.",
            stacklevel=3,
        )

    @property
    def _sparse(self) -> str | bool:
        return "csr"

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=1,
            nested=True,
            transductive=True,
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "n_neighbors": (3, 5, 7, 10, 15),
            },
            paper='Tenenbaum, de Silva, Langford, "A Global Geometric Framework for Nonlinear '
            'Dimensionality Reduction", Science 290, 2000',
        )
