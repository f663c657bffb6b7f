"""The linear classifier of the CCDR paper: least squares on class indicators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lstsq, qr
from scipy.sparse.linalg import LinearOperator, lsmr

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.classifier import Classifier
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.numerics.neighbors import CsrArray, Floats, is_sparse
from ddr_cli.numerics.rounding import first_largest


@registered(
    "classifier",
    "linear",
    "least squares on class indicators; predicts the class with the largest fitted value",
    look=("orange", "D"),
)
class LinearClassifier(Classifier):
    """Least squares on class indicators; it predicts the class with the largest fitted value.

    For each class k the coefficients are

        [a_k, b_k] = argmin  sum_i (x_i' a_k + b_k - c_ki)^2 + alpha |a_k|^2

    with c_ki = 1 if sample i belongs to class k and 0 otherwise. The prediction is the class with
    the largest x' a_k + b_k. If classes are tied, the class that sorts first is predicted.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the intercept b_k is fitted, without a penalty; otherwise, b_k is 0.
    alpha : float, default=0.0
        Ridge penalty. With 0, the minimiser with the smallest |a_k| is used, so collinear features
        and more features than samples are possible.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        The a_k.
    intercept_ : ndarray of shape (n_classes,)
        The b_k.
    classes_ : ndarray of shape (n_classes,)
        The class labels.
    n_features_in_ : int
        Number of features seen in `fit`.

    Notes
    -----
    LAPACK's least squares solves dense input; LSMR solves sparse input to machine precision and
    centres it without making it dense.

    With more features than samples and ``alpha=0`` the fit interpolates the indicators, and a few
    near-duplicates in different classes can spoil all other predictions, as in text data; a small
    `alpha` such as 1e-3 prevents this.

    References
    ----------
    R. Raich, J. A. Costa, S. B. Damelin, A. O. Hero III, "Classification constrained
    dimensionality reduction", section V-A.
    """

    fit_intercept: bool = True
    alpha: Annotated[float, Ge(0)] = 0.0

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, indicators = self._points_and_indicators(X, y)
        solve = self._solve_sparse if is_sparse(points) else self._solve_dense
        self.coef_, self.intercept_ = solve(points, indicators)
        return self

    def _points_and_indicators(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Floats]:
        points, labels = self._training(X, y)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        return points, np.eye(len(self.classes_))[codes]

    def _solve_dense(self, X: Floats, indicators: Floats) -> tuple[Floats, Floats]:
        if self.alpha > 0:
            # This import takes a second; planning a run and fits with alpha = 0 do not need it.
            from sklearn.linear_model import Ridge

            model = Ridge(self.alpha, fit_intercept=self.fit_intercept, solver="svd")
            model.fit(X, indicators)
            coef = np.atleast_2d(model.coef_)
            return coef, np.zeros(len(coef)) + model.intercept_
        mean, target = self._origins(X, indicators)
        coef = _least_squares(X - mean, indicators - target, max(X.shape))
        return coef, target - mean @ coef.T

    def _origins(self, X: Any, indicators: Floats) -> tuple[Floats, Floats]:
        """Return the values that centre samples and indicators."""
        if self.fit_intercept:
            return np.asarray(X.mean(axis=0)).ravel(), indicators.mean(axis=0)
        return np.zeros(X.shape[1]), np.zeros(indicators.shape[1])

    def _solve_sparse(self, X: CsrArray, indicators: Floats) -> tuple[Floats, Floats]:
        """Solve class by class with LSMR, which starts at 0 and so reaches the smallest solution.

        scikit-learn's LSQR stops too early if features are nearly collinear: on the digits as
        sparse data, the error of its coefficients is more than a third, that of these is 1e-12.
        """
        mean, target = self._origins(X, indicators)
        centred = LinearOperator(
            X.shape,
            matvec=lambda v: X @ v - mean @ v,
            rmatvec=lambda u: X.T @ u - mean * u.sum(),
            dtype=np.float64,
        )
        tight = 10 * np.finfo(np.float64).eps
        limit = 10 * min(X.shape)
        damp = np.sqrt(self.alpha)
        coef = np.array(
            [
                lsmr(centred, column, damp=damp, atol=tight, btol=tight, maxiter=limit)[0]
                for column in (indicators - target).T
            ]
        )
        return coef, target - coef @ mean

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the fitted values x' a_k + b_k of the classes.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries, n_classes) or (n_queries,)
            One column per class. For two classes, the second value minus the first.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        values = self._values(X)
        return values[:, 1] - values[:, 0] if len(self.classes_) == 2 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        best = first_largest(self._values(X))
        return np.asarray(self.classes_[best])

    def predict_mapped(
        self, X_train: ArrayLike, y_train: ArrayLike, X_test: ArrayLike, maps: Sequence[Floats]
    ) -> list[NDArray[Any]]:
        """Fit and predict on the product of the samples with each of several matrices.

        Up to rounding, the predictions equal those of separate fits to dense samples. The samples
        are factorised once: with X = QR, the product R A has the singular values of X A.

        Parameters
        ----------
        X_train : array-like of shape (n_samples, n_features)
            Training samples, one per row.
        y_train : array-like of shape (n_samples,)
            Class labels.
        X_test : array-like of shape (n_queries, n_features)
            Samples to classify.
        maps : sequence of ndarray of shape (n_features, n_components)
            The matrices.

        Returns
        -------
        list of ndarray of shape (n_queries,)
            The predicted labels for each matrix.

        Raises
        ------
        ValueError
            If the data are not valid.
        """
        points, indicators = self._points_and_indicators(X_train, y_train)
        queries = self._queries(X_test)
        mean, target = self._origins(points, indicators)
        Q, R = qr(points - mean, mode="economic", check_finite=False)
        turned = Q.T @ (indicators - target)
        predictions = []
        for A in maps:
            width = A.shape[1]
            ridge = np.sqrt(self.alpha) * np.eye(width if self.alpha > 0 else 0, width)
            left = np.vstack([R @ A, ridge])
            right = np.vstack([turned, np.zeros((len(ridge), len(target)))])
            coef = A @ _least_squares(left, right, max(len(points), width)).T
            values = queries @ coef + (target - mean @ coef)
            predictions.append(self.classes_[first_largest(values)])
        return predictions

    def _values(self, X: ArrayLike) -> NDArray[np.float64]:
        values: NDArray[np.float64] = self._queries(X) @ self.coef_.T + self.intercept_
        return values

    _traits = EvaluatorTraits(version=2, grids={"alpha": (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0)})


def _least_squares(X: Floats, targets: Floats, size: int) -> Floats:
    """Return the smallest coefficients that fit best, a row for each target."""
    # Without a cutoff, a direction whose variance is only rounding would get a huge coefficient.
    rounding = size * np.finfo(np.float64).eps
    coef: Floats = lstsq(X, targets, cond=rounding, check_finite=False)[0]
    return coef.T
