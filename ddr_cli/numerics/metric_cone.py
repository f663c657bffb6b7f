r"""What the solvers for a Mahalanobis metric share.

A metric is a symmetric positive semidefinite matrix M, the squared distance
of two points :math:`(x - z)^T M (x - z)`. It is kept as a factor F with
:math:`M = F F^T`, so that distances are those of the rows of ``X @ F``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from ddr_cli.numerics.graph_embedding import symmetric

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_MULTIPLES = (math.log(1e-5), math.log(1e6))


@dataclass(frozen=True, eq=False)
class MetricFit:
    """A metric that a solver has found, and how good it is.

    Parameters
    ----------
    metric : ndarray of shape (r, r)
        Symmetric, positive semidefinite.
    objective_path : ndarray of shape (n_iter + 1,)
        The objective at the start and after each iteration; it never rises.
    gradient_norm : float
        Frobenius norm of the gradient at the end, as the solver defines it.
    gap : float
        No metric whose trace is at most that of `metric` has an objective lower by more than
        this.
    converged : bool
        Whether the gap is as small as was asked for.
    """

    metric: Floats
    objective_path: Floats
    gradient_norm: float
    gap: float
    converged: bool

    @property
    def n_iter(self) -> int:
        """How many iterations were made."""
        return len(self.objective_path) - 1


class PairForms:
    """Distances of pairs of points under a metric, and scatter matrices of weighted pairs.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    starts, ends : ndarray of shape (p,)
        The pairs, none of them twice.
    """

    def __init__(self, X: Floats, starts: Indices, ends: Indices) -> None:
        self._X, self._starts, self._ends = X, starts, ends
        n, p = len(X), len(starts)
        numbers = np.concatenate([np.arange(1, p + 1)] * 2)
        both = (np.concatenate([starts, ends]), np.concatenate([ends, starts]))
        self._graph: Any = sp.csr_array((numbers.astype(float), both), shape=(n, n))
        # The pair of each stored entry, so that new weights need no new sparsity pattern.
        self._pair = self._graph.data.astype(np.intp) - 1

    def __len__(self) -> int:
        return len(self._starts)

    def distances(self, factor: Floats) -> Floats:
        """Return the squared distance of each pair under the metric ``factor @ factor.T``."""
        mapped = self._X @ factor
        difference = mapped[self._starts] - mapped[self._ends]
        return np.asarray(np.einsum("ij,ij->i", difference, difference))

    def scatter(self, weights: Floats) -> Floats:
        r"""Return :math:`\sum w_{ij} (x_i - x_j)(x_i - x_j)^T` over the pairs."""
        self._graph.data = weights[self._pair]
        degrees = np.asarray(self._graph.sum(axis=1))
        return symmetric(self._X.T @ (degrees[:, None] * self._X - self._graph @ self._X))


def cone_factor(A: Floats) -> Floats:
    """Return F such that ``F @ F.T`` is the positive semidefinite matrix nearest to A.

    Parameters
    ----------
    A : ndarray of shape (r, r)
        Symmetric.

    Returns
    -------
    ndarray of shape (r, rank)
        Its columns are orthogonal, the longest last.
    """
    values, vectors = scipy.linalg.eigh(A)
    above = values > 0
    return np.asarray(vectors[:, above] * np.sqrt(values[above]))


def optimality_gap(objective: float, lower: float, slope: Floats, trace: float) -> float:
    """Return how far an objective is at most above that of any metric of no larger trace.

    Parameters
    ----------
    objective : float
        Of the metric at hand.
    lower, slope : float and ndarray of shape (r, r)
        The objective of any metric M is at least ``lower + tr(slope @ M)``.
    trace : float
        Of the metric at hand.
    """
    steepest = float(scipy.linalg.eigvalsh(slope, subset_by_index=(0, 0))[0])
    return max(0.0, objective - (lower + min(steepest, 0.0) * trace))


def best_multiple(objective: Callable[[float], float]) -> float:
    """Return the s at which a function of s > 0, convex in it, is smallest, to some percent."""
    found = minimize_scalar(
        lambda exponent: objective(math.exp(exponent)),
        bounds=_MULTIPLES,
        method="bounded",
        options={"xatol": 0.05},
    )
    return math.exp(found.x)
