"""Maximally Collapsing Metric Learning (Globerson and Roweis, NIPS 18, 2005)."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Gt

from ddr_cli.core.registry import registered
from ddr_cli.numerics.mahalanobis import MetricFit
from ddr_cli.numerics.stochastic_neighbors import collapsing_metric
from ddr_cli.reducers.metric_learner import MetricLearner
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "mcml",
    "maximally collapsing metric learning (Globerson, Roweis)",
    label="MCML",
    look=("dark red", "h"),
)
class MCML(MetricLearner):
    r"""Collapse each class towards a single point, far from the other classes.

    The full metric M, symmetric and positive semidefinite, attains

    .. math:: \min_{M \succeq 0} \sum_i \mathrm{KL}(p_0(\cdot | i) \,\|\, p_M(\cdot | i)), \qquad
        p_M(j | i) = \frac{e^{-d_M(x_i, x_j)}}{\sum_{k \ne i} e^{-d_M(x_i, x_k)}}

    with :math:`d_M(x, z) = (x - z)^T M (x - z)`, where :math:`p_0(j | i)` is the same for all other
    samples j of the class of i, and 0 for the rest: the probabilities under a metric that maps
    every class to a single point, infinitely far from the others. This is convex. Euclidean
    distances after `transform` are those of M.

    With fewer dimensions than the rank of M, the result is not the optimum of that rank: minimising
    over metrics of rank m is not convex, and the paper truncates M too.

    Parameters
    ----------
    n_components : int or "full", default=2
        Number of dimensions, at most the rank of the centred data. "full" is this rank. Default:
        our choice.
    directions : {"variance", "metric"}, default="variance"
        Which dimensions of the mapped samples are kept. "variance": the dimensions with the largest
        variance, which do not depend on the units of the features and preserve most of the
        distances between samples. "metric": as in the paper, the leading eigenvectors of M, which
        depend on the units. Default: our choice.
    max_iter : int, default=1000
        Largest number of iterations of L-BFGS. Default: our choice.
    tol : float, default=1e-5
        The iterations stop when `duality_gap_` is at most this fraction of the objective at the
        start. The start is the best multiple of the inverse of the within-class scatter. With few
        samples relative to the number of features, MCML may find no bound. `duality_gap_` is then
        the objective, and the gradient decides on convergence, for all metrics of at most the same
        trace. Default: our choice.

    Attributes
    ----------
    components_, mean_, eigenvalues_, objective_path_, duality_gap_, n_iter_, classes_
        As for `LMNN`.
    objective_ : float
        The objective of the full metric.
    gradient_norm_ : float
        Norm of the gradient by the square factor of M, in coordinates in which the
        classes' own scatter is a multiple of I.

    Notes
    -----
    Use it when each class is one cluster, on up to a few thousand samples.

    Avoid it when a class has several clusters, which it embeds on top of each other. Avoid it when
    the classes can be collapsed completely, since the optimum is then not attained.

    L-BFGS on a square factor of M; see `ddr_cli.numerics.stochastic_neighbors`. If the classes can
    be collapsed completely, as with fewer samples than features, the objective approaches 0 while M
    grows without bound, and `tol` decides when the iterations stop.

    The scale of each feature has no effect, so that whitening before it has none either.

    For n samples and rank r of the data: :math:`O(n^2 r + n r^2 + r^3)` for each iteration.

    References
    ----------
    .. [1] A. Globerson, S. Roweis, "Metric Learning by Collapsing Classes", NIPS 18, 2005,
       451-458.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MCML(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    tol: Annotated[float, Gt(0)] = 1e-5

    def _learn(self, X: Floats, code: Codes) -> MetricFit:
        return collapsing_metric(X, code, tol=self.tol, max_iter=self.max_iter)

    _traits = Traits(
        version=6,
        nested=True,
        grids={"n_components": tuple(range(1, 21))},
        max_components=rank_of_centred,
    )
