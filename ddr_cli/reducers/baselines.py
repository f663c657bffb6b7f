"""The baselines that every table has: no reduction, and principal component analysis."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils.validation import check_consistent_length

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.preprocess import fit_pca
from ddr_cli.numerics.validation import validate_data
from ddr_cli.reducers.reducer import LinearReducer, Reducer
from ddr_cli.reducers.registry import Traits


@registered(
    "reducer",
    "none",
    "no reduction: the data as they are",
    label="no reduction",
    look=("black", "s"),
)
class Identity(OneToOneFeatureMixin, Reducer):
    """Return the data as they are.

    Notes
    -----
    Use this as the baseline of every reduction: the classifiers get the original features.

    It keeps all features.

    Examples
    --------
    >>> Identity().fit_transform([[1.0, 2.0]])
    array([[1., 2.]])
    """

    _fitted = "n_features_in_"

    def fit(self, X: ArrayLike, y: Any = None) -> Identity:
        check_consistent_length(validate_data(self, X, **self._accepted), y)
        return self

    def transform(self, X: ArrayLike) -> Any:
        return self._points(X)

    _traits = Traits(supervised=False)


@registered("reducer", "pca", "principal component analysis", label="PCA", look=("pink", "P"))
class PCA(LinearReducer):
    r"""Project on the directions of largest variance.

    Parameters
    ----------
    n_components : int, float or "full", default=2
        Number of components. A fraction selects the smallest number that explains more than this
        fraction of the variance. "full" selects all components with non-zero variance ("PCA to the
        full rank"). Default: our choice; scikit-learn's default is all components.
    whiten : bool, default=False
        Divide each component by its standard deviation in the training set. Components without
        variance stay 0. Default: as in scikit-learn.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        Orthonormal directions, by decreasing variance; with `whiten` divided by the standard
        deviation along them.
    mean_ : ndarray of shape (n_features,)
        Mean of the training set.
    explained_variance_, explained_variance_ratio_ : ndarray of shape (n_components,)
        Variance along each direction, in squared units of the data, and its fraction of the total
        variance.

    Notes
    -----
    Use it when the relevant directions have a large variance, or before a method that needs fewer
    features than samples.

    Avoid it when the features have different units (standardise them first), or when the classes
    differ along directions of little variance: PCA ignores labels and drops these directions.

    This is scikit-learn's PCA with a fixed solver. Dense data use LAPACK's singular value
    decomposition (``svd_solver="full"``): exact, free of randomness, and nested. Sparse data, which
    must not be centred, use the eigenvectors of the covariance matrix, or ARPACK from a fixed start
    for more than 2000 features.

    For n samples and d features: :math:`O(n d \min(n, d))` on dense data.

    References
    ----------
    .. [1] K. Pearson, "On lines and planes of closest fit to systems of points in space",
       Philosophical Magazine 2, 1901, 559-572.
    .. [2] I. T. Jolliffe, "Principal Component Analysis", Springer, 2002.

    Examples
    --------
    >>> PCA(n_components=1).fit_transform([[0.0, 0.0], [2.0, 0.0]]).tolist()
    [[-1.0], [1.0]]
    """

    n_components: Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] | Literal["full"] = 2
    whiten: bool = False

    def fit(self, X: ArrayLike, y: Any = None) -> PCA:
        points = self._points(X, y, reset=True)
        pca = fit_pca(points, self.n_components)
        self.mean_, self.components_ = pca.mean_, pca.components_
        if self.whiten:
            deviation = np.sqrt(pca.explained_variance_)
            varies = deviation > max(points.shape) * np.finfo(points.dtype).eps * deviation[0]
            self.components_ = varies[:, None] * self.components_
            self.components_ /= np.where(varies, deviation, 1.0)[:, None]
        self.explained_variance_ = pca.explained_variance_
        self.explained_variance_ratio_ = pca.explained_variance_ratio_
        return self

    _traits = Traits(
        version=2,
        nested=True,
        supervised=False,
        grids={"n_components": tuple(range(1, 21))},
        max_components=lambda n_train, n_features, _: min(n_train, n_features),
    )
