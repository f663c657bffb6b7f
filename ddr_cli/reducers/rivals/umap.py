"""UMAP and its supervised form, by umap-learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ddr_cli.core.extras import load_library
from ddr_cli.core.registry import registered
from ddr_cli.numerics.threads import one_thread_in_numba
from ddr_cli.reducers.partial_labels import encode_labels
from ddr_cli.reducers.reducer import Embedding, as_seed
from ddr_cli.reducers.registry import Traits


def _most_components(n_train: int, *_: int) -> int:
    return n_train - 2


def _known(points: Any) -> Any:
    """Return points as umap-learn knows them: of sparse ones a matrix, not an array."""
    is_sparse: bool = sparse.issparse(points)
    return sparse.csr_matrix(points) if is_sparse else points


@dataclass(eq=False, repr=False)
class _UMAP(Embedding):
    """What both forms share; only `fit` and the parameters differ."""

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(2)] = 15
    min_dist: Annotated[float, Ge(0), Le(1)] = 0.1
    random_state: int | np.random.RandomState | None = None

    def _embed(self, points: Any, code: NDArray[Any] | None, **supervision: Any) -> None:
        n = points.shape[0]
        if self.n_components > (most := _most_components(n)):
            raise ValueError(
                f"n_components={self.n_components}, but the eigenvectors of a graph of n_samples = "
                f"{n} points, at which UMAP starts, have {most} dimensions."
            )
        if self.n_neighbors > n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors}, which counts a point itself, but n_samples = {n}."
            )
        umap = load_library("umap-learn")
        with one_thread_in_numba():
            self.model_ = umap.UMAP(
                n_components=self.n_components,
                n_neighbors=self.n_neighbors,
                min_dist=self.min_dist,
                random_state=as_seed(self.random_state),
                n_jobs=1,
                **supervision,
            ).fit(_known(points), code)
        self.embedding_ = self.model_.embedding_.astype(points.dtype)

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        """Place points among the training points, which stay where they are."""
        points = self._points(X)
        with one_thread_in_numba():
            return np.asarray(self.model_.transform(_known(points))).astype(points.dtype)

    def __ddr_traits__(self) -> Traits:
        grids: dict[str, tuple[Any, ...]] = {
            "n_components": (2, 3, 5, 10, 20),
            "n_neighbors": (5, 15, 30, 50),
            "min_dist": (0.0, 0.1, 0.25, 0.5),
        }
        if self._needs_labels:
            grids["target_weight"] = (0.1, 0.3, 0.5, 0.7, 0.9)
        return Traits(
            transductive=True,
            supervised=self._needs_labels,
            library="umap-learn",
            grids=grids,
            max_components=_most_components,
        )


@registered(
    "reducer",
    "umap",
    "uniform manifold approximation (McInnes et al.; extra umap)",
    label="UMAP",
    look=("blue", "v"),
)
class UMAP(_UMAP):
    r"""Uniform manifold approximation and projection, without labels.

    Points :math:`z_i` that minimise the cross-entropy between two fuzzy graphs,

    .. math:: \sum_{ij} v_{ij} \ln \frac{v_{ij}}{w_{ij}}
        + (1 - v_{ij}) \ln \frac{1 - v_{ij}}{1 - w_{ij}}, \qquad
        w_{ij} = (1 + a \|z_i - z_j\|^{2b})^{-1},

    for the weights :math:`v` of the neighbour graph of the data, by a stochastic descent.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions of the embedding. Default: UMAP's.
    n_neighbors : int, default=15
        Neighbours of a point in the graph, itself among them. Default: UMAP's.
    min_dist : float, default=0.1
        How near points may lie; it decides a and b. Default: UMAP's.
    random_state : int, RandomState or None, default=None
        Draws the start and the descent.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed training points.
    model_ : umap.UMAP
        The fitted estimator behind `transform`.

    Notes
    -----
    Use it to look at many points in two dimensions: who is near whom.

    Not to read how far clusters are from one another or how dense they are. Labels are not used,
    and another `random_state` draws another picture.

    umap-learn's, on one thread and with a seed, so that two fits have the same bits. It is an
    extra: ``pip install 'ddr[umap]'``. New points are placed together, by a seeded descent of their
    own.

    References
    ----------
    .. [1] L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection
       for Dimension Reduction", arXiv:1802.03426, 2018.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Embed the rows of `X`."""
        self._embed(self._points(X, y, reset=True), None)
        return self


@dataclass(eq=False, repr=False)
@registered(
    "reducer",
    "supervised_umap",
    "uniform manifold approximation with labels (McInnes et al.; extra umap)",
    label="supervised UMAP",
    look=("orange", "v"),
)
class SupervisedUMAP(_UMAP):
    r"""UMAP of the neighbour graph in which edges between classes are weakened.

    As `UMAP`, with the weight of an edge between two points of known, different classes multiplied
    by :math:`e^{-f}`, of one with an unlabelled point by :math:`e^{-1}`, and the graph made locally
    connected again. The distance of classes is :math:`f = 2.5 / (1 - w)` for the weight w.

    Parameters
    ----------
    n_components, n_neighbors, min_dist, random_state
        As for `UMAP`.
    target_weight : float, default=0.5
        The weight w of the labels, between 0 and 1, where edges between classes are as good as cut.
        Default: UMAP's.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The placed training points.
    model_ : umap.UMAP
        The fitted estimator behind `transform`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, without -1, which marks unlabelled points.

    Notes
    -----
    Use it to look at how labelled points hang together within their classes.

    Not to judge by its training points, which are drawn apart by their labels: look at new ones.

    umap-learn's, on one thread and with a seed, so that two fits have the same bits. It is an
    extra: ``pip install 'ddr[umap]'``. The embedding of the training points knows their labels, and
    new points are placed without: classes are further apart among the first.

    References
    ----------
    .. [1] L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection
       for Dimension Reduction", arXiv:1802.03426, 2018.
    """

    _needs_labels = True

    target_weight: Annotated[float, Ge(0), Le(1)] = 0.5

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Embed the rows of `X`, whose classes `y` may be -1: unlabelled."""
        points, labels = self._points_and_labels(X, y)
        self.classes_, code = encode_labels(labels)
        self._embed(points, code, target_weight=self.target_weight)
        return self
