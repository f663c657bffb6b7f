"""Locality sensitive discriminant analysis (Cai et al.)."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le

from ddr_cli.core.registry import registered
from ddr_cli.numerics.generalized_eigen import generalized_eigenpairs
from ddr_cli.numerics.neighbor_graphs import neighbor_affinity
from ddr_cli.numerics.scatter import laplacian_form, symmetric
from ddr_cli.reducers.discriminant import LinearDiscriminant, unit_within
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred

_ZERO = 1e-10  # the authors' code drops directions with an eigenvalue below it


@registered(
    "reducer",
    "lsda",
    "locality sensitive discriminant analysis (Cai et al.)",
    label="LSDA",
    look=("orange", "s"),
)
class LSDA(LinearDiscriminant):
    r"""Pull nearby samples of one class together, and push nearby samples of other classes away.

    The rows :math:`a` of `components_` are the leading solutions of

    .. math:: X (\alpha L_b + (1 - \alpha) W_w) X^T a = \lambda X D_w X^T a, \qquad
        a^T X D_w X^T a = c,

    with :math:`\lambda > 0`; the constant c makes the within-class variance along the first 1.

    Two samples are connected, with weight 1, if either is among the other's `n_neighbors` nearest:
    in :math:`W_w` if they are of one class, in :math:`W_b`, whose Laplacian is :math:`L_b`, if not;
    :math:`D_w` holds the degrees in :math:`W_w`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the number of directions with :math:`\lambda > 0`. The
        authors' code also drops the other directions, along which nearby samples of one class are
        on opposite sides. Default: our choice.
    n_neighbors : int, default=5
        Number of neighbours of a sample, of any class. Default: as in the example of D. Cai's code;
        without arguments, the code uses all pairs.
    alpha : float, default=0.1
        The weight :math:`\alpha`, between 0 and 1, of pushing different classes apart. Default: as
        in D. Cai's code (beta).

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing :math:`\lambda`.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when nearby samples belong to different classes and there is locally a direction that
    separates them.

    If noise in many features decides which samples are near, apply PCA first. `alpha`, which weighs
    the two graphs, must be chosen.

    The constraint depends on the origin; here it is the mean of the samples, as after the paper's
    PCA.

    For n samples, d features and rank r: :math:`O(n^2 d)` for the neighbours,
    :math:`O(n r (k + r) + r^3)` for the rest.

    References
    ----------
    .. [1] D. Cai, X. He, K. Zhou, J. Han, H. Bao, "Locality Sensitive Discriminant Analysis",
       IJCAI 2007, 708-713.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LSDA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_neighbors: Annotated[int, Ge(1)] = 5
    alpha: Annotated[float, Ge(0), Le(1)] = 0.1

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        graph, _, _ = neighbor_affinity(points, self.n_neighbors, weights="binary")
        pairs = graph.tocoo()
        alike = code[pairs.row] == code[pairs.col]
        within, between = graph.copy(), graph.copy()
        if not alike.any():
            raise ValueError("No sample has a neighbour of its own class. Increase n_neighbors.")
        within.data, between.data = 1.0 * alike, 1.0 * ~alike
        degree = np.asarray(within.sum(axis=1)).reshape(-1, 1)
        apart, together = laplacian_form(Z, between), symmetric(Z.T @ (within @ Z))
        self.eigenvalues_, A = generalized_eigenpairs(
            self.alpha * apart + (1 - self.alpha) * together,
            symmetric(Z.T @ (degree * Z)),
            self.n_components,
        )
        positive = int(np.sum(self.eigenvalues_ > _ZERO))
        if positive < self.n_components:
            raise ValueError(
                f"n_components={self.n_components}, but LSDA has only {positive} directions with a "
                "positive eigenvalue. Lower n_components."
            )
        return unit_within(A, Z, code)

    _traits = Traits(
        version=3,
        nested=True,
        grids={
            "n_components": tuple(range(1, 21)),
            "n_neighbors": (3, 5, 7, 10, 15),
            "alpha": (0.02, 0.1, 0.3, 0.5, 0.7, 0.9),
        },
        preprocess=("pca {n_components: 0.98}",),
        max_components=rank_of_centred,
    )
