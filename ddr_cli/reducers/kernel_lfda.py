r"""Kernel Local Fisher Discriminant Analysis.

M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality Reduction", ICML
2006, pages 905-912.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray

from ddr_cli.reducers.discriminant import discriminant_directions
from ddr_cli.reducers.kernel import Kernel, KernelDiscriminant
from ddr_cli.reducers.lfda import PAPER, EmbeddingType, embedded, local_scatter
from ddr_cli.reducers.registry import Traits


class KernelLFDA(KernelDiscriminant):
    r"""LFDA in the feature space of a kernel, with a ridge.

    The leading solutions of :math:`\tilde S^{(b)} t = \lambda (\tilde S^{(w)} + \rho I) t` with
    the points replaced by their images :math:`\phi(x)`; local scales, too, are distances there.

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
    n_neighbors : int, default=7
        The local scale of a point is the distance to this nearest neighbour inside its class.
    embedding_type : {"plain", "weighted", "orthonormalized"}, default="plain"
        As for `LFDA`; orthonormal in feature space.
    reg : float, default=0.001
        :math:`\rho` in units of the mean eigenvalue of :math:`\tilde S^{(w)}` on the span of the
        points. In feature space this matrix is singular, so there is no solution without.

    Attributes
    ----------
    dual_components_ : ndarray of shape (n_components, n_samples)
        The directions as combinations of the centred images of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`.
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
    With the linear kernel this is `LFDA` with the same `reg`. The ridge is on the length of t in
    feature space, :math:`\alpha^T K \alpha`, not on that of its coefficients.

    For n points: :math:`O(n^3)`, and the kernel matrix in memory.

    References
    ----------
    .. [1] M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality
       Reduction", ICML 2006, 905-912.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLFDA(n_components=2).fit_transform(X, y).shape
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
        n_neighbors: Annotated[int, Ge(1)] = 7,
        embedding_type: EmbeddingType = "plain",
        reg: Annotated[float, Gt(0)] = 1e-3,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.n_neighbors = n_neighbors
        self.embedding_type = embedding_type
        self.reg = reg

    def fit(self, X: ArrayLike, y: ArrayLike) -> KernelLFDA:
        """Find the directions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
            With ``kernel="precomputed"``, the kernel matrix of shape (n_samples, n_samples).
        y : array of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        KernelLFDA
            Itself.

        Raises
        ------
        ValueError
            If there is one class only, a class has no more than `n_neighbors` points, or the
            images of the points span fewer than `n_components` dimensions.
        """
        code, span = self._labelled_span(X, y)
        S_w, S_b = local_scatter(span.coordinates, code, self.n_neighbors)
        self.eigenvalues_, T = discriminant_directions(S_b, S_w, self.n_components, self.reg)
        self._set_directions(span, embedded(self.eigenvalues_, T, self.embedding_type))
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
                "n_neighbors": (3, 5, 7, 10, 15),
            },
            paper=PAPER,
        )
