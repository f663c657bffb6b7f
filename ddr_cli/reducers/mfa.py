r"""Marginal Fisher Analysis (MFA).

S. Yan, D. Xu, B. Zhang, H.-J. Zhang, Q. Yang and S. Lin, "Graph Embedding and Extensions: A
General Framework for Dimensionality Reduction", IEEE Trans. PAMI 29(1), 2007, section 3.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ddr_cli.numerics.graph_embedding import laplacian_form
from ddr_cli.numerics.graphs import (
    between_class_graph,
    marginal_pairs,
    symmetrized,
    within_class_graph,
)
from ddr_cli.reducers.discriminant import LinearDiscriminant, discriminant_directions
from ddr_cli.reducers.registry import Traits

Floats = NDArray[np.float64]
Margin = Literal["pairs", "points"]

PAPER = (
    'Yan, Xu, Zhang, Zhang, Yang, Lin, "Graph Embedding and Extensions: A General Framework for '
    'Dimensionality Reduction", IEEE Trans. PAMI 29(1), 2007'
)


def marginal_scatter(
    points: Any, X: Floats, code: NDArray[np.intp], k_within: int, k_between: int, margin: Margin
) -> tuple[Floats, Floats]:
    """Return MFA's intraclass compactness and interclass separability matrices.

    Parameters
    ----------
    points : array or sparse of shape (n, n_features)
        Where neighbours are searched.
    X : ndarray of shape (n, d)
        The same points in the coordinates of the result.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.
    k_within, k_between, margin
        As for `MFA`.

    Returns
    -------
    compactness, separability : ndarray of shape (d, d)

    Raises
    ------
    ValueError
        If a class has too few points inside or outside it.
    """
    intrinsic = symmetrized(within_class_graph(points, code, k_within), "union")
    if margin == "pairs":
        penalty = marginal_pairs(points, code, k_between)
    else:
        penalty = symmetrized(between_class_graph(points, code, k_between), "union")
    return laplacian_form(X, intrinsic), laplacian_form(X, penalty)


class MFA(LinearDiscriminant):
    r"""Compact classes by their near points, and separate them at their margins only.

    The rows :math:`w` of `components_` are the leading solutions of

    .. math:: X (D^p - W^p) X^T w = \lambda X (D - W) X^T w

    for two graphs with weights 1: in the intrinsic graph W a point is connected to its nearest of
    the same class (either way round), in the penalty graph :math:`W^p` the closest pairs of two
    classes are connected. This is the paper's ratio the other way up, maximised instead of
    minimised.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions, at most the rank of the centred data.
    n_neighbors_within : int, default=5
        :math:`k_1`, nearest points of the own class.
    n_neighbors_between : int, default=20
        :math:`k_2`, closest pairs of a class with all others.
    margin : {"pairs", "points"}, default="pairs"
        "pairs" is the paper's penalty graph, `n_neighbors_between` pairs for each class; "points"
        is a common variant, the `n_neighbors_between` nearest outsiders of each point.
    reg : float, default=0
        Ridge: this share of the mean eigenvalue of the compactness matrix is added to its
        diagonal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing ratio, each with compactness 1.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda` of separability to compactness.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The null space of the covariance is removed first. Where the compactness matrix is singular
    even so, only the leading principal components are used, as many as keep its condition number
    at 1e3, with a warning: the paper's PCA step.

    For n points, d features and rank r: :math:`O(n^2 d)` for the neighbours,
    :math:`O(n r (k + r) + r^3)` for the rest.

    References
    ----------
    .. [1] S. Yan, D. Xu, B. Zhang, H.-J. Zhang, Q. Yang, S. Lin, "Graph Embedding and Extensions:
       A General Framework for Dimensionality Reduction", IEEE Trans. PAMI 29(1), 2007, 40-51.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MFA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    eigenvalues_: Floats

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        n_neighbors_within: Annotated[int, Ge(1)] = 5,
        n_neighbors_between: Annotated[int, Ge(1)] = 20,
        margin: Margin = "pairs",
        reg: Annotated[float, Ge(0)] = 0.0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors_within = n_neighbors_within
        self.n_neighbors_between = n_neighbors_between
        self.margin = margin
        self.reg = reg

    def fit(self, X: ArrayLike, y: ArrayLike) -> MFA:
        """Find the directions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        MFA
            Itself.

        Raises
        ------
        ValueError
            If there is one class only, a class has too few points inside or outside it for the
            neighbours asked for, or the points span fewer than `n_components` dimensions.
        """
        points, code, span = self._labelled_span(X, y)
        S_c, S_p = marginal_scatter(
            points,
            span.coordinates,
            code,
            self.n_neighbors_within,
            self.n_neighbors_between,
            self.margin,
        )
        self.eigenvalues_, W = discriminant_directions(S_p, S_c, self.n_components, self.reg)
        self._set_components(span, W, points.dtype)
        return self

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=2,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21)),
                "n_neighbors_within": (1, 2, 3, 5, 10),
                "n_neighbors_between": (5, 10, 20, 40, 80, 160),
                "reg": (0.0, 1e-4, 1e-3, 1e-2, 1e-1),
            },
            paper=PAPER,
        )
