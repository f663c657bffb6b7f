"""The directions of a multinomial logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike
from sklearn.linear_model import LogisticRegression

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.reducers.discriminant import fewer_than_classes
from ddr_cli.reducers.reducer import LinearReducer
from ddr_cli.reducers.registry import Traits, equal_ratios, one_less_than_classes


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "logistic_projection",
    "singular vectors of a multinomial logistic regression's weights",
    look=("blue", "D"),
)
class LogisticProjection(LinearReducer):
    r"""Project on the singular vectors of a logistic regression's weights.

    With :math:`W = U S V^T` the singular values of the weights (one row for each class, less their
    mean, which no probability depends on) that minimise

    .. math:: C \sum_i -\ln \frac{e^{w_{y_i}^T x_i + b_{y_i}}}{\sum_k e^{w_k^T x_i + b_k}}
        + \frac12 |W|^2,

    `components_` are the leading rows of :math:`S V^T`: with all of them, distances are those
    between the logits.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions; the number of classes less one, with a warning, where that is smaller.
    C : float, default=1
        The weight of the likelihood against the penalty.
    max_iter : int, default=2000
        Most iterations of L-BFGS.
    tol : float, default=1e-6
        Converged when no entry of the gradient, of the mean over points, exceeds it.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions, by decreasing singular value, which is their length.
    mean_ : ndarray of shape (n_features,)
        Mean of the training points.
    singular_values_ : ndarray of shape (n_components,)
        The singular values of W.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels. Every label is a class here, -1 too.

    Notes
    -----
    Use it when borders are about linear and points far from them should not count, as in `LDA`
    they do.

    Not for more dimensions than classes less one, nor when the classes can be separated completely
    and `C` is large: the weights then grow until the search ends.

    scikit-learn's ``LogisticRegression``, which is given dense points centred, and all points at a
    scale that suits L-BFGS with C to match; the solution is the same. The penalty depends on the
    units of the features.

    For n points, d features and C classes: :math:`O(n d C)` for each iteration; sparse data stay
    sparse.

    References
    ----------
    .. [1] T. Hastie, R. Tibshirani, J. Friedman, "The Elements of Statistical Learning", 2nd
       edition, Springer, 2009, section 4.4.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> LogisticProjection(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    _needs_labels = True

    n_components: Annotated[int, Ge(1)] = 2
    C: Annotated[float, Gt(0)] = 1.0
    max_iter: Annotated[int, Ge(1)] = 2000
    tol: Annotated[float, Gt(0)] = 1e-6

    def fit(self, X: ArrayLike, y: ArrayLike) -> LogisticProjection:
        """Find the weights from points and their classes `y`, and their singular vectors."""
        points, code = self._points_and_classes(X, y)
        m = fewer_than_classes(self)
        exact = points.astype(np.float64)
        mean = np.asarray(exact.mean(axis=0)).ravel()
        sparse: bool = sp.issparse(exact)
        moved = exact if sparse else exact - mean
        unit = np.sqrt(float(moved.multiply(moved).mean() if sparse else np.mean(moved**2))) or 1.0
        model = LogisticRegression(C=self.C * unit**2, max_iter=self.max_iter, tol=self.tol)
        weights = model.fit(moved / unit, code).coef_ / unit
        self.n_iter_ = int(np.max(model.n_iter_))
        rank = int(np.linalg.matrix_rank(weights))
        if rank < m:
            reason = f"all features are constant, or so small that none has weight at C={self.C}"
            self._check_rank(rank, points, reason=reason)
        _, sizes, axes = np.linalg.svd(weights - (len(weights) > 1) * weights.mean(axis=0))
        self.singular_values_ = sizes[:m]
        scaled = deterministic_signs(axes[:m].T * sizes[:m])
        self.components_, self.mean_ = scaled.T.astype(points.dtype), mean.astype(points.dtype)
        return self

    def __ddr_traits__(self) -> Traits:
        return Traits(
            nested=True,
            grids={
                "n_components": tuple(range(1, 10)),
                "C": equal_ratios(1e-3, 1e3, 7),
            },
            preprocess=("standardize",),
            max_components=one_less_than_classes,
        )
