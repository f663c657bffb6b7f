"""Manifold regularisation with the squared loss for real-valued labels."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.neighbors import Neighbors
from ddr_cli.reducers.manifold_regularized import ACCEPTED, Kernel, ManifoldRegularized
from ddr_cli.reducers.values import Unlabelled, points_and_values


class LaplacianRLSRegressor(RegressorMixin, ManifoldRegularized):
    r"""Predict numbers by a function that is near the labels and smooth over the neighbour graph.

    The function is that of `LaplacianRLS`, :math:`y_i` being the labels.

    Parameters
    ----------
    mu, alpha, n_neighbors, kernel, gamma, degree, coef0, weights, epsilon, fit_intercept
        As for `LaplacianRLS`.
    unlabelled : -1 or "nan", default=-1
        The label of an unlabelled point.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Linear kernel only.
    dual_coef_ : ndarray of shape (n_samples, 1)
        Other kernels.
    intercept_ : ndarray of shape (1,)
    mu_ : float
        The weight used; 0 if no two points are connected.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    >>> model = LaplacianRLSRegressor(alpha=1e-6, mu=0.0, n_neighbors=1, unlabelled="nan")
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> model.fit(X, [0.0, 0.5, float("nan"), 1.5]).predict([[2.0]]).round(4).tolist()
    [1.0]
    """

    def __init__(
        self,
        mu: Literal["auto"] | Annotated[float, Ge(0)] = "auto",
        alpha: Annotated[float, Ge(0)] = 1.0,
        n_neighbors: Annotated[int, Ge(1)] = 10,
        kernel: Kernel = "linear",
        gamma: Literal["scale"] | Annotated[float, Gt(0)] = "scale",
        degree: Annotated[int, Ge(1)] = 3,
        coef0: float = 1.0,
        weights: Literal["binary", "heat"] = "heat",
        epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean",
        fit_intercept: bool = True,
        unlabelled: Unlabelled = -1,
    ) -> None:
        self.mu = mu
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.weights = weights
        self.epsilon = epsilon
        self.fit_intercept = fit_intercept
        self.unlabelled = unlabelled

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> LaplacianRLSRegressor:
        """Fit the function.

        Parameters
        ----------
        X : array or sparse of shape (n_samples, n_features)
        y : array of shape (n_samples,)
            Numbers, `unlabelled` for unlabelled points.
        neighbors : Neighbors, optional
            Of the rows of `X` among themselves, at least `n_neighbors` of each; spares the search.

        Returns
        -------
        LaplacianRLSRegressor
            Itself.

        Raises
        ------
        ValueError
            If a parameter is out of range, no point is labelled, or there are no more than
            `n_neighbors` points.
        """
        check_parameters(self)
        points, values, labelled = points_and_values(self, X, y, self.unlabelled, **ACCEPTED)
        self._fit_outputs(points, labelled, values[labelled, None], neighbors)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the function's values.

        Parameters
        ----------
        X : array or sparse of shape (n_queries, n_features)

        Returns
        -------
        ndarray of shape (n_queries,)
        """
        return self._outputs(X).ravel()
