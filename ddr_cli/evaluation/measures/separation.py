"""Whether an embedding separates the classes, and keeps the parts of merged classes apart.

M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality Reduction", ICML
2006, marks embeddings by eye: separable, and multimodality preserved. These are the two in numbers.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge
from sklearn.metrics import silhouette_samples

from ddr_cli.evaluation.measures.base import Embedded, Measure, Part, leave_one_out_accuracy
from ddr_cli.evaluation.metrics import MEASURED
from ddr_cli.evaluation.registry import ClassifierTraits


class Separability(Measure):
    """Leave-one-out k-nearest-neighbour accuracy, over that before the reducer.

    Parameters
    ----------
    n_neighbors : int, default=9
        Neighbours that vote.
    part : {"all", "test"}, default="all"
        Which points: all, or the test points among themselves.
    """

    scale = MEASURED["separability"]

    def __init__(self, n_neighbors: Annotated[int, Ge(1)] = 9, part: Part = "all") -> None:
        self.n_neighbors = n_neighbors
        self.part = part

    def score(self, embedded: Embedded) -> float:
        """Return the ratio: 1 where as many points are recognised as before."""
        chosen = embedded.part(self.part)
        before = leave_one_out_accuracy(chosen.original, chosen.y, self.n_neighbors)
        if before == 0:
            raise ValueError("No point is recognised before the reducer, so there is no ratio.")
        return leave_one_out_accuracy(chosen.points, chosen.y, self.n_neighbors) / before

    def __ddr_traits__(self) -> ClassifierTraits:
        """Return the version of the numbers."""
        return ClassifierTraits(version=1, grids={"n_neighbors": (1, 3, 5, 7, 9, 15)})


class SubclassAccuracy(Measure):
    """Leave-one-out k-nearest-neighbour accuracy on the sub-classes, within each merged class.

    A point is compared with those of its own class only, and points of classes that were not
    merged don't count.

    Parameters
    ----------
    n_neighbors : int, default=9
        Neighbours that vote.
    part : {"all", "test"}, default="all"
        Which points: all, or the test points among themselves.
    """

    scale = MEASURED["subclass_accuracy"]

    def __init__(self, n_neighbors: Annotated[int, Ge(1)] = 9, part: Part = "all") -> None:
        self.n_neighbors = n_neighbors
        self.part = part

    def score(self, embedded: Embedded) -> float:
        """Return the accuracy over all points of merged classes."""
        right = total = 0.0
        for points, subclass in _merged(embedded.part(self.part)):
            right += len(subclass) * leave_one_out_accuracy(points, subclass, self.n_neighbors)
            total += len(subclass)
        return right / total

    def __ddr_traits__(self) -> ClassifierTraits:
        """Return the version of the numbers."""
        return ClassifierTraits(version=1, grids={"n_neighbors": (1, 3, 5, 7, 9, 15)})


class SubclassSilhouette(Measure):
    """Mean silhouette of the sub-classes, within each merged class.

    Parameters
    ----------
    part : {"all", "test"}, default="all"
        Which points: all, or the test points among themselves.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes", J. Comput. Appl. Math. 20 (1987).
    """

    scale = MEASURED["silhouette"]

    def __init__(self, part: Part = "all") -> None:
        self.part = part

    def score(self, embedded: Embedded) -> float:
        """Return the mean over all points of merged classes, in -1..1."""
        values = [
            silhouette_samples(points, subclass)
            for points, subclass in _merged(embedded.part(self.part))
        ]
        return float(np.mean(np.concatenate(values)))

    def __ddr_traits__(self) -> ClassifierTraits:
        """Return the version of the numbers."""
        return ClassifierTraits(version=1)


def _merged(embedded: Embedded) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return points and sub-classes of each class that was merged from several.

    Raises
    ------
    ValueError
        If there is none.
    """
    found = []
    for code in np.unique(embedded.y):
        rows = np.flatnonzero(embedded.y == code)
        below = embedded.known_subclasses[rows]
        if len(np.unique(below)) > 1:
            found.append((embedded.points[rows], below))
    if not found:
        raise ValueError("No class of this data set was merged from several.")
    return found
