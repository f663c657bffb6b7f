r"""Functions that the solvers for a Mahalanobis metric share.

A metric is a symmetric positive semidefinite matrix M; the squared distance of two points is
:math:`(x - z)^T M (x - z)`. It is stored as a factor F with :math:`M = F F^T`, so that distances
are those of the rows of ``X @ F``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy import optimize

from ddr_cli.numerics.eigen import extreme_eigenvalue
from ddr_cli.numerics.generalized_eigen import unit_eigenpairs
from ddr_cli.numerics.neighbors import Floats, Indices, blocks, is_sparse, levels
from ddr_cli.numerics.rounding import steady_value
from ddr_cli.numerics.scatter import symmetric

_RANK_TOL = 1e-10  # relative size at which an eigenvalue of a scatter matrix counts as zero
_PAIRS = 512  # number of pairs whose differences fit into a processor's cache
FAR = 1e3
"""Without a bound for all metrics, one is proved for traces up to this many times larger."""

_MULTIPLES = (math.log(1e-5), math.log(1e6))


@dataclass(frozen=True, eq=False)
class MetricFit:
    """The metric that a solver has found, and its accuracy."""

    metric: Floats
    factor: Floats  # orthogonal columns, the longest first
    objective_path: Floats  # objective at the start and after each iteration; it never increases
    gradient_norm: float  # Frobenius norm of the gradient at the end, as the solver defines it
    gap: float  # proven bound: no metric has an objective that is lower by more than this
    converged: bool  # whether the solver's stopping criterion reached the tolerance

    @property
    def n_iter(self) -> int:
        """How many iterations were made."""
        return len(self.objective_path) - 1


class PairForms:
    """Distances of pairs of points under a metric, and scatter matrices of weighted pairs.

    No pair may occur twice.
    """

    def __init__(self, X: Floats, starts: Indices, ends: Indices) -> None:
        self._X, self._starts, self._ends = X, starts, ends
        n, p = len(X), len(starts)
        numbers = np.concatenate([np.arange(1, p + 1)] * 2)
        both = (np.concatenate([starts, ends]), np.concatenate([ends, starts]))
        self._graph: Any = sp.csr_array((numbers.astype(float), both), shape=(n, n))
        # The pair of each stored entry: new weights are filled in without a new sparsity pattern.
        self._pair = self._graph.data.astype(np.intp) - 1

    def __len__(self) -> int:
        return len(self._starts)

    def distances(self, factor: Floats) -> Floats:
        """Return the squared distance of each pair under the metric ``factor @ factor.T``."""
        mapped = self._X @ factor
        squares = np.empty(len(self))
        for some in blocks(len(self), _PAIRS):
            difference = mapped.take(self._starts[some], axis=0)
            difference -= mapped.take(self._ends[some], axis=0)
            np.einsum("ij,ij->i", difference, difference, out=squares[some])
        return squares

    def scatter(self, weights: Floats) -> Floats:
        r"""Return :math:`\sum w_{ij} (x_i - x_j)(x_i - x_j)^T` over the pairs."""
        self._graph.data = weights[self._pair]
        degrees = np.asarray(self._graph.sum(axis=1))
        return symmetric(self._X.T @ (degrees[:, None] * self._X - self._graph @ self._X))


def cone_factor(A: Floats) -> Floats:
    """Return F such that ``F @ F.T`` is the positive semidefinite matrix nearest to symmetric A.

    Its columns are orthogonal, sorted by increasing length.
    """
    values, vectors = scipy.linalg.eigh(A)
    above = values > 0
    return np.asarray(vectors[:, above] * np.sqrt(values[above]))


def whitening(X: Floats, S: Floats) -> Floats | None:
    """Return B of shape (d, d) with ``B' S B`` a multiple of I, None if S is singular.

    The rank is determined in units in which the diagonal of the positive semidefinite S is 1. The
    rows of ``X @ B`` have a mean square of 1.
    """
    per_unit, sizes, axes = unit_eigenpairs(S)
    if sizes[0] <= _RANK_TOL * sizes[-1]:
        return None
    B = per_unit[:, None] * axes / np.sqrt(sizes)
    return np.asarray(B / np.sqrt(np.mean(np.sum((X @ B) ** 2, axis=1))))


def limited_gap(objective: float, lower: float, slope: Floats, trace: float) -> float:
    """Return a bound on how far an objective exceeds that of any metric of at most this trace.

    The objective of any metric M is at least ``lower + tr(slope @ M)``, and never below 0.
    """
    steepest = extreme_eigenvalue(slope, largest=False)
    bound = lower + min(steepest, 0.0) * trace
    return min(objective, max(0.0, objective - bound))


def best_multiple(objective: Callable[[float], float]) -> float:
    """Return the s that minimises a convex function of s > 0, to within some percent."""
    optimum = optimize.minimize_scalar(
        lambda exponent: steady_value(objective(math.exp(exponent))),
        bounds=_MULTIPLES,
        method="bounded",
        options={"xatol": 0.05},
    )
    return steady_value(math.exp(optimum.x))


def stable_order(X: Any, code: Indices) -> tuple[Indices, Indices]:
    """Return an order of the rows that depends only on their values, and classes numbered by it.

    An iterative method rounds differently if its sums are in another order, and if its objective
    has several optima it may reach another one. After this reordering, the original order of the
    rows and the names of the classes have no effect, as long as no two equal points have different
    classes. ``X[order]`` is sorted; the class of its first row is 0, the next new one is 1, and so
    on.
    """
    if is_sparse(X):
        # The product of a row and a fixed vector is summed within the row, so it does not depend on
        # the order of the rows.
        direction = np.random.default_rng(0).standard_normal(X.shape[1])
        values = (X @ direction)[:, None]
    else:
        values = X
    order = np.lexsort(levels(values).T)
    _, first, inverse = np.unique(code[order], return_index=True, return_inverse=True)
    return order, np.argsort(np.argsort(first))[inverse]
