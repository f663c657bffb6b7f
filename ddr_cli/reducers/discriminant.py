"""Common code of the discriminants: LDA, NMMP, LFDA, MFA and the kernel forms of the last two.

A direction in a kernel's feature space is a combination of the training samples, so a linear method
applied to all coordinates of kernel PCA is the method's kernel form: inner products, and hence
distances, neighbours, scatter matrices and the ridge ``|w|^2``, are those of the feature space.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
import scipy.linalg
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray

from ddr_cli.numerics.eigen import all_eigenpairs, deterministic_signs
from ddr_cli.numerics.generalized_eigen import (
    generalized_eigenpairs,
    regular_eigenpairs,
    regular_factor,
    well_conditioned_order,
)
from ddr_cli.numerics.kernels import Gamma, kernel_gamma, kernel_matrix
from ddr_cli.numerics.scatter import Span, data_span, symmetric
from ddr_cli.numerics.sharing import computed_once
from ddr_cli.numerics.threads import one_thread
from ddr_cli.reducers.reducer import Codes, Floats, LinearReducer, Reducer, drawn_landmarks
from ddr_cli.reducers.registry import one_less_than_points, rank_of_centred

Kernel = (
    Literal[
        "rbf",
        "linear",
        "poly",
        "polynomial",
        "sigmoid",
        "cosine",
        "laplacian",
        "chi2",
        "additive_chi2",
        "precomputed",
    ]
    | Callable[[Any, Any], float]
)

_RANK_TOL = 1e-10  # relative size at which an eigenvalue of the centred kernel matrix counts as 0
_REGULAR = 1e-8  # least relative eigenvalue of a matrix for which `regular_factor` is not None
_RIDGED = 1e-6  # with a ridge of at least this, no within-class scatter is nearly singular
_NEGATIVE = 1e-8  # relative size from which a negative eigenvalue is more than rounding


@dataclass(eq=False, repr=False)
class Discriminant(Reducer):
    """A method that finds directions in the span of labelled samples; a subclass defines them."""

    n_components: Annotated[int, Ge(1)] = 2

    @abstractmethod
    def _directions(self, points: Any, Z: Floats, code: Codes) -> Floats:
        """Return n_components directions as columns, in the coordinates Z of the samples.

        Neighbours are searched among `points`: the given samples or, in a feature space, Z.
        """


class LinearDiscriminant(Discriminant, LinearReducer):
    """Directions in the space of the data."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code = self._points_and_classes(X, y)
        span = self._span_of(points)
        self._check_rank(span.rank, points)
        W = self._directions(points, span.coordinates, code)
        self._keep_directions(span, W, points.dtype)
        return self

    def _span_of(self, points: Any) -> Span:
        return computed_once(lambda: data_span(points), points, "span")


@dataclass(eq=False, repr=False)
class KernelDiscriminant(Discriminant):
    """Directions in the feature space of a kernel, found in the coordinates of kernel PCA."""

    kernel: Kernel = "rbf"
    gamma: Gamma = "scale"
    degree: Annotated[int, Ge(1)] = 3
    coef0: float = 1.0
    n_landmarks: Annotated[int, Ge(2)] | None = None
    random_state: int | np.random.RandomState | None = None
    reg: Annotated[float, Gt(0)] = 1e-3
    _fitted = "dual_components_"

    @one_thread()
    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, code = self._points_and_classes(X, y)
        Z, dual = self._kernel_pca(points)
        W = self._directions(Z, Z, code)
        self.dual_components_: NDArray[Any] = deterministic_signs(dual @ W).T
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        K = self._centerer.transform(self._matrix(points))
        return np.asarray(K @ self.dual_components_.T).astype(points.dtype)

    def _kernel_pca(self, points: Any) -> tuple[Floats, Floats]:
        """Return the images' coordinates, and the basis as combinations of the landmarks' images.

        The landmarks are all samples, unless `n_landmarks` is set; the images of the others are
        then projected on the span of the landmarks' images, which is Nyström's approximation of the
        kernel.
        """
        self.gamma_ = kernel_gamma(points, self.gamma, self.kernel)
        self.landmarks_ = drawn_landmarks(points.shape[0], self.n_landmarks, self.random_state)
        self.X_fit_ = points[self.landmarks_]
        # This import takes half a second, and linear methods do not need it.
        from sklearn.preprocessing import KernelCenterer

        self._centerer = KernelCenterer().set_output(transform="default")
        K = self._matrix(self.X_fit_)
        rounding = len(K) * np.finfo(np.float64).eps * float(abs(K).max())
        K = self._centerer.fit_transform(K)
        K = symmetric(K)
        exact = len(K) == points.shape[0]
        # With such a ridge, all dimensions are used, so their order does not matter.
        found = _independent_images(K, rounding) if exact and self.reg >= _RIDGED else None
        if found is not None:
            self._check_rank(len(K) - 1, points)
            return found
        sizes, axes = all_eigenpairs(K)
        sizes, axes = sizes[::-1], axes[:, ::-1]
        if -sizes[-1] > max(_NEGATIVE * float(sizes[0]), rounding):
            warnings.warn(
                f"The kernel {self.kernel!r} has negative eigenvalues, which are omitted.",
                stacklevel=3,
            )
        kept = sizes > max(_RANK_TOL * float(sizes[0]), rounding)
        reason = f"the kernel {self.kernel!r} maps all samples to the same point"
        self._check_rank(int(kept.sum()), self.X_fit_, reason=reason)
        length = np.sqrt(sizes[kept])
        dual = axes[:, kept] / length
        if exact:
            return axes[:, kept] * length, dual
        return self._centerer.transform(self._matrix(points)) @ dual, dual

    def _rank_of_images(self, n_train: int, n_features: int, n_classes: int) -> int:
        flat = self.kernel in ("linear", "cosine")
        most = rank_of_centred if flat else one_less_than_points
        return most(min(n_train, self.n_landmarks or n_train), n_features, n_classes)

    def _matrix(self, points: Any) -> Floats:
        """Return the kernel between `points` and the landmarks, in float64."""
        if self.kernel == "precomputed":
            return np.array(points[:, self.landmarks_], dtype=np.float64)
        return kernel_matrix(
            points,
            self.X_fit_,
            self.kernel,
            gamma=self.gamma_,
            degree=self.degree,
            coef0=self.coef0,
        )


def _independent_images(K: Floats, rounding: float) -> tuple[Floats, Floats] | None:
    """Return the result of `_kernel_pca` along other axes; None if the rank may be below n - 1.

    A Cholesky factor of all rows except the last, whose image is minus the sum of the others, takes
    a tenth of the time of the eigenvectors.
    """
    if rounding > _REGULAR * float(np.diagonal(K).max()):
        return None
    factor = regular_factor(K[:-1, :-1])
    if factor is None:
        return None
    Z = np.vstack([factor.T, -factor.sum(axis=1)])
    inverse, _ = scipy.linalg.lapack.dtrtri(factor)
    dual = np.tile(-inverse.sum(axis=0) / len(K), (len(K), 1))
    dual[:-1] += inverse
    return Z, dual


@dataclass(eq=False, repr=False)
class MeansDiscriminant(LinearDiscriminant):
    """Directions in the span of the class means; None requests all of them."""

    n_components: Annotated[int, Ge(1)] | None = None  # type: ignore[assignment]  # None is new

    def _check_rank(
        self, rank: int, points: Any, *, reason: str = "all features are constant"
    ) -> None:
        requested_components(self, rank, points.shape[1])
        super()._check_rank(rank, points, reason=reason)


def requested_components(model: Any, rank: int, n_features: int | None = None) -> int:
    """Return `n_components` for a method of the class means; for None, at most `rank`.

    A method in a feature space is not limited by `n_features`.
    """
    n_classes = len(model.classes_)
    most = n_classes - 1 if n_features is None else min(n_features, n_classes - 1)
    if model.n_components is None:
        return min(most, rank)
    if model.n_components > most:
        limit, why = "n_classes - 1", f"y has {n_classes} classes"
        if n_features is not None:
            limit, why = f"min(n_features, {limit})", f"X has {n_features} features and {why}"
        raise ValueError(
            f"n_components={model.n_components}, but {type(model).__name__} allows at most {most} "
            f"({limit}), because {why}. Lower n_components."
        )
    return int(model.n_components)


def unit_within(W: Floats, Z: Floats, code: Codes, reg: float = 0.0) -> Floats:
    """Return the directions times a factor that makes the first's within-class variance 1.

    The scale of an embedding then depends neither on the number of samples nor on weights of pairs.
    `reg` times the mean variance of an axis is added, as for the inverted scatter: otherwise
    classes with few samples would coincide. The rounding of the total variance is added as well.
    """
    members = np.equal.outer(np.arange(code.max() + 1), code)
    inside = Z - ((members @ Z) / np.bincount(code)[:, None])[code]
    first = W[:, 0]
    spread = np.vdot(inside, inside) / inside.size
    variance = np.mean((inside @ first) ** 2) + reg * spread * (first @ first)
    return np.asarray(W / np.sqrt(variance + np.finfo(np.float64).eps * np.var(Z @ first)))


def above_rounding(within: Floats, between: Floats) -> Floats:
    """Return the within-class scatter, 0 in coordinates where it is rounding of the total.

    Each coordinate is compared with its own total, because others may have far larger units.
    """
    diagonal = np.diagonal(within)
    rounding = len(within) * np.finfo(np.float64).eps * (diagonal + np.abs(np.diagonal(between)))
    above = diagonal > rounding
    return within * np.outer(above, above)


def usable_scatter(within: Floats, between: Floats) -> Floats:
    """Return the within-class scatter, replaced by the rounding of the total where it is smaller.

    A feature that is constant in every class then has a finite ratio, larger than all others.
    """
    kept = above_rounding(within, between)
    if not kept.any():
        raise ValueError("In every class, all samples are identical. Check X and y.")
    rounding = np.finfo(np.float64).eps * np.diagonal(within + between)
    return np.asarray(kept + np.diag(np.where(np.diagonal(kept) > 0, 0.0, rounding)))


def discriminant_directions(
    between: Floats, within: Floats, m: int, reg: float, *, factorize: bool = False
) -> tuple[Floats, Floats]:
    r"""Solve :math:`S_b w = \lambda (S_w + \rho I) w` for the `m` largest ratios.

    The coordinates are ordered by decreasing variance of the data, and the ridge :math:`\rho` is
    `reg` times the mean eigenvalue of `within`. It returns the ratios, descending, and directions
    with :math:`w^T (S_w + \rho I) w = 1`. Without a ridge, the ratio has no maximum if :math:`S_w`
    is singular: it is then maximised on as many principal components as are usable, with a warning.
    `factorize` is faster if the ridge makes all components usable, and rounds differently.
    """
    r = len(within)
    ridged = usable_scatter(within, between)
    ridged.flat[:: r + 1] += reg * float(np.trace(within)) / r
    found = regular_eigenpairs(between, ridged, m) if factorize else None
    if found is not None:
        return found
    block = well_conditioned_order(ridged)
    if block < m:
        raise ValueError(
            f"n_components={m}, but the within-class scatter is nonsingular on only {block} "
            "principal components; set reg, for example to 0.001."
        )
    if block < r:
        warnings.warn(
            f"The within-class scatter is singular: {block} of {r} principal components are used. "
            "Set reg > 0 to use all components.",
            stacklevel=4,
        )
    values, inner = generalized_eigenpairs(
        between[:block, :block], ridged[:block, :block], m, rank_tol=0
    )
    directions = np.zeros((r, m))
    directions[:block] = inner
    return values, directions
