r"""Kernel principal component analysis: scikit-learn's, with what it leaves to chance pinned.

B. Schölkopf, A. Smola and K.-R. Müller, "Nonlinear Component Analysis as a Kernel Eigenvalue
Problem", Neural Computation 10, 1998.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn import decomposition
from sklearn.utils import Tags

from ddr_cli.reducers.registry import Traits
from ddr_cli.reducers.wrapped import WrappedEmbedding

Kernel = (
    Literal["linear", "rbf", "poly", "sigmoid", "cosine", "precomputed"]
    | Callable[[Any, Any], float]
)

_DENSE = 1000  # up to this order a complete decomposition is fast and misses nothing


class KernelPCA(WrappedEmbedding):
    r"""Project on the directions of largest variance in the feature space of a kernel.

    With K the centred kernel matrix, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l`
    for its leading eigenpairs; a new point x has
    :math:`\lambda_l^{-1/2} \sum_i v_{il} k(x, x_i)`, k centred likewise.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding.
    kernel : {"linear", "rbf", "poly", "sigmoid", "cosine", "precomputed"} or callable, \
default="linear"
        The kernel, or a function of two points; "precomputed" says that X holds kernel values.
        With "linear" it is principal component analysis.
    gamma : float or None, default=None
        Of the kernels that have one; None is 1 / n_features.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial and the sigmoid kernel.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed points, centred.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.
    model_ : sklearn.decomposition.KernelPCA
        The fitted estimator behind `transform`.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The defaults are those of scikit-learn 1.9 and passed on explicitly: ``kernel="linear",
    gamma=None, degree=3, coef0=1, kernel_params=None, fit_inverse_transform=False, alpha=1.0,
    tol=0, max_iter=None, iterated_power="auto", remove_zero_eig=False, copy_X=True, n_jobs=None``.
    Three differ: ``n_components=2`` instead of all; up to 1000 points ``eigen_solver="dense"``,
    where "auto" takes ARPACK above 200; and beyond, ARPACK with ``random_state=0`` instead of a
    random start.

    Dimensions in which the points have no extent are zero. Kernels that are not positive
    semidefinite give negative eigenvalues, too; dimensions as far down as these are refused.

    For n points, d features and m dimensions: :math:`O(n^2 d)`, and :math:`O(n^3)` up to 1000
    points, :math:`O(n^2 m)` for each of ARPACK's restarts beyond.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear Component Analysis as a Kernel
       Eigenvalue Problem", Neural Computation 10, 1998, 1299-1319.

    Examples
    --------
    >>> KernelPCA(n_components=1).fit_transform([[0.0, 0.0], [2.0, 0.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """

    eigenvalues_: NDArray[np.float64]

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        kernel: Kernel = "linear",
        gamma: Annotated[float, Gt(0)] | None = None,
        degree: Annotated[int, Ge(1)] = 3,
        coef0: float = 1.0,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0

    def fit(self, X: ArrayLike, y: Any = None) -> KernelPCA:  # noqa: ARG002 (scikit-learn's signature)
        """Find the directions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
            With ``kernel="precomputed"``, kernel values of shape (n_samples, n_samples).
        y : ignored

        Returns
        -------
        KernelPCA
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of range, there are too few points for `n_components`, or the
            kernel has fewer dimensions of positive variance.
        """
        given = self._checked(X)
        n = given.shape[0]
        if self.kernel == "precomputed" and given.shape[1] != n:
            raise ValueError(
                f"A precomputed kernel matrix must be square; X has the shape {given.shape}."
            )
        dense = n <= _DENSE or self.n_components >= n // 4
        model = decomposition.KernelPCA(
            n_components=self.n_components,
            kernel=self.kernel,
            gamma=self.gamma,
            degree=self.degree,
            coef0=self.coef0,
            kernel_params=None,
            alpha=1.0,
            fit_inverse_transform=False,
            eigen_solver="dense" if dense else "arpack",
            tol=0,
            max_iter=None,
            iterated_power="auto",
            remove_zero_eig=False,
            random_state=0,
            copy_X=True,
            n_jobs=None,
        )
        try:
            embedding = model.fit_transform(given.astype(np.float64))
        except ValueError as error:
            # Eigenvalues are there only if the input was in order.
            if not hasattr(model, "eigenvalues_"):
                raise
            size = np.abs(model.eigenvalues_).max()
            positive = int(np.sum(model.eigenvalues_ > 1e-10 * size))
            raise ValueError(
                f"n_components={self.n_components}, but the kernel {self.kernel!r} is not positive "
                f"semidefinite on these points and has {positive} dimensions of positive variance."
            ) from error
        self.eigenvalues_ = model.eigenvalues_
        self._keep(model, embedding, given.dtype)
        return self

    @property
    def _sparse(self) -> str | bool:
        return "csr" if self.kernel != "precomputed" else False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=1,
            nested=True,
            transductive=self.kernel != "precomputed",
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "kernel": ("linear", "rbf", "poly", "sigmoid", "cosine"),
                "gamma": tuple(np.geomspace(1e-3, 10, 5).tolist()),
            },
            paper='Schölkopf, Smola, Müller, "Nonlinear Component Analysis as a Kernel Eigenvalue '
            'Problem", Neural Computation 10, 1998',
        )
