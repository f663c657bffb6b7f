"""The directions of a multinomial logistic regression."""

from __future__ import annotations

import warnings
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike
from scipy import optimize
from sklearn.exceptions import ConvergenceWarning

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.neighbors import is_sparse
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.discriminant import requested_components
from ddr_cli.reducers.reducer import Codes, Floats, LinearReducer
from ddr_cli.reducers.registry import Traits, equal_ratios, one_less_than_classes

_MEMORY = 20  # number of updates that L-BFGS stores


@registered(
    "reducer",
    "logistic_projection",
    "singular vectors of a multinomial logistic regression's weights",
    look=("blue", "D"),
)
class LogisticProjection(LinearReducer):
    r"""Project on the singular vectors of a logistic regression's weights.

    Let :math:`W = U S V^T` be the singular value decomposition of the weights (one row per class,
    minus their mean, which does not change the probabilities) that minimise

    .. math:: C \sum_i -\ln \frac{e^{w_{y_i}^T x_i + b_{y_i}}}{\sum_k e^{w_k^T x_i + b_k}}
        + \frac12 |W|^2,

    The rows of `components_` are the leading rows of :math:`S V^T`: with all of them, distances
    equal those between the logits.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of dimensions, at most min(n_features, n_classes - 1). None: as many as possible.
        Default: as in scikit-learn.
    C : float, default=1
        The weight of the likelihood relative to the penalty. Default: as in scikit-learn.
    max_iter : int, default=2000
        Largest number of iterations of L-BFGS. Default: our choice.
    tol : float, default=1e-7
        The iterations stop when no entry of the gradient, in units in which features and intercepts
        have the same curvature, exceeds this fraction of the largest entry at W = 0. Default: our
        choice.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The directions; their lengths are the singular values, descending.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    singular_values_ : ndarray of shape (n_components,)
        The singular values of W.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it when class borders are roughly linear and samples far from them should not count (in
    `LDA` they count).

    Avoid it for more than n_classes - 1 dimensions, and with a large `C` when the classes can be
    separated completely: the weights then grow until the search stops.

    The penalty depends on the units of the features; the number of iterations does not. For two
    classes scikit-learn's ``LogisticRegression`` has one row of weights w with the penalty
    :math:`\frac12 |w|^2`. The rows -w/2 and w/2 here have half of it, so its C is twice ours.

    For n samples, d features and C classes: :math:`O(n d C)` for each iteration; sparse data stay
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

    n_components: Annotated[int, Ge(1)] | None = None
    C: Annotated[float, Gt(0)] = 1.0
    max_iter: Annotated[int, Ge(1)] = 2000
    tol: Annotated[float, Gt(0)] = 1e-7

    def fit(self, X: ArrayLike, y: ArrayLike) -> LogisticProjection:
        points, code = self._points_and_classes(X, y)
        mean = np.asarray(points.mean(axis=0), dtype=np.float64).ravel()
        weights = self._weights(points.astype(np.float64), mean, code)
        rank = int(np.linalg.matrix_rank(weights))
        m = requested_components(self, rank, points.shape[1])
        if not 0 < m <= rank:
            reason = f"all features are constant, or too small to have a weight at C={self.C}"
            self._check_rank(rank, points, reason=reason)
        _, sizes, axes = np.linalg.svd(weights - weights.mean(axis=0))
        self.singular_values_ = sizes[:m]
        scaled = deterministic_signs(axes[:m].T * sizes[:m])
        self.components_, self.mean_ = scaled.T.astype(points.dtype), mean.astype(points.dtype)
        return self

    @one_thread()
    def _weights(self, points: Any, mean: Floats, code: Codes) -> Floats:
        """Minimise the objective over weights and intercepts; return the weights.

        L-BFGS sees each feature centred and scaled so that the curvature at W = 0 is 1.
        """
        (n, d), n_classes = points.shape, len(self.classes_)
        if is_sparse(points):
            squares = np.asarray(points.multiply(points).sum(axis=0)).ravel() - n * mean**2
            shift = mean
        else:
            points, shift = points - mean, np.zeros(d)
            squares = np.einsum("ij,ij->j", points, points)
        unit = np.sqrt(1 + self.C * np.maximum(squares, 0.0) / n_classes)
        of_intercept = np.sqrt(self.C * n / n_classes)
        one_hot = np.eye(n_classes)[code]

        def objective(flat: Floats) -> tuple[float, Floats]:
            V = flat.reshape(n_classes, d + 1)
            W = V[:, :-1] / unit
            logits = points @ W.T + (V[:, -1] / of_intercept - W @ shift)
            logits -= logits.max(axis=1, keepdims=True)
            chances = np.exp(logits)
            sums = chances.sum(axis=1, keepdims=True)
            loss = np.log(sums).sum() - logits[np.arange(n), code].sum()
            slope = self.C * (chances / sums - one_hot)
            by_intercept = slope.sum(axis=0)[:, None]
            by_weight = (points.T @ slope).T - by_intercept * shift + W
            gradient = np.hstack([by_weight / unit, by_intercept / of_intercept])
            return float(self.C * loss + np.vdot(W, W) / 2), gradient.ravel()

        start = np.zeros(n_classes * (d + 1))
        steepest = float(np.abs(objective(start)[1]).max())
        found = optimize.minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            options={
                "maxiter": self.max_iter,
                "maxfun": 20 * self.max_iter,
                "maxcor": _MEMORY,
                "ftol": 0.0,
                "gtol": self.tol * steepest,
            },
        )
        self.n_iter_ = int(found.nit)
        left = float(np.abs(found.jac).max())
        if left > self.tol * steepest:
            remedy = "Lower C, or raise tol"
            if self.n_iter_ >= self.max_iter:
                remedy = f"Increase max_iter (now {self.max_iter}), or lower C"
            warnings.warn(
                f"LogisticProjection has not converged after {self.n_iter_} iterations: the "
                f"gradient is {left / steepest:.1e} times its initial size (tol={self.tol}). "
                f"{remedy}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return np.asarray(found.x.reshape(n_classes, d + 1)[:, :-1] / unit)

    _traits = Traits(
        version=2,
        nested=True,
        grids={
            "n_components": tuple(range(1, 10)),
            "C": equal_ratios(1e-3, 1e3, 7),
        },
        preprocess=("standardize",),
        max_components=one_less_than_classes,
    )
