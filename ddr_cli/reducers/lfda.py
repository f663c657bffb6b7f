r"""Local Fisher Discriminant Analysis (LFDA).

M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality Reduction", ICML
2006, pages 905-912.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from ddr_cli.numerics.graphs import class_members
from ddr_cli.numerics.kernels import local_scales, local_scaling_forms
from ddr_cli.reducers.discriminant import LinearDiscriminant, discriminant_directions
from ddr_cli.reducers.registry import Traits

Floats = NDArray[np.float64]
EmbeddingType = Literal["plain", "weighted", "orthonormalized"]

PAPER = (
    'Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality Reduction", '
    "ICML 2006"
)


def local_scatter(X: Floats, code: NDArray[np.intp], k: int) -> tuple[Floats, Floats]:
    r"""Return the local within-class and the local between-class scatter matrix.

    With the affinity :math:`A` of local scaling inside each class they are
    :math:`\frac12 \sum_{ij} \tilde A_{ij} (x_i - x_j)(x_i - x_j)^T` for

    .. math:: \tilde A^{(w)}_{ij} = A_{ij} / n_c, \qquad
        \tilde A^{(b)}_{ij} = A_{ij} (1/n - 1/n_c)

    where both points are of class c, and 0 and 1/n where they are not of one class.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point, 0 to L - 1.
    k : int
        The local scale of a point is the distance to its k-th nearest inside the class.

    Returns
    -------
    within, between : ndarray of shape (d, d)

    Raises
    ------
    ValueError
        If a class has no more than `k` points.

    Notes
    -----
    All pairs with weight 1/n make up the total scatter, the pairs of class c their share
    :math:`n_c / n` of the class's own scatter, so no pair of two classes is ever visited.
    """
    n = len(X)
    centred = X - X.mean(axis=0)
    within = np.zeros((X.shape[1], X.shape[1]))
    between = centred.T @ centred
    smallest = int(np.bincount(code).min())
    if k >= smallest:
        raise ValueError(
            f"n_neighbors={k}, but the smallest class has n_samples = {smallest}: there can be at "
            f"most {smallest - 1} neighbours inside it."
        )
    for rows in class_members(code):
        own, n_c = X[rows], len(rows)
        local, _ = local_scaling_forms(own, local_scales(own, k))
        deviation = own - own.mean(axis=0)
        within += local / n_c
        between += (1 / n - 1 / n_c) * local - (n_c / n) * (deviation.T @ deviation)
    return within, between


def embedded(values: Floats, directions: Floats, kind: EmbeddingType) -> Floats:
    r"""Return directions as they are, times :math:`\sqrt\lambda`, or made orthonormal in order."""
    if kind == "weighted":
        return directions * np.sqrt(np.maximum(values, 0.0))
    if kind == "orthonormalized":
        return np.asarray(np.linalg.qr(directions)[0])
    return directions


class LFDA(LinearDiscriminant):
    r"""Separate the classes, and keep what is far apart inside a class apart.

    The rows :math:`t` of `components_` are the leading solutions of

    .. math:: \tilde S^{(b)} t = \lambda \tilde S^{(w)} t, \qquad t^T \tilde S^{(w)} t = 1,

    for the scatter matrices of `local_scatter`: near points of one class are drawn together, far
    ones are not, and points of two classes are pushed apart.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions, at most the rank of the centred data: more than the classes less one of FDA.
    n_neighbors : int, default=7
        The local scale of a point is the distance to this nearest neighbour inside its class.
    embedding_type : {"plain", "weighted", "orthonormalized"}, default="plain"
        The solutions as above; each times :math:`\sqrt\lambda`, so that a direction counts in
        distances by how well it separates; or orthonormal directions of the same span.
    reg : float, default=0
        Ridge: this share of the mean eigenvalue of :math:`\tilde S^{(w)}` is added to its
        diagonal.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing ratio.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`; the sum is the maximum of the paper's objective.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.
    n_features_in_ : int
        Number of features.

    Notes
    -----
    The null space of the covariance is removed first. Where :math:`\tilde S^{(w)}` is nearly
    singular even so (few points for the features), the solution without a ridge follows noise:
    give `reg`, or reduce by PCA first. Where it is singular, only the leading principal
    components are used, as many as keep its condition number at 1e3, with a warning. A point
    with `n_neighbors` or more duplicates has the distance to the nearest other point of its class
    as its scale.

    For n points in classes of :math:`n_c`, and rank r: :math:`O(\sum n_c^2 r + n r^2 + r^3)`.

    References
    ----------
    .. [1] M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality
       Reduction", ICML 2006, 905-912.
    .. [2] M. Sugiyama, "Dimensionality Reduction of Multimodal Labeled Data by Local Fisher
       Discriminant Analysis", JMLR 8, 2007, 1027-1061.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LFDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    eigenvalues_: Floats

    def __init__(
        self,
        n_components: Annotated[int, Ge(1)] = 2,
        n_neighbors: Annotated[int, Ge(1)] = 7,
        embedding_type: EmbeddingType = "plain",
        reg: Annotated[float, Ge(0)] = 0.0,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.embedding_type = embedding_type
        self.reg = reg

    def fit(self, X: ArrayLike, y: ArrayLike) -> LFDA:
        """Find the directions.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Class labels of any type.

        Returns
        -------
        LFDA
            Itself.

        Raises
        ------
        ValueError
            If there is one class only, a class has no more than `n_neighbors` points, or the
            points span fewer than `n_components` dimensions.
        """
        points, code, span = self._labelled_span(X, y)
        S_w, S_b = local_scatter(span.coordinates, code, self.n_neighbors)
        self.eigenvalues_, T = discriminant_directions(S_b, S_w, self.n_components, self.reg)
        T = embedded(self.eigenvalues_, T, self.embedding_type)
        self._set_components(span, T, points.dtype)
        return self

    def __ddr_traits__(self) -> Traits:
        """Return what the engine may share between fits."""
        return Traits(
            version=2,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21)),
                "n_neighbors": (3, 5, 7, 10, 15),
                "embedding_type": ("plain", "weighted", "orthonormalized"),
                "reg": (0.0, 1e-4, 1e-3, 1e-2, 1e-1),
            },
            paper=PAPER,
        )
