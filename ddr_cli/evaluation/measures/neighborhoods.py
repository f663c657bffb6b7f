"""What is among the K nearest of a point in an embedding.

C. Wang and S. Mahadevan, "Learning Locality-Preserving Discriminative Features", sections 4.1 and
4.2, Figs. 3, 6 and 7.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from numpy.typing import NDArray

from ddr_cli.core.parameters import check_parameters
from ddr_cli.evaluation.measures.base import Embedded, Measure, Part
from ddr_cli.evaluation.metrics import MEASURED
from ddr_cli.evaluation.registry import ClassifierTraits
from ddr_cli.numerics.neighbors import kneighbors

_PAPER = 'Wang, Mahadevan, "Learning Locality-Preserving Discriminative Features"'


class _Neighborhood(Measure, ABC):
    """The share of points for which something is among the `n_neighbors` nearest others."""

    def __init__(self, n_neighbors: Annotated[int, Ge(1)] = 1, part: Part = "all") -> None:
        self.n_neighbors = n_neighbors
        self.part = part

    def score(self, embedded: Embedded) -> float:
        """Return the share, in 0..1."""
        return self.score_many(embedded, [self.get_params()])[0]

    @classmethod
    def score_many(cls, embedded: Embedded, settings: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return the share for each setting; all but `part` is searched once."""
        measures = [cls(**setting) for setting in settings]
        for measure in measures:
            check_parameters(measure)
        first: dict[Part, NDArray[np.intp]] = {}
        for part in {measure.part for measure in measures}:
            most = max(measure.n_neighbors for measure in measures if measure.part == part)
            first[part] = cls._first_place(embedded.part(part), most)
        return [float(np.mean(first[one.part] < one.n_neighbors)) for one in measures]

    @staticmethod
    @abstractmethod
    def _first_place(embedded: Embedded, k: int) -> NDArray[np.intp]:
        """Return at which place, from 0, each point's k nearest have it; `k` if they have not."""

    def __ddr_traits__(self) -> ClassifierTraits:
        """Return what the engine may share."""
        return ClassifierTraits(
            version=1,
            shared="n_neighbors",
            grids={"n_neighbors": tuple(range(1, 11))},
            paper=_PAPER,
        )


class SameClass(_Neighborhood):
    """The share of points with a point of their class among the nearest in the embedding.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many of the nearest others are looked at.
    part : {"all", "test"}, default="all"
        Which points: all, or the test points among themselves.
    """

    scale = MEASURED["same_class"]

    @staticmethod
    def _first_place(embedded: Embedded, k: int) -> NDArray[np.intp]:
        found = kneighbors(embedded.points, k).indices
        return _first(embedded.y[found] == embedded.y[:, None])


class Topology(_Neighborhood):
    """The share of points whose nearest neighbour before stays among the nearest after.

    Before is the space that the reducer got, after preprocessing; after is the embedding.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many of the nearest others in the embedding are looked at.
    part : {"all", "test"}, default="all"
        Which points: all, or the test points among themselves.
    """

    scale = MEASURED["topology"]

    @staticmethod
    def _first_place(embedded: Embedded, k: int) -> NDArray[np.intp]:
        before = kneighbors(embedded.original, 1).indices
        return _first(kneighbors(embedded.points, k).indices == before)


def _first(hits: NDArray[np.bool_]) -> NDArray[np.intp]:
    return np.asarray(np.where(hits.any(axis=1), hits.argmax(axis=1), hits.shape[1]))
