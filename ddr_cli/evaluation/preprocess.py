"""The preprocessing steps: scikit-learn's, with parameters that specs can check.

Each is fitted on the training set only. Its class attribute ``version`` (default: 1) is raised by
hand whenever its numbers change, and is part of a trial's identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.numerics.eigen import canonical
from ddr_cli.numerics.neighbors import is_sparse
from ddr_cli.numerics.validation import validate_data

if TYPE_CHECKING:
    from sklearn.decomposition import PCA

# Some parts of scikit-learn are imported in the steps that use them, because importing them loads
# half of the library.

_DENSE_LIMIT = 2**27  # entries of a matrix: 1 GiB in double precision
_DECIMALS = 12  # of a fraction of variance
_WIDE = 2000  # with more features, PCA of sparse data does not form their covariance matrix


class _Step(TransformerMixin, BaseEstimator, ABC):
    """A scikit-learn transformer that is created in `fit`."""

    version: ClassVar[int] = 1
    _accepts_sparse: ClassVar[bool] = True
    _accepts_missing: ClassVar[bool] = False
    _needs_positive: ClassVar[bool] = False

    @abstractmethod
    def _fitted(self, points: Any) -> Any:
        """Return the transformer for the training data."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's call)
        """Fit the step to the training set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row. Some steps take dense data only.
        y : object, optional
            Ignored.

        Returns
        -------
        Self
            The fitted step.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """
        check_parameters(self)
        points = self._validated(X, reset=True)
        with config_context(transform_output="default"):
            self.transformer_ = self._fitted(points)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Apply the fitted step to samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row.

        Returns
        -------
        ndarray or sparse matrix of shape (n_queries, n_features_out)
            The transformed samples.

        Raises
        ------
        NotFittedError
            If the step is not fitted.
        ValueError
            If X has another number of features than the training set, or invalid values.
        """
        check_is_fitted(self)
        points = self._validated(X, reset=False)
        # A data frame made by the inner transformer would not have the row index of X.
        with config_context(transform_output="default"):
            return self.transformer_.transform(points)

    def _validated(self, X: ArrayLike, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            accept_sparse=("csr", "csc") if self._accepts_sparse else False,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if self._accepts_missing else True,
            ensure_non_negative=self._needs_positive,
            reset=reset,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.positive_only = self._needs_positive
        return tags


class _OfColumns(_Step):
    """A step that treats categorical columns, given to `fit`, differently from numbers."""

    _accepts_missing = True
    _categorical: Sequence[int] = ()

    def fit(self, X: ArrayLike, y: object = None, categorical: Sequence[int] = ()) -> Self:
        """Fit the step to the training set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row. Some steps take dense data only.
        y : object, optional
            Ignored.
        categorical : sequence of int, optional
            Indices of the columns that hold codes of categories. Default: all columns are numeric.

        Returns
        -------
        Self
            The fitted step.

        Raises
        ------
        ValueError
            If a parameter or the data are not valid.
        """
        self._categorical = tuple(categorical)
        return super().fit(X, y)


class _Projection(_Step):
    """A step with new features, which the inner transformer names."""

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the new features.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the input features. Default: those seen in `fit`, else x0, x1, ...

        Returns
        -------
        ndarray of str of shape (n_features_out,)
            The names.

        Raises
        ------
        NotFittedError
            If the step is not fitted.
        """
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(self.transformer_.get_feature_names_out(names))


def fit_pca(points: Any, n_components: int | float | str, *, whiten: bool = False) -> PCA:
    """Return a deterministic fit of scikit-learn's PCA.

    "full" keeps all components whose variance exceeds rounding. The solver is LAPACK's singular
    value decomposition for dense data. For sparse data, which must not be centred, it is the
    eigendecomposition of the covariance matrix, or ARPACK from a fixed start for a given number of
    components of more than 2000 features.
    """
    sparse, number = is_sparse(points), not isinstance(n_components, float | str)
    if number and n_components > (most := min(points.shape)):
        raise ValueError(
            f"n_components={n_components} is above {most}, the smaller of n_samples="
            f"{points.shape[0]} and n_features={points.shape[1]}; lower n_components."
        )
    solver = "covariance_eigh" if sparse else "full"
    if sparse and number and points.shape[1] > _WIDE:
        solver = "arpack"
    from sklearn.decomposition import PCA

    # All components are computed in any case, and the last ones tell whether the cut is unique.
    count = n_components if solver == "arpack" else None
    fitted = PCA(count, whiten=whiten, svd_solver=solver, random_state=0).fit(points)
    size = fitted.singular_values_
    fitted.components_ = np.ascontiguousarray(canonical(size, fitted.components_.T)[0].T)
    if n_components == "full":
        # Eigenvalues of a covariance matrix have rounding errors relative to the largest variance,
        # singular values relative to the largest singular value.
        size = fitted.explained_variance_ if sparse else fitted.singular_values_
        floor = max(points.shape) * np.finfo(points.dtype).eps * size.max()
        number_kept = max(1, int(np.count_nonzero(size > floor)))
    elif number:
        number_kept = int(n_components)
    else:
        explained = np.cumsum(fitted.explained_variance_ratio_).round(_DECIMALS)
        number_kept = min(len(size), 1 + int(np.searchsorted(explained, n_components, "right")))
    for name in (
        "components_",
        "explained_variance_",
        "explained_variance_ratio_",
        "singular_values_",
    ):
        setattr(fitted, name, getattr(fitted, name)[:number_kept])
    fitted.n_components_ = number_kept
    return fitted


@registered(
    "preprocessor",
    "pca",
    "principal components: a number, a fraction of variance, or all except the null space",
)
class PrincipalComponents(_Projection):
    """Project on the principal components of the training set (centred).

    Parameters
    ----------
    n_components : int, float or "full", default="full"
        Number of components. A fraction between 0 and 1 selects the smallest number that explains
        this fraction of the variance. "full" selects all components with non-zero variance (199 for
        200 samples in general position).
    whiten : bool, default=False
        Scale every component to unit variance.

    Notes
    -----
    A full singular value decomposition computes the components, so the result is deterministic.
    Sparse training data with up to 2^27 entries are converted to dense data; for larger sparse
    data, use `svd`.
    """

    version: ClassVar[int] = 2

    n_components: Literal["full"] | Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] = "full"
    whiten: bool = False

    def _fitted(self, points: Any) -> Any:
        if is_sparse(points):
            if np.prod(points.shape, dtype=float) > _DENSE_LIMIT:
                raise ValueError(
                    f"A sparse matrix of shape {points.shape} is too large for 'pca'; use 'svd'."
                )
            points = points.toarray()
        return fit_pca(points, self.n_components, whiten=self.whiten)


@registered("preprocessor", "svd", "leading singular vectors without centring, for sparse data")
class SingularVectors(_Projection):
    """Project on the leading right singular vectors of the training set, for sparse data.

    The data are not centred, since subtracting the mean would make sparse data dense. The first
    vector therefore roughly points to the mean, and the result differs from PCA's.

    Parameters
    ----------
    n_components : int, default=100
        Number of vectors, below both n_samples and n_features.
    """

    n_components: Annotated[int, Ge(1)] = 100

    def _fitted(self, points: Any) -> Any:
        if self.n_components >= min(points.shape):
            raise ValueError(
                f"svd: n_components={self.n_components} must be below both n_samples="
                f"{points.shape[0]} and n_features={points.shape[1]} of the training set."
            )
        # ARPACK iterates to machine precision; `random_state` is the seed of its start vector.
        from sklearn.decomposition import TruncatedSVD

        return TruncatedSVD(self.n_components, algorithm="arpack", random_state=0).fit(points)


@registered(
    "preprocessor", "impute", "replace missing values by the mean, median or most frequent value"
)
class Impute(OneToOneFeatureMixin, _OfColumns):
    """Replace missing values of a feature by its mean, median or mode in the training set.

    With every strategy, missing values of a categorical column become its most frequent value. If a
    feature has no value in the training set, its missing values become 0. Of equally frequent
    values, the smallest is used.

    Parameters
    ----------
    strategy : {"mean", "median", "most_frequent"}, default="mean"
        Statistic that replaces missing values of numeric features.
    """

    strategy: Literal["mean", "median", "most_frequent"] = "mean"

    def _fitted(self, points: Any) -> Any:
        from sklearn.impute import SimpleImputer

        imputer = SimpleImputer(strategy=self.strategy, keep_empty_features=True).fit(points)
        if self._categorical:
            columns = list(self._categorical)
            codes = SimpleImputer(strategy="most_frequent", keep_empty_features=True)
            imputer.statistics_[columns] = codes.fit(points[:, columns]).statistics_
        return imputer


@registered("preprocessor", "one_hot", "encode categorical columns as one 0/1 column per value")
class OneHot(_Projection, _OfColumns):
    """Replace each categorical column by one 0/1 column per value in the training set.

    The new columns come first, then the other features. A value that does not occur in the training
    set becomes 0 in all columns. Missing values that were not imputed before are treated as a
    separate value.
    """

    _accepts_sparse = False

    def _fitted(self, points: Any) -> Any:
        from sklearn.compose import ColumnTransformer
        from sklearn.preprocessing import OneHotEncoder

        encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
        columns = ColumnTransformer(
            [("one_hot", encoder, list(self._categorical))],
            remainder="passthrough",
            sparse_threshold=0,
            verbose_feature_names_out=False,
        )
        return columns.fit(points)


@registered(
    "preprocessor", "variance_threshold", "drop features that do not vary in the training set"
)
class LowVariance(_Projection):
    """Drop features that vary little, or not at all, in the training set.

    Parameters
    ----------
    threshold : float, default=0
        Features with at most this variance are dropped.
    """

    threshold: Annotated[float, Ge(0)] = 0.0

    def _fitted(self, points: Any) -> Any:
        from sklearn.feature_selection import VarianceThreshold

        return VarianceThreshold(self.threshold).fit(points)


@registered("preprocessor", "log1p", "replace every value x by ln(1 + x)")
class Log1p(OneToOneFeatureMixin, _Step):
    """Replace each value x by ln(1 + x), for counts and other long-tailed values of 0 or more."""

    _needs_positive = True

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import FunctionTransformer

        return FunctionTransformer(np.log1p, accept_sparse=True).fit(points)


@registered("preprocessor", "standardize", "scale features to mean 0 and standard deviation 1")
class Standardize(OneToOneFeatureMixin, _Step):
    """Subtract each feature's mean and divide by its standard deviation.

    A constant feature is not divided. Sparse data are not centred, because centring would make the
    data dense.
    """

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import StandardScaler

        return StandardScaler(with_mean=not is_sparse(points)).fit(points)


@registered("preprocessor", "rescale", "map the training set's range to [0, 1]")
class Rescale(OneToOneFeatureMixin, _Step):
    """Map the training set's range to [0, 1]; other samples may fall outside.

    Parameters
    ----------
    by : {"feature", "all"}, default="feature"
        "feature": one range per feature. "all": one range for the whole matrix, which keeps the
        geometry, such as for grey values of images.
    """

    _accepts_sparse = False

    by: Literal["feature", "all"] = "feature"

    def _fitted(self, points: Any) -> Any:
        axis = 0 if self.by == "feature" else None
        low = points.min(axis=axis)
        spread = points.max(axis=axis) - low
        return _Range(low, np.where(spread > 0, spread, 1.0))


@dataclass
class _Range:
    low: Any
    spread: Any

    def transform(self, points: Any) -> Any:
        return (points - self.low) / self.spread


@registered("preprocessor", "unit_length", "scale every row to Euclidean length 1")
class UnitLength(OneToOneFeatureMixin, _Step):
    """Scale every row to Euclidean length 1; a row of zeros does not change."""

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import Normalizer

        return Normalizer().fit(points)


@registered("preprocessor", "tfidf", "word counts weighted by the rarity of the word (tf-idf)")
class Tfidf(OneToOneFeatureMixin, _Step):
    """Weight word counts by the rarity of the word in the training set.

    The weight of a word is its count times ln((1 + n) / (1 + df)) + 1, for n training documents of
    which df contain the word (scikit-learn's smoothed idf, which is finite for words that no
    training document contains).

    Parameters
    ----------
    norm : {"none", "l2"}, default="none"
        "l2" scales each document to Euclidean length 1. "none" does not scale.
    """

    norm: Literal["none", "l2"] = "none"
    _needs_positive = True

    def _fitted(self, points: Any) -> Any:
        from sklearn.feature_extraction.text import TfidfTransformer

        return TfidfTransformer(norm=None if self.norm == "none" else self.norm).fit(points)


def fit_step(
    step: Any, train: Any, y: Any, categorical: Sequence[int]
) -> tuple[Any, Sequence[int]]:
    """Fit a step; return the transformed training set and its categorical columns."""
    known = {"categorical": categorical} if isinstance(step, _OfColumns) else {}
    after = step.fit_transform(train, y, **known)
    return after, categorical if isinstance(step, OneToOneFeatureMixin) else ()
