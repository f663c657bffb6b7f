"""What LMNN and MCML share: the span, its units, and the map that a metric's factor is."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import Tags

from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.graph_embedding import Span, data_span
from ddr_cli.numerics.metric import MetricFit, stable_order
from ddr_cli.reducers.discriminant import check_width, labelled_points
from ddr_cli.reducers.linear import LinearReducer

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]


class MetricLearner(LinearReducer, BaseEstimator):
    """A linear reducer that learns a full metric and keeps its leading eigenvectors."""

    classes_: NDArray[Any]
    eigenvalues_: Floats
    objective_: float
    objective_path_: Floats
    gradient_norm_: float
    duality_gap_: float
    n_iter_: int
    n_components: int | Literal["full"]
    max_iter: int

    @abstractmethod
    def _learn(self, X: Floats, code: Codes) -> MetricFit:
        """Return the metric of points whose variances add up to 1."""

    def _fit_metric(self, X: ArrayLike, y: ArrayLike) -> None:
        points, code, span, self.classes_ = ordered_span(self, X, y)
        unit = float(np.sqrt(np.mean(np.sum(span.coordinates**2, axis=1))))
        found = self._learn(span.coordinates / unit, code)
        if not found.converged:
            warnings.warn(
                f"{type(self).__name__} has not converged after {found.n_iter} iterations: the "
                f"objective, {found.objective_path[-1]:.4g}, may be {found.gap:.1e} too high. "
                f"Increase max_iter={self.max_iter}, or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        values, vectors = np.linalg.eigh(found.metric)
        values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
        width = span.rank if self.n_components == "full" else self.n_components
        W = span.basis @ (vectors[:, :width] * np.sqrt(values[:width]))
        self.components_ = (deterministic_signs(W).T / unit).astype(points.dtype)
        self.mean_ = span.mean.astype(points.dtype)
        self.eigenvalues_ = values / unit**2
        self.objective_path_ = found.objective_path
        self.objective_ = float(found.objective_path[-1])
        self.gradient_norm_ = found.gradient_norm
        self.duality_gap_ = found.gap
        self.n_iter_ = found.n_iter

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def ordered_span(
    estimator: Any, X: ArrayLike, y: ArrayLike
) -> tuple[Any, Codes, Span, NDArray[Any]]:
    """Check the input, put it in its canonical order and find what it spans.

    Returns
    -------
    points : array or CSR of shape (n_samples, n_features)
        In canonical order.
    code : ndarray of shape (n_samples,)
        Class of each of these, numbered along them.
    span : Span
        Of the centred points, of dimension `n_components` or more.
    classes : ndarray of shape (n_classes,)
        The labels, sorted.
    """
    points, code, classes = labelled_points(estimator, X, y)
    order, code = stable_order(points, code)
    points = points[order]
    span = data_span(points)
    if estimator.n_components != "full" or span.rank == 0:
        check_width(estimator, span.rank, points)
    return points, code, span, classes
