"""Local Fisher Discriminant Analysis and its kernel form (Sugiyama, ICML 2006)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from ddr_cli.core.registry import registered
from ddr_cli.numerics.kernels import GAMMAS, local_scaling_product
from ddr_cli.numerics.neighbor_graphs import class_members, warn_of_few
from ddr_cli.numerics.scatter import Span, quick_span, symmetric_product
from ddr_cli.numerics.sharing import computed_once
from ddr_cli.reducers.discriminant import (
    Discriminant,
    KernelDiscriminant,
    LinearDiscriminant,
    discriminant_directions,
    unit_within,
)
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@dataclass(eq=False, repr=False)
class _LocalFisher(Discriminant):
    """The eigenproblem of both forms."""

    n_neighbors: Annotated[int, Ge(1)] = 7
    embedding_type: Literal["plain", "weighted", "orthonormalized"] = "plain"
    reg: Annotated[float, Ge(0)] = 0.0

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        k = self.n_neighbors
        S_w, S_b = computed_once(
            lambda: local_scatter(Z, code, k), points, "lfda", code.tobytes(), k
        )
        self.eigenvalues_, T = discriminant_directions(
            S_b, S_w, self.n_components, self.reg, factorize=isinstance(self, KernelDiscriminant)
        )
        if self.embedding_type == "orthonormalized":
            return np.asarray(np.linalg.qr(T)[0])
        T = unit_within(T, Z, code, self.reg)
        if self.embedding_type == "weighted":
            return T * np.sqrt(np.maximum(self.eigenvalues_, 0.0))
        return T


@registered(
    "reducer",
    "lfda",
    "local Fisher discriminant analysis (Sugiyama)",
    label="LFDA",
    look=("sky", "h"),
)
class LFDA(_LocalFisher, LinearDiscriminant):
    r"""Separate the classes while keeping distant clusters of one class apart.

    The rows :math:`t` of `components_` are the leading solutions of

    .. math:: \tilde S^{(b)} t = \lambda \tilde S^{(w)} t, \qquad t^T \tilde S^{(w)} t = c,

    for the scatter matrices of `local_scatter`: nearby samples of one class are pulled together,
    distant ones are not, and samples of different classes are pushed apart. With the paper's c = 1
    the embedding shrinks as the number of samples grows; here c makes the within-class variance
    along the first direction 1.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data; unlike FDA, LFDA can have more
        than n_classes - 1. Default: our choice.
    n_neighbors : int, default=7
        The local scale of a sample is the distance to its `n_neighbors`-th nearest neighbour in its
        class. If the class has fewer samples, LFDA warns and uses the distance to the farthest
        sample of the class. Default: as in the paper.
    embedding_type : {"plain", "weighted", "orthonormalized"}, default="plain"
        "plain": the solutions as above. "weighted": each solution times :math:`\sqrt\lambda`, so
        that directions that separate better contribute more to distances. "orthonormalized":
        orthonormal directions with the same span. Default: our choice; the author's code uses
        "weighted".
    reg : float, default=0
        Ridge: this fraction of the mean eigenvalue of :math:`\tilde S^{(w)}` is added to its
        diagonal. Default: as in the paper.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing ratio.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`; the sum is the maximum of the paper's objective.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when a class has several clusters that should stay apart, or for more dimensions than
    `LDA`, which has at most n_classes - 1.

    Avoid it with few samples relative to the number of features, except with `reg` or after PCA.
    Avoid it on features with different units: local scales are distances, and standardising changes
    which samples are near.

    The null space of the covariance is removed first. If :math:`\tilde S^{(w)}` is still nearly
    singular (few samples relative to the number of features), the solution without a ridge follows
    noise: set `reg`, or reduce by PCA first. If it is singular, only the leading principal
    components are used, as many as keep its condition number at 1e3, with a warning. For a sample
    with `n_neighbors` or more duplicates, the scale is the distance to the nearest different sample
    of its class.

    For n samples in classes of :math:`n_c`, and rank r: :math:`O(\sum n_c^2 r + n r^2 + r^3)`.

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

    def _span_of(self, points: Any) -> Span:
        return computed_once(lambda: quick_span(points), points, "quick span")

    _traits = Traits(
        version=7,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (3, 5, 7, 10, 15),
            "embedding_type": ("plain", "weighted", "orthonormalized"),
            "reg": (0.0, 1e-4, 1e-3, 1e-2, 1e-1),
        },
        max_components=rank_of_centred,
    )


@registered(
    "reducer",
    "kernel_lfda",
    "local Fisher discriminant analysis in a kernel's feature space",
    label="kernel LFDA",
    look=("sky", "X"),
)
class KernelLFDA(KernelDiscriminant, _LocalFisher):
    r"""LFDA in the feature space of a kernel, with a ridge.

    The leading solutions of :math:`\tilde S^{(b)} t = \lambda (\tilde S^{(w)} + \rho I) t` with the
    samples replaced by their images :math:`\phi(x)` in feature space. Local scales are also
    distances in feature space.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred kernel matrix. Default: our choice.
    n_neighbors : int, default=7
        As in `LFDA`. Default: as in the paper.
    embedding_type : {"plain", "weighted", "orthonormalized"}, default="plain"
        As in `LFDA`; orthonormal in feature space. Default: our choice.
    reg : float, default=0.001
        :math:`\rho` in units of the mean eigenvalue of :math:`\tilde S^{(w)}` on the span of the
        samples. In feature space this matrix is singular, so there is no solution without a ridge.
        Default: our choice.
    kernel : str or callable, default="rbf"
        A kernel of scikit-learn's ``pairwise_kernels``, a function of two samples, or
        "precomputed": X is then the kernel matrix. Default: our choice.
    gamma : "scale" or float, default="scale"
        Parameter :math:`\gamma` of the kernels that have this parameter. "scale" is a reciprocal:
        of the total variance for "rbf", of the sum of the features' standard deviations for
        "laplacian", of the sum of variance over mean for "chi2", of the mean squared length for
        "poly" and "sigmoid".
    degree : int, default=3
        Degree of the polynomial kernel. Default: as in scikit-learn.
    coef0 : float, default=1
        Constant term of the polynomial and the sigmoid kernel. Default: as in scikit-learn.
    n_landmarks : int or None, default=None
        Nyström's low-rank approximation: directions are combinations of the images of this many
        training samples (landmarks), drawn at random; all other samples are projected on their
        span. With None, or with as many landmarks as samples, the solution is exact; with fewer
        landmarks, the origin is the mean of the landmarks. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    dual_components_ : ndarray of shape (n_components, n_landmarks)
        The directions as combinations of the centred images of the landmarks, by default all
        training samples.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda`.
    landmarks_ : ndarray of shape (n_landmarks,)
        Row numbers of the landmarks in the training set.
    X_fit_ : array or CSR of shape (n_landmarks, n_features)
        The landmarks.
    gamma_ : float
        The value of `gamma`.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when classes have several clusters and curved borders, on up to a few thousand samples.

    Avoid it on many samples. Check the kernel's bandwidth and the ridge: with a small bandwidth
    every training sample is far from all others, and new samples are embedded near 0.

    With the linear kernel this is `LFDA` with the same `reg`. The ridge is on the length of t in
    feature space, :math:`\alpha^T K \alpha`, not on that of its coefficients.

    For n samples: :math:`O(n^3)`, and several matrices of the size of the kernel's in memory. With
    l landmarks: :math:`O(n l^2 + \sum n_c^2 l)`.

    References
    ----------
    .. [1] M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality
       Reduction", ICML 2006, 905-912.
    .. [2] C. K. I. Williams, M. Seeger, "Using the Nyström Method to Speed Up Kernel Machines",
       NIPS 2000, 682-688.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLFDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=5,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21)),
                "gamma": GAMMAS,
                "reg": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
                "n_neighbors": (3, 5, 7, 10, 15),
            },
            max_components=self._rank_of_images,
        )


def local_scatter(X: Floats, code: Codes, k: int) -> tuple[Floats, Floats]:
    r"""Return the local within-class and the local between-class scatter matrix.

    With the affinity :math:`A` of local scaling inside each class, a sample's scale being the
    distance to its `k`-th nearest there, they are
    :math:`\frac12 \sum_{ij} \tilde A_{ij} (x_i - x_j)(x_i - x_j)^T` for

    .. math:: \tilde A^{(w)}_{ij} = A_{ij} / n_c, \qquad
        \tilde A^{(b)}_{ij} = A_{ij} (1/n - 1/n_c)

    where both samples are of class c, and 0 and 1/n where they are not of one class. All pairs with
    weight 1/n make up the total scatter, the pairs of class c their fraction :math:`n_c / n` of the
    class's own scatter, so pairs of different classes need not be visited.
    """
    n = len(X)
    deviation, product, outside = np.empty_like(X), np.zeros_like(X), np.empty((n, 1))
    means = []
    most = int(np.bincount(code).min()) - 1
    warn_of_few("n_neighbors", k, most, "other samples in the smallest class")
    for rows in class_members(code):
        n_c, mean = len(rows), X[rows].mean(axis=0)
        own = X[rows] - mean
        deviation[rows], outside[rows] = own, 1 - n_c / n
        means.append(np.sqrt(n_c) * mean)
        # A class with a single sample has no within-class pairs.
        if n_c > 1:
            product[rows] = local_scaling_product(own, min(k, n_c - 1))[0] / n_c
    within = symmetric_product(deviation, product)
    centres = np.array(means) - np.sqrt(np.bincount(code))[:, None] * X.mean(axis=0)
    product -= deviation
    product *= -outside
    return within, symmetric_product(deviation, product) + centres.T @ centres
