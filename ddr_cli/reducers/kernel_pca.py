"""Kernel principal component analysis (Schölkopf, Smola and Müller, 1998)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from sklearn.preprocessing import KernelCenterer

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import top_eigenpairs
from ddr_cli.numerics.kernels import GAMMAS, Gamma, kernel_gamma, kernel_matrix
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Embedding, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points

_ZERO = 1e-10  # fraction of the largest absolute row sum below which an eigenvalue counts as 0

Kernel = (
    Literal["linear", "rbf", "poly", "sigmoid", "cosine", "precomputed"]
    | Callable[[Any, Any], float]
)


@registered(
    "reducer",
    "kernel_pca",
    "kernel principal component analysis (Schölkopf et al.)",
    label="kernel PCA",
    look=("pink", "o"),
)
class KernelPCA(Embedding):
    r"""Project on the directions of largest variance in the feature space of a kernel.

    With K the centred kernel matrix, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l`
    for its leading eigenpairs; a new sample x has
    :math:`\lambda_l^{-1/2} \sum_i v_{il} k(x, x_i)`, k centred likewise.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", "sigmoid", "cosine", a function of two samples, or "precomputed": X
        is then the kernel matrix. With "linear", the method is principal component analysis.
    gamma : "scale" or float, default="scale"
        Parameter :math:`\gamma` of the kernels that have this parameter. "scale" is a reciprocal:
        of the total variance for "rbf", of the mean squared length for "poly" and "sigmoid".
        scikit-learn's default is 1 / n_features, which suits only standardised features.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial and the sigmoid kernel.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples, centred.
    gamma_ : float
        The value of `gamma`.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.

    Notes
    -----
    Use it when the data vary along curves that a kernel of known bandwidth makes straight.

    Avoid it when the bandwidth is a guess: the embedding depends on it. Labels are not used.

    Dimensions in which the samples do not vary are zero. Kernels that are not positive semidefinite
    also give negative eigenvalues; an `n_components` that would reach these is an error.

    For n samples, d features and m dimensions: :math:`O(n^2 d)`, and :math:`O(n^3)` up to 300
    samples, :math:`O(n^2 m)` for each of Lanczos' restarts beyond.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear Component Analysis as a Kernel
       Eigenvalue Problem", Neural Computation 10, 1998, 1299-1319.

    Examples
    --------
    >>> KernelPCA(n_components=1).fit_transform([[0.0, 0.0], [2.0, 0.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """

    n_components: Annotated[int, Ge(1)] = 2
    kernel: Kernel = "linear"
    gamma: Gamma = "scale"
    degree: Annotated[int, Ge(1)] = 3
    coef0: float = 1.0

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> KernelPCA:
        points = self._points(X, y, reset=True)
        self._check_dimensions(points.shape[0])
        self.gamma_ = kernel_gamma(points, self.gamma, self.kernel)
        self._X = points
        self._centerer = KernelCenterer().set_output(transform="default")
        K = self._centerer.fit_transform(self._matrix(points))
        unit = float(np.abs(K).sum(axis=1).max()) or 1.0
        values, vectors = top_eigenpairs(K / unit, self.n_components, floor=-1.0)
        if values[-1] < -_ZERO:
            raise ValueError(
                f"n_components={self.n_components}, but the kernel {self.kernel!r} yields only "
                f"{int(np.sum(values > _ZERO))} dimensions of positive variance. Lower "
                "n_components."
            )
        self.eigenvalues_ = np.where(values > _ZERO, values, 0.0) * unit
        lengths = np.sqrt(self.eigenvalues_)
        self._axes = vectors * np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        self.embedding_ = (vectors * lengths).astype(points.dtype)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        K = self._centerer.transform(self._matrix(points))
        return np.asarray((K @ self._axes).astype(points.dtype))

    def _matrix(self, points: Any) -> Floats:
        """Return the kernel between samples and the training samples."""
        if self.kernel == "precomputed":
            return np.array(points, dtype=np.float64)
        return kernel_matrix(
            points,
            self._X,
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
        )

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=4,
            nested=True,
            transductive=self.kernel != "precomputed",
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "kernel": ("linear", "rbf", "poly", "sigmoid", "cosine"),
                "gamma": GAMMAS,
            },
            max_components=one_less_than_points,
        )
