"""Linear discriminant analysis of a kernel's features, approximated from a few samples."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn import kernel_approximation, metrics

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.kernels import GAMMAS, Gamma, kernel_gamma, kernel_origin
from ddr_cli.numerics.scatter import data_span, scatter_matrices
from ddr_cli.reducers.discriminant import (
    discriminant_directions,
    requested_components,
    unit_within,
)
from ddr_cli.reducers.reducer import Reducer
from ddr_cli.reducers.registry import Traits


@registered(
    "reducer",
    "kernel_approximation_lda",
    "discriminant analysis of a kernel's features by Nyström's method",
    label="kernel approximation LDA",
    look=("pink", "D"),
)
class KernelApproximationLDA(Reducer):
    r"""Discriminant analysis of a kernel's features, which Nyström's method approximates.

    With the kernel matrix :math:`K_{qq}` of q training samples (landmarks), drawn at random, a
    sample has the features :math:`\phi(x) = K_{qq}^{-1/2} k_q(x)`, whose inner products approximate
    the kernel's. On them Fisher's directions are found: the leading solutions of
    :math:`S_b a = \lambda (S_w + \rho I) a`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most n_classes - 1 and the rank of the features. None: as many as
        possible. Default: as in scikit-learn.
    n_landmarks : int, default=300
        The number q of landmarks; all training samples if there are fewer. Default: our choice.
    kernel : {"rbf", "laplacian"}, default="rbf"
        "rbf": :math:`\exp(-\gamma \|x - x'\|_2^2)`. "laplacian": :math:`\exp(-\gamma \|x -
        x'\|_1)`. Default: as in scikit-learn's Nystroem.
    gamma : "scale" or float, default="scale"
        :math:`\gamma`. "scale" is the reciprocal of the total variance; for "laplacian", it is the
        reciprocal of the sum of the features' standard deviations.
    reg : float, default=0.001
        Ridge: this fraction of the mean eigenvalue of the within-class scatter is added to its
        diagonal. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    dual_components_ : ndarray of shape (n_components, q)
        The directions as combinations :math:`K_{qq}^{-1/2} a` of the landmarks' images, by
        decreasing ratio.
    X_fit_ : ndarray of shape (q, n_features)
        The landmarks.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`.
    gamma_ : float
        The value of :math:`\gamma`.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when class borders are curved and there are too many samples for a kernel matrix.

    Check the kernel's bandwidth. With few landmarks the embedding depends on `random_state`.

    With all samples as landmarks and the same ridge, this is kernel discriminant analysis.

    For n samples, d features and q landmarks: :math:`O(n q (d + q) + q^3)`.

    References
    ----------
    .. [1] C. Williams, M. Seeger, "Using the Nyström Method to Speed Up Kernel Machines", NIPS 13,
       2000.
    .. [2] S. Mika, G. Rätsch, J. Weston, B. Schölkopf, K.-R. Müller, "Fisher Discriminant Analysis
       with Kernels", Neural Networks for Signal Processing IX, 1999.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelApproximationLDA(n_components=2, random_state=0).fit_transform(X, y).shape
    (150, 2)
    """

    _fitted = "dual_components_"

    n_components: Annotated[int, Ge(1)] | None = None
    n_landmarks: Annotated[int, Ge(1)] = 300
    kernel: Literal["rbf", "laplacian"] = "rbf"
    gamma: Gamma = "scale"
    reg: Annotated[float, Gt(0)] = 1e-3
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelApproximationLDA:
        points, code = self._points_and_classes(X, y)
        self.gamma_ = kernel_gamma(points, self.gamma, self.kernel)
        features = kernel_approximation.Nystroem(
            self.kernel,
            gamma=self.gamma_,
            n_components=min(self.n_landmarks, points.shape[0]),
            random_state=self.random_state,
        ).set_output(transform="default")
        self._origin = kernel_origin(points, self.kernel)
        span = data_span(features.fit_transform(points.astype(np.float64) - self._origin))
        m = requested_components(self, span.rank)
        self._check_rank(span.rank, points, reason="all samples have the same features")
        S_w, S_b = scatter_matrices(span.coordinates, code)
        self.eigenvalues_, A = discriminant_directions(S_b, S_w, m, self.reg)
        A = unit_within(A, span.coordinates, code, self.reg)
        directions = deterministic_signs(span.basis @ A)
        self.dual_components_ = directions.T @ features.normalization_
        self._shift = span.mean @ directions
        self.X_fit_ = points[features.component_indices_]
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        drawn = self.X_fit_.astype(np.float64) - self._origin
        centred = points.astype(np.float64) - self._origin
        K = metrics.pairwise.pairwise_kernels(centred, drawn, metric=self.kernel, gamma=self.gamma_)
        return np.asarray(K @ self.dual_components_.T - self._shift).astype(points.dtype)

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=3,
            nested=True,
            grids={
                "n_components": tuple(range(1, 10)),
                "gamma": GAMMAS,
                "reg": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
                "n_landmarks": (100, 300, 1000),
            },
            max_components=lambda n_train, _, n_classes: min(
                n_classes - 1, n_train - 1, max(self.n_landmarks - 1, 1)
            ),
        )
