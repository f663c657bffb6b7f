"""Marginal Fisher Analysis and its kernel form (Yan et al., IEEE Trans. PAMI 29(1), 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from annotated_types import Ge

from ddr_cli.core.registry import registered
from ddr_cli.numerics.kernels import GAMMAS
from ddr_cli.numerics.neighbor_graphs import (
    marginal_pairs,
    symmetrized,
    within_class_graph,
)
from ddr_cli.numerics.scatter import laplacian_form
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
class _MarginalFisher(Discriminant):
    """The eigenproblem of both forms."""

    n_neighbors_within: Annotated[int, Ge(1)] = 5
    n_neighbors_between: Annotated[int, Ge(1)] = 20
    reg: Annotated[float, Ge(0)] = 0.0

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        intrinsic = symmetrized(within_class_graph(points, code, self.n_neighbors_within), "union")
        penalty = marginal_pairs(points, code, self.n_neighbors_between)
        S_w, S_b = laplacian_form(Z, intrinsic), laplacian_form(Z, penalty)
        self.eigenvalues_, W = discriminant_directions(
            S_b, S_w, self.n_components, self.reg, factorize=isinstance(self, KernelDiscriminant)
        )
        return unit_within(W, Z, code, self.reg)


@registered(
    "reducer", "mfa", "marginal Fisher analysis (Yan et al.)", label="MFA", look=("pink", "s")
)
class MFA(_MarginalFisher, LinearDiscriminant):
    r"""Pull nearby samples of a class together, and separate classes at their margins.

    The rows :math:`w` of `components_` are the leading solutions of

    .. math:: X (D^p - W^p) X^T w = \lambda X (D - W) X^T w

    for two graphs with weights 1: in the intrinsic graph W a sample is connected to its nearest of
    the same class (either way round), in the penalty graph :math:`W^p` the closest pairs of two
    classes are connected. This is the inverse of the paper's ratio, maximised instead of minimised.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. Default: our choice.
    n_neighbors_within : int, default=5
        :math:`k_1`, number of nearest samples of the same class. Default: as in D. Cai's code
        (intraK).
    n_neighbors_between : int, default=20
        :math:`k_2`, number of closest pairs between a class and all others. Default: as in D. Cai's
        code (interK).
    reg : float, default=0
        Ridge: this fraction of the mean eigenvalue of the compactness matrix is added to its
        diagonal. Default: as in the paper.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing ratio, all with the same compactness. The within-class
        variance along the first is 1.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda` of separability to compactness.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when classes are not Gaussian and their borders matter: only nearby samples of a class
    and the closest pairs of different classes count.

    Avoid it when labels near the border are often wrong, since a few pairs decide. The numbers of
    neighbours must be chosen, and with few samples relative to the number of features also PCA or
    `reg`.

    The null space of the covariance is removed first. If the compactness matrix is still singular,
    only the leading principal components are used, as many as keep its condition number at 1e3,
    with a warning: the paper's PCA step.

    For n samples, d features and rank r: :math:`O(n^2 d)` for the neighbours,
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

    _traits = Traits(
        version=5,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors_within": (1, 2, 3, 5, 10),
            "n_neighbors_between": (5, 10, 20, 40, 80, 160),
            "reg": (0.0, 1e-4, 1e-3, 1e-2, 1e-1),
        },
        preprocess=("pca {n_components: 0.98}",),
        max_components=rank_of_centred,
    )


@registered(
    "reducer",
    "kernel_mfa",
    "marginal Fisher analysis in a kernel's feature space",
    label="kernel MFA",
    look=("pink", "v"),
)
class KernelMFA(KernelDiscriminant, _MarginalFisher):
    r"""MFA in the feature space of a kernel, with a ridge.

    The leading solutions of MFA's eigenproblem with the samples replaced by their images
    :math:`\phi(x)` in feature space. Neighbours are also nearest in feature space.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred kernel matrix. Default: our choice.
    n_neighbors_within : int, default=5
        As in `MFA`. Default: as in D. Cai's code (intraK).
    n_neighbors_between : int, default=20
        As in `MFA`. Default: as in D. Cai's code (interK).
    reg : float, default=0.001
        Ridge: this fraction of the mean eigenvalue of the compactness matrix on the span of the
        samples is added to its diagonal. In feature space this matrix is singular, so there is no
        solution without a ridge. Default: our choice.
    kernel : str or callable, default="rbf"
        As in `KernelLFDA`. Default: our choice.
    gamma : "scale" or float, default="scale"
        Parameter :math:`\gamma` of the kernels that have this parameter; see `KernelLFDA`. Default:
        our choice.
    degree : int, default=3
        Degree of the polynomial kernel. Default: as in scikit-learn.
    coef0 : float, default=1
        Constant term of the polynomial and the sigmoid kernel. Default: as in scikit-learn.
    n_landmarks : int or None, default=None
        Number of landmarks of Nyström's approximation; None uses all training samples. Default: our
        choice.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks.

    Attributes
    ----------
    dual_components_, landmarks_, X_fit_, gamma_, classes_
        As in `KernelLFDA`.
    eigenvalues_ : ndarray of shape (n_components,)
        The ratios :math:`\lambda` of separability to compactness.

    Notes
    -----
    Use it when the borders of the classes are curved, on up to a few thousand samples.

    Avoid it on many samples. Check the kernel's bandwidth and the ridge.

    With the linear kernel this is `MFA` with the same `reg`.

    For n samples: :math:`O(n^3)`, and several matrices of the size of the kernel's in memory. With
    l landmarks: :math:`O(n^2 l)`.

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

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=5,
            nested=True,
            grids={
                "n_components": tuple(range(1, 21)),
                "gamma": GAMMAS,
                "reg": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1),
                "n_neighbors_between": (5, 10, 20, 40, 80, 160),
            },
            max_components=self._rank_of_images,
        )
