"""Measures of the positions of classes: their distances and their order.

The position of a class is the mean of its samples, or the embedding of its label.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, permutations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import spatial

from ddr_cli.core.registry import registered
from ddr_cli.evaluation.measures import Embedded, Measure, Part

PlaceOf = Literal["points", "labels"]


@dataclass(eq=False, repr=False)
class _ClassPlaces(Measure):
    """A measure of the distances between the positions of classes."""

    of: PlaceOf = "points"
    part: Part = "all"

    def _distances(self, embedded: Embedded) -> NDArray[np.float64]:
        """Return the matrix of distances between the positions of the classes."""
        if self.of == "labels":
            if embedded.prototypes is None:
                raise ValueError(
                    "'of: labels' needs a method that embeds labels; use 'of: points'."
                )
            places = embedded.prototypes
        else:
            chosen = embedded.part(self.part)
            places = np.vstack(
                [mean_of(chosen.points[chosen.y == code]) for code in range(len(embedded.classes))]
            )
        return np.asarray(spatial.distance.squareform(spatial.distance.pdist(places)))

    def _usual(self, distances: NDArray[np.float64]) -> float:
        """Return the median distance between two classes."""
        usual = float(np.median(spatial.distance.squareform(distances, checks=False)))
        if usual == 0:
            raise ValueError("The median distance between two classes is 0.")
        return usual


@registered(
    "measure",
    "class_distance",
    "largest distance between the given classes, relative to the median distance of two classes",
    scale={"title": "distance between classes", "better": "lower", "rate": False},
)
class ClassDistance(_ClassPlaces):
    """Largest distance between the given classes, divided by the median distance of two classes.

    The score is 0 or more. It is below 1 if the given classes are closer together than most pairs
    of classes.

    Parameters
    ----------
    of : {"points", "labels"}, default="points"
        Position of a class. "points": the mean of its samples. "labels": the embedding of its
        label; only Discriminative Projections and CCDR embed labels.
    part : {"all", "test"}, default="all"
        Samples from which the class means are computed: all samples, or only the test samples.
    classes : str, optional
        Two or more names separated by commas, such as "3, 6, 9". Default: all classes.
    """

    classes: str | None = None

    def score(self, embedded: Embedded) -> float:
        distances = self._distances(embedded)
        chosen = self._codes(embedded)
        farthest = max(distances[a, b] for a, b in combinations(chosen, 2))
        return float(farthest) / self._usual(distances)

    def _codes(self, embedded: Embedded) -> list[int]:
        if self.classes is None:
            return list(range(len(embedded.classes)))
        codes = [embedded.code_of(name.strip()) for name in self.classes.split(",")]
        if len(set(codes)) < 2:
            raise ValueError(f"classes='{self.classes}' must name at least two different classes.")
        return codes


@registered(
    "measure",
    "class_gap",
    "smallest distance between two classes, relative to the median distance of two classes",
    scale={"title": "gap between classes", "better": "higher", "rate": False},
)
class ClassGap(_ClassPlaces):
    """Smallest distance between two classes, divided by the median distance of two classes.

    The score is 0 if two classes have the same position, and 1 if all distances are equal.

    Parameters
    ----------
    of : {"points", "labels"}, default="points"
        Position of a class. "points": the mean of its samples. "labels": the embedding of its
        label; only Discriminative Projections and CCDR embed labels.
    part : {"all", "test"}, default="all"
        Samples from which the class means are computed: all samples, or only the test samples.
    """

    def score(self, embedded: Embedded) -> float:
        distances = self._distances(embedded)
        return float(spatial.distance.squareform(distances, checks=False).min()) / self._usual(
            distances
        )


@registered(
    "measure",
    "class_order",
    "how often the nearer of two numeric labels is also nearer in the embedding",
    scale={"title": "class triples in the order of their labels", "better": "higher"},
)
class ClassOrder(_ClassPlaces):
    """How often the nearer of two numeric labels is also nearer in the embedding.

    Of all triples of classes a, b, c, only those are used in which a is nearer to b than to c in
    the order of the classes (1 is nearer to 2 than to 4). The score is the fraction, in 0..1, of
    these triples in which a is also nearer to b than to c in the embedding. The score of random
    positions is one half on average.

    Parameters
    ----------
    of : {"points", "labels"}, default="points"
        Position of a class. "points": the mean of its samples. "labels": the embedding of its
        label; only Discriminative Projections and CCDR embed labels.
    part : {"all", "test"}, default="all"
        Samples from which the class means are computed: all samples, or only the test samples.
    """

    def score(self, embedded: Embedded) -> float:
        distances = self._distances(embedded)
        asked = [
            (a, b, c)
            for a, b, c in permutations(range(len(distances)), 3)
            if abs(a - b) < abs(a - c)
        ]
        if not asked:
            raise ValueError("class_order needs at least three classes.")
        return float(np.mean([distances[a, b] < distances[a, c] for a, b, c in asked]))


def mean_of(points: Any) -> NDArray[np.float64]:
    """Return the mean of the samples of a class; a ValueError if it has none."""
    if points.shape[0] == 0:
        raise ValueError("A class has no samples, so the position of this class is undefined.")
    return np.asarray(points.mean(axis=0)).ravel()
