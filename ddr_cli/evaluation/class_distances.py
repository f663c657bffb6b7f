"""Measures of where whole classes lie: which are near each other, and in which order.

A class lies at the mean of its samples, or where the method itself puts its label.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import pdist, squareform

from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.measures import Embedded, Measure, Part
from ddr_cli.evaluation.metrics import Scale, measured

PlaceOf = Literal["points", "labels"]


@dataclass(eq=False, repr=False)
class _ClassPlaces(Measure):
    """Something about the distances between classes, each of which lies at one place."""

    scale: ClassVar[Scale]

    of: PlaceOf = "points"
    part: Part = "all"

    def _distances(self, embedded: Embedded) -> NDArray[np.float64]:
        """Return the matrix of distances between the places of the classes."""
        if self.of == "labels":
            if embedded.prototypes is None:
                raise ValueError(
                    "This method places no labels of its own; use of: points, the classes' means."
                )
            places = embedded.prototypes
        else:
            chosen = embedded.part(self.part)
            places = np.vstack(
                [_mean(chosen.points[chosen.y == code]) for code in range(len(embedded.classes))]
            )
        return np.asarray(squareform(pdist(places)))

    def _usual(self, distances: NDArray[np.float64]) -> float:
        """Return the median distance between two classes."""
        usual = float(np.median(squareform(distances, checks=False)))
        if usual == 0:
            raise ValueError("Most classes lie at one place, so there is no usual distance.")
        return usual


@dataclass(eq=False, repr=False)
@registered(
    "measure",
    "class_distance",
    "the farthest two of some classes, in median distances of two classes",
    scale={"title": "distance of classes", "better": "lower", "rate": False},
)
class ClassDistance(_ClassPlaces):
    """The farthest two of some classes, over the median distance between two classes.

    It is below 1 where they lie nearer to each other than classes usually do.

    Parameters
    ----------
    classes : str, optional
        Two or more names with commas between them, such as "3, 6, 9"; all classes if not given.
    of : {"points", "labels"}, default="points"
        Where a class lies: the mean of its samples, or the place of its label, where the method
        has one (Discriminative Projections, CCDR).
    part : {"all", "test"}, default="all"
        Whose means.
    """

    scale = measured()["class_distance"]

    classes: str | None = None

    def score(self, embedded: Embedded) -> float:
        """Return the ratio, 0 or more."""
        distances = self._distances(embedded)
        chosen = self._codes(embedded.classes)
        farthest = max(distances[a, b] for a, b in combinations(chosen, 2))
        return float(farthest) / self._usual(distances)

    def _codes(self, known: tuple[str, ...]) -> list[int]:
        if self.classes is None:
            return list(range(len(known)))
        names = [name.strip() for name in self.classes.split(",")]
        for name in names:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ValueError(f"There is no class '{name}'.{hint} There are {', '.join(known)}.")
        if len(set(names)) < 2:
            raise ValueError(f"classes: '{self.classes}' must name two classes or more.")
        return [known.index(name) for name in names]


@registered(
    "measure",
    "class_gap",
    "the nearest two of all classes, in median distances of two classes",
    scale={"title": "gap between classes", "better": "higher", "rate": False},
)
class ClassGap(_ClassPlaces):
    """The nearest two of all classes, over the median distance between two classes.

    It is 0 where two classes lie at one place, and 1 where all are equally far apart.

    Parameters
    ----------
    of : {"points", "labels"}, default="points"
        Where a class lies: the mean of its samples, or the place of its label, where the method
        has one (Discriminative Projections, CCDR).
    part : {"all", "test"}, default="all"
        Whose means.
    """

    scale = measured()["class_gap"]

    def score(self, embedded: Embedded) -> float:
        """Return the ratio, in 0..1."""
        distances = self._distances(embedded)
        return float(squareform(distances, checks=False).min()) / self._usual(distances)


@registered(
    "measure",
    "class_order",
    "how often the nearer of two numbered labels is nearer in the embedding",
    scale={"title": "classes in the order of their labels", "better": "higher"},
)
class ClassOrder(_ClassPlaces):
    """How often the nearer of two labels is nearer in the embedding too, labels being numbers.

    Of all classes a, b, c where a comes nearer to b than to c in the order of the classes (1 comes
    nearer to 2 than to 4), the share where the place of a is nearer to that of b than to that of c.
    Places at random have one half.

    Parameters
    ----------
    of : {"points", "labels"}, default="points"
        Where a class lies: the mean of its samples, or the place of its label, where the method
        has one (Discriminative Projections, CCDR).
    part : {"all", "test"}, default="all"
        Whose means.
    """

    scale = measured()["class_order"]

    def score(self, embedded: Embedded) -> float:
        """Return the share, in 0..1."""
        distances = self._distances(embedded)
        asked = [
            (a, b, c)
            for a, b, c in permutations(range(len(distances)), 3)
            if abs(a - b) < abs(a - c)
        ]
        if not asked:
            raise ValueError("An order of classes takes three or more.")
        return float(np.mean([distances[a, b] < distances[a, c] for a, b, c in asked]))


def _mean(points: Any) -> NDArray[np.float64]:
    if points.shape[0] == 0:
        raise ValueError("A class has no points here, so there is no place of it.")
    sparse: bool = sp.issparse(points)
    return np.asarray(points.mean(axis=0) if sparse else np.mean(points, axis=0)).ravel()
