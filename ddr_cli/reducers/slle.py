"""Supervised locally linear embedding (de Ridder et al., 2003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike
from scipy.sparse.linalg import eigsh
from scipy.spatial.distance import cdist

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs, eigenpairs
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.regression_map import MappedEmbedding

_ROWS = 2**22  # entries of a block of the distance matrix
_DENSE = 2000  # up to this order a complete decomposition is fast and misses nothing
_ZERO = 1e-12  # an eigenvalue below this share of the largest possible one is 0


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "slle",
    "supervised locally linear embedding (de Ridder et al.)",
    label="SLLE",
    look=("vermilion", "^"),
)
class SupervisedLLE(MappedEmbedding):
    r"""Locally linear embedding that prefers neighbours of the same class.

    Neighbours are chosen by :math:`\Delta'_{ij} = \Delta_{ij} + \alpha \max(\Delta)
    [c_i \ne c_j]`, :math:`\Delta` being the distances; then each sample is written as a weighted
    sum of its neighbours, :math:`\min \|x_i - \sum_j w_{ij} x_j\|^2`, :math:`\sum_j w_{ij} = 1`,
    and embedded by :math:`\min \sum_i \|y_i - \sum_j w_{ij} y_j\|^2` under :math:`\sum_i y_i = 0`,
    :math:`\sum_i y_i y_i^T = n I`.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding. Default: that of scikit-learn's LLE.
    n_neighbors : int, default=5
        Neighbours of each sample. Default: that of scikit-learn's LLE.
    alpha : float, default=0.1
        From 0, which is plain LLE, to 1, where a sample has neighbours of another class only after
        all samples of its own class. Default: ours.
    reg : float, default=1e-3
        Added to the diagonal of each sample's Gram matrix of neighbours, in units of its trace.
        Default: that of scikit-learn's LLE.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        Eigenvalues of :math:`(I - W)^T (I - W)`, ascending, without the 0 of the constant vector.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.
    map_ : RegressionMap
        The kernel ridge regression behind `transform`; see `ddr_cli.reducers.regression_map`.

    Notes
    -----
    Use it when the data lie on a curved surface and neighbours of other classes should count less;
    `alpha` sets how much less.

    Avoid `alpha` near 1 for new samples: each class then collapses to a few points, and a
    regression embeds new samples, whose labels are unknown, between these points.

    If no sample has a neighbour of another class, 0 is a repeated eigenvalue, and its dimensions,
    which come first, only separate the classes. They have no preferred axes; here they are the
    principal axes of the input along them, by decreasing variance.

    For n samples, d features and k neighbours: :math:`O(n^2 d + n k^3)`, then :math:`O(n^3)` up to
    2000 samples, a sparse factorisation beyond, and :math:`O(n^3)` for the regression.

    References
    ----------
    .. [1] D. de Ridder et al., "Supervised Locally Linear Embedding", ICANN 2003, Eq. 5.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> SupervisedLLE(n_components=2, n_neighbors=12).fit_transform(X, y).shape
    (150, 2)
    """

    _needs_labels = True

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 5
    alpha: Annotated[float, Ge(0), Le(1)] = 0.1
    reg: Annotated[float, Gt(0)] = 1e-3

    @one_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> SupervisedLLE:
        given, code = self._points_and_classes(X, y)
        points = np.asarray(given, dtype=np.float64)
        n = len(points)
        self._check_dimensions(n)
        if self.n_neighbors >= n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, but with n_samples = {n} a sample has at most "
                f"{n - 1} neighbours. Choose a smaller n_neighbors."
            )
        neighbors = supervised_neighbors(points, code, self.n_neighbors, self.alpha)
        weights = _reconstruction(points, neighbors, self.reg)
        rest = sp.csr_array(sp.eye_array(n) - weights)
        self.eigenvalues_, vectors = _bottom(sp.csr_array(rest.T @ rest), points, self.n_components)
        self._keep(deterministic_signs(vectors) * np.sqrt(n), given)
        return self

    def __ddr_traits__(self) -> Traits:
        return Traits(
            nested=True,
            grids={
                "alpha": (0.0, 0.05, 0.1, 0.2, 0.5, 1.0),
                "n_neighbors": (4, 5, 8, 12, 16),
                "n_components": (2, 5, 10, 20, 35, 60),
            },
            max_components=one_less_than_points,
        )


def supervised_neighbors(points: Floats, code: Codes, k: int, alpha: float) -> Codes:
    """Return the `k` nearest other samples of each, with raised distances between classes.

    Distances between classes are raised by `alpha` times the largest distance. Ties go to the
    sample with the smaller index.
    """
    n = len(points)
    rows = max(1, _ROWS // n)
    blocks = [slice(start, min(start + rows, n)) for start in range(0, n, rows)]
    widest = max(float(cdist(points[block], points).max()) for block in blocks) if alpha else 0.0
    nearest = np.empty((n, k), dtype=np.intp)
    for block in blocks:
        distances = cdist(points[block], points)
        distances += alpha * widest * (code[block, None] != code)
        own = np.arange(block.start, block.stop)
        distances[np.arange(len(own)), own] = np.inf
        nearest[block] = np.argsort(distances, axis=1, kind="stable")[:, :k]
    return nearest


def _reconstruction(points: Floats, neighbors: Codes, reg: float) -> sp.csr_array[Any, Any]:
    """Return the weights W; row i has the weights that reconstruct sample i from its neighbours."""
    n, k = neighbors.shape
    weights = np.empty((n, k))
    for i, near in enumerate(neighbors):
        offsets = points[near] - points[i]
        gram = offsets @ offsets.T
        size = float(np.trace(gram))
        gram.flat[:: k + 1] += reg * size if size > 0 else reg
        weights[i] = scipy.linalg.solve(gram, np.ones(k), assume_a="pos")
    weights /= weights.sum(axis=1, keepdims=True)
    ends = np.arange(0, n * k + 1, k)
    return sp.csr_array((weights.ravel(), neighbors.ravel(), ends), shape=(n, n))


def _bottom(M: Any, points: Floats, m: int) -> tuple[Floats, Floats]:
    """Return the `m` smallest eigenpairs of M without the constant vector, ``M 1 = 0``."""
    n = M.shape[0]
    largest = float(abs(M).sum(axis=1).max())
    count = m + 1
    while True:
        values, vectors = _smallest(M, min(count, n), largest)
        n_zero = int(np.sum(values < _ZERO * largest))
        # All of the null space is needed to choose axes in it.
        if n_zero < len(values) or len(values) == n:
            break
        count *= 2
    null = vectors[:, :n_zero]
    null, sizes, _ = np.linalg.svd(null - null.mean(axis=0), full_matrices=False)
    null = null[:, sizes > 0.5]
    spread = null.T @ (points - points.mean(axis=0))
    turn, _, _ = np.linalg.svd(spread @ spread.T)
    zeros = np.zeros(null.shape[1])
    values = np.concatenate([zeros, values[n_zero:]])[:m]
    return values, np.hstack([null @ turn, vectors[:, n_zero:]])[:, :m]


def _smallest(M: Any, k: int, largest: float) -> tuple[Floats, Floats]:
    n = M.shape[0]
    if n <= max(_DENSE, 4 * k):
        return eigenpairs(M.toarray(), k, largest=False)
    start = np.random.default_rng(0).standard_normal(n)
    # The shift keeps the factorised matrix regular; it is below what counts as 0.
    values, vectors = eigsh(sp.csc_array(M), k=k, sigma=-0.1 * _ZERO * largest, v0=start)
    order = np.argsort(values)
    return values[order], vectors[:, order]
