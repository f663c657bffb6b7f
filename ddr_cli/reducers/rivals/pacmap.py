"""Pairwise controlled manifold approximation, by pacmap."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context

from ddr_cli.core.extras import load_library
from ddr_cli.core.registry import registered
from ddr_cli.numerics.threads import one_thread_in_numba
from ddr_cli.reducers.reducer import Embedding, as_seed
from ddr_cli.reducers.registry import Traits

_MOST = 100  # pacmap reduces data with more features to this many by PCA, from which it starts


@registered(
    "reducer",
    "pacmap",
    "pairwise controlled manifold approximation (Wang et al.; extra pacmap)",
    label="PaCMAP",
    look=("green", "v"),
)
class PaCMAP(Embedding):
    r"""Embed near pairs close together, mid-near pairs less close and further pairs apart.

    Samples :math:`z_i` that minimise, with :math:`d_{ij} = \|z_i - z_j\|^2 + 1`,

    .. math:: w_n \sum_{near} \frac{d_{ij}}{10 + d_{ij}}
        + w_m \sum_{mid-near} \frac{d_{ij}}{10000 + d_{ij}}
        + w_f \sum_{further} \frac{1}{1 + d_{ij}}

    with weights that change in three phases: mid-near pairs, which determine the global shape,
    count in the first two phases only.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding, at most n_features and 100. Default: as in PaCMAP.
    n_neighbors : int, default=10
        Number of near pairs of each sample; PaCMAP uses fewer if there are few samples. Default: as
        in PaCMAP.
    mid_near_ratio : float, default=0.5
        Number of mid-near pairs per near pair. Default: as in PaCMAP.
    further_ratio : float, default=2.0
        Number of further pairs per near pair. Default: as in PaCMAP.
    random_state : int, RandomState or None, default=None
        Seed of the pairs.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    model_ : pacmap.PaCMAP
        The fitted estimator behind `transform`.

    Notes
    -----
    Use it to see many samples in two dimensions; it keeps more of the global arrangement than
    `umap` and `opentsne`.

    Do not interpret distances quantitatively. Labels are not used.

    This is pacmap's method on one thread, with a seed and a start from the principal components. It
    is an optional extra: ``pip install 'ddrbench[pacmap]'``. Its `transform` treats training
    samples as new samples, so it does not return `embedding_` for them.

    References
    ----------
    .. [1] Y. Wang, H. Huang, C. Rudin, Y. Shaposhnik, "Understanding How Dimension Reduction Tools
       Work", JMLR 22, 2021, 1-73.
    """

    _takes_sparse = False

    n_components: Annotated[int, Ge(1)] = 2
    n_neighbors: Annotated[int, Ge(1)] = 10
    mid_near_ratio: Annotated[float, Gt(0)] = 0.5
    further_ratio: Annotated[float, Gt(0)] = 2.0
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        points = self._points(X, y, reset=True)
        self._check_rank(min(points.shape[0] - 1, points.shape[1], _MOST), points)
        library = load_library("pacmap")
        arrays = config_context(transform_output="default")
        with one_thread_in_numba(), arrays, _quiet(library):
            self.model_ = library.PaCMAP(
                n_components=self.n_components,
                n_neighbors=self.n_neighbors,
                MN_ratio=self.mid_near_ratio,
                FP_ratio=self.further_ratio,
                random_state=as_seed(self.random_state),
            )
            self.embedding_ = self.model_.fit_transform(points, init="pca").astype(points.dtype)
        self.X_fit_ = points
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        library = load_library("pacmap")
        arrays = config_context(transform_output="default")
        with one_thread_in_numba(), arrays, _quiet(library):
            placed = self.model_.transform(points, basis=self.X_fit_, save_pairs=False)
        return np.asarray(placed).astype(points.dtype)

    _traits = Traits(
        transductive=True,
        supervised=False,
        library="pacmap",
        grids={
            "n_components": (2, 3, 5, 10, 20),
            "n_neighbors": (5, 10, 20, 40),
            "mid_near_ratio": (0.25, 0.5, 1.0, 2.0),
            "further_ratio": (1.0, 2.0, 4.0),
        },
        max_components=lambda n_train, n_features, _: min(n_train - 1, n_features, _MOST),
    )


@contextmanager
def _quiet(library: Any) -> Iterator[None]:
    """Prevent the library from logging, at each fit, that it has a seed."""
    logger = logging.getLogger(f"{library.__name__}.pacmap")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
