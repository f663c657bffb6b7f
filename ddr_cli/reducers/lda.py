"""Fisher's linear discriminant analysis, also where the within-class scatter is singular."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt

from ddr_cli.numerics.generalized_eigen import (
    MAX_CONDITION,
    generalized_eigenpairs,
    well_conditioned_order,
)
from ddr_cli.numerics.graph_embedding import scatter_matrices
from ddr_cli.reducers.discriminant import LinearDiscriminant
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits


class LDA(LinearDiscriminant):
    r"""Maximise the between-class against the within-class scatter.

    The rows :math:`a` of `components_` are the leading solutions of
    :math:`S_b a = \lambda S_w a`, with :math:`a^T S_w a = 1`.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of classes less one.
    max_condition : float, default=1e3
        Where the within-class scatter is singular: its largest condition number (its diagonal
        scaled to 1) on the principal components that are kept. From 1e10 on this is the rank to
        the digits of a float.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Discriminant directions, by decreasing ratio.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratios :math:`\lambda` of between- to within-class scatter.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.
    n_dimensions_ : int
        Principal components on which the ratio was maximised.

    Notes
    -----
    Unlike scikit-learn's: with fewer points than features the within-class scatter is singular.
    The data are then first reduced to the largest number of principal components on which it is
    not, as Nie, Xiang and Zhang do for their comparison ("Neighborhood MinMax Projections", IJCAI
    2007, section 6). They don't say when a matrix is singular. Read to the last digit, all n - C
    components of n points in C classes are kept, and the ratio is greatest where the training
    points of a class nearly coincide by chance; hence `max_condition`.

    For n points and d features: :math:`O(n d \min(n, d) + d^3)`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LDA(n_components=2).fit(X, y).components_.shape
    (2, 4)
    """

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        max_condition: Annotated[float, Gt(1)] = MAX_CONDITION,
    ) -> None:
        self.n_components = n_components
        self.max_condition = max_condition

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:  # noqa: ARG002
        m, n_classes = self.n_components, len(self.classes_)
        if m > n_classes - 1:
            raise ValueError(
                f"n_components={m}, but LDA finds at most one dimension less than there are "
                f"classes, and y has {n_classes} classes."
            )
        S_w, S_b = scatter_matrices(Z, code)
        # Scatter within classes below the rounding of the total is none.
        rounding = float(np.finfo(float).eps * np.trace(S_w + S_b))
        r = well_conditioned_order(S_w, max_condition=self.max_condition, floor=rounding)
        if r < m:
            raise ValueError(
                f"n_components={m}, but the within-class scatter is regular on {r} principal "
                f"components only: the classes have too few different points."
            )
        self.eigenvalues_, leading = generalized_eigenpairs(S_b[:r, :r], S_w[:r, :r], m, rank_tol=0)
        self.n_dimensions_ = r
        W = np.zeros((Z.shape[1], m))
        W[:r] = leading
        return W

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=2,
            nested=True,
            grids={"n_components": tuple(range(1, 10))},
            paper='Fukunaga, "Introduction to Statistical Pattern Recognition", 1990',
        )
