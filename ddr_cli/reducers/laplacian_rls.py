"""Laplacian regularised least squares (Belkin, Niyogi and Sindhwani, JMLR 7, 2006)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.csgraph import laplacian
from sklearn.base import ClassifierMixin
from sklearn.utils.extmath import safe_sparse_dot

from ddr_cli.core.registry import registered
from ddr_cli.numerics.approximate import Search
from ddr_cli.numerics.generalized_eigen import null_space, unit_eigenpairs
from ddr_cli.numerics.kernels import Gamma, feature_moments, kernel_gamma, kernel_matrix
from ddr_cli.numerics.neighbors import CsrArray, Neighbors, is_sparse
from ddr_cli.numerics.rounding import first_largest
from ddr_cli.numerics.scatter import laplacian_form, symmetric
from ddr_cli.reducers.partial_labels import UNLABELLED, encode_labels
from ddr_cli.reducers.reducer import Floats, GraphReducer
from ddr_cli.reducers.registry import Traits

Labelled = NDArray[np.bool_]
Kernel = Literal["linear", "rbf", "poly", "laplacian", "cosine"] | Callable[[Any, Any], float]

_EPS = float(np.finfo(np.float64).eps)
_ROUNDING = 8  # relative rounding error, in multiples of the machine epsilon
_RANK_TOL = 1e-12  # relative size at which an eigenvalue of the normal equations counts as zero


@registered(
    "reducer",
    "laplacian_rls",
    "Laplacian regularised least squares: manifold regularisation (Belkin et al.)",
    label="Laplacian RLS",
    look=("dark red", "X"),
)
class LaplacianRLS(ClassifierMixin, GraphReducer):
    r"""Classify by functions that fit the labels and are smooth over the neighbour graph.

    For each class the function f minimises

    .. math:: \sum_{i \le l} (f(x_i) - y_i)^2 + \alpha \kappa \|f\|^2
        + \mu \frac{n \kappa}{\sum_{i<j} w_{ij} \|\phi(x_i) - \phi(x_j)\|^2}
        \sum_{i<j} w_{ij} (f(x_i) - f(x_j))^2

    over the l labelled samples, :math:`y_i` being 1 for samples of the class and -1 for others, and
    in the last sum the neighbour graph of all n samples. The :math:`\phi(x_i)` are the images of
    the samples in the kernel's feature space (linear: the samples), and :math:`\kappa` is their
    mean squared distance from their mean (linear: the total variance). The class with the largest f
    is predicted. `transform` returns the values of all f: the Discriminative Projections paper uses
    them as an embedding in its comparison ("manifold regularization").

    Parameters
    ----------
    mu : float or "auto", default=0.1
        Weight :math:`\mu` of the graph. With 1, the penalty of a function drawn at random is as
        large as its sum of squares over all samples. The default is ours: among 0.01, 0.1, 1 and 10
        it was the best compromise between one and many labels per class, on two moons and four data
        sets of scikit-learn. "auto" is the weight of `DiscriminativeProjections`: the factor of the
        last sum is then l divided by the sum of all :math:`w_{ij}`. With "rbf", the graph then has
        almost no effect.
    alpha : float, default=0.03
        Ridge :math:`\alpha`. The default is that of the paper's two moons (:math:`2^{-5}`, see the
        example). 0, as in the Discriminative Projections paper, needs the linear kernel and no more
        features than samples. Of equally good functions, the function with the smallest norm is
        used.
    n_neighbors : int, default=10
        Two samples are connected if one is among the `n_neighbors` nearest neighbours of the other.
        The default is that of `DiscriminativeProjections`; the paper has 6 to 8.
    kernel : {"linear", "rbf", "poly", "laplacian", "cosine"} or callable, default="linear"
        Kernel of the space of f. "linear", the default for the comparison with
        `DiscriminativeProjections`, means :math:`f(x) = a^T x + b`. The paper uses "rbf".
    gamma : "scale" or float, default="scale"
        Parameter :math:`\gamma` of the kernels that have this parameter. "scale", our default, is a
        reciprocal: of the total variance for "rbf", of the sum of the features' standard deviations
        for "laplacian", of the mean squared length for "poly". Larger values are better for curved
        classes such as the two moons.
    degree : int, default=3
        Degree of the polynomial kernel, as in scikit-learn.
    coef0 : float, default=1.0
        Constant term of the polynomial kernel, as in scikit-learn.
    weights : {"heat", "binary"}, default="heat"
        "heat": :math:`w_{ij} = \exp(-\|x_i - x_j\|^2 / \epsilon)`. "binary": :math:`w_{ij} = 1`.
        The paper uses both.
    epsilon : "mean" or float, default="mean"
        Bandwidth of the heat kernel in squared units of the data; "mean" is the mean squared
        distance to the `n_neighbors` nearest neighbours. The default is our choice.
    fit_intercept : bool, default=True
        Whether f has an intercept, which is not penalised. The papers have no intercept.
    neighbors : {"exact", "approximate", "auto"}, default="exact"
        How the neighbours of the training samples are searched. "approximate" uses faiss (extra
        `approximate`). "auto" is exact up to 50,000 samples. The search for the neighbours of new
        samples is always exact.

    Attributes
    ----------
    coef_ : ndarray of shape (n_outputs, n_features)
        The vectors a (linear kernel only): one per class, or a single one for two classes.
    dual_coef_ : ndarray of shape (n_samples, n_outputs)
        Weights of the training samples' kernels (other kernels).
    intercept_ : ndarray of shape (n_outputs,)
        The b.
    classes_ : ndarray of shape (n_classes,)
        The class labels without -1.
    alpha_ : float
        The factor of :math:`\|f\|^2`.
    mu_ : float
        The factor of the sum over the graph; 0 if no two different samples are connected.
    neighbor_recall_ : float
        Fraction of the true nearest neighbours that the search found, estimated on a random subset;
        1 if exact.

    Notes
    -----
    Use it when few samples have a label and neighbouring samples mostly share their label: the
    unlabelled samples then propagate labels along the graph.

    Avoid it when you need a given number of dimensions: it has one per class. Avoid it when
    neighbours often belong to different classes; compare with `mu=0` to see the effect of the
    graph.

    Both penalties are in units of the data, so the meaning of a setting does not depend on the
    scale of X, its origin or the number of neighbours. In the terms of the paper, whose loss is a
    mean: :math:`\gamma_A` is `alpha_` / l and :math:`\gamma_I` is `mu_` :math:`n^2 / l`. With
    ``mu=0`` this is ridge regression of the labels.

    Linear with no more features d than samples n: :math:`O(n d (k + d) + d^3)`, in the features;
    otherwise :math:`O(n^3)`, in the kernels of all samples. In both cases the neighbours add
    :math:`O(n^2 d)`.

    References
    ----------
    .. [1] M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization: A Geometric Framework for
       Learning from Labeled and Unlabeled Examples", JMLR 7, 2006, 2399-2434, section 4.2.
    .. [2] C. Wang, S. Mahadevan, "Learning Locality-Preserving Discriminative Features".

    Examples
    --------
    The paper's experiment: two moons with one label each, the kernel's and the graph's parameters
    as in the authors' code.

    >>> from sklearn.datasets import make_moons
    >>> X, moon = make_moons(200, noise=0.05, random_state=0)
    >>> y = np.full(200, -1)
    >>> y[[0, 1]] = moon[[0, 1]]
    >>> model = LaplacianRLS(kernel="rbf", gamma=1 / (2 * 0.35**2), n_neighbors=6, weights="binary")
    >>> model.fit(X, y).score(X, moon)
    1.0
    >>> model.set_params(mu=0).fit(X, y).score(X, moon)
    0.81
    """

    _fitted = "intercept_"
    mu: Literal["auto"] | Annotated[float, Ge(0)] = 0.1
    alpha: Annotated[float, Ge(0)] = 0.03
    n_neighbors: Annotated[int, Ge(1)] = 10
    kernel: Kernel = "linear"
    gamma: Gamma = "scale"
    degree: Annotated[int, Ge(1)] = 3
    coef0: float = 1.0
    weights: Literal["binary", "heat"] = "heat"
    epsilon: Literal["mean"] | Annotated[float, Gt(0)] = "mean"
    fit_intercept: bool = True
    neighbors: Search = "exact"

    def fit(
        self, X: ArrayLike, y: ArrayLike, *, neighbors: Neighbors | None = None
    ) -> LaplacianRLS:
        points, labels = self._points_and_labels(X, y)
        self.classes_, code = encode_labels(labels)
        self._check_classes()
        labelled = code != UNLABELLED
        Y = 2 * np.eye(len(self.classes_))[code[labelled]] - 1
        # With two classes, the function of one is the negative of the other's.
        Y = Y[:, 1:] if len(self.classes_) == 2 else Y
        self._fit_outputs(points, labelled, Y, neighbors)
        return self

    def _fit_outputs(
        self, points: Any, labelled: Labelled, Y: Floats, neighbors: Neighbors | None
    ) -> None:
        """Fit one function to each column of `Y`, the target values at the labelled samples."""
        W, _ = self._affinity(points, neighbors)
        offset = Y.mean(axis=0) if self.fit_intercept else np.zeros(Y.shape[1])
        few_features = points.shape[1] <= points.shape[0]
        if self.kernel == "linear" and few_features:
            smooth = _smoothness(points, W)
            self._set_weights(_variance(points), float(np.trace(smooth)), len(Y), W)
            coef, shift = self._primal(points, labelled, Y - offset, smooth)
            values = safe_sparse_dot(points, coef, dense_output=True)
        else:
            if self.alpha == 0:
                raise ValueError("With alpha=0, the solution is not unique; set a positive alpha.")
            self.gamma_ = kernel_gamma(points, self.gamma, self.kernel)
            K = self._kernel(points, points)
            spread = _variance(points) if self.kernel == "linear" else _variance_of_images(K)
            self._set_weights(spread, _roughness(K, W), len(Y), W)
            a = self._dual(K, labelled, Y - offset, W)
            values = K @ a
            shift = values[labelled].mean(axis=0)
            coef = safe_sparse_dot(points.T, a) if self.kernel == "linear" else a
        self.intercept_ = offset - shift if self.fit_intercept else offset
        self._warn_if_constant((values + self.intercept_).astype(points.dtype))
        if self.kernel == "linear":
            self.coef_: NDArray[Any] = np.asarray(coef).T.astype(points.dtype)
        else:
            self.dual_coef_, self.X_fit_ = coef, points

    def _set_weights(self, spread: float, rough: float, n_labelled: int, W: CsrArray) -> None:
        """Set the penalties' factors, from the variance of the images and their graph penalty."""
        spread = spread or 1.0
        self.alpha_, s = self.alpha * spread, float(W.sum())
        if rough <= _EPS * s * spread:
            self.mu_ = 0.0
        elif self.mu == "auto":
            self.mu_ = n_labelled / s
        else:
            self.mu_ = self.mu * W.shape[0] * spread / rough

    def _warn_if_constant(self, values: NDArray[Any]) -> None:
        """Warn if none of the functions varies above rounding on the training samples."""
        rounding = _ROUNDING * np.finfo(values.dtype).eps * abs(values).max()
        if (np.ptp(values, axis=0) <= rounding).all():
            warnings.warn(
                f"LaplacianRLS: with alpha={self.alpha:g} and mu={self.mu}, the fitted functions "
                "are constant on the training samples; lower alpha or mu.",
                stacklevel=4,
            )

    def _primal(
        self, X: Any, labelled: Labelled, Y: Floats, smooth: Floats
    ) -> tuple[Floats, Floats]:
        r"""Solve :math:`(x^T x + \alpha I + \mu X^T L X) a = x^T y`, x the labelled samples.

        The intercept removes the mean of the labelled samples; the graph penalty does not depend on
        it.
        """
        X = X.astype(np.float64)
        x = X[labelled]
        mean = np.asarray(x.mean(axis=0)).ravel() if self.fit_intercept else np.zeros(X.shape[1])
        if is_sparse(X):
            gram = (x.T @ x).toarray() - len(Y) * np.outer(mean, mean)
            image = x.T @ Y - np.outer(mean, Y.sum(axis=0))
        else:
            x = x - mean
            gram, image = x.T @ x, x.T @ Y
        left = symmetric(gram) + self.alpha_ * np.eye(len(gram)) + self.mu_ * smooth
        per_unit, sizes, axes = unit_eigenpairs(left)
        kept = sizes > (_RANK_TOL * sizes[-1] if self.alpha == 0 else 0.0)
        coef = per_unit[:, None] * (
            axes[:, kept] @ ((axes[:, kept].T @ (per_unit[:, None] * image)) / sizes[kept, None])
        )
        if not kept.all():
            # Of all equally good functions, the one with the smallest norm is chosen.
            null = null_space(left, _RANK_TOL)
            coef -= null @ (null.T @ coef)
        return coef, mean @ coef

    def _dual(self, K: Floats, labelled: Labelled, Y: Floats, W: CsrArray) -> Floats:
        r"""Solve :math:`(J K + \alpha I + \mu L K) a = J y`, where J selects the labelled samples.

        With an intercept, J also removes their mean.
        """
        L: Any = laplacian(W)
        system: Floats = self.mu_ * (L @ K)
        chosen = K[labelled]
        system[labelled] += chosen - chosen.mean(axis=0) if self.fit_intercept else chosen
        system[np.diag_indices_from(system)] += self.alpha_
        image = np.zeros((len(K), Y.shape[1]))
        image[labelled] = Y
        return np.asarray(np.linalg.solve(system, image))

    def _outputs(self, X: ArrayLike) -> NDArray[Any]:
        """Return the fitted functions' values, of shape (n_queries, n_outputs)."""
        points = self._points(X)
        if self.kernel == "linear":
            values = safe_sparse_dot(points, self.coef_.T, dense_output=True)
        else:
            values = self._kernel(points, self.X_fit_) @ self.dual_coef_
        return np.asarray(values + self.intercept_).astype(points.dtype)

    def _kernel(self, A: Any, B: Any) -> Floats:
        return kernel_matrix(
            A, B, self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0
        )

    def decision_function(self, X: ArrayLike) -> NDArray[Any]:
        """Return the values of the fitted functions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries, n_classes) or (n_queries,)
            One column per class. For two classes, only the values of the second class.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        values = self._outputs(X)
        return values.ravel() if values.shape[1] == 1 else values

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest function value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray of shape (n_queries,)
            The predicted label of each sample.

        Raises
        ------
        NotFittedError
            If the classifier is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """
        values = self.decision_function(X)
        return np.asarray(self.classes_[first_largest(values)])

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        return self._outputs(X)

    _traits = Traits(
        version=4,
        transductive=True,
        neighbors=True,
        grids={
            "mu": (0.0, 1e-2, 1e-1, 1.0, 10.0),
            "alpha": (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0),
            "n_neighbors": (3, 5, 7, 10, 15, 20),
            "kernel": ("linear", "rbf", "laplacian", "cosine"),
        },
    )


def _smoothness(X: Any, W: CsrArray) -> Floats:
    """Return X' L X."""
    exact = X.astype(np.float64)
    if not is_sparse(X):
        return laplacian_form(exact, W)
    L: Any = laplacian(W)
    return symmetric((exact.T @ (L @ exact)).toarray())


def _variance(X: Any) -> float:
    """Return the total variance, 0 if it is rounding of the mean."""
    mean, variance = feature_moments(X)
    total = float(variance.sum())
    return total if total > (_ROUNDING * _EPS) ** 2 * float(mean @ mean) else 0.0


def _variance_of_images(K: Floats) -> float:
    """Return the images' mean squared distance from their mean, 0 if it is rounding."""
    lengths = np.diagonal(K)
    variance = float(lengths.mean() - K.mean())
    return variance if variance > _ROUNDING * _EPS * float(np.abs(lengths).max()) else 0.0


def _roughness(K: Floats, W: CsrArray) -> float:
    r"""Return :math:`\sum_{i<j} w_{ij} \|\phi(x_i) - \phi(x_j)\|^2`."""
    edges = W.tocoo()
    lengths = np.diagonal(K)
    squares = lengths[edges.row] + lengths[edges.col] - 2 * K[edges.row, edges.col]
    return float(edges.data @ squares) / 2
