r"""Regressions that carry new points into an embedding: the SSDE paper's "nonlinear regression".

Both choose what they need by the leave-one-out error inside the training part, in closed form and
for every column of the embedding by itself, so that the map of a column doesn't depend on how many
others are wanted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats

# Widths are in units of the median squared distance of the training points.
_RIDGE_WIDTHS = 2.0 ** np.arange(-3, 4)
_WATSON_WIDTHS = 2.0 ** np.arange(-9, 3)
_RIDGES = 10.0 ** np.arange(-8, 2)

MapName = Literal["kernel_ridge", "nadaraya_watson"]


class _RegressionMap(MultiOutputMixin, RegressorMixin, BaseEstimator, ABC):
    """The checks, and the squared distances to the training points."""

    widths_: Floats

    def _check_fit(self, X: ArrayLike, y: ArrayLike) -> tuple[Floats, Floats]:
        """Return targets as columns, and the squared distances among the points."""
        check_parameters(self)
        points, targets = validate_data(
            self, X, y, dtype=np.float64, multi_output=True, y_numeric=True
        )
        targets = np.asarray(targets, dtype=np.float64)
        self.X_: Floats = points
        self._flat = targets.ndim == 1
        distances = cdist(points, points, "sqeuclidean")
        apart = distances[np.triu_indices(len(points), 1)]
        apart = apart[apart > 0]
        self.unit_: float = float(np.median(apart)) if len(apart) else 1.0
        return targets.reshape(len(points), -1), distances

    def predict(self, X: ArrayLike) -> Floats:
        """Return the regression's values at new points, in columns if `y` had columns."""
        check_is_fitted(self)
        points = validate_data(self, X, reset=False, dtype=np.float64)
        distances = np.asarray(cdist(points, self.X_, "sqeuclidean"))
        values = np.empty((len(distances), len(self.widths_)))
        for width in np.unique(self.widths_):
            columns = self.widths_ == width
            values[:, columns] = self._values(distances, width, columns)
        return values[:, 0] if self._flat else values

    @abstractmethod
    def _values(self, distances: Floats, width: float, columns: NDArray[np.bool_]) -> Floats:
        """Return those columns at points of given squared distances to the training points."""


@dataclass(eq=False, repr=False)
class KernelRidgeMap(_RegressionMap):
    r"""Kernel ridge regression with the kernel :math:`\exp(-\|x - x'\|^2 / \epsilon)`.

    Parameters
    ----------
    width : "loo" or float, default="loo"
        :math:`\epsilon`, in squared units of the data; "loo" chooses among 1/8 to 8 times the
        median squared distance.
    ridge : "loo" or float, default="loo"
        What is added to the diagonal of the kernel matrix; "loo" chooses among 1e-8 to 10.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples, n_outputs)
        The weights of the training points' kernels.
    mean_ : ndarray of shape (n_outputs,)
        Means of the targets, which the prediction falls back to far from all points.
    widths_, ridges_ : ndarray of shape (n_outputs,)
        What was used for each column.
    loo_error_ : ndarray of shape (n_outputs,)
        Mean squared leave-one-out error of each column, the mean held fixed.

    Notes
    -----
    With the eigenvectors of the kernel matrix K the residual of a point that is left out is
    :math:`[(K + \rho I)^{-1} y]_i / [(K + \rho I)^{-1}]_{ii}` for all :math:`\rho` at the cost of
    a product each. One eigendecomposition per width: time grows with the cube of the number of
    points.

    Examples
    --------
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = KernelRidgeMap().fit(X, np.sin(X))
    >>> bool(abs(model.predict([[1.55]])[0] - np.sin(1.55)) < 1e-3)
    True
    """

    width: Literal["loo"] | Annotated[float, Gt(0)] = "loo"
    ridge: Literal["loo"] | Annotated[float, Ge(0)] = "loo"

    @one_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelRidgeMap:
        """Choose width and ridge for each column of `y`, and fit."""
        targets, distances = self._check_fit(X, y)
        widths = _RIDGE_WIDTHS * self.unit_ if self.width == "loo" else np.array([self.width])
        ridges = _RIDGES if self.ridge == "loo" else np.array([self.ridge])
        n_outputs = targets.shape[1]
        self.mean_: Floats = targets.mean(axis=0)
        self.loo_error_: Floats = np.full(n_outputs, np.inf)
        self.dual_coef_: Floats = np.zeros(targets.shape)
        self.widths_ = np.full(n_outputs, float(widths[0]))
        self.ridges_: Floats = np.full(n_outputs, float(ridges[0]))
        for width in widths:
            sizes, axes = np.linalg.eigh(np.exp(-distances / width))
            turned, squares = axes.T @ (targets - self.mean_), axes**2
            # A kernel matrix has no negative eigenvalues but those of rounding.
            floor = np.finfo(float).eps * max(float(sizes[-1]), 1.0)
            for ridge in ridges:
                shrink = 1.0 / (np.maximum(sizes, floor) + ridge)
                dual = axes @ (shrink[:, None] * turned)
                error = np.mean((dual / (squares @ shrink)[:, None]) ** 2, axis=0)
                better = error < self.loo_error_
                self.dual_coef_[:, better] = dual[:, better]
                self.loo_error_[better] = error[better]
                self.widths_[better], self.ridges_[better] = width, ridge
        return self

    def _values(self, distances: Floats, width: float, columns: NDArray[np.bool_]) -> Floats:
        kernel = np.exp(-distances / width)
        return np.asarray(kernel @ self.dual_coef_[:, columns] + self.mean_[columns])


@dataclass(eq=False, repr=False)
class NadarayaWatsonMap(_RegressionMap):
    r"""The mean of the training points' targets under weights :math:`\exp(-d^2 / \epsilon)`.

    Parameters
    ----------
    width : "loo" or float, default="loo"
        :math:`\epsilon`, in squared units of the data; "loo" chooses among 1/512 to 4 times the
        median squared distance.

    Attributes
    ----------
    targets_ : ndarray of shape (n_samples, n_outputs)
        The targets.
    widths_ : ndarray of shape (n_outputs,)
        What was used for each column.
    loo_error_ : ndarray of shape (n_outputs,)
        Mean squared leave-one-out error of each column.

    Notes
    -----
    Predictions stay inside the range of the targets. Far from all points they tend to the nearest
    one's target: the weights are relative to the largest and never all vanish.

    Examples
    --------
    >>> model = NadarayaWatsonMap(width=1.0).fit([[0.0], [2.0]], [1.0, 3.0])
    >>> model.predict([[1.0], [100.0]]).round(3).tolist()
    [2.0, 3.0]
    """

    width: Literal["loo"] | Annotated[float, Gt(0)] = "loo"

    def fit(self, X: ArrayLike, y: ArrayLike) -> NadarayaWatsonMap:
        """Remember the points, and choose the width for each column of `y`."""
        self.targets_, distances = self._check_fit(X, y)
        widths = _WATSON_WIDTHS * self.unit_ if self.width == "loo" else np.array([self.width])
        n, n_outputs = self.targets_.shape
        self.loo_error_: Floats = np.full(n_outputs, np.inf)
        self.widths_ = np.full(n_outputs, float(widths[0]))
        if n == 1:
            return self
        np.fill_diagonal(distances, np.inf)
        for width in widths:
            rest = _relative_weights(distances, width) @ self.targets_
            error = np.mean((rest - self.targets_) ** 2, axis=0)
            better = error < self.loo_error_
            self.loo_error_[better] = error[better]
            self.widths_[better] = width
        return self

    def _values(self, distances: Floats, width: float, columns: NDArray[np.bool_]) -> Floats:
        return _relative_weights(distances, width) @ self.targets_[:, columns]


def _relative_weights(distances: Floats, width: float) -> Floats:
    nearest = distances.min(axis=1, keepdims=True)
    weights = np.exp(-(distances - nearest) / width)
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


class MappedEmbedding(Embedding):
    """An embedding that a regression carries new points into; `fit` ends with `_prepare_map`."""

    embedding_: Floats
    map: MapName
    _takes_sparse = False
    _keeps_float32 = False

    def transform(self, X: ArrayLike) -> Floats:
        """Place new points by the regression from the training points to their embedding."""
        points = self._points(X)
        return np.asarray(self.map_.predict(points))

    def _widened(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the first `n_components` along the last axis, zero where there are fewer."""
        m = self.n_components
        missing = max(0, m - columns.shape[-1])
        padding = [(0, 0)] * (columns.ndim - 1) + [(0, missing)]
        return np.pad(columns[..., :m], padding)

    @property
    def map_(self) -> KernelRidgeMap | NadarayaWatsonMap:
        """The regression behind `transform`, fitted when it is first asked for."""
        check_is_fitted(self, self._fitted)
        if not hasattr(self._map, "widths_"):
            self._map.fit(self._mapped, self.embedding_)
        return self._map

    def _prepare_map(self, points: Floats) -> None:
        # To choose its width takes longer than many an embedding, which may be all that is wanted.
        self._map = KernelRidgeMap() if self.map == "kernel_ridge" else NadarayaWatsonMap()
        self._mapped = points.copy()
