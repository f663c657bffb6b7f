"""Common code of the estimators: their input, and the storage of a projection or embedding."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from ddr_cli.core.parameters import check_parameters
from ddr_cli.numerics.approximate import LIBRARY, MOST_EXACT
from ddr_cli.numerics.eigen import deterministic_signs, laplacian_eigenpairs
from ddr_cli.numerics.neighbor_graphs import neighbor_affinity
from ddr_cli.numerics.neighbors import CsrArray, Neighbors
from ddr_cli.numerics.scatter import Span
from ddr_cli.numerics.validation import validate_data
from ddr_cli.reducers.partial_labels import plain_labels
from ddr_cli.reducers.registry import Traits

Floats = NDArray[np.float64]
Codes = NDArray[np.intp]

_SEEDS = 2**30  # seeds are below this, because PaCMAP adds row numbers to a seed in 32 bits


class Estimator(BaseEstimator):
    """An estimator; a subclass states its input in class attributes."""

    classes_: NDArray[Any]

    _fitted: ClassVar[str]  # an attribute that only a fitted estimator has
    _takes_sparse: ClassVar[bool] = True
    _traits: ClassVar[Traits] = Traits()
    # Outside this range, sums of squares become 0 or infinite, and results are silently wrong.
    _magnitudes: ClassVar[tuple[float, float]] = (1e-140, 1e140)

    @property
    def _pairwise(self) -> bool:
        """Whether X holds a kernel's or a metric's values instead of samples."""
        return "precomputed" in (getattr(self, "kernel", None), getattr(self, "metric", None))

    @property
    def _accepted(self) -> dict[str, Any]:
        """The allowed input, for scikit-learn's ``validate_data``."""
        sparse = "csr" if self._takes_sparse and not self._pairwise else False
        return {"accept_sparse": sparse, "dtype": [np.float64, np.float32]}

    def _points(self, X: ArrayLike, y: Any = None, *, reset: bool = False) -> Any:
        """Return checked samples: for a fit (`reset`), or new ones for a fitted estimator.

        Labels `y` that `fit` does not use are rejected if they do not match `X`.
        """
        if reset:
            check_parameters(self)
            points = validate_data(self, X, ensure_min_samples=2, **self._accepted)
            check_consistent_length(points, y)
            self._check_samples(points)
            return points
        check_is_fitted(self, self._fitted)
        return validate_data(self, X, reset=False, **self._accepted)

    def _points_and_labels(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, NDArray[Any]]:
        """Return checked samples for a fit, and their unchanged labels."""
        check_parameters(self)
        points, labels = validate_data(self, X, y, ensure_min_samples=2, **self._accepted)
        self._check_samples(points)
        return points, labels

    def _check_samples(self, points: Any) -> None:
        if self._pairwise and points.shape[0] != points.shape[1]:
            raise ValueError(f"A precomputed X must be square, but has the shape {points.shape}.")
        largest = max(float(points.max()), -float(points.min()))
        least, most = self._magnitudes
        if largest and not least <= largest <= most:
            raise ValueError(
                f"The largest absolute value in X is {largest:.3g}, which is not between {least:g} "
                f"and {most:g}. Rescale the features."
            )

    def _points_and_classes(self, X: ArrayLike, y: ArrayLike) -> tuple[Any, Codes]:
        """Return checked samples for a fit, and for each the index of its class in `classes_`.

        Every distinct label is a class, including -1, because these methods do not use unlabelled
        samples.
        """
        points, labels = self._points_and_labels(X, y)
        self.classes_, code = np.unique(plain_labels(labels), return_inverse=True)
        self._check_classes()
        return points, code

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(f"{type(self).__name__} needs two classes, but y has only one class.")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = bool(self._accepted["accept_sparse"])
        tags.input_tags.pairwise = self._pairwise
        tags.target_tags.required = self.__ddr_traits__().supervised
        return tags

    def __ddr_traits__(self) -> Traits:
        return self._traits


class Reducer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator, ABC):
    """A transformer, whose `_fitted` attribute has n_components rows.

    The docstrings of `fit` and `transform` apply to all reducers, which do not repeat them.
    """

    n_components: Any

    @abstractmethod
    def fit(self, X: ArrayLike, y: Any) -> Self:
        """Fit the reducer to the training set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row. Some reducers take dense data only. With a precomputed
            kernel or metric: its values between the samples, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Class labels. Unsupervised reducers ignore them; semi-supervised reducers take -1 as
            the label of an unlabelled sample.

        Returns
        -------
        Self
            The fitted reducer.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the data do not suit the reducer: for example, they
            have missing values, a single class, or fewer dimensions than `n_components`.
        ImportError
            If the reducer needs an optional library that is not installed.
        """

    @abstractmethod
    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Embed samples.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_queries, n_features)
            Samples, one per row. With a precomputed kernel or metric: its values between these
            samples and the training samples, of shape (n_queries, n_samples).

        Returns
        -------
        ndarray of shape (n_queries, n_components)
            The embedding, as float32 if X is float32, else as float64.

        Raises
        ------
        NotFittedError
            If the reducer is not fitted.
        ValueError
            If X has missing values, or another number of features than the training set.
        """

    def _check_rank(
        self, rank: int, points: Any, *, reason: str = "all features are constant"
    ) -> None:
        """Reject samples that span fewer dimensions than requested; `reason` explains rank 0."""
        if rank == 0:
            raise ValueError(f"{type(self).__name__}: {reason}, so no direction can be found.")
        if self.n_components not in ("full", None) and self.n_components > rank:
            raise ValueError(
                f"n_components={self.n_components}, but the samples only span {rank} dimensions "
                f"(n_samples = {points.shape[0]}, n_features = {points.shape[1]})."
            )

    @property
    def _n_features_out(self) -> int:
        return len(getattr(self, self._fitted))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class GraphReducer(Reducer):
    """A reducer that uses the graph of the `n_neighbors` nearest neighbours."""

    @abstractmethod
    def fit(self, X: ArrayLike, y: Any, *, neighbors: Neighbors | None = None) -> Self:
        """Fit the reducer to the training set.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, one per row. Some reducers take dense data only.
        y : array-like of shape (n_samples,)
            Class labels, with -1 for an unlabelled sample. Unsupervised reducers ignore them.
        neighbors : Neighbors, optional
            At least `n_neighbors` neighbours of each sample, found before; `fit` then does not
            search for them.

        Returns
        -------
        Self
            The fitted reducer.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the data do not suit the reducer: for example, they
            have missing values, or fewer dimensions than `n_components`.
        """

    def _affinity(self: Any, points: Any, neighbors: Neighbors | None) -> tuple[CsrArray, float]:
        """Return the neighbour graph that the parameters describe, and its bandwidth."""
        W, bandwidth, self.neighbor_recall_ = neighbor_affinity(
            points,
            self.n_neighbors,
            weights=self.weights,
            epsilon=self.epsilon,
            neighbors=neighbors,
            search=self.neighbors,
        )
        return W, bandwidth

    def _eigenpairs(self: Any, graph: CsrArray) -> tuple[Floats, Floats]:
        """Return `laplacian_eigenpairs`, less accurate ones for a large approximate graph."""
        coarse = self.neighbors != "exact" and graph.shape[0] > MOST_EXACT
        return laplacian_eigenpairs(graph, self.n_components, tol=1e-4 if coarse else 1e-10)

    def __ddr_traits__(self) -> Traits:
        """Return the declared traits, changed if the search is not exact."""
        traits = super().__ddr_traits__()
        if getattr(self, "neighbors", "exact") == "exact":
            return traits
        return replace(traits, version=traits.version + 2, neighbors=False, library=LIBRARY)


class LinearReducer(Reducer):
    """A projection on `components_`, (n_components, n_features), after centring by `mean_`.

    Sparse data stay sparse; only their projection is dense.
    """

    components_: NDArray[Any]
    mean_: NDArray[Any]
    _fitted = "components_"

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        shift = self.mean_ @ self.components_.T
        return np.asarray(safe_sparse_dot(points, self.components_.T, dense_output=True) - shift)

    def _keep_directions(self, span: Span, W: Floats, dtype: Any, unit: float = 1.0) -> None:
        """Store the directions `W`, given in the span's coordinates in units of `unit`."""
        self.components_ = (deterministic_signs(span.basis @ W).T / unit).astype(dtype)
        self.mean_ = span.mean.astype(dtype)


def drawn_landmarks(
    n: int, n_landmarks: int | None, random_state: int | np.random.RandomState | None
) -> Codes:
    """Return the ascending row numbers of landmarks drawn from n samples (None: all rows)."""
    if n_landmarks is None or n_landmarks >= n:
        return np.arange(n)
    return np.sort(check_random_state(random_state).permutation(n)[:n_landmarks])


def as_seed(random_state: int | np.random.RandomState | None) -> int:
    """Return a seed for libraries: a small integer unchanged, otherwise a drawn one."""
    if isinstance(random_state, int | np.integer) and 0 <= random_state < _SEEDS:
        return int(random_state)
    return int(check_random_state(random_state).randint(_SEEDS))


class Embedding(Reducer):
    """An embedding of the training samples, `embedding_`, that extends to new samples."""

    embedding_: NDArray[Any]
    _fitted = "embedding_"

    def fit_transform(self, X: ArrayLike, y: Any = None, **fit_params: Any) -> NDArray[Any]:
        """Fit the reducer and return the embedding of the training set.

        `transform` would treat the samples as new ones and may return another embedding.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Training samples, as for `fit`.
        y : array-like of shape (n_samples,), default=None
            Class labels, as for `fit`.
        **fit_params
            Further arguments of `fit`.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            `embedding_`.

        Raises
        ------
        ValueError
            As for `fit`.
        """
        self.fit(X, y, **fit_params)
        return self.embedding_

    def _check_dimensions(self, n_samples: int) -> None:
        if self.n_components >= n_samples:
            raise ValueError(
                f"n_components={self.n_components} must be below n_samples = {n_samples}."
            )

    def _check_extension(self, most: int) -> None:
        """Reject more dimensions than eigenvectors that can be extended to new samples."""
        if self.n_components > most:
            raise ValueError(
                f"n_components={self.n_components} must be at most {most} to embed new samples."
            )

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])
