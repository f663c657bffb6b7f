"""Measures of how well an embedding keeps the neighbours and the classes of its input."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from scipy import spatial

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.class_distances import mean_of
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.evaluation.measures import Embedded, Measure, Part
from ddr_cli.numerics.neighbors import kneighbors, neighbor_ranks
from ddr_cli.numerics.rounding import EQUAL, steady


@dataclass(eq=False, repr=False)
class _OfNeighbors(Measure, ABC):
    n_neighbors: Annotated[int, Ge(1)] = 5
    part: Part = "all"

    def score(self, embedded: Embedded) -> float:
        chosen = embedded.part(self.part)
        if self.n_neighbors >= len(chosen.y) / 2:
            raise ValueError(
                f"n_neighbors={self.n_neighbors} must be below n_samples / 2 = {len(chosen.y) / 2}."
            )
        return float(self._score(chosen))

    @abstractmethod
    def _score(self, embedded: Embedded) -> float: ...

    _traits = EvaluatorTraits(version=2, grids={"n_neighbors": (1, 2, 5, 10, 20)})


@registered(
    "measure",
    "trustworthiness",
    "trustworthiness: neighbours in the embedding are neighbours in the input",
    scale={"title": "trustworthiness", "better": "higher"},
)
class Trustworthiness(_OfNeighbors):
    """Trustworthiness, in 0..1: 1 if all neighbours in the embedding are neighbours in the input.

    The input is the input of the reducer, after preprocessing. A sample that is among the
    `n_neighbors` nearest in the embedding, but not in the input, lowers the score by its rank in
    the input minus `n_neighbors`, up to a constant factor.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of nearest neighbours, less than half of the samples.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.

    References
    ----------
    .. [1] J. Venna, S. Kaski, "Neighborhood Preservation in Nonlinear Projection Methods: An
       Experimental Study", ICANN 2001, 485-491.
    """

    def _score(self, embedded: Embedded) -> float:
        return _trustworthiness(embedded.original, embedded.points, self.n_neighbors)


@registered(
    "measure",
    "continuity",
    "continuity: neighbours in the input are neighbours in the embedding",
    scale={"title": "continuity", "better": "higher"},
)
class Continuity(_OfNeighbors):
    """Continuity, in 0..1: `Trustworthiness` with the input and the embedding exchanged.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of nearest neighbours, less than half of the samples.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.

    References
    ----------
    .. [1] J. Venna, S. Kaski, "Neighborhood Preservation in Nonlinear Projection Methods: An
       Experimental Study", ICANN 2001, 485-491.
    """

    def _score(self, embedded: Embedded) -> float:
        return _trustworthiness(embedded.points, embedded.original, self.n_neighbors)


@registered(
    "measure",
    "same_class_share",
    "fraction of the K nearest neighbours that are of the sample's class",
    scale={"title": "fraction of neighbours of the same class", "better": "higher"},
)
class SameClassShare(_OfNeighbors):
    """Fraction, in 0..1, of nearest neighbours in the embedding that are of the sample's class.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of nearest neighbours, less than half of the samples.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.
    """

    def _score(self, embedded: Embedded) -> float:
        nearest = kneighbors(embedded.points, self.n_neighbors).indices
        return float(np.mean(embedded.y[nearest] == embedded.y[:, None]))


@registered(
    "measure",
    "centre_order",
    "rank correlation of the distances between class means in the input and in the embedding",
    scale={"title": "rank correlation of class distances", "better": "higher", "rate": False},
)
class CentreOrder(Measure):
    """Spearman's correlation, in -1..1, of class distances in the input and in the embedding.

    The distances are those between the means of all pairs of classes, in the input of the reducer
    and in the embedding. The correlation is 1 if the embedding keeps the order of the distances.

    Parameters
    ----------
    part : {"all", "test"}, default="all"
        Samples from which the class means are computed: all samples, or only the test samples.
    """

    part: Part = "all"
    _traits = EvaluatorTraits(version=2)

    def score(self, embedded: Embedded) -> float:
        from scipy.stats import spearmanr

        chosen = embedded.part(self.part)
        codes = np.unique(chosen.y)
        if len(codes) < 3:
            raise ValueError("The measure centre_order needs at least three classes.")
        before, after = (
            spatial.distance.pdist(np.stack([mean_of(X[chosen.y == code]) for code in codes]))
            for X in (chosen.original, chosen.points)
        )
        # Distances that differ by rounding alone have one rank.
        before, after = (steady(gaps, float(gaps.max()), EQUAL) for gaps in (before, after))
        found: Any = spearmanr(before, after)
        return float(found.statistic)


def _trustworthiness(X: Any, embedded: Any, k: int) -> float:
    nearest, n = kneighbors(embedded, k).indices, len(embedded)
    too_far = sum(
        int(np.maximum(rank[np.arange(len(rank))[:, None], nearest[rows]] - k, 0).sum())
        for rows, rank in neighbor_ranks(X)
    )
    return 1 - too_far * 2 / (n * k * (2 * n - 3 * k - 1))
