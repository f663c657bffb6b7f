"""scikit-learn's kernel PCA with fixed solver, start, defaults and signs.

Its numbers do not depend on a random start or on the version of scikit-learn, and error messages
name the parameter at fault.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike
from sklearn import decomposition, metrics, preprocessing

from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import TIED, eigenpairs
from ddr_cli.numerics.kernels import GAMMAS, Gamma, kernel_gamma, kernel_origin
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Floats, SklearnEmbedding
from ddr_cli.reducers.registry import Traits, one_less_than_points

# These parameters affect the results, so they are fixed here: scikit-learn 1.9's defaults, which
# later versions may change, and our own values.
_KERNEL_PCA: dict[str, Any] = {
    "tol": 0,
    "max_iter": None,
    "remove_zero_eig": False,
    "random_state": 0,
}
_DENSE = 1000  # up to this many samples, a complete decomposition is fast and misses no eigenvalue
_ZERO = 1e-10  # fraction of the largest eigenvalue below which an eigenvalue counts as 0

Kernel = (
    Literal["linear", "rbf", "poly", "sigmoid", "cosine", "precomputed"]
    | Callable[[Any, Any], float]
)


def _with_ties(model: decomposition.KernelPCA, points: Any, K: Floats, m: int) -> Floats:
    """Return the embedding of a centred kernel with tied eigenvalues.

    scikit-learn misses some of them, or returns an arbitrary basis.
    """
    values, vectors = eigenpairs(K, m)
    model.X_fit_, model.eigenvalues_, model.eigenvectors_ = points, values, vectors
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


@registered(
    "reducer",
    "kernel_pca",
    "kernel principal component analysis (Schölkopf et al.)",
    label="kernel PCA",
    look=("pink", "o"),
)
class KernelPCA(SklearnEmbedding):
    r"""Project on the directions of largest variance in the feature space of a kernel.

    With K the centred kernel matrix, the columns of the embedding are :math:`\sqrt{\lambda_l} v_l`
    for its leading eigenpairs; a new sample x has
    :math:`\lambda_l^{-1/2} \sum_i v_{il} k(x, x_i)`, k centred likewise.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding.
    kernel : str or callable, default="linear"
        "linear", "rbf", "poly", "sigmoid", "cosine", a function of two samples, or "precomputed": X
        is then the kernel matrix. With "linear", the method is principal component analysis.
    gamma : "scale" or float, default="scale"
        Parameter :math:`\gamma` of the kernels that have this parameter. "scale" is a reciprocal:
        of the total variance for "rbf", of the mean squared length for "poly" and "sigmoid".
        scikit-learn's default is 1 / n_features, which suits only standardised features.
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant term of the polynomial and the sigmoid kernel.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples, centred.
    gamma_ : float
        The value of `gamma`.
    eigenvalues_ : ndarray of shape (n_components,)
        The :math:`\lambda`, descending: the sum of squares of each column.
    model_ : sklearn.decomposition.KernelPCA
        The fitted estimator behind `transform`.

    Notes
    -----
    Use it when the data vary along curves that a kernel of known bandwidth makes straight.

    Avoid it when the bandwidth is a guess: the embedding depends on it. Labels are not used.

    Four defaults of scikit-learn 1.9 are changed: ``n_components=2`` instead of all; `gamma`; up to
    1000 points ``eigen_solver="dense"``, where "auto" takes ARPACK above 200; and beyond, ARPACK
    with ``random_state=0`` instead of a random start.

    Dimensions in which the samples do not vary are zero. Kernels that are not positive semidefinite
    also give negative eigenvalues; an `n_components` that would reach these is an error.

    For n samples, d features and m dimensions: :math:`O(n^2 d)`, and :math:`O(n^3)` up to 1000
    samples, :math:`O(n^2 m)` for each of ARPACK's restarts beyond.

    References
    ----------
    .. [1] B. Schölkopf, A. Smola, K.-R. Müller, "Nonlinear Component Analysis as a Kernel
       Eigenvalue Problem", Neural Computation 10, 1998, 1299-1319.

    Examples
    --------
    >>> KernelPCA(n_components=1).fit_transform([[0.0, 0.0], [2.0, 0.0]]).round(6).tolist()
    [[1.0], [-1.0]]
    """

    n_components: Annotated[int, Ge(1)] = 2
    kernel: Kernel = "linear"
    gamma: Gamma = "scale"
    degree: Annotated[int, Ge(1)] = 3
    coef0: float = 1.0

    @one_thread()
    def fit(self, X: ArrayLike, y: Any = None) -> KernelPCA:
        points = self._checked(X, y)
        n, m = points.shape[0], self.n_components
        more = min(m + 1, n)  # the next eigenvalue tells whether the last one is tied
        self.gamma_ = kernel_gamma(points, self.gamma, self.kernel)
        dense = n <= _DENSE or self.n_components >= n // 4
        model = decomposition.KernelPCA(
            n_components=more,
            kernel=self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
            eigen_solver="dense" if dense else "arpack",
            **_KERNEL_PCA,
        ).set_output(transform="default")
        self._origin = kernel_origin(points, self.kernel)
        exact = points.astype(np.float64) - self._origin
        try:
            embedding = model.fit_transform(exact)
        except ValueError:
            # Without a centerer, the error is about the input. Otherwise, scikit-learn missed tied
            # eigenvalues, and the embedding is computed below.
            if not hasattr(model, "_centerer"):
                raise
            embedding = exact[:, :0]
        sizes = np.array([]) if embedding.shape[1] < more else model.eigenvalues_
        if not len(sizes) or (-np.diff(sizes) <= TIED * sizes[0]).any():
            parameters = {} if callable(self.kernel) else model.get_params()
            K = metrics.pairwise.pairwise_kernels(
                exact, metric=self.kernel, filter_params=True, **parameters
            )
            centerer = preprocessing.KernelCenterer().set_output(transform="default")
            embedding = _with_ties(model, exact, centerer.fit_transform(K), m)
        model.eigenvalues_ = model.eigenvalues_[:m]
        model.eigenvectors_ = model.eigenvectors_[:, :m]
        size, positive = np.abs(model.eigenvalues_).max(), model.eigenvalues_ > 0
        if (model.eigenvalues_ < -_ZERO * size).any():
            raise ValueError(
                f"n_components={self.n_components}, but the kernel {self.kernel!r} yields only "
                f"{int(positive.sum())} dimensions of positive variance. Lower n_components."
            )
        self.eigenvalues_ = model.eigenvalues_
        self._keep(model, embedding[:, :m], points.dtype)
        return self

    def __ddr_traits__(self) -> Traits:
        return Traits(
            version=4,
            nested=True,
            transductive=self.kernel != "precomputed",
            supervised=False,
            grids={
                "n_components": tuple(range(1, 21)),
                "kernel": ("linear", "rbf", "poly", "sigmoid", "cosine"),
                "gamma": GAMMAS,
            },
            max_components=one_less_than_points,
        )
