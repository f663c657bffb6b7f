"""A diffusion map of a random forest's proximities (Rhodes)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import laplacian_eigenpairs
from ddr_cli.numerics.neighbors import CsrArray
from ddr_cli.reducers.reducer import Embedding, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_points
from ddr_cli.reducers.rivals.forest import ForestReducer

_ZERO = 1e-10  # eigenvalues up to this count as 0


@registered(
    "reducer",
    "forest_diffusion",
    "diffusion map of a random forest's proximities (Rhodes)",
    look=("green", "X"),
)
class ForestDiffusion(ForestReducer, Embedding):
    r"""Embed by the diffusion map of a random forest's proximities.

    The proximity of a sample i to a training sample j is the mean, over the trees that were grown
    without i, of the fraction of the leaf that j makes up,

    .. math:: p(i, j) = \frac{1}{|S_i|} \sum_{t \in S_i}
        \frac{c_j(t) \, [j \in J_i(t)]}{\sum_{k \in J_i(t)} c_k(t)},

    where sample j is :math:`c_j(t)` times in the bootstrap sample of tree t, :math:`J_i(t)` are the
    training samples in the leaf that i reaches, and :math:`S_i` are the trees with
    :math:`c_i(t) = 0`; for a new sample, all trees. The proximities of a sample add up to 1, and
    weighted by them the training labels predict what the forest does ("out of bag").
    With :math:`W = (P + P^T) / 2` and :math:`D = \mathrm{diag}(W 1)`, the training samples are
    embedded at :math:`\lambda_l^t u_l(i)` for the leading eigenpairs of
    :math:`W u = \lambda D u`, without the constant one; :math:`u_l` has the D-weighted variance 1.
    Nyström's formula embeds a new sample at :math:`\lambda_l^{t - 1} \sum_j p(x, j) u_l(j)`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, fewer than n_samples; dimensions with an eigenvalue that is not
        positive are 0. Default: our choice.
    n_estimators : int, default=100
        Number of trees. Default: as in scikit-learn.
    min_samples_leaf : int, default=1
        Smallest number of training samples in a leaf. Default: as in scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed of the trees' samples and features.
    diffusion_time : int, default=1
        The number of steps t of the diffusion. With more steps, small clusters matter less.
        Default: our choice.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending.
    shift_, scale_ : ndarray of shape (n_features,)
        What is subtracted from each feature, and what it is multiplied by, as for
        `ForestEmbedding`.
    forest_ : sklearn.ensemble.RandomForestClassifier
        The forest, fitted to the shifted and scaled features.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it with features of different kinds and units, and with classes that depend on combinations
    of features. Unlike the leaves of `ForestEmbedding`, the proximities of a training sample come
    from trees that have not used its label.

    Avoid it with few samples, on which each tree has few leaves.

    Groups of samples without any proximity to others have the eigenvalue 1; the first dimensions
    tell such groups apart.

    A training sample that every tree has used is embedded as if it were new.

    The scale of each feature has no effect, so that whitening before it has none either.

    For n samples, d features, T trees, and m dimensions: :math:`O(T n \sqrt{d} \ln^2 n)` for the
    trees, at most :math:`O(n^2 m)` for each of Lanczos' restarts.

    References
    ----------
    .. [1] J. S. Rhodes, "Supervised Manifold Learning via Random Forest Geometry-Preserving
       Proximities", arXiv:2307.01077, 2023: diffusion maps, among others, of these proximities.
    .. [2] J. S. Rhodes, A. Cutler, K. R. Moon, "Geometry- and Accuracy-Preserving Random Forest
       Proximities", arXiv:2201.12682, 2022; IEEE Transactions on Pattern Analysis and Machine
       Intelligence 45, 2023: the proximities.
    .. [3] R. R. Coifman, S. Lafon, "Diffusion maps", Applied and Computational Harmonic Analysis
       21, 2006, 5-30.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> ForestDiffusion(n_components=2, random_state=0).fit_transform(X, y).shape
    (150, 2)
    """

    min_samples_leaf: Annotated[int, Ge(1)] = 1
    diffusion_time: Annotated[int, Ge(1)] = 1

    def fit(self, X: ArrayLike, y: ArrayLike) -> ForestDiffusion:
        points, code = self._points_and_classes(X, y)
        self._check_dimensions(len(code))
        self._grow(points, code)
        drawn = self.forest_.estimators_samples_
        counts = np.array([np.bincount(rows, minlength=len(code)) for rows in drawn]).T
        unused = (counts == 0).astype(float)
        unused[~unused.any(axis=1)] = 1.0
        leaves = self._reached(points)
        shares = self._by_leaf(leaves, counts)
        in_leaf = np.maximum(np.asarray(shares.sum(axis=0)).ravel(), 1)
        shares = sp.csr_array(shares @ sp.diags_array(1 / in_leaf))
        P = self._by_leaf(leaves, unused / unused.sum(axis=1, keepdims=True)) @ shares.T
        values, vectors = laplacian_eigenpairs(sp.csr_array((P + P.T) / 2), self.n_components)
        self.eigenvalues_ = 1 - values
        vectors *= np.sqrt(len(code))  # the degrees sum to n, so weighted mean squares become 1
        kept = np.where(self.eigenvalues_ > _ZERO, self.eigenvalues_, 0.0)
        self.embedding_ = (vectors * kept**self.diffusion_time).astype(points.dtype)
        self._of_leaves: Floats = (shares.T @ vectors) * (kept > 0)
        self._of_leaves *= kept ** (self.diffusion_time - 1)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        leaves = self._reached(points)
        placed = self._by_leaf(leaves, np.full(leaves.shape, 1 / self.n_estimators))
        return np.asarray(placed @ self._of_leaves).astype(points.dtype)

    def _by_leaf(self, leaves: NDArray[np.intp], weights: NDArray[Any]) -> CsrArray:
        """Return a matrix with a column for each node of the forest, and the weights in leaves."""
        ends = np.cumsum([tree.tree_.node_count for tree in self.forest_.estimators_])
        columns = leaves + np.concatenate([[0], ends[:-1]])
        starts = np.arange(leaves.shape[0] + 1) * leaves.shape[1]
        found = sp.csr_array(
            (weights.ravel().astype(float), columns.ravel(), starts),
            shape=(leaves.shape[0], ends[-1]),
        )
        found.eliminate_zeros()
        return found

    _traits = Traits(
        version=2,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "min_samples_leaf": (1, 2, 5, 10, 20),
            "diffusion_time": (1, 2, 4, 8),
        },
        max_components=one_less_than_points,
    )
