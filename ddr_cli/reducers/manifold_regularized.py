"""Regularised least squares on a graph: the function that both forms of LaplacianRLS fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import laplacian
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.numerics.graph_embedding import laplacian_form, symmetric
from ddr_cli.numerics.graphs import neighbor_affinity
from ddr_cli.numerics.kernels import kernel_matrix, kernel_width
from ddr_cli.numerics.neighbors import CsrArray, Neighbors

Floats = NDArray[np.float64]
Labelled = NDArray[np.bool_]
Kernel = Literal["linear", "rbf", "poly", "laplacian", "cosine"] | Callable[[Any, Any], float]
ACCEPTED: dict[str, Any] = {
    "accept_sparse": "csr",
    "dtype": [np.float64, np.float32],
    "ensure_min_samples": 2,
}

_RANK_TOL = 1e-12  # relative size at which an eigenvalue of the normal equations counts as zero


class ManifoldRegularized(BaseEstimator):
    """An estimator that fits `LaplacianRLS`'s function to one or more outputs.

    A subclass has the parameters `mu`, `alpha`, `n_neighbors`, `kernel`, `gamma`, `degree`,
    `coef0`, `weights`, `epsilon` and `fit_intercept`.
    """

    coef_: NDArray[Any]
    dual_coef_: Floats
    intercept_: NDArray[Any]
    mu: Literal["auto"] | float
    alpha: float
    n_neighbors: int
    kernel: Any
    gamma: Literal["scale"] | float
    degree: int
    coef0: float
    weights: Literal["binary", "heat"]
    epsilon: Literal["mean"] | float
    fit_intercept: bool

    def _fit_outputs(
        self, points: Any, labelled: Labelled, Y: Floats, neighbors: Neighbors | None
    ) -> None:
        """Fit one function to each column of `Y`, the outputs wanted at the labelled points."""
        W = neighbor_affinity(
            points,
            self.n_neighbors,
            weights=self.weights,
            epsilon=self.epsilon,
            neighbors=neighbors,
        )
        s = float(W.sum())
        self.mu_ = (len(Y) / s if s else 0.0) if self.mu == "auto" else float(self.mu)
        offset = Y.mean(axis=0) if self.fit_intercept else np.zeros(Y.shape[1])
        few_features = points.shape[1] <= points.shape[0]
        if self.kernel == "linear" and few_features:
            coef, shift = self._primal(points, labelled, Y - offset, W)
        else:
            if self.alpha == 0:
                raise ValueError(
                    "alpha=0 leaves the function undetermined with a kernel, or with more features "
                    "than points; give a positive alpha."
                )
            self.gamma_ = kernel_width(points, self.gamma)
            K = self._kernel(points, points)
            a = self._dual(K, labelled, Y - offset, W)
            shift = (K @ a)[labelled].mean(axis=0)
            coef = safe_sparse_dot(points.T, a) if self.kernel == "linear" else a
        self.intercept_ = offset - shift if self.fit_intercept else offset
        if self.kernel == "linear":
            self.coef_ = np.asarray(coef).T.astype(points.dtype)
        else:
            self.dual_coef_, self.X_fit_ = coef, points

    def _primal(self, X: Any, labelled: Labelled, Y: Floats, W: CsrArray) -> tuple[Floats, Floats]:
        r"""Solve :math:`(x^T x + \alpha I + \mu X^T L X) a = x^T y`, x the labelled points.

        The intercept takes the mean out of the labelled points; the graph doesn't feel it.
        """
        X = X.astype(np.float64)
        x = X[labelled]
        mean = np.asarray(x.mean(axis=0)).ravel() if self.fit_intercept else np.zeros(X.shape[1])
        sparse: bool = sp.issparse(X)
        if sparse:
            gram = (x.T @ x).toarray() - len(Y) * np.outer(mean, mean)
            L: Any = laplacian(W)
            smooth = symmetric((X.T @ (L @ X)).toarray())
            image = x.T @ Y - np.outer(mean, Y.sum(axis=0))
        else:
            x = x - mean
            gram, smooth, image = x.T @ x, laplacian_form(X, W), x.T @ Y
        left = symmetric(gram) + self.alpha * np.eye(len(gram)) + self.mu_ * smooth
        sizes, axes = np.linalg.eigh(left)
        kept = sizes > _RANK_TOL * sizes[-1]
        # Of equally good functions the one with the smallest norm.
        coef = axes[:, kept] @ ((axes[:, kept].T @ image) / sizes[kept, None])
        return coef, mean @ coef

    def _dual(self, K: Floats, labelled: Labelled, Y: Floats, W: CsrArray) -> Floats:
        r"""Solve :math:`(J K + \alpha I + \mu L K) a = J y`, J the selection of labelled points.

        With an intercept J also takes out their mean.
        """
        L: Any = laplacian(W)
        system: Floats = self.mu_ * (L @ K)
        chosen = K[labelled]
        system[labelled] += chosen - chosen.mean(axis=0) if self.fit_intercept else chosen
        system[np.diag_indices_from(system)] += self.alpha
        image = np.zeros((len(K), Y.shape[1]))
        image[labelled] = Y
        return np.asarray(np.linalg.solve(system, image))

    def _outputs(self, X: ArrayLike) -> NDArray[Any]:
        """Return the fitted functions' values, of shape (n_queries, n_outputs)."""
        check_is_fitted(self, "intercept_")
        points = validate_data(
            self, X, reset=False, accept_sparse="csr", dtype=[np.float64, np.float32]
        )
        if self.kernel == "linear":
            values = safe_sparse_dot(points, self.coef_.T, dense_output=True)
        else:
            values = self._kernel(points, self.X_fit_) @ self.dual_coef_
        return np.asarray(values + self.intercept_).astype(points.dtype)

    def _kernel(self, A: Any, B: Any) -> Floats:
        return kernel_matrix(
            A, B, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags
