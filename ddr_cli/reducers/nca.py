"""Neighbourhood Components Analysis (Goldberger et al., NIPS 17, 2004), in the span of the data."""

from __future__ import annotations

import warnings
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike
from sklearn import discriminant_analysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ddr_cli.core.registry import registered
from ddr_cli.numerics import lbfgs
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.rounding import steady, steady_value
from ddr_cli.numerics.stochastic_neighbors import right_choices
from ddr_cli.reducers.metric_learner import OrderedReducer
from ddr_cli.reducers.reducer import Codes, Floats
from ddr_cli.reducers.registry import Traits, rank_of_centred


@registered(
    "reducer",
    "nca",
    "neighbourhood components analysis (Goldberger et al.)",
    label="NCA",
    look=("pink", "X"),
)
class NCA(OrderedReducer):
    r"""Maximise the probability that samples choose neighbours of their own class.

    The rows of `components_` form the map A that L-BFGS finds for

    .. math:: \min_A n - \sum_i \sum_{j: y_j = y_i} p_A(j | i), \qquad
        p_A(j | i) = \frac{e^{-\|A x_i - A x_j\|^2}}{\sum_{k \ne i} e^{-\|A x_i - A x_k\|^2}},

    the expected number of samples that choose a neighbour of another class: a smooth approximation
    of the leave-one-out error of the nearest neighbour. It is not convex, so the start matters; for
    several starts, fit with ``init="random"`` and several `random_state`.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions, at most the rank of the centred data. Default: our choice.
    init : {"auto", "lda", "pca", "random"}, default="auto"
        The start of the search. "auto" is "lda" if there are fewer dimensions than classes,
        otherwise "pca". The principal components, and the normal numbers of "random", are scaled so
        that the dimensions have a mean variance of 1. (scikit-learn keeps the units of the data.
        With large values, each sample chooses only its nearest neighbour, and the search makes
        almost no progress.) Default: as in scikit-learn.
    max_iter : int, default=500
        Largest number of iterations of L-BFGS. scikit-learn's default, 50, often stops too early.
        Default: our choice.
    tol : float, default=1e-7
        The iterations stop when an iteration gains at most this fraction of the expected number of
        correct choices, or when no entry of the gradient exceeds `tol`. scikit-learn's default is
        1e-5. Default: our choice.
    random_state : int, RandomState or None, default=None
        Seed of the start for ``init="random"``; nothing else is random.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The map A.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    objective_ : float
        The objective above.
    objective_path_ : ndarray of shape (n_iter_ + 1,)
        The objective at the start and after each iteration; it never increases.
    gradient_norm_ : float
        Norm of the objective's gradient with respect to A, in units of the data in which their
        variances add up to 1.
    n_iter_ : int
        Number of iterations.
    classes_ : ndarray of shape (n_classes,)
        Class labels; -1 is a class too.

    Notes
    -----
    Use it before a nearest-neighbour classifier: a class may have several clusters, and the map is
    fitted for `n_components` dimensions, not truncated to them.

    Avoid it on many samples, because of the cost, and when fits from different starts must agree:
    there are local optima.

    L-BFGS runs in the span of the data, since the objective does not depend on other directions,
    with the samples in a canonical order and rescaled. As in scikit-learn, it processes a few
    thousand pairs of samples at a time. Solutions for different dimensions are not nested.

    For n samples, rank r of the data and m dimensions: :math:`O(n^2 m + n r m)` for each
    iteration.

    References
    ----------
    .. [1] J. Goldberger, S. Roweis, G. Hinton, R. Salakhutdinov, "Neighbourhood Components
       Analysis", NIPS 17, 2004, 513-520.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> NCA(n_components=2).fit_transform(X, y).shape
    (150, 2)
    """

    n_components: Annotated[int, Ge(1)] = 2
    init: Literal["auto", "lda", "pca", "random"] = "auto"
    max_iter: Annotated[int, Ge(1)] = 500
    tol: Annotated[float, Gt(0)] = 1e-7
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: ArrayLike) -> NCA:
        points, code, span, unit = self._ordered_span(X, y)
        coordinates = span.coordinates / unit
        start = self._start(coordinates, span.basis, code)
        right = [right_choices(start, coordinates, code)[0]]

        def objective(flat: Floats) -> tuple[float, Floats]:
            value, gradient = right_choices(flat.reshape(start.shape), coordinates, code)
            return -steady_value(value), -steady(gradient.ravel(), len(code))

        found = lbfgs.minimize(
            objective,
            start.ravel(),
            least_gain=self.tol,
            least_slope=self.tol,
            max_iter=self.max_iter,
            after_iteration=lambda reached: right.append(-reached.value),
        )
        self.n_iter_ = len(right) - 1
        A = found.x.reshape(start.shape)
        right[-1], gradient = right_choices(A, coordinates, code)
        self.objective_path_ = len(code) - np.array(right)
        self.objective_ = float(self.objective_path_[-1])
        self.gradient_norm_ = float(np.linalg.norm(gradient))
        if not found.converged:
            warnings.warn(
                f"NCA has not converged after {self.n_iter_} iterations: the last iteration "
                f"lowered the objective by {right[-1] - right[max(0, self.n_iter_ - 1)]:.1e}. "
                f"Increase max_iter (now {self.max_iter}), or tol.",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.components_ = (A @ span.basis.T / unit).astype(points.dtype)
        self.mean_ = span.mean.astype(points.dtype)
        return self

    def _start(self, coordinates: Floats, basis: Floats, code: Codes) -> Floats:
        m = self.n_components
        if self.init == "random":
            draw = check_random_state(self.random_state).standard_normal((m, len(basis)))
            return _of_unit_variance(draw @ basis, coordinates)
        # The coordinates are along the principal components, so the first m of them are PCA.
        leading = _of_unit_variance(np.eye(m, coordinates.shape[1]), coordinates)
        most = len(self.classes_) - 1
        if self.init == "pca" or (self.init == "auto" and m > most):
            return leading
        if m <= most:
            lda = discriminant_analysis.LinearDiscriminantAnalysis(n_components=m).fit(
                coordinates, code
            )
            most = lda.scalings_.shape[1]
            if m <= most:
                directions = deterministic_signs(lda.scalings_[:, :m])
                # Before version 1.9.1, scikit-learn's directions do not have a within-class
                # deviation of 1.
                spread = ((coordinates - lda.means_[code]) @ directions).std(axis=0)
                start = np.ascontiguousarray((directions / spread).T)
                return np.asarray(steady(start, float(np.abs(start).max())))
        if self.init == "auto":
            return leading
        raise ValueError(f"n_components={m}, but init='lda' allows at most {most} dimensions.")

    _traits = Traits(
        version=5,
        grids={
            "n_components": tuple(range(1, 11)),
            "init": ("lda", "pca", "random"),
        },
        max_components=rank_of_centred,
    )


def _of_unit_variance(A: Floats, X: Floats) -> Floats:
    """Return a multiple of the map for which X has a mean variance of 1 per dimension."""
    mapped = X @ A.T
    return np.asarray(A * np.sqrt(mapped.size / np.sum(mapped**2)))
