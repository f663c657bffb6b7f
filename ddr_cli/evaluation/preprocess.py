"""The preprocessing steps: scikit-learn's, behind parameters that specs can check.

Each is fitted on the training set alone. Its class attribute ``version`` (default: 1) is raised by
hand whenever its numbers change, and is part of a trial's identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp
from annotated_types import Ge, Gt, Lt
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.numerics.validation import validate_data

if TYPE_CHECKING:
    from sklearn.decomposition import PCA

# scikit-learn's parts that some specs use are imported in the steps: they bring half of it along.

_DENSE_LIMIT = 2**27  # entries: 1 GiB
_WIDE = 2000  # more features than this: a sparse fit doesn't form their covariance matrix


def _is_sparse(X: Any) -> bool:
    return bool(sp.issparse(X))


class _Step(TransformerMixin, BaseEstimator, ABC):
    """One of scikit-learn's transformers, made when the training data are known."""

    version: ClassVar[int] = 1
    _accepts_sparse: ClassVar[bool] = True
    _accepts_missing: ClassVar[bool] = False
    _needs_positive: ClassVar[bool] = False

    @abstractmethod
    def _fitted(self, points: Any) -> Any:
        """Return the transformer for the training data."""

    def fit(self, X: ArrayLike, y: object = None) -> Self:  # noqa: ARG002 (scikit-learn's call)
        """Fit the step on the training set."""
        check_parameters(self)
        points = self._validated(X, reset=True)
        with config_context(transform_output="default"):
            self.transformer_ = self._fitted(points)
        return self

    def transform(self, X: ArrayLike) -> Any:
        """Apply the fitted step to any samples."""
        check_is_fitted(self)
        points = self._validated(X, reset=False)
        # A data frame of the inner transformer would lack the names of the samples.
        with config_context(transform_output="default"):
            return self.transformer_.transform(points)

    def _validated(self, X: ArrayLike, *, reset: bool) -> Any:
        points = validate_data(
            self,
            X,
            accept_sparse=("csr", "csc") if self._accepts_sparse else False,
            dtype=np.float64,
            ensure_all_finite="allow-nan" if self._accepts_missing else True,
            reset=reset,
        )
        if self._needs_positive and points.size and points.min() < 0:
            step = type(self).__name__.lower()
            raise ValueError(f"Negative values in data: {step} needs counts, or sizes.")
        return points

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.allow_nan = self._accepts_missing
        tags.input_tags.positive_only = self._needs_positive
        return tags


class _OfColumns(_Step):
    """A step that treats the columns with codes of categories differently from numbers.

    Which they are is told to `fit`; without a word of it, all are numbers.
    """

    _accepts_missing = True
    _categorical: Sequence[int] = ()

    def fit(self, X: ArrayLike, y: object = None, categorical: Sequence[int] = ()) -> Self:
        """Fit the step on the training set."""
        self._categorical = tuple(categorical)
        return super().fit(X, y)


class _Projection(_Step):
    """A step with other features, which the inner transformer names."""

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[Any]:
        """Return the names of the new features."""
        check_is_fitted(self)
        names = OneToOneFeatureMixin.get_feature_names_out(self, input_features)
        return np.asarray(self.transformer_.get_feature_names_out(names))


def fit_pca(points: Any, n_components: int | float | str, *, whiten: bool = False) -> PCA:
    """Return scikit-learn's PCA of the samples, nothing about it left to chance.

    "full" is all components whose variance is more than rounding. Dense samples: LAPACK's singular
    values. Sparse ones, which must not be centred: the eigenvectors of the covariance matrix, or
    ARPACK from a fixed start for a number of components of more than 2000 features.
    """
    sparse, number = _is_sparse(points), not isinstance(n_components, float | str)
    if number and n_components > (most := min(points.shape)):
        raise ValueError(
            f"n_components={n_components}, but n_samples={points.shape[0]} points with n_features="
            f"{points.shape[1]} span at most {most} dimensions; choose a smaller number or 'full'."
        )
    solver = "covariance_eigh" if sparse else "full"
    if sparse and number and points.shape[1] > _WIDE:
        solver = "arpack"
    count = None if n_components == "full" else n_components
    from sklearn.decomposition import PCA

    fitted = PCA(count, whiten=whiten, svd_solver=solver, random_state=0).fit(points)
    if n_components == "full":
        # A covariance matrix carries the rounding in the variances, singular values in the roots.
        size = fitted.explained_variance_ if sparse else fitted.singular_values_
        floor = max(points.shape) * np.finfo(points.dtype).eps * size.max()
        rank = max(1, int(np.count_nonzero(size > floor)))
        for name in (
            "components_",
            "explained_variance_",
            "explained_variance_ratio_",
            "singular_values_",
        ):
            setattr(fitted, name, getattr(fitted, name)[:rank])
        fitted.n_components_ = rank
    return fitted


@dataclass(eq=False, repr=False)
@registered(
    "preprocessor",
    "pca",
    "principal components: a number, a share of variance, or all but the null space",
)
class PrincipalComponents(_Projection):
    """Project on the principal components of the training set (centred).

    Parameters
    ----------
    n_components : int, float or "full", default="full"
        How many; or, strictly between 0 and 1, the smallest number that explains this share of
        the variance; or all with any variance at all, so that nothing but the null space of the
        training set is dropped (199 for 200 samples in general position).
    whiten : bool, default=False
        Scale every component to unit variance.

    Notes
    -----
    Solved by full singular values, so nothing is random. Sparse training data are made dense, up
    to 2^27 entries; beyond that use `svd`.
    """

    n_components: Literal["full"] | Annotated[int, Ge(1)] | Annotated[float, Gt(0), Lt(1)] = "full"
    whiten: bool = False

    def _fitted(self, points: Any) -> Any:
        if _is_sparse(points):
            if np.prod(points.shape, dtype=float) > _DENSE_LIMIT:
                raise ValueError(
                    f"pca would make a sparse matrix of shape {points.shape} dense; use svd."
                )
            points = points.toarray()
        return fit_pca(points, self.n_components, whiten=self.whiten)


@dataclass(eq=False, repr=False)
@registered("preprocessor", "svd", "leading singular vectors, not centred; sparse")
class SingularVectors(_Projection):
    """Project on the leading right singular vectors of the training set, for sparse data.

    Nothing is centred: subtracting the mean would make sparse data dense. So the first vector
    mostly points to the mean, and the result is not PCA's.

    Parameters
    ----------
    n_components : int, default=100
        How many, below the number of training samples and of features.
    """

    n_components: Annotated[int, Ge(1)] = 100

    def _fitted(self, points: Any) -> Any:
        if self.n_components >= min(points.shape):
            raise ValueError(
                f"svd: n_components={self.n_components} must be below both n_samples="
                f"{points.shape[0]} and n_features={points.shape[1]} of the training part; "
                "choose a smaller number."
            )
        # Lanczos to machine precision; the fixed seed is that of its starting vector.
        from sklearn.decomposition import TruncatedSVD

        return TruncatedSVD(self.n_components, algorithm="arpack", random_state=0).fit(points)


@dataclass(eq=False, repr=False)
@registered("preprocessor", "impute", "missing values: mean, median or most frequent value")
class Impute(OneToOneFeatureMixin, _OfColumns):
    """Put the training set's value of a feature in the place of its missing ones.

    A categorical column gets its most frequent value by any strategy, a feature without a single
    value in the training set 0. Of equally frequent values the smallest counts.

    Parameters
    ----------
    strategy : {"mean", "median", "most_frequent"}, default="mean"
        Which value of the numeric features.
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


@registered("preprocessor", "one_hot", "categorical columns as one 0/1 column per value")
class OneHot(_Projection, _OfColumns):
    """Make each categorical column one 0/1 column per value in the training set.

    These come first, the other features after them. A value that the training set does not have
    is 0 in all of its columns; a missing one, unless it was imputed before, is a value of its own.
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


@dataclass(eq=False, repr=False)
@registered(
    "preprocessor", "variance_threshold", "drop features that don't vary in the training part"
)
class LowVariance(_Projection):
    """Drop features that vary little, or not at all, in the training set.

    Parameters
    ----------
    threshold : float, default=0
        Features of no more variance than this are dropped.
    """

    threshold: Annotated[float, Ge(0)] = 0.0

    def _fitted(self, points: Any) -> Any:
        from sklearn.feature_selection import VarianceThreshold

        return VarianceThreshold(self.threshold).fit(points)


@registered("preprocessor", "log1p", "ln(1 + x) of every value")
class Log1p(OneToOneFeatureMixin, _Step):
    """Replace each value x by ln(1 + x): counts and other sizes with a long tail."""

    _needs_positive = True

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import FunctionTransformer

        return FunctionTransformer(np.log1p, accept_sparse=True).fit(points)


@registered("preprocessor", "standardize", "mean 0 and standard deviation 1")
class Standardize(OneToOneFeatureMixin, _Step):
    """Subtract each feature's mean and divide by its standard deviation.

    A constant feature is not divided. Sparse data are divided only: centring would make them
    dense.
    """

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import StandardScaler

        return StandardScaler(with_mean=not _is_sparse(points)).fit(points)


@dataclass(eq=False, repr=False)
@registered("preprocessor", "rescale", "the training part's range to [0, 1]")
class Rescale(OneToOneFeatureMixin, _Step):
    """Map the training set's range to [0, 1]; other samples may fall outside.

    Parameters
    ----------
    by : {"feature", "all"}, default="feature"
        The range of each feature on its own, or one range for the whole matrix, which keeps the
        geometry (grey values of images).
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


@registered("preprocessor", "unit_length", "every row to Euclidean length 1")
class UnitLength(OneToOneFeatureMixin, _Step):
    """Scale every row to Euclidean length 1; a row of zeros stays."""

    def _fitted(self, points: Any) -> Any:
        from sklearn.preprocessing import Normalizer

        return Normalizer().fit(points)


@dataclass(eq=False, repr=False)
@registered("preprocessor", "tfidf", "word counts times the words' rarity")
class Tfidf(OneToOneFeatureMixin, _Step):
    """Weigh word counts by how rare the word is in the training set.

    The weight of a word is its count times ln((1 + n) / (1 + df)) + 1, for n training documents of
    which df hold the word (scikit-learn's smoothed idf, finite for words that no training
    document holds).

    Parameters
    ----------
    norm : {"none", "l2"}, default="none"
        Whether each document is then scaled to Euclidean length 1.
    """

    norm: Literal["none", "l2"] = "none"
    _needs_positive = True

    def _fitted(self, points: Any) -> Any:
        from sklearn.feature_extraction.text import TfidfTransformer

        return TfidfTransformer(norm=None if self.norm == "none" else self.norm).fit(points)


def fit_step(
    step: Any, train: Any, y: Any, categorical: Sequence[int]
) -> tuple[Any, Sequence[int]]:
    """Fit a step; return the training set after it, and which of its columns hold codes then."""
    known = {"categorical": categorical} if isinstance(step, _OfColumns) else {}
    after = step.fit_transform(train, y, **known)
    return after, categorical if isinstance(step, OneToOneFeatureMixin) else ()
