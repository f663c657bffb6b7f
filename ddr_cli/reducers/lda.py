"""Fisher's linear discriminant analysis, also where the within-class scatter is singular."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Gt

from ddr_cli.core.registry import registered
from ddr_cli.numerics.generalized_eigen import (
    MAX_CONDITION,
    generalized_eigenpairs,
    well_conditioned_order,
)
from ddr_cli.numerics.scatter import scatter_matrices
from ddr_cli.reducers.discriminant import (
    MeansDiscriminant,
    requested_components,
    unit_within,
    usable_scatter,
)
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, one_less_than_classes


@registered(
    "reducer", "lda", "Fisher's linear discriminant analysis", label="LDA", look=("orange", "D")
)
class LDA(MeansDiscriminant):
    r"""Maximise the between-class scatter relative to the within-class scatter.

    The rows :math:`a` of `components_` are the leading solutions of
    :math:`S_b a = \lambda S_w a`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most min(n_features, n_classes - 1). None: as many as possible.
        Default: as in scikit-learn.
    max_condition : float or "rank", default=1e3
        A singular within-class scatter is restricted to the leading principal components on which
        its condition number (with its diagonal scaled to 1) is at most this value. "rank" keeps
        n_samples - n_classes components, whatever the condition number. Default: our choice.
    scaling : {"within", "unit"}, default="within"
        "within": within-class variance (over n) of 1 along each direction, as with scikit-learn's
        solver "eigen". "unit": directions of unit length, as MATLAB's ``eig(inv(Sw) * Sb)`` returns
        them. Default: as in scikit-learn's solver "eigen".

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Discriminant directions, by decreasing ratio.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    eigenvalues_ : ndarray of shape (n_components,)
        Ratios :math:`\lambda` of between- to within-class scatter.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.
    n_dimensions_ : int
        Principal components on which the ratio was maximised.

    Notes
    -----
    Use it when the classes are Gaussian with similar covariances and there are more samples than
    features: its directions are then optimal.

    Avoid it for more than n_classes - 1 dimensions, for classes with several clusters (use `LFDA`
    or `NMMP`), and with few samples relative to the number of features (use `shrinkage_lda`).

    The difference from scikit-learn's LDA: with fewer samples than features the within-class
    scatter is singular. The data are then first reduced to the largest number of principal
    components on which it is regular, as Nie, Xiang and Zhang do for their comparison
    ("Neighborhood MinMax Projections", IJCAI 2007, section 6). They do not state when a matrix
    counts as singular. With all n - C components of n samples in C classes the ratio is greatest
    where the training samples of a class nearly coincide by chance. Scaled to a within-class
    variance of 1, such directions dominate all distances; `max_condition` prevents this. Directions
    of unit length do not dominate.

    The scale of each feature has no effect, so that whitening before it has none either.

    For n samples and d features: :math:`O(n d \min(n, d) + d^3)`.

    References
    ----------
    .. [1] R. A. Fisher, "The use of multiple measurements in taxonomic problems", Annals of
       Eugenics 7, 1936, 179-188.
    .. [2] K. Fukunaga, "Introduction to Statistical Pattern Recognition", Academic Press, 1990.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LDA(n_components=2).fit(X, y).components_.shape
    (2, 4)
    """

    max_condition: Annotated[float, Gt(1)] | Literal["rank"] = MAX_CONDITION
    scaling: Literal["within", "unit"] = "within"

    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        n_classes = len(self.classes_)
        m = requested_components(self, Z.shape[1], points.shape[1])
        S_w, S_b = scatter_matrices(Z, code)
        S_w = usable_scatter(S_w, S_b)
        if self.max_condition == "rank":
            r = min(len(S_w), max(len(Z) - n_classes, 1))
            r = well_conditioned_order(S_w[:r, :r], max_condition=np.inf)
        else:
            r = well_conditioned_order(S_w, max_condition=self.max_condition)
        if self.n_components is None:
            m = min(m, r)
        if not 0 < m <= r:
            raise ValueError(
                f"n_components={m}, but the within-class scatter is nonsingular on only {r} "
                "principal components. Choose a smaller n_components."
            )
        self.eigenvalues_, leading = generalized_eigenpairs(S_b[:r, :r], S_w[:r, :r], m, rank_tol=0)
        self.n_dimensions_ = r
        W = np.zeros((Z.shape[1], m))
        W[:r] = leading
        if self.scaling == "unit":
            return np.asarray(W / np.linalg.norm(W, axis=0))
        return unit_within(W, Z, code)

    _traits = Traits(
        version=5,
        nested=True,
        grids={"n_components": tuple(range(1, 10))},
        max_components=one_less_than_classes,
    )
