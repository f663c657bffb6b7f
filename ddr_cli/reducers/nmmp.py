"""Neighborhood MinMax Projections (Nie, Xiang and Zhang, IJCAI 2007)."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Annotated, Any, Literal, Self

from annotated_types import Ge

from ddr_cli.core.registry import registered
from ddr_cli.numerics.neighbor_graphs import between_class_graph, class_graphs, symmetrized
from ddr_cli.numerics.scatter import Span, laplacian_form, laplacian_form_of_parts
from ddr_cli.numerics.sharing import computed_once
from ddr_cli.numerics.trace_ratio import trace_ratio
from ddr_cli.reducers.discriminant import LinearDiscriminant, above_rounding
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "nmmp",
    "neighborhood minmax projections (Nie et al.)",
    label="NMMP",
    look=("vermilion", "v"),
)
class NMMP(LinearDiscriminant):
    r"""Pull mutual neighbours of one class together, and mutual neighbours of two classes apart.

    The rows of `components_` are the columns of the W that attains (Eq. 8)

    .. math:: \max_{W^T W = I}
        \frac{\mathrm{tr}(W^T \tilde S_b W)}{\mathrm{tr}(W^T \tilde S_w W)}

    where :math:`\tilde S_w` (Eq. 3) and :math:`\tilde S_b` (Eq. 5) are the sums of
    :math:`(x_i - x_j)(x_i - x_j)^T` over the pairs of one class, and of two classes, in which each
    sample is among the other's nearest.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions m, at most the rank of the centred data. Default: our choice.
    n_neighbors_within : "half" or int, default="half"
        :math:`k_w`, number of nearest samples of the same class. "half" is the paper's :math:`n_i /
        2 + 2` for a class of :math:`n_i` samples, at most :math:`n_i - 1`. Default: as in the
        paper.
    n_neighbors_between : int, default=10
        :math:`k_b`, number of nearest samples of all other classes. Default: as in the paper.
    solver : {"newton", "bisection"}, default="newton"
        Algorithm that maximises the trace ratio. Both algorithms find the global maximum; the paper
        uses bisection. Default: our choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions. They are determined up to a rotation among themselves. In case 2
        with equal leading eigenvalues, those along the leading principal components are taken, with
        a warning.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    trace_ratio_ : float
        The maximum; ``inf`` where `n_components` directions exist along which mutual neighbours
        of one class coincide (the paper's case 2).
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when classes have several clusters or there are more features than samples: it uses
    nearby pairs only, inverts no matrix, and its directions are orthonormal.

    Avoid it when solutions for different `n_components` must be nested. If noise in many features
    decides which samples are near, reduce by PCA first, as the paper does.

    The null space of the covariance is removed first (Table 2, step 0), without loss (Eq. 10). No
    matrix is inverted, so a singular :math:`\tilde S_w` needs no special care. Solutions for
    different m are not nested.

    For n samples, d features and rank r of the data: :math:`O(n^2 d)` for the neighbours,
    :math:`O(n r (k + r))` for the scatter matrices and :math:`O(r^3)` for each of about 5 Newton
    steps. Only the graph of one class is in memory at a time.

    References
    ----------
    .. [1] F. Nie, S. Xiang, C. Zhang, "Neighborhood MinMax Projections", IJCAI 2007, 993-998.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NMMP(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_neighbors_within: Literal["half"] | Annotated[int, Ge(1)] = "half"
    n_neighbors_between: Annotated[int, Ge(1)] = 10
    solver: Literal["newton", "bisection"] = "newton"

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        def within() -> Floats:
            classes = class_graphs(points, code, self.n_neighbors_within)
            mutual = ((rows, symmetrized(graph, "mutual")) for rows, graph in classes)
            return laplacian_form_of_parts(Z, mutual)

        def between() -> Floats:
            graph = between_class_graph(points, code, self.n_neighbors_between)
            return laplacian_form(Z, symmetrized(graph, "mutual"))

        y = code.tobytes()
        S_w = computed_once(within, points, "nmmp within", y, self.n_neighbors_within)
        S_b = computed_once(between, points, "nmmp between", y, self.n_neighbors_between)
        self._scatters = S_b, above_rounding(S_w, S_b)
        return self._maximised()

    def _maximised(self) -> Floats:
        W, self.trace_ratio_ = trace_ratio(*self._scatters, self.n_components, self.solver)
        return W

    def _keep_directions(self, span: Span, W: Floats, dtype: Any, unit: float = 1.0) -> None:
        self._span = replace(span, coordinates=span.coordinates[:0])
        super()._keep_directions(span, W, dtype, unit)

    def with_width(self, n_components: int) -> Self:
        """Return the fit with fewer dimensions, from the same scatter matrices.

        Parameters
        ----------
        n_components : int
            Number of dimensions, at most that of this fit.

        Returns
        -------
        Self
            The fitted reducer, equal to a fit with this `n_components`.
        """
        narrower = copy(self)
        narrower.n_components = n_components
        narrower._keep_directions(self._span, narrower._maximised(), self.components_.dtype)
        return narrower

    _traits = Traits(
        version=4,
        shares_widths=True,
        grids={
            "n_components": (1, 2, 3, 5, 10, 15, 20, 30, 40, 50, 60),
            "n_neighbors_within": (1, 2, 3, 5, 10),
            "n_neighbors_between": (1, 2, 3, 5, 10, 15, 20, 30),
        },
        preprocess=("pca {n_components: 0.95}",),
        max_components=rank_of_centred,
    )
