"""Semidefinite embedding, or maximum variance unfolding (Weinberger and Saul, CVPR 2004)."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike

from ddr_cli.core.registry import registered
from ddr_cli.numerics.mvu import Solver, unfold
from ddr_cli.numerics.neighbor_graphs import knn_graph, known_neighbors
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import GraphReducer
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding


@registered(
    "reducer",
    "sde",
    "semidefinite embedding, or maximum variance unfolding (Weinberger, Saul)",
    label="SDE",
    look=("sky", "v"),
)
class SDE(GraphReducer, MappedEmbedding):
    r"""Unfold the samples: maximise variance while keeping distances between neighbours.

    .. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad K \succeq 0,\; \sum_{ij} K_{ij} = 0,\;
              K_{ii} + K_{jj} - 2 K_{ij} = \|x_i - x_j\|^2 \text{ for neighbours } i, j

    and the embedding is that of the leading eigenvectors, :math:`\sqrt{\lambda_a} v_{a i}`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: our choice.
    n_neighbors : int, default=4
        The distance between two samples is kept if one is among the `n_neighbors` nearest
        neighbours of the other. Default: as in Weinberger and Saul's papers.
    solver : {"auto", "interior", "low_rank", "cvxpy"}, default="auto"
        "interior" is exact; its time grows with the cube of the edges: seconds for 400 samples of 6
        neighbours, minutes for 1000. "low_rank" searches for a factor of K with few columns, with
        sparse matrices: seconds for 1000 samples of a sheet, but slower than "interior" for samples
        that fill many dimensions; it stops at `tol`. "cvxpy" is a general solver, the reference for
        up to 100 samples. If "low_rank" or "cvxpy" cannot prove that a solution is within `tol`,
        "interior" solves the problem again. "auto" is "low_rank" for a graph of more than 1,300
        edges with inexpensive sparse matrices, otherwise "interior". A graph of more than 10,000
        edges is an error if solving it would take about an hour. Default: our choice.
    tol : float, default=1e-3
        Largest accepted duality gap, and largest accepted relative error of a distance. Default:
        our choice.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples, centred, in units of the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of K, descending, in squared units of the data.
    trace_ : float
        The trace of K.
    optimality_gap_ : float
        Difference between the trace and a proven upper bound of the optimum, relative to the bound.
        (The trace may exceed the bound, since distances are only kept within `tol`.)
    constraint_error_ : float
        Largest relative error of a kept distance, in the `rank_` dimensions of K.
    rank_ : int
        Rank of K.
    bridges_ : ndarray of shape (n_parts - 1, 2)
        The pairs of samples whose edge was added to connect the graph.
    solver_ : str
        The solver that found the solution.
    n_iter_ : int
        Number of iterations of the solver.
    map_ : RegressionMap
        The kernel ridge regression behind `transform`; see `ddr_cli.reducers.regression_map`.

    Notes
    -----
    Use it to unroll a curved surface that is sampled without gaps while keeping the distances
    between neighbours, on up to one or two thousand samples.

    Avoid it on many samples, because of the cost, and when noise connects two sheets: a single edge
    holds them together. Labels are not used.

    Columns beyond the rank of K are zero. The rank is the smallest that keeps all neighbours'
    distances within `tol`.

    For n samples and e edges: :math:`O(e^3 + n^3)` for each of 15 to 30 iterations of "interior".
    For "low_rank" a sparse factorisation of order 6 n or more for each of some 200 iterations, and
    :math:`O(n^3)` for each of a few proofs. And :math:`O(n^3)` for the regression.

    References
    ----------
    .. [1] K. Q. Weinberger, L. K. Saul, "Unsupervised Learning of Image Manifolds by Semidefinite
       Programming", CVPR 2004.

    Examples
    --------
    >>> angle = np.linspace(0, np.pi, 20)
    >>> arc = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = SDE(n_components=1, n_neighbors=2).fit(arc)
    >>> bool(np.ptp(model.embedding_) > 0.95 * np.pi)
    True
    """

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 4
    solver: Solver = "auto"
    tol: Annotated[float, Gt(0)] = 1e-3

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None, *, neighbors: Neighbors | None = None) -> SDE:
        given = self._points(X, y, reset=True)
        points = np.asarray(given, dtype=np.float64)
        self._check_dimensions(len(points))
        neighbors = known_neighbors(points, self.n_neighbors, neighbors)
        unfolding = unfold(
            points,
            knn_graph(neighbors, self.n_neighbors),
            solver=self.solver,
            tol=self.tol,
        )
        self.bridges_ = unfolding.bridges
        if len(self.bridges_):
            warnings.warn(
                f"The graph has {len(self.bridges_) + 1} components; the shortest edges that "
                f"connect the graph were added. Raise n_neighbors (now {self.n_neighbors}).",
                stacklevel=2,
            )
        self.eigenvalues_ = self._widened(unfolding.eigenvalues)
        self.trace_ = float(unfolding.eigenvalues.sum())
        self.rank_ = len(unfolding.eigenvalues)
        self.optimality_gap_ = unfolding.gap
        self.constraint_error_ = unfolding.strain
        self.solver_ = unfolding.solver
        self.n_iter_ = unfolding.n_iter
        self._keep(self._widened(unfolding.embedding), given)
        return self

    _traits = Traits(
        version=5,
        nested=True,
        transductive=True,
        neighbors=True,
        supervised=False,
        grids={
            "n_components": (2, 5, 10, 20, 35, 60),
            "n_neighbors": (3, 4, 5, 6, 8, 12),
        },
        max_components=one_less_than_points,
    )
