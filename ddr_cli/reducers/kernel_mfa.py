r"""Kernel Marginal Fisher Analysis.

S. Yan, D. Xu, B. Zhang, H.-J. Zhang, Q. Yang and S. Lin, "Graph Embedding and Extensions: A
General Framework for Dimensionality Reduction", IEEE Trans. PAMI 29(1), 2007, section 3.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray

from ddr_cli.reducers.discriminant import discriminant_directions
from ddr_cli.reducers.kernel import Kernel, KernelDiscriminant
from ddr_cli.reducers.mfa import PAPER, Margin, marginal_scatter
from ddr_cli.reducers.registry import Traits


class KernelMFA(KernelDiscriminant):
    r"""MFA in the feature space of a kernel, with a ridge.

    The leading solutions of MFA's eigenproblem with the points replaced by their images
    :math:`\phi(x)`; neighbours, too, are the nearest there.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions, at most the rank of the centred kernel matrix.
    kernel : str or callable, default="rbf"
        A kernel of scikit-learn's ``pairwise_kernels``, a function of two points, or
        "precomputed": X is then the kernel matrix.
    gamma : "scale" or float, default="scale"
        Of the kernels that have it; "scale" is 1 / (n_features * X.var()).
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1
        Of the polynomial and the sigmoid kernel.
    n_neighbors_within, n_neighbors_between, margin
        As for `MFA`.
    reg : float, default=0.001
        Ridge: this share of the mean eigenvalue of the compactness matrix on the span of the
        points is added to its diagonal. In feature space this matrix is singular, so there is no
        solution without.

    Attributes
    ----------
    dual_components_ : ndarray of shape (n_components, n_samples)
        The directions as combinations of the centred images of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda` of separability to compactness.
    X_fit_ : array or CSR of shape (n_samples, n_features)
        The training points.
    gamma_ : float
        The value of `gamma`.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With the linear kernel this is `MFA` with the same `reg`.

    For n points: :math:`O(n^3)`, and the kernel matrix in memory.

    References
    ----------
    .. [1] S. Yan, D. Xu, B. Zhang, H.-J. Zhang, Q. Yang, S. Lin, "Graph Embedding and Extensions:
       A General Framework for Dimensionality Reduction", IEEE Trans. PAMI 29(1), 2007, 40-51.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelMFA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    eigenvalues_: NDArray[np.float64]

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        kernel: Kernel = "rbf",
        gamma: Literal["scale"] | Annotated[float, Gt(0)] = "scale",
        degree: Annotated[int, Ge(1)] = 3,
        coef0: float = 1.0,
        n_neighbors_within: Annotated[int, Ge(1)] = 5,
        n_neighbors_between: Annotated[int, Ge(1)] = 20,
        margin: Margin = "pairs",
        reg: Annotated[float, Gt(0)] = 1e-3,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors_within = n_neighbors_within
        self.n_neighbors_between = n_neighbors_between
        self.margin = margin
        self.reg = reg

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelMFA:
        """Find the directions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel matrix of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        KernelMFA
            Itself.

        Raises
        ------
        ValueError
            If there is one class only, a class has too few points inside or outside it for the
            neighbours asked for, or the images of the points span fewer than `n_components`
            dimensions.
        """
        code, span = self._labelled_span(X, y)
        S_c, S_p = marginal_scatter(
            span.coordinates,
            span.coordinates,
            code,
            self.n_neighbors_within,
            self.n_neighbors_between,
            self.margin,
        )
        self.eigenvalues_, W = discriminant_directions(S_p, S_c, self.n_components, self.reg)
        self._set_directions(span, W)
        return self

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=1,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21)),
                "gamma": tuple(np.geomspace(1e-4, 10, 6).tolist()),
                "reg": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
                "n_neighbors_between": (5, 10, 20, 40, 80, 160),
            },
            paper=PAPER,
        )
