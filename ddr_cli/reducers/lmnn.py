"""The Large Margin Nearest Neighbour metric (Weinberger, Blitzer and Saul, NIPS 18, 2005)."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from ddr_cli.core.registry import registered
from ddr_cli.numerics.large_margin import LargeMargin, large_margin_metric
from ddr_cli.numerics.mahalanobis import MetricFit
from ddr_cli.numerics.neighbor_graphs import warn_of_few, within_class_graph
from ddr_cli.reducers.metric_learner import MetricLearner
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "lmnn",
    "large margin nearest neighbour metric (Weinberger, Blitzer, Saul)",
    label="LMNN",
    look=("green", "P"),
)
class LMNN(MetricLearner):
    r"""Pull each sample's target neighbours near, and push samples of other classes away.

    The full metric M, symmetric and positive semidefinite, attains

    .. math:: \min_{M \succeq 0} (1 - \mu) \sum_{i, j \to i} d_M(x_i, x_j)
        + \mu \sum_{i, j \to i} \sum_{l: y_l \ne y_i} [1 + d_M(x_i, x_j) - d_M(x_i, x_l)]_+

    with :math:`d_M(x, z) = (x - z)^T M (x - z)`, where :math:`j \to i` runs over the target
    neighbours of i: the `n_neighbors` nearest samples of its class before any learning. This is
    convex. Euclidean distances after `transform` are those of M. With fewer dimensions than the
    rank of M, the result is not the optimum of that rank, which is not a convex problem; the paper
    keeps all dimensions.

    Parameters
    ----------
    n_components : int or "full", default=2
        Number of dimensions, at most the rank of the centred data. "full" is this rank. Default:
        our choice.
    directions : {"variance", "metric"}, default="variance"
        Which dimensions of the mapped samples are kept. "variance": the dimensions with the largest
        variance, which do not depend on the units of the features and preserve most of the
        distances between samples. "metric": the leading eigenvectors of M, which depend on the
        units. Default: our choice.
    max_iter : int, default=100
        Largest number of steps of the proximal point method. Default: our choice.
    n_neighbors : int, default=3
        Number of target neighbours of each sample, below the size of the smallest class. Default:
        as in the paper.
    push_weight : float, default=0.5
        The weight :math:`\mu` of the impostors, between 0 and 1. With 0.5, both sums have the same
        weight. Default: as in the paper.
    tol : float, default=1e-4
        The iterations stop when `duality_gap_` is at most this fraction of the objective at the
        start. The start is the best multiple of the inverse of the target neighbours' scatter.
        Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        By decreasing variance of the mapped samples or eigenvalue of M; zero beyond its rank.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (rank,)
        All eigenvalues of M, descending, in inverse squared units of the data.
    objective_ : float
        The objective above.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after each step; it never rises.
    duality_gap_ : float
        No metric has an objective that is lower by more than this. With about as many features as
        samples, the only proven lower bound is 0.
    gradient_norm_ : float
        Norm of the proximal gradient of the last step, 0 at an optimum, in coordinates in which
        the target neighbours' scatter is a multiple of I.
    n_iter_ : int
        Number of steps.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it before a nearest-neighbour classifier when distances in the original features are not
    informative.

    Avoid it with many wrong labels, each of which pushes its neighbours away. Avoid it for few
    dimensions, since the full-rank optimum is truncated. The cost grows with the square of the
    number of samples.

    With about as many features as samples the optimum is not unique: the target neighbours can be
    made to coincide and all margins be kept, at an objective of 0. Which optimum is found then
    depends on the path from the Euclidean metric; otherwise the units of the features only change
    which samples are target neighbours.

    The steps end within `tol` of the optimum. Samples are rounded to 2^-22 of the largest, so that
    every processor makes the same steps.

    Impostors are searched for among all samples at every step; only those found have a multiplier.
    For n samples, k target neighbours, p active triples and rank r of the data: :math:`O(n^2 (r +
    k))` for each of some ten steps, and inside a step :math:`O(p r + n r^2 + r^3)` for each of ten
    to some hundred evaluations of its dual.

    References
    ----------
    .. [1] K. Q. Weinberger, J. Blitzer, L. K. Saul, "Distance Metric Learning for Large Margin
       Nearest Neighbor Classification", NIPS 18, 2005, 1473-1480.
    .. [2] K. Q. Weinberger, L. K. Saul, "Distance Metric Learning for Large Margin Nearest
       Neighbor Classification", JMLR 10, 2009, 207-244.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LMNN(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_neighbors: Annotated[int, Ge(1)] = 3
    push_weight: Annotated[float, Gt(0), Lt(1)] = 0.5
    tol: Annotated[float, Gt(0)] = 1e-4
    max_iter: Annotated[int, Ge(1)] = 100

    def _learn(self, X: Floats, code: Codes) -> MetricFit:
        smallest = int(np.bincount(code).min())
        if smallest == 1:
            raise ValueError(
                "One class has only one sample, but LMNN needs at least two. Remove this class."
            )
        most = smallest - 1
        warn_of_few("n_neighbors", self.n_neighbors, most, "other samples in the smallest class")
        k = min(self.n_neighbors, most)
        targets = within_class_graph(X, code, k).indices.astype(np.intp).reshape(len(X), k)
        problem = LargeMargin(X, code, targets, self.push_weight)
        return large_margin_metric(problem, tol=self.tol, max_iter=self.max_iter)

    _traits = Traits(
        version=6,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (1, 3, 5, 8, 12),
            "push_weight": (0.03, 0.1, 0.25, 0.5, 0.75, 0.9),
        },
        max_components=rank_of_centred,
    )
