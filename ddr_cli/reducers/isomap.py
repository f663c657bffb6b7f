"""Isomap (Tenenbaum, de Silva, Langford, 2000), and its form with landmarks."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components, dijkstra

from ddr_cli.core.registry import registered
from ddr_cli.numerics.classical_mds import classical_scaling
from ddr_cli.numerics.neighbor_graphs import closest_pairs, neighbor_matrix, symmetrized
from ddr_cli.numerics.neighbors import CsrArray, kneighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats, drawn_landmarks
from ddr_cli.reducers.registry import Traits


@registered(
    "reducer",
    "isomap",
    "Isomap: classical scaling of geodesic distances (Tenenbaum et al.)",
    label="Isomap",
    look=("black", "o"),
)
class Isomap(Embedding):
    r"""Embed samples such that distances match shortest paths in the neighbour graph.

    Classical multidimensional scaling of the geodesic distances: with
    :math:`B = -\frac12 J \Delta J`, :math:`\Delta` being their squares and
    :math:`J = I - 1 1^T / n`, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l` for the
    leading eigenpairs of B.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in scikit-learn.
    n_neighbors : int, default=5
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        Default: as in scikit-learn.
    n_landmarks : int or None, default=None
        Landmark Isomap: the scaling uses only the distances from this many samples, drawn at
        random; all other samples are embedded by their distances to these landmarks, as new samples
        are. None: all samples are landmarks. Default: as in scikit-learn's Isomap, which has no
        landmarks.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples, in units of the data; the centre is that of the
        landmarks.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column over the landmarks.
    n_parts_ : int
        Number of components of the neighbour graph before it was connected.
    landmarks_ : ndarray of shape (n_landmarks,)
        Row numbers of the landmarks: all samples by default.

    Notes
    -----
    Use it when the data lie on one curved surface, sampled without holes, and the distance along
    it matters.

    Avoid it when noise connects two sheets: a single wrong edge is a short cut for many paths.
    Labels are not used.

    If the neighbour graph has several components, each pair of components is joined by its shortest
    edge, as in scikit-learn, with a warning.

    The result equals scikit-learn's, up to the signs of eigenvectors and the choice among equally
    near neighbours (here the one with the smaller index). A new sample is linked to its
    `n_neighbors` nearest training samples and embedded by its geodesic distances, by Gower's
    formula as in `MDS`.

    Dimensions in which the samples do not vary are zero. Geodesic distances that are not Euclidean
    also give negative eigenvalues; an `n_components` that would reach these is an error.

    For n samples, l of them landmarks, and m dimensions: :math:`O(l n (k + \log n))` for the paths,
    :math:`O(l^2 m)` for each of Lanczos' restarts, and a matrix of n x l numbers. `transform` needs
    all of them, since any training sample may be a new one's neighbour. They are not pickled: after
    loading, the first `transform` computes the paths again, which takes less time than `fit` and
    gives the same numbers.

    References
    ----------
    .. [1] J. B. Tenenbaum, V. de Silva, J. C. Langford, "A Global Geometric Framework for
       Nonlinear Dimensionality Reduction", Science 290, 2000, 2319-2323.
    .. [2] V. de Silva, J. B. Tenenbaum, "Global versus Local Methods in Nonlinear Dimensionality
       Reduction", NIPS 2002, 721-728.

    Examples
    --------
    >>> angle = np.linspace(0, np.pi, 50)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = Isomap(n_components=1).fit(arc)
    >>> bool(abs(np.ptp(model.embedding_) - np.pi) < 0.02)
    True
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 5
    n_landmarks: Annotated[int, Ge(2)] | None = None
    random_state: int | np.random.RandomState | None = None

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> Isomap:
        points = self._points(X, y, reset=True)
        n = points.shape[0]
        self.landmarks_ = drawn_landmarks(n, self.n_landmarks, self.random_state)
        self._check_dimensions(len(self.landmarks_))
        self._X = points
        self._graph = self._connected_graph(points)
        paths = self._find_paths()
        squared = np.square(paths if len(paths) == n else paths[:, self.landmarks_])
        self._scaling = classical_scaling(squared, self.n_components)
        self.eigenvalues_ = self._scaling.eigenvalues
        embedding = self._scaling.embedding
        if len(squared) < n:
            embedding = self._scaling.placed(self._paths**2)
        self.embedding_ = embedding.astype(points.dtype)
        return self

    def _find_paths(self) -> Floats:
        """Return the geodesic distances from the landmarks (rows); keep their transpose."""
        paths = dijkstra(self._graph, indices=self.landmarks_)
        # If all samples are landmarks, the matrix is symmetric up to rounding, so its transpose is
        # itself.
        by_point = len(paths) == paths.shape[1]
        self._paths: Floats = paths if by_point else np.ascontiguousarray(paths.T)
        return np.asarray(paths)

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_paths"}

    def _connected_graph(self, points: Any) -> CsrArray:
        """Return the graph of distances to neighbours either way, connected."""
        nearest = kneighbors(points, self.n_neighbors)
        n = len(nearest)
        # In a sparse graph, a length of 0 is no edge, so duplicates get an infinitesimal length.
        lengths = np.maximum(nearest.distances, np.finfo(float).tiny)
        graph = symmetrized(neighbor_matrix(nearest.indices, lengths, n), "union")
        self.n_parts_, part = connected_components(graph, directed=False)
        if self.n_parts_ == 1:
            return graph
        warnings.warn(
            f"The graph has {self.n_parts_} components; each pair of components was joined by the "
            f"shortest edge between them. To connect the graph, raise n_neighbors (now "
            f"{self.n_neighbors}).",
            stacklevel=3,
        )
        gaps, heads, tails = closest_pairs(points, part.astype(np.intp))
        two = np.triu_indices(self.n_parts_, 1)
        bridges = sp.csr_array((gaps[two], (heads[two], tails[two])), shape=(n, n))
        return symmetrized(graph + bridges, "union")

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        if not hasattr(self, "_paths"):
            self._find_paths()
        nearest = kneighbors(self._X, self.n_neighbors, queries=points)
        paths = np.full((len(nearest), len(self.landmarks_)), np.inf)
        for neighbor, distance in zip(nearest.indices.T, nearest.distances.T, strict=True):
            np.minimum(paths, self._paths[neighbor] + distance[:, None], out=paths)
        return np.asarray(self._scaling.placed(paths**2).astype(points.dtype))

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=4,
            nested=True,
            transductive=True,
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "n_neighbors": (3, 5, 7, 10, 15),
            },
            max_components=lambda n_train, *_: min(n_train, self.n_landmarks or n_train) - 1,
        )
