"""What the kernel forms share: a discriminant in feature space, by way of kernel PCA.

A direction in feature space is a combination of the training points, so a
linear method applied to the coordinates of kernel PCA, all of them, is the
method's kernel form: inner products, hence distances, neighbours, scatter
matrices and the ridge ``|w|^2``, are those of the feature space.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.preprocessing import KernelCenterer
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.kernels import kernel_matrix, kernel_width
from ddr_cli.reducers.discriminant import check_width, labelled_points

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]
Kernel = (
    Literal[
        "rbf",
        "linear",
        "poly",
        "polynomial",
        "sigmoid",
        "cosine",
        "laplacian",
        "chi2",
        "additive_chi2",
        "precomputed",
    ]
    | Callable[[Any, Any], float]
)

_RANK_TOL = 1e-10  # relative size at which an eigenvalue of the centred kernel matrix counts as 0
_NEGATIVE = 1e-8  # relative size at which a negative one is more than rounding


@dataclass(frozen=True, eq=False)
class KernelSpan:
    """The span of the centred training points in feature space.

    Parameters
    ----------
    coordinates : ndarray of shape (n, r)
        The points in an orthonormal basis, by decreasing variance.
    dual : ndarray of shape (n, r)
        The basis vectors as combinations of the centred points.
    """

    coordinates: Floats
    dual: Floats


class KernelDiscriminant(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """A discriminant in the feature space of a kernel; a subclass fits in kernel PCA's coordinates.

    Subclasses have the parameters `n_components`, `kernel`, `gamma`, `degree` and `coef0`.
    """

    classes_: NDArray[Any]
    dual_components_: NDArray[Any]
    n_components: int
    kernel: Any
    gamma: float | Literal["scale"]
    degree: int
    coef0: float

    def _labelled_span(self, X: ArrayLike, y: ArrayLike) -> tuple[Codes, KernelSpan]:
        """Check the input; return the index of each label in `classes_`, and the points' span."""
        points, code, self.classes_ = labelled_points(self, X, y, accept_sparse=self._sparse)
        if self.kernel == "precomputed" and points.shape[0] != points.shape[1]:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has the shape {points.shape}."
            )
        self.gamma_ = kernel_width(points, self.gamma)
        self.X_fit_ = points
        self._centerer = KernelCenterer()
        K = self._matrix(points)
        rounding = len(K) * np.finfo(np.float64).eps * float(abs(K).max())
        K = self._centerer.fit_transform(K)
        sizes, axes = np.linalg.eigh((K + K.T) / 2)
        sizes, axes = sizes[::-1], axes[:, ::-1]
        if -sizes[-1] > max(_NEGATIVE * float(sizes[0]), rounding):
            warnings.warn(
                f"The kernel {self.kernel!r} is not positive semidefinite on these points; the "
                f"part with negative eigenvalues is left out.",
                stacklevel=3,
            )
        kept = sizes > max(_RANK_TOL * float(sizes[0]), rounding)
        reason = f"the kernel {self.kernel!r} gives all points the same image"
        check_width(self, int(kept.sum()), points, reason=reason)
        length = np.sqrt(sizes[kept])
        return code, KernelSpan(axes[:, kept] * length, axes[:, kept] / length)

    def _set_directions(self, span: KernelSpan, W: Floats) -> None:
        """Store the directions `W`, given in the span's coordinates."""
        self.dual_components_ = deterministic_signs(span.dual @ W).T

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Project points on the directions in feature space.

        Parameters
        ----------
        X : array or sparse of shape (n_queries, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_queries, n_samples).

        Returns
        -------
        ndarray of shape (n_queries, n_components)
        """
        check_is_fitted(self, "dual_components_")
        points = validate_data(
            self, X, reset=False, accept_sparse=self._sparse, dtype=[np.float64, np.float32]
        )
        K = self._centerer.transform(self._matrix(points))
        return np.asarray(K @ self.dual_components_.T).astype(points.dtype)

    @property
    def _sparse(self) -> str | bool:
        return "csr" if self.kernel != "precomputed" else False

    def _matrix(self, points: Any) -> Floats:
        """Return the kernel between `points` and the training points, in float64."""
        if self.kernel == "precomputed":
            return np.array(points, dtype=np.float64)
        return kernel_matrix(
            points,
            self.X_fit_,
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
        )

    @property
    def _n_features_out(self) -> int:
        return int(self.dual_components_.shape[0])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._sparse)
        tags.input_tags.pairwise = self.kernel == "precomputed"
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
