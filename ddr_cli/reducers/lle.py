"""Locally linear embedding (Roweis and Saul, 2000), also of duplicates and several components."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.local_weights import keeping_weights, reconstruction
from ddr_cli.numerics.neighbor_graphs import closed_groups
from ddr_cli.numerics.neighbors import Neighbors, kneighbors, levels
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Embedding, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "lle",
    "locally linear embedding (Roweis, Saul)",
    label="LLE",
    look=("vermilion", "o"),
)
class LLE(Embedding):
    r"""Embed each sample by the weights that reconstruct it from its neighbours.

    Each sample is written as a weighted sum of its neighbours,
    :math:`\min \|x_i - \sum_j w_{ij} x_j\|^2`, :math:`\sum_j w_{ij} = 1`, and embedded by
    :math:`\min \sum_i \|y_i - \sum_j w_{ij} y_j\|^2` under :math:`\sum_i y_i = 0`,
    :math:`\sum_i y_i y_i^T = I`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in scikit-learn.
    n_neighbors : int, default=5
        Number of neighbours of each sample. If the neighbour graph has several components, each
        component could collapse to a single point. LLE then warns and uses the next larger number
        of neighbours with which the graph is connected. Default: as in scikit-learn.
    reg : float, default=1e-3
        Ridge: this fraction of the trace of each sample's Gram matrix of neighbours is added to the
        diagonal of that matrix. Default: as in scikit-learn.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    n_neighbors_ : int
        The number of neighbours used.

    Notes
    -----
    Use it when small patches of the data are flat and evenly sampled.

    Avoid it with noise or uneven density, which fold the embedding. Do not interpret distances in
    the embedding, since all dimensions have the same variance. Labels are not used.

    Of copies of a sample, which would be reconstructed from one another, one is embedded and the
    others have the same embedding.

    `transform` embeds a new sample by the weights that reconstruct it from its nearest training
    samples. A training sample thus differs slightly from its embedding, because of `reg`.

    With scikit-learn's constraint above (the paper's is n I) the embedding shrinks as the number of
    samples grows: standardise it before a classifier or regression with a penalty.

    For n samples, d features and k neighbours: :math:`O(n^2 d + n k^3)`, then :math:`O(n^3)` up to
    300 samples and a sparse factorisation beyond.

    References
    ----------
    .. [1] S. T. Roweis, L. K. Saul, "Nonlinear Dimensionality Reduction by Locally Linear
       Embedding", Science 290, 2000, 2323-2326.

    Examples
    --------
    >>> angle = np.linspace(0, np.pi, 30)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> y = LLE(n_components=1).fit_transform(arc)[:, 0]
    >>> bool(abs(np.diff(np.sign(np.diff(y)))).sum() == 0)  # in the order of the arc
    True
    """

    _takes_sparse = False

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 5
    reg: Annotated[float, Gt(0)] = 1e-3

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> LLE:
        given = self._points(X, y, reset=True)
        self._check_dimensions(given.shape[0])
        if self.n_components > given.shape[1]:
            raise ValueError(
                f"n_components={self.n_components} is above n_features = {given.shape[1]}; use "
                "SupervisedLLE with alpha=0."
            )
        points, place = _distinct(given.astype(np.float64))
        n = len(points)
        if max(self.n_neighbors, self.n_components) >= n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} and n_components={self.n_components} must be "
                f"below {n}, the number of distinct samples (n_samples = {len(given)})."
            )
        self.n_neighbors_ = self._enough_neighbors(points)
        neighbors = kneighbors(points, self.n_neighbors_).indices
        _, vectors = keeping_weights(points, neighbors, self.reg, self.n_components)
        self._distinct, self._vectors = points, deterministic_signs(vectors)
        self.embedding_ = self._vectors[place].astype(given.dtype)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        given = self._points(X)
        queries = given.astype(np.float64)
        nearest = kneighbors(self._distinct, self.n_neighbors_, queries=queries).indices
        weights = reconstruction(queries, self._distinct, nearest, self.reg)
        return np.asarray((weights @ self._vectors).astype(given.dtype))

    def _enough_neighbors(self, points: Floats) -> int:
        """Return the smallest number of neighbours that gives a single group."""
        k, most = self.n_neighbors, len(points) - 1
        known = kneighbors(points, k)
        groups = _count(known)
        if groups == 1:
            return k
        # If all other samples are neighbours, there is only one group, so both searches end.
        while _count(known) > 1:
            known = kneighbors(points, min(2 * known.k, most))
        low, high = k, known.k
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if _count(known.first(middle)) == 1 else (middle, high)
        warnings.warn(
            f"n_neighbors={k} could collapse {groups} components of the neighbour graph to single "
            f"points, so n_neighbors={high} was used.",
            stacklevel=3,
        )
        return high

    _traits = Traits(
        version=2,
        nested=True,
        transductive=True,
        supervised=False,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (4, 6, 8, 12, 16, 24, 32),
            "reg": (1e-4, 1e-3, 1e-2, 1e-1),
        },
        max_components=rank_of_centred,
    )


def _count(neighbors: Neighbors) -> int:
    return int(closed_groups(neighbors.indices).max()) + 1


def _distinct(points: Floats) -> tuple[Floats, Codes]:
    """Return the distinct rows, in order of first occurrence, and each row's index in them."""
    _, first, inverse = np.unique(levels(points), axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return points[first[order]], rank[inverse.ravel()]
