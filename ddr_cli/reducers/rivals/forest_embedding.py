"""The leaves of a random forest as coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import preprocessing

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.preprocess import fit_pca
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.rivals.forest import ForestReducer

_ZERO = 1e-12  # relative size at which a variance counts as 0


@registered(
    "reducer",
    "forest_embedding",
    "principal components of the leaves of a random forest (Breiman)",
    look=("green", "D"),
)
class ForestEmbedding(ForestReducer):
    r"""Embed by the principal components of the leaves that samples reach in a random forest.

    For every leaf of T trees, :math:`\phi(x)` has an entry :math:`T^{-1/2}` if the sample ends
    there and 0 if not. The inner product of two samples is the fraction of trees in which they
    reach the same leaf, the forest's proximity. The embedding consists of the leading principal
    components :math:`V^T (\phi(x) - \bar\phi)`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, fewer than n_samples; dimensions in which the leaves do not differ are
        0.
    n_estimators : int, default=100
        Number of trees T.
    min_samples_leaf : int, default=5
        Smallest number of training samples in a leaf.
    random_state : int, RandomState or None, default=None
        Seed of the trees' samples and features.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_leaves)
        The rows of :math:`V^T`.
    explained_variance_ : ndarray of shape (n_components,)
        Variance along each, descending.
    shift_ : ndarray of shape (n_features,)
        The value that is subtracted from each feature before scaling: its value nearest to 0 if the
        feature never changes sign, else 0. The trees compute in float32, which keeps 7 digits.
    scale_ : ndarray of shape (n_features,)
        Powers of two by which the shifted features are multiplied, so that each has a range in
        [1, 2); 0 for constant features.
    forest_ : sklearn.ensemble.RandomForestClassifier
        The forest, fitted to the shifted and scaled features.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with features of different kinds and units, and with classes that depend on combinations
    of features.

    Do not judge it by its training samples, whose labels the trees have used. Avoid it with few
    samples, on which each tree has few leaves.

    The trees have used the labels of the training samples, so classes are further apart among these
    than among new samples: errors on the training set are not informative.

    The scale of each feature has no effect, so that whitening before it has none either.

    For n samples, d features and m dimensions: :math:`O(T n \sqrt{d} \ln^2 n)` for the trees,
    :math:`O(n T m)` for each iteration of the eigenvectors.

    References
    ----------
    .. [1] L. Breiman, "Random Forests", Machine Learning 45, 2001, 5-32.
    .. [2] P. Geurts, D. Ernst, L. Wehenkel, "Extremely randomized trees", Machine Learning 63,
       2006, 3-42: the kernel of an ensemble of trees.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ForestEmbedding(n_components=2, random_state=0).fit_transform(X, y).shape
    (150, 2)
    """

    _fitted = "components_"

    def fit(self, X: ArrayLike, y: ArrayLike) -> ForestEmbedding:
        points, code = self._points_and_classes(X, y)
        self._grow(points, code)
        encoder = preprocessing.OneHotEncoder().set_output(transform="default")
        self._encoder = encoder.fit(self._reached(points))
        leaves = self._leaves(points)
        self._check_rank(len(code) - 1, points)
        pca = fit_pca(leaves, min(self.n_components, *leaves.shape))
        variance = pca.explained_variance_
        kept = variance > _ZERO * max(float(variance[0]), _ZERO)
        shape = (self.n_components, leaves.shape[1])
        self.components_ = np.zeros(shape)
        self.components_[: len(kept)][kept] = pca.components_[kept]
        self.explained_variance_ = np.zeros(shape[0])
        self.explained_variance_[: len(kept)] = np.where(kept, variance, 0.0)
        self._shift = pca.mean_ @ self.components_.T
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        placed = self._leaves(points) @ self.components_.T - self._shift
        return np.asarray(placed.astype(points.dtype))

    def _leaves(self, points: Any) -> Any:
        leaves = self._encoder.transform(self._reached(points))
        return leaves.tocsr() / np.sqrt(self.n_estimators)

    _traits = Traits(
        version=4,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "min_samples_leaf": (1, 2, 5, 10, 20),
        },
        max_components=one_less_than_points,
    )
