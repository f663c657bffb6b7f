"""Common code of LMNN, MCML and NCA: the span, its units, and the map for a metric's factor."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from ddr_cli.numerics.mahalanobis import MetricFit, stable_order
from ddr_cli.numerics.scatter import Span, data_span
from ddr_cli.reducers.reducer import Codes, Floats, LinearReducer

_ZERO = 1e-9  # fraction of the largest spread up to which others are rounding


class OrderedReducer(LinearReducer):
    """A linear reducer whose iterations use a canonical order of the samples."""

    def _ordered_span(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Codes, Span, float]:
        """Return samples in canonical order, their classes numbered in it, their span and unit.

        In that unit the variances of the coordinates add up to 1.
        """
        points, code = self._points_and_classes(X, y)
        order, code = stable_order(points, code)
        points = points[order]
        span = data_span(points)
        self._check_rank(span.rank, points)
        return points, code, span, float(np.sqrt(np.mean(np.sum(span.coordinates**2, axis=1))))


@dataclass(eq=False, repr=False)
class MetricLearner(OrderedReducer):
    """A linear reducer that learns a full metric M and keeps some directions of the mapped samples.

    With M = F F', the map is F; rotations of it give the same distances.
    """

    n_components: Annotated[int, Ge(1)] | Literal["full"] = 2
    directions: Literal["variance", "metric"] = "variance"
    max_iter: Annotated[int, Ge(1)] = 1000

    @abstractmethod
    def _learn(self, X: Floats, code: Codes) -> MetricFit:
        """Return the metric of samples whose variances add up to 1."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code, span, unit = self._ordered_span(X, y)
        learnt = self._learn(span.coordinates / unit, code)
        if not learnt.converged:
            objective, remedy = learnt.objective_path[-1], "Raise tol"
            if learnt.n_iter >= self.max_iter:
                remedy = f"Increase max_iter (now {self.max_iter}), or tol"
            state = f"may be up to {learnt.gap:.1e} above the minimum"
            if learnt.gap >= objective:
                state = f"has a gradient of norm {learnt.gradient_norm:.1e}"
            warnings.warn(
                f"{type(self).__name__} has not converged after {learnt.n_iter} iterations: the "
                f"objective, {objective:.4g}, {state}. {remedy}.",
                ConvergenceWarning,
                stacklevel=2,
            )
        width = span.rank if self.n_components == "full" else self.n_components
        F = learnt.factor
        if self.directions == "variance":
            _, sizes, axes = np.linalg.svd(span.coordinates @ F, full_matrices=False)
            F = F @ axes.T * (sizes > _ZERO * sizes[0])
        self._keep_directions(span, F[:, :width], points.dtype, unit)
        self.eigenvalues_ = np.sum(learnt.factor**2, axis=0) / unit**2
        self.objective_path_ = learnt.objective_path
        self.objective_ = float(learnt.objective_path[-1])
        self.gradient_norm_ = learnt.gradient_norm
        self.duality_gap_ = learnt.gap
        self.n_iter_ = learnt.n_iter
        return self
