"""t-distributed stochastic neighbour embedding, by openTSNE."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from annotated_types import Ge, Gt, Le
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from threadpoolctl import threadpool_limits

from ddr_cli.core.extras import load_library
from ddr_cli.core.registry import registered
from ddr_cli.reducers.reducer import Embedding, as_seed
from ddr_cli.reducers.registry import Traits


@registered(
    "reducer",
    "opentsne",
    "t-SNE that can embed new samples (van der Maaten, Hinton; extra opentsne)",
    label="openTSNE",
    look=("black", "v"),
)
class OpenTSNE(Embedding):
    r"""Embed by t-SNE, without labels; new samples are embedded among the training samples.

    Samples :math:`z_i` that minimise :math:`\sum_{ij} p_{ij} \ln (p_{ij} / q_{ij})`, where
    :math:`p_{ij}` is the symmetrised probability that a Gaussian around a sample, with a bandwidth
    set by the perplexity, chooses the other sample as its neighbour, and
    :math:`q_{ij} \propto (1 + \|z_i - z_j\|^2)^{-1}`. A new sample minimises the same objective
    with the training samples fixed.

    Parameters
    ----------
    n_components : int, default=2
        Number of dimensions of the embedding; openTSNE supports 1 and 2. Default: as in openTSNE.
    perplexity : float, default=30
        Effective number of neighbours, at most (n_samples - 1) / 3. Default: as in openTSNE.
    exaggeration : float, default=1
        The factor of :math:`p_{ij}` after the early iterations; in the early iterations, the factor
        is 12. Factors above 1 make clusters tighter. Default: as in openTSNE.
    random_state : int, RandomState or None, default=None
        Seed of openTSNE's random numbers, which its neighbour search uses if there are many
        samples.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The embedding of the training samples.
    model_ : openTSNE.TSNEEmbedding
        The library's embedding behind `transform`.

    Notes
    -----
    Use it to see the neighbourhoods of many samples in two dimensions.

    Do not interpret distances between clusters or their sizes. Labels are not used.

    This is openTSNE's method on one thread, with a seed and a start from the principal components.
    It is an optional extra: ``pip install 'ddrbench[opentsne]'``.

    References
    ----------
    .. [1] L. van der Maaten, G. Hinton, "Visualizing Data using t-SNE", JMLR 9, 2008, 2579-2605.
    .. [2] P. G. Poličar, M. Stražar, B. Zupan, "openTSNE: A Modular Python Library for t-SNE
       Dimensionality Reduction and Embedding", Journal of Statistical Software 109, 2024.
    """

    _takes_sparse = False

    n_components: Annotated[int, Ge(1), Le(2)] = 2
    perplexity: Annotated[float, Gt(0)] = 30.0
    exaggeration: Annotated[float, Ge(1)] = 1.0
    random_state: int | np.random.RandomState | None = None

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        points = self._points(X, y, reset=True)
        self._check_dimensions(points.shape[0])
        library = load_library("openTSNE")
        with threadpool_limits(1), config_context(transform_output="default"):
            self.model_ = library.TSNE(
                n_components=self.n_components,
                # openTSNE would lower the perplexity to this limit itself, with a message at every
                # fit.
                perplexity=min(self.perplexity, (len(points) - 1) / 3),
                exaggeration=self.exaggeration if self.exaggeration > 1 else None,
                random_state=as_seed(self.random_state),
                n_jobs=1,
            ).fit(points.astype(np.float64))
        # At its first transform, openTSNE centres its own embedding like this, but not an earlier
        # copy.
        self.model_ -= (self.model_.max(axis=0) + self.model_.min(axis=0)) / 2
        self.embedding_ = np.array(self.model_, dtype=points.dtype)
        return self

    def transform(self, X: ArrayLike) -> NDArray[Any]:
        points = self._points(X)
        with threadpool_limits(1), config_context(transform_output="default"):
            placed = self.model_.transform(points.astype(np.float64))
        return np.asarray(placed).astype(points.dtype)

    _traits = Traits(
        transductive=True,
        supervised=False,
        library="openTSNE",
        grids={
            "n_components": (1, 2),
            "perplexity": (5.0, 10.0, 30.0, 50.0, 100.0),
            "exaggeration": (1.0, 1.5, 2.0, 4.0),
        },
        max_components=lambda n_train, *_: min(n_train - 1, 2),
    )
