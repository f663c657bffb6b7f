"""UMAP and its supervised form, by umap-learn."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from ddr_cli.core.extras import load_library
from ddr_cli.core.registry import registered
from ddr_cli.numerics.neighbors import is_sparse
from ddr_cli.numerics.threads import one_thread_in_numba
from ddr_cli.reducers.partial_labels import encode_labels
from ddr_cli.reducers.reducer import Embedding, as_seed
from ddr_cli.reducers.registry import Traits


def _most_components(n_train: int, *_: int) -> int:
    return n_train - 2


def _known(points: Any) -> Any:
    """Return samples in the form that umap-learn accepts: sparse ones as a matrix, not an array."""
    return sparse.csr_matrix(points) if is_sparse(points) else points


@dataclass(eq=False, repr=False)
class _UMAP(Embedding):
    """Common code of both forms; only `fit` and the parameters differ."""

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(2)] = 15
    min_dist: Annotated[float, Ge(0), Le(1)] = 0.1
    random_state: int | np.random.RandomState | None = None

    def _embed(self, points: Any, code: NDArray[Any] | None, **supervision: Any) -> None:
        n = points.shape[0]
        if self.n_components > (most := _most_components(n)):
            raise ValueError(
                f"n_components={self.n_components} must be at most {most} (n_samples = {n})."
            )
        if self.n_neighbors > n:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} counts the sample itself and must be at most "
                f"n_samples = {n}."
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
        points = self._points(X)
        with one_thread_in_numba():
            return np.asarray(self.model_.transform(_known(points))).astype(points.dtype)

    _traits = Traits(
        transductive=True,
        supervised=False,
        library="umap-learn",
        grids={
            "n_components": (2, 3, 5, 10, 20),
            "n_neighbors": (5, 15, 30, 50),
            "min_dist": (0.0, 0.1, 0.25, 0.5),
        },
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
    r"""Embed by uniform manifold approximation and projection, without labels.

    Samples :math:`z_i` that minimise the cross-entropy between two fuzzy graphs,

    .. math:: \sum_{ij} v_{ij} \ln \frac{v_{ij}}{w_{ij}}
        + (1 - v_{ij}) \ln \frac{1 - v_{ij}}{1 - w_{ij}}, \qquad
        w_{ij} = (1 + a \|z_i - z_j\|^{2b})^{-1},

    for the weights :math:`v` of the neighbour graph of the data, by a stochastic descent.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in UMAP.
    n_neighbors : int, default=15
        Number of neighbours of a sample in the graph, including the sample itself. Default: as in
        UMAP.
    min_dist : float, default=0.1
        Smallest distance between embedded samples, which determines a and b. Default: as in UMAP.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the descent.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    model_ : umap.UMAP
        The fitted estimator behind `transform`.

    Notes
    -----
    Use it to see the neighbourhoods of many samples in two dimensions.

    Do not interpret distances between clusters or their densities. Labels are not used, and the
    embedding depends on `random_state`.

    This is umap-learn's method on one thread and with a seed, so repeated fits are identical. It is
    an optional extra: ``pip install 'ddrbench[umap]'``. `transform` embeds new samples together, by
    a seeded descent.

    References
    ----------
    .. [1] L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection
       for Dimension Reduction", arXiv:1802.03426, 2018.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        self._embed(self._points(X, y, reset=True), None)
        return self


@registered(
    "reducer",
    "supervised_umap",
    "uniform manifold approximation with labels (McInnes et al.; extra umap)",
    label="supervised UMAP",
    look=("orange", "v"),
)
class SupervisedUMAP(_UMAP):
    r"""Embed by UMAP with weaker edges between classes in the neighbour graph.

    As `UMAP`, but the weight of an edge between two samples of different classes is multiplied by
    :math:`e^{-f}`, and that of an edge to an unlabelled sample by :math:`e^{-1}`; the graph is then
    made locally connected again. The distance between classes is :math:`f = 2.5 / (1 - w)` for the
    weight w.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding. Default: as in UMAP.
    n_neighbors : int, default=15
        Number of neighbours of a sample in the graph, including the sample itself. Default: as in
        UMAP.
    min_dist : float, default=0.1
        Smallest distance between embedded samples. Default: as in UMAP.
    random_state : int, RandomState or None, default=None
        Seed of the start and of the descent.
    target_weight : float, default=0.5
        The weight w of the labels, between 0 and 1; with 1, edges between classes are practically
        removed. Default: as in UMAP.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    model_ : umap.UMAP
        The fitted estimator behind `transform`.
    classes_ : ndarray of shape (n_classes,)
        Class labels, without -1, which marks unlabelled samples.

    Notes
    -----
    Use it to see the structure of labelled samples within their classes.

    Do not judge it by its training samples, which their labels separate: use new samples.

    This is umap-learn's method on one thread and with a seed, so repeated fits are identical. It is
    an optional extra: ``pip install 'ddrbench[umap]'``. The embedding of the training samples uses
    their labels and that of new samples does not, so classes are further apart in the training set.

    References
    ----------
    .. [1] L. McInnes, J. Healy, J. Melville, "UMAP: Uniform Manifold Approximation and Projection
       for Dimension Reduction", arXiv:1802.03426, 2018.
    """

    target_weight: Annotated[float, Ge(0), Le(1)] = 0.5

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        points, labels = self._points_and_labels(X, y)
        self.classes_, code = encode_labels(labels)
        self._embed(points, code, target_weight=self.target_weight)
        return self

    def __ddr_traits__(self) -> Traits:
        traits = super().__ddr_traits__()
        grids = {**traits.grids, "target_weight": (0.1, 0.3, 0.5, 0.7, 0.9)}
        return replace(traits, supervised=True, grids=grids)
