"""Fisher's linear discriminant analysis, also where the within-class scatter is singular."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.eigen import deterministic_signs, generalized_eigenpairs
from ddr_cli.numerics.regular_block import largest_regular_block
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.base import Traits
from ddr_cli.reducers.linear import LinearReducer

Floats = NDArray[np.float64]


class LDA(LinearReducer, BaseEstimator):
    r"""Maximise the between-class against the within-class scatter.

    The rows :math:`a` of `components_` are the leading solutions of
    :math:`S_b a = \lambda S_w a`, with :math:`a^T S_w a = 1`.

    Parameters
    ----------
    n_components : int, default=2
        At most the number of classes less one.

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
    n_features_in_ : int
        Number of features.

    Notes
    -----
    With fewer points than features the within-class scatter is singular. The data are then
    first reduced to the largest number of principal components on which it is not, as Nie, Xiang
    and Zhang do for their comparison ("Neighborhood MinMax Projections", IJCAI 2007, section 6).

    For n points and d features: :math:`O(n d \min(n, d) + d^3)`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LDA(n_components=2).fit(X, y).components_.shape
    (2, 4)
    """

    classes_: NDArray[Any]

    def __init__(self, n_components: Annotated[int, Ge(1)] = 2) -> None:
        self.n_components = n_components

    def fit(self, X: ArrayLike, y: ArrayLike) -> LDA:
        """Find the discriminant directions.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        LDA
            Itself.

        Raises
        ------
        ValueError
            If `n_components` exceeds the number of classes less one or the dimensions left, or if
            no class has two different points.
        """
        check_parameters(self)
        points, labels = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        check_classification_targets(labels)
        self.classes_ = np.unique(labels)
        m, n_classes = self.n_components, len(self.classes_)
        if m > n_classes - 1:
            raise ValueError(
                f"n_components={m}, but LDA finds at most one dimension less than there are "
                f"classes, and y has {n_classes} {'class' if n_classes == 1 else 'classes'}."
            )
        mean = points.mean(axis=0, dtype=np.float64)
        coordinates, axes = _principal_axes(points - mean)
        within, between = scatter_matrices(coordinates, labels)
        # Scatter within classes below the rounding of the total is none.
        rounding = np.finfo(float).eps * np.trace(within + between)
        r = largest_regular_block(within, floor=float(rounding))
        if r < m:
            raise ValueError(
                f"n_components={m}, but the within-class scatter has rank {r} after PCA: the "
                f"classes have too few different points."
            )
        self.eigenvalues_, directions = generalized_eigenpairs(
            between[:r, :r], within[:r, :r], m, rank_tol=0
        )
        self.n_dimensions_ = r
        self.mean_ = mean.astype(points.dtype)
        self.components_ = deterministic_signs(axes[:, :r] @ directions).T.astype(points.dtype)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.target_tags.required = True
        return tags

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=1,
            nested=True,
            grids={"n_components": tuple(range(1, 10))},
            paper='Fukunaga, "Introduction to Statistical Pattern Recognition", 1990',
        )


def _principal_axes(centred: Floats) -> tuple[Floats, Floats]:
    """Return the data's coordinates on their principal axes, without the null space, and these."""
    left, size, right = np.linalg.svd(np.asarray(centred, dtype=np.float64), full_matrices=False)
    kept = size > size[0] * max(centred.shape) * np.finfo(float).eps
    return left[:, kept] * size[kept], right[kept].T
