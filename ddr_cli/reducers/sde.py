"""Semidefinite embedding, or maximum variance unfolding (Weinberger and Saul, CVPR 2004)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike

from ddr_cli.core.registry import registered
from ddr_cli.numerics.mvu import Solver, unfold
from ddr_cli.numerics.neighbor_graphs import knn_graph, known_neighbors
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "sde",
    "semidefinite embedding, or maximum variance unfolding (Weinberger, Saul)",
    label="SDE",
    look=("sky", "v"),
)
class SDE(MappedEmbedding):
    r"""Pull points as far apart as the distances between neighbours allow.

    .. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad K \succeq 0,\; \sum_{ij} K_{ij} = 0,\;
              K_{ii} + K_{jj} - 2 K_{ij} = \|x_i - x_j\|^2 \text{ for neighbours } i, j

    and the embedding is that of the leading eigenvectors, :math:`\sqrt{\lambda_a} v_{a i}`.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding. Default: ours.
    n_neighbors : int, default=4
        The distance of two points is kept if either is among the other's `n_neighbors` nearest.
        Default: Weinberger and Saul's.
    solver : {"auto", "interior", "low_rank", "cvxpy"}, default="auto"
        "interior" is exact; its time grows with the cube of the edges: seconds for 400 points of 6
        neighbours, minutes for 1000. "low_rank" seeks a factor of K of few columns by sparse
        matrices: seconds for 1000 points of a sheet, but more than "interior" for points that fill
        many dimensions; it goes to `tol` and no further. "cvxpy" is a general solver, the reference
        for up to 100 points. What the latter two can't prove to be within `tol` is solved again by
        "interior". "auto" is "low_rank" for a graph of more than 1,300 edges whose sparse
        matrices are cheap, else "interior". A graph of more than 10,000 edges is refused where that
        would take an hour. Default: ours.
    tol : float, default=1e-3
        The largest duality gap, and the largest relative error of a distance, that is accepted.
        Default: ours.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed points, centred, in units of the data.
    eigenvalues_ : ndarray of shape (n_components,)
        Of K, descending, in squared units of the data.
    trace_ : float
        The trace of K.
    optimality_gap_ : float
        Its difference from a proven upper bound on the optimum, relative to the bound. (The trace
        may be above the bound, as the distances are kept within `tol` only.)
    constraint_error_ : float
        Largest relative error of a kept distance, over the dimensions that K has.
    rank_ : int
        How many dimensions that is.
    bridges_ : ndarray of shape (n_parts - 1, 2)
        The pairs of points that were connected.
    solver_ : str
        The solver whose solution it is.
    n_iter_ : int
        Its iterations.
    map_ : RegressionMap
        The kernel ridge regression behind `transform`; see `ddr_cli.reducers.regression_map`.

    Notes
    -----
    Use it to unroll a curved surface that is sampled without gaps, with the distances between
    neighbours kept, on up to a thousand points or two.

    Not on many points, for the cost; nor when noise joins two sheets by a neighbour, which holds
    them together. Labels are not used.

    Columns beyond the rank of K are zero: the unfolded points have no extent there. The rank is
    the smallest that keeps all neighbours' distances within `tol`.

    For n points and e edges: :math:`O(e^3 + n^3)` for each of 15 to 30 iterations of "interior".
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
        """Embed the rows of `X`; `neighbors` of these, `n_neighbors` or more, spare the search."""
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
                f"The graph of {self.n_neighbors} neighbours is in {len(self.bridges_) + 1} parts; "
                f"they were connected by their shortest bridges. A larger n_neighbors may do "
                f"without.",
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

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=3,
            nested=True,
            transductive=True,
            neighbors=True,
            supervised=False,
            grids={
                "n_components": (2, 5, 10, 20, 35, 60),
                "n_neighbors": (3, 4, 5, 6, 8),
            },
            max_components=one_less_than_points,
        )
