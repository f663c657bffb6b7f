"""Laplacian eigenmaps (Belkin and Niyogi, Neural Computation 15, 2003), with an extension."""

from __future__ import annotations

import warnings
from typing import Annotated, Any, Literal

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import connected_components

from ddr_cli.core.registry import registered
from ddr_cli.numerics.approximate import Search
from ddr_cli.numerics.neighbor_graphs import (
    knn_kernel,
    known_neighbors,
    shortest_bridges,
)
from ddr_cli.numerics.neighbors import CsrArray, Neighbors
from ddr_cli.reducers.reducer import Embedding, GraphReducer
from ddr_cli.reducers.registry import Traits, one_less_than_points

_NEGLIGIBLE = 1e-8  # an edge below this fraction of the mean weight does not connect components


@registered(
    "reducer",
    "laplacian_eigenmaps",
    "Laplacian eigenmaps (Belkin, Niyogi)",
    label="Laplacian eigenmaps",
    look=("blue", "^"),
)
class LaplacianEigenmaps(GraphReducer, Embedding):
    r"""Embed samples such that neighbours stay near each other.

    The embedding minimises :math:`\frac12 \sum_{ij} w_{ij} \|y_i - y_j\|^2` under
    :math:`Y^T D 1 = 0` and :math:`Y^T D Y = I`, D being the degrees: its columns are the solutions
    of :math:`L y = \lambda D y`, :math:`L = D - W`, with the smallest :math:`\lambda`, except for
    the constant one.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in scikit-learn.
    n_neighbors : int, default=10
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        Default: our choice.
    weights : {"binary", "heat"}, default="heat"
        "binary": :math:`w_{ij} = 1`. "heat": :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`.
        Default: as in the paper.
    epsilon : "mean" or float, default="mean"
        Bandwidth of the heat kernel in squared units of the data; "mean" is the mean squared
        distance to the `n_neighbors` nearest neighbours. Default: our choice.
    neighbors : {"exact", "approximate", "auto"}, default="exact"
        How the neighbours of the training samples are searched. "approximate" uses faiss (extra
        `approximate`). "auto" is exact up to 50,000 samples. The search for the neighbours of new
        samples is always exact. Default: our choice.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding :math:`y_i` of the samples.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, ascending.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The weights W, including the edges that connect components.
    bridges_ : ndarray of shape (n_parts - 1, 2)
        The pairs of samples whose edge was added to connect the graph.
    epsilon_ : float
        Bandwidth of the heat kernel.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, estimated on a random subset;
        1 if exact.

    Notes
    -----
    Use it to see clusters: the first dimensions separate clusters that few edges connect.

    Do not interpret distances in the embedding. Avoid it when labels should count (use `CCDR`). If
    the graph is disconnected, the first dimensions only show the component of a sample.

    A new sample is embedded by the Nyström formula, Proposition 1 of [2]_: with the normalised
    kernel :math:`K(a, b) / \sqrt{d(a) d(b)}`, whose eigenvalues are :math:`1 - \lambda`,

    .. math:: y_l(x) = \frac{1}{1 - \lambda_l} \frac{\sum_j K(x, x_j) y_{jl}}{\sum_j K(x, x_j)}

    over the `n_neighbors` nearest training samples of x, weighted as in W. For a training sample
    with its own row of W, the formula returns the sample's own embedding. A new sample that
    coincides with a training sample therefore has the same embedding; with duplicates, which `fit`
    embeds near each other but not at the same point, the first one counts. Dimensions with
    :math:`\lambda \ge 1` cannot be extended and are an error.

    If the neighbour graph has several components, their indicators would fill the embedding. The
    components are connected by the shortest edges between them (the minimum spanning tree of the
    distances between their nearest samples), each with the mean edge weight, with a warning. An
    edge below 1e-8 of the mean weight is ignored, since the eigen-solver cannot resolve it. The
    added edges keep components of a few samples out of the leading dimensions; the first dimensions
    still separate large components that a single edge connects.

    With the paper's constraint :math:`Y^T D Y = I` the embedding shrinks as the number of samples
    grows: standardise it before a classifier or regression with a penalty.

    For n samples, d features, k neighbours and m dimensions: :math:`O(n^2 d)` for the neighbours,
    and :math:`O(n (k + m) m)` for each of Lanczos' restarts.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, "Laplacian Eigenmaps for Dimensionality Reduction and Data
       Representation", Neural Computation 15, 2003, 1373-1396.
    .. [2] Y. Bengio et al., "Out-of-Sample Extensions for LLE, Isomap, MDS, Eigenmaps, and
       Spectral Clustering", NIPS 16, 2004, 177-184.

    Examples
    --------
    >>> angle = np.linspace(0, np.pi, 30)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> y = LaplacianEigenmaps(n_components=1).fit_transform(arc)[:, 0]
    >>> bool(abs(np.diff(np.sign(np.diff(y)))).sum() == 0)  # in the order of the arc
    True
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 10
    weights: Literal["binary", "heat"] = "heat"
    epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean"
    neighbors: Search = "exact"

    def fit(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        neighbors: Neighbors | None = None,
    ) -> LaplacianEigenmaps:
        points = self._points(X, y, reset=True)
        W, self.epsilon_ = self._affinity(points, neighbors)
        self.affinity_ = self._connected(W, points)
        self._check_extension(points.shape[0] - 1)
        self.eigenvalues_, Y = self._eigenpairs(self.affinity_)
        self._check_extension(int(np.sum(self.eigenvalues_ < 1 - 1e-9)))
        self.embedding_ = Y.astype(points.dtype)
        self._X = points
        return self

    def _connected(self, W: CsrArray, points: Any) -> CsrArray:
        """Return the graph with its components connected."""
        significant = W.copy()
        if W.nnz:
            significant.data[significant.data < _NEGLIGIBLE * significant.data.mean()] = 0
            significant.eliminate_zeros()
        n_parts, part = connected_components(significant, directed=False)
        self.bridges_: NDArray[np.intp] = np.empty((0, 2), dtype=np.intp)
        if n_parts == 1:
            return W
        heads, tails = shortest_bridges(points, part.astype(np.intp))
        self.bridges_ = np.column_stack([heads, tails])
        weight = np.full(len(heads), W.data.mean() if W.nnz else 1.0)
        bridges = sp.csr_array((weight, (heads, tails)), shape=W.shape)
        warnings.warn(
            f"The graph has {n_parts} components; the shortest edges that connect the graph were "
            f"added. Raise n_neighbors (now {self.n_neighbors}).",
            stacklevel=3,
        )
        return sp.csr_array(W + bridges + bridges.T)

    def transform(self, X: ArrayLike, *, neighbors: Neighbors | None = None) -> NDArray[Any]:
        """Embed new samples by the Nyström formula.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            New samples, one per row.
        neighbors : Neighbors, optional
            At least `n_neighbors` neighbours of each new sample among the training samples, found
            before; the method then does not search for them.

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            The embedding, as float32 if X is float32, else as float64.

        Raises
        ------
        NotFittedError
            If the reducer is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        points = self._points(X)
        neighbors = known_neighbors(self._X, self.n_neighbors, neighbors, queries=points)
        K = knn_kernel(
            neighbors,
            self.n_neighbors,
            len(self.embedding_),
            weights=self.weights,
            epsilon=self.epsilon_,
        )
        total = np.asarray(K.sum(axis=1)).reshape(-1, 1)
        placed = (K @ self.embedding_) / total / (1 - self.eigenvalues_)
        known = neighbors.distances[:, 0] == 0
        placed[known] = self.embedding_[neighbors.indices[known, 0]]
        return np.asarray(placed.astype(points.dtype))

    _traits = Traits(
        version=2,
        nested=True,
        transductive=True,
        neighbors=True,
        supervised=False,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (3, 5, 7, 10, 15),
            "weights": ("binary", "heat"),
        },
        max_components=one_less_than_points,
    )
