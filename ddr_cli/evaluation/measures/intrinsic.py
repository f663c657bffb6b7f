"""The intrinsic dimension of the embedded points, or of one class of them."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt

from ddr_cli.core.errors import did_you_mean
from ddr_cli.evaluation.dimension import estimate_dimension
from ddr_cli.evaluation.measures.base import Embedded, Measure, Part, is_sparse
from ddr_cli.evaluation.metrics import MEASURED
from ddr_cli.evaluation.registry import ClassifierTraits


class IntrinsicDimension(Measure):
    """Costa and Hero's geodesic-entropic-graph estimate; see `estimate_dimension`.

    Parameters
    ----------
    method : {"gmst", "knn"}, default="gmst"
        Geodesic minimal spanning tree, or graph of nearest neighbours.
    of_class : str, optional
        The name of a class; all points if not given.
    part : {"all", "test"}, default="all"
        Which points.
    n_neighbors : int, optional
        Of the neighbourhood graph, or of the graph of nearest neighbours.
    gamma : float, default=1.0
        Power of the edge lengths.
    n_subsamples, n_bootstraps : int, default=5
        Subsamples per size, and repetitions of the whole.
    random_state : int, optional
        Seed of the subsamples; in a run, the split's if not given.
    """

    scale = MEASURED["dimension"]

    def __init__(
        self,
        method: Literal["gmst", "knn"] = "gmst",
        of_class: str | None = None,
        part: Part = "all",
        n_neighbors: Annotated[int, Ge(1)] | None = None,
        gamma: Annotated[float, Gt(0)] = 1.0,
        n_subsamples: Annotated[int, Ge(1)] = 5,
        n_bootstraps: Annotated[int, Ge(1)] = 5,
        random_state: int | None = None,
    ) -> None:
        self.method = method
        self.of_class = of_class
        self.part = part
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.n_subsamples = n_subsamples
        self.n_bootstraps = n_bootstraps
        self.random_state = random_state

    def score(self, embedded: Embedded) -> float:
        """Return the estimate."""
        chosen = embedded.part(self.part)
        points = chosen.points.toarray() if is_sparse(chosen.points) else chosen.points
        if self.of_class is not None:
            if self.of_class not in chosen.classes:
                hint = did_you_mean(self.of_class, chosen.classes)
                names = ", ".join(chosen.classes)
                raise ValueError(f"There is no class '{self.of_class}'.{hint} There are {names}.")
            points = points[chosen.y == chosen.classes.index(self.of_class)]
        return estimate_dimension(
            np.asarray(points),
            graph=self.method,
            n_neighbors=self.n_neighbors,
            gamma=self.gamma,
            n_subsamples=self.n_subsamples,
            n_bootstraps=self.n_bootstraps,
            random_state=self.random_state,
        ).dimension

    def __ddr_traits__(self) -> ClassifierTraits:
        """Return the version of the numbers."""
        return ClassifierTraits(
            version=1,
            grids={"method": ("gmst", "knn")},
            paper=(
                'Costa, Hero, "Geodesic entropic graphs for dimension and entropy estimation in '
                'manifold learning", IEEE Trans. Signal Processing 52, 2004'
            ),
        )
