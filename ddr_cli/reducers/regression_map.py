r"""Kernel ridge regression of an embedding on its samples: the SSDE paper's "nonlinear regression".

The kernel is :math:`\exp(-\|x - x'\|^2 / \epsilon)`, with a ridge :math:`\rho`. Both are chosen for
each column of the embedding by its leave-one-out error on the training set, so the map of a column
does not depend on n_components. Of more than 500 samples, 500 drawn with a fixed seed choose the
bandwidth and the ridge; the map itself is then fitted to all samples.

With the eigenvectors of the kernel matrix K, the residual of a left-out sample is
:math:`[(K + \rho I)^{-1} y]_i / [(K + \rho I)^{-1}]_{ii}`, at the cost of one product for each
:math:`\rho`. The choice takes one eigendecomposition per bandwidth, of order 500 at most, and the
fit a Cholesky factor of all of K for each chosen pair: time grows with the cube of the number of
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray
from scipy import spatial
from sklearn.utils.validation import check_is_fitted

from ddr_cli.numerics.neighbors import equal_below
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats, drawn_landmarks

_BANDWIDTHS = 2.0 ** np.arange(-3, 4)  # in units of the median squared distance
_RIDGES = 10.0 ** np.arange(-8, 2)
_SAME = 1e-9  # of errors that differ by less than this fraction, the first is chosen
_MOST = 500  # largest number of samples that select the bandwidth and the ridge


@dataclass(frozen=True, eq=False)
class RegressionMap:
    """A fitted regression; `bandwidths`, `ridges` and `errors` have an entry per column.

    The errors are mean squares of leave-one-out residuals, with the mean held fixed, of the samples
    used for the selection. Far from all samples the prediction is the mean of the targets.
    """

    points: NDArray[Any]
    mean: Floats
    dual: Floats
    bandwidths: Floats
    ridges: Floats
    errors: Floats

    def predict(self, X: ArrayLike) -> Floats:
        """Return the values at new samples, of shape (n_queries, n_columns)."""
        distances = spatial.distance.cdist(
            np.asarray(X, dtype=np.float64), self.points, "sqeuclidean"
        )
        values = np.empty((len(distances), len(self.mean)))
        for bandwidth in np.unique(self.bandwidths):
            columns = self.bandwidths == bandwidth
            kernel = np.exp(-distances / bandwidth)
            values[:, columns] = kernel @ self.dual[:, columns] + self.mean[columns]
        return values


@one_thread()
def regression_map(points: NDArray[Any], targets: Floats) -> RegressionMap:
    """Return the best map of samples to each column of `targets`."""
    mean = targets.mean(axis=0)
    some = drawn_landmarks(len(points), _MOST, 0)
    dual, bandwidths, ridges, errors = _chosen(points[some], targets[some] - mean)
    if len(some) < len(points):
        dual = np.empty(targets.shape)
        distances = spatial.distance.cdist(points, points, "sqeuclidean")
        kernel = np.empty_like(distances)
        for bandwidth, ridge in sorted(set(zip(bandwidths, ridges, strict=True))):
            columns = (bandwidths == bandwidth) & (ridges == ridge)
            np.exp(np.divide(distances, -bandwidth, out=kernel), out=kernel)
            kernel.flat[:: len(points) + 1] += ridge
            # LAPACK overwrites only matrices in Fortran order, which the transpose has.
            factor = scipy.linalg.cho_factor(kernel.T, overwrite_a=True, check_finite=False)
            dual[:, columns] = scipy.linalg.cho_solve(factor, (targets - mean)[:, columns])
    return RegressionMap(points, mean, dual, bandwidths, ridges, errors)


def _chosen(points: NDArray[Any], centred: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Return each column's dual coefficients, bandwidth, ridge and leave-one-out error."""
    distances = spatial.distance.cdist(points, points, "sqeuclidean")
    apart = distances[np.triu_indices(len(points), 1)]
    apart = apart[apart > equal_below(points) ** 2]
    unit = float(np.median(apart)) if len(apart) else 1.0
    n_columns = centred.shape[1]
    dual, errors = np.zeros(centred.shape), np.full(n_columns, np.inf)
    bandwidths, ridges = np.full(n_columns, _BANDWIDTHS[0] * unit), np.full(n_columns, _RIDGES[0])
    for bandwidth in _BANDWIDTHS * unit:
        sizes, axes = np.linalg.eigh(np.exp(-distances / bandwidth))
        turned, squares = axes.T @ centred, axes**2
        # Negative eigenvalues of a kernel matrix are rounding.
        floor = np.finfo(float).eps * max(float(sizes[-1]), 1.0)
        for ridge in _RIDGES:
            shrink = 1.0 / (np.maximum(sizes, floor) + ridge)
            found = axes @ (shrink[:, None] * turned)
            error = np.mean((found / (squares @ shrink)[:, None]) ** 2, axis=0)
            better = error < (1 - _SAME) * errors
            dual[:, better], errors[better] = found[:, better], error[better]
            bandwidths[better], ridges[better] = bandwidth, ridge
    return dual, bandwidths, ridges, errors


class MappedEmbedding(Embedding):
    """An embedding that a regression extends to new samples; `fit` ends with `_keep`."""

    _takes_sparse = False

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        return self.map_.predict(points).astype(points.dtype)

    @property
    def map_(self) -> RegressionMap:
        """The regression behind `transform`."""
        check_is_fitted(self, self._fitted)
        kept = self._map[0]
        if not isinstance(kept, RegressionMap):
            kept = regression_map(kept, self.embedding_.astype(np.float64))
            self._map[0] = kept
        return kept

    def _keep(self, embedding: Floats, points: NDArray[Any]) -> None:
        """Store the embedding; the map is fitted on first use, because its fit may take longer."""
        self.embedding_ = embedding.astype(points.dtype)
        # The list holds the training samples until the map, which includes them, is fitted.
        self._map: list[NDArray[Any] | RegressionMap] = [points.copy()]

    def _widened(self, columns: NDArray[Any]) -> NDArray[Any]:
        """Return the first `n_components` along the last axis, padded with zeros."""
        m = self.n_components
        missing = max(0, m - columns.shape[-1])
        padding = [(0, 0)] * (columns.ndim - 1) + [(0, missing)]
        return np.pad(columns[..., :m], padding)
