"""Measures: scores of an embedding that need no predictions.

A measure is an estimator-like object with parameters in its signature, a class attribute ``scale``
(a `ddr_cli.evaluation.metrics.Scale`), and the class method ``score_many(embedded, settings)``,
which returns one number per setting. Other packages add theirs as ``ddr.measures``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ddr_cli.core.errors import did_you_mean
from ddr_cli.core.parameters import check_parameters
from ddr_cli.core.registry import registered
from ddr_cli.evaluation.evaluators import EvaluatorTraits
from ddr_cli.evaluation.knn import elect
from ddr_cli.evaluation.metrics import Scale
from ddr_cli.numerics.neighbors import is_sparse, kneighbors

Part = Literal["all", "test"]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Embedded:
    """An embedding with all known properties of its samples, the training set first.

    Parameters
    ----------
    points : array or sparse of shape (n, m)
        The embedding.
    original : array or sparse of shape (n, d)
        The input of the reducer, after preprocessing.
    y : ndarray of shape (n,)
        Class of each sample, including test samples, as an index into `classes`.
    n_train : int
        Number of training samples.
    classes : tuple of str
        The classes' names.
    subclasses : ndarray of shape (n,), optional
        Class of each sample before classes were merged.
    prototypes : ndarray of shape (n_classes, m), optional
        Position of each class in the embedding, if the method computes such positions.
    """

    points: Any
    original: Any
    y: Codes
    n_train: int
    classes: tuple[str, ...]
    subclasses: Codes | None = None
    prototypes: NDArray[np.float64] | None = None

    def part(self, which: Part) -> Embedded:
        """Return the whole embedding, or that of the test samples (with `n_train` 0)."""
        if which == "all":
            return self
        rows = slice(self.n_train, None)
        if len(self.y) == self.n_train:
            raise ValueError("This split has no test samples; use 'part: all'.")
        below = None if self.subclasses is None else self.subclasses[rows]
        return Embedded(
            self.points[rows], self.original[rows], self.y[rows], 0, self.classes, below
        )

    def code_of(self, name: str) -> int:
        """Return the index of a class in `classes`."""
        if name not in self.classes:
            hint, names = did_you_mean(name, self.classes), ", ".join(self.classes)
            raise ValueError(f"There is no class '{name}'.{hint} The classes are {names}.")
        return self.classes.index(name)

    @cached_property
    def known_subclasses(self) -> Codes:
        """The sub-classes; raises ValueError if no classes were merged."""
        if self.subclasses is None:
            raise ValueError("This data set has no merged classes and therefore no sub-classes.")
        return self.subclasses


class Measure(BaseEstimator, ABC):
    """A score of an embedding."""

    scale: ClassVar[Scale]
    _traits: ClassVar[EvaluatorTraits] = EvaluatorTraits()

    @abstractmethod
    def score(self, embedded: Embedded) -> float:
        """Score an embedding.

        Parameters
        ----------
        embedded : Embedded
            The embedding and what is known of its samples.

        Returns
        -------
        float
            The score, in the units that the measure's docstring states.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the embedding lacks what the measure needs, such as
            merged classes or enough samples.
        """

    @classmethod
    def score_many(cls, embedded: Embedded, settings: Sequence[Mapping[str, Any]]) -> list[float]:
        """Score an embedding for each of several settings of the parameters.

        Parameters
        ----------
        embedded : Embedded
            The embedding and what is known of its samples.
        settings : sequence of mapping
            Parameters of the measure, one mapping per score.

        Returns
        -------
        list of float
            The scores, in the order of the settings.

        Raises
        ------
        ValueError
            As for `score`.
        """
        scores = []
        for setting in settings:
            measure = cls(**setting)
            check_parameters(measure)
            scores.append(measure.score(embedded))
        return scores

    def __ddr_traits__(self) -> EvaluatorTraits:
        return self._traits


@dataclass(eq=False, repr=False)
class _Neighborhood(Measure, ABC):
    """The fraction of samples with a hit among the `n_neighbors` nearest other samples.

    C. Wang and S. Mahadevan, "Learning Locality-Preserving Discriminative Features", sections 4.1
    and 4.2, Figs. 3, 6 and 7.
    """

    n_neighbors: Annotated[int, Ge(1)] = 1
    part: Part = "all"

    def score(self, embedded: Embedded) -> float:
        return self.score_many(embedded, [self.get_params()])[0]

    @classmethod
    def score_many(cls, embedded: Embedded, settings: Sequence[Mapping[str, Any]]) -> list[float]:
        measures = [cls(**setting) for setting in settings]
        for measure in measures:
            check_parameters(measure)
        first: dict[Part, NDArray[np.intp]] = {}
        for part in {measure.part for measure in measures}:
            most = max(measure.n_neighbors for measure in measures if measure.part == part)
            hits = cls._hits(embedded.part(part), most)
            # The rank, from 0, of each sample's first hit, or the number of neighbours without a
            # hit.
            first[part] = np.where(hits.any(axis=1), hits.argmax(axis=1), hits.shape[1])
        return [float(np.mean(first[item.part] < item.n_neighbors)) for item in measures]

    @staticmethod
    @abstractmethod
    def _hits(embedded: Embedded, k: int) -> NDArray[np.bool_]:
        """Return which of each sample's k nearest samples, nearest first, are hits."""

    _traits = EvaluatorTraits(
        version=2,
        shared="n_neighbors",
        grids={"n_neighbors": tuple(range(1, 11))},
    )


@registered(
    "measure",
    "same_class",
    "fraction of samples with a sample of their class among the K nearest neighbours",
    scale={"title": "fraction of samples with a neighbour of their class", "better": "higher"},
)
class SameClass(_Neighborhood):
    """Fraction, in 0..1, of samples with a sample of their class among their nearest neighbours.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of nearest neighbours among which a sample of the same class is searched.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.

    References
    ----------
    .. [1] C. Wang, S. Mahadevan, "Learning Locality-Preserving Discriminative Features",
       sections 4.1 and 4.2.
    """

    @staticmethod
    def _hits(embedded: Embedded, k: int) -> NDArray[np.bool_]:
        nearest = kneighbors(embedded.points, k).indices
        return np.asarray(embedded.y[nearest] == embedded.y[:, None])


@registered(
    "measure",
    "topology",
    "fraction of samples whose nearest neighbour stays among the K nearest neighbours",
    scale={"title": "fraction of samples that keep their nearest neighbour", "better": "higher"},
)
class Topology(_Neighborhood):
    """Fraction, in 0..1, of samples whose nearest neighbour in the input stays a neighbour.

    The input is the input of the reducer, after preprocessing. The nearest neighbour in the input
    stays a neighbour if it is among the `n_neighbors` nearest samples in the embedding.

    Parameters
    ----------
    n_neighbors : int, default=1
        Number of nearest neighbours in the embedding.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.

    References
    ----------
    .. [1] C. Wang, S. Mahadevan, "Learning Locality-Preserving Discriminative Features",
       sections 4.1 and 4.2.
    """

    @staticmethod
    def _hits(embedded: Embedded, k: int) -> NDArray[np.bool_]:
        before = kneighbors(embedded.original, 1).indices
        return np.asarray(kneighbors(embedded.points, k).indices == before)


@dataclass(eq=False, repr=False)
class _LeaveOneOut(Measure, ABC):
    """Recognition by nearest neighbours.

    M. Sugiyama, "Local Fisher Discriminant Analysis for Supervised Dimensionality Reduction", ICML
    2006, rates embeddings by eye: separable, and multimodality preserved. `Separability` and
    `SubclassAccuracy` measure these two properties.
    """

    n_neighbors: Annotated[int, Ge(1)] = 9
    part: Part = "all"

    def _accuracy(self, X: Any, y: Codes) -> float:
        """Return the fraction of samples whose nearest neighbours vote for their class."""
        _, code = np.unique(y, return_inverse=True)
        votes = code[kneighbors(X, self.n_neighbors).indices]
        return float(np.mean(elect(votes, int(code.max()) + 1) == code))

    _traits = EvaluatorTraits(version=2, grids={"n_neighbors": (1, 3, 5, 7, 9, 15)})


@registered(
    "measure",
    "separability",
    "leave-one-out accuracy in the embedding, relative to the accuracy in the original space",
    scale={"title": "accuracy kept", "better": "higher"},
)
class Separability(_LeaveOneOut):
    """Leave-one-out k-NN accuracy in the embedding, divided by the accuracy in the input.

    The ratio is 1 if both accuracies are equal.

    Parameters
    ----------
    n_neighbors : int, default=9
        Number of nearest neighbours that vote on the class.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.
    """

    def score(self, embedded: Embedded) -> float:
        chosen = embedded.part(self.part)
        before = self._accuracy(chosen.original, chosen.y)
        if before == 0:
            raise ValueError("The accuracy in the original space is 0, so the ratio is undefined.")
        return self._accuracy(chosen.points, chosen.y) / before


@registered(
    "measure",
    "subclass_accuracy",
    "leave-one-out accuracy on the sub-classes of merged classes",
    scale={"title": "accuracy on the sub-classes", "better": "higher"},
)
class SubclassAccuracy(_LeaveOneOut):
    """Leave-one-out k-NN accuracy, in 0..1, on the sub-classes within each merged class.

    A sample is compared only with samples of its own class. Samples of classes that were not merged
    are not used.

    Parameters
    ----------
    n_neighbors : int, default=9
        Number of nearest neighbours that vote on the class.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.
    """

    def score(self, embedded: Embedded) -> float:
        right = total = 0.0
        for points, subclass in _merged(embedded.part(self.part)):
            right += len(subclass) * self._accuracy(points, subclass)
            total += len(subclass)
        return right / total


@registered(
    "measure",
    "subclass_silhouette",
    "silhouette of the sub-classes of merged classes",
    scale={
        "name": "silhouette",
        "title": "silhouette of the sub-classes",
        "better": "higher",
        "rate": False,
    },
)
class SubclassSilhouette(Measure):
    """Mean silhouette, in -1..1, of the sub-classes within each merged class.

    Parameters
    ----------
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples. Test samples are then compared only
        with each other.

    References
    ----------
    P. J. Rousseeuw, "Silhouettes", J. Comput. Appl. Math. 20 (1987).
    """

    part: Part = "all"

    def score(self, embedded: Embedded) -> float:
        from sklearn.metrics import silhouette_samples

        values = [
            silhouette_samples(points, subclass)
            for points, subclass in _merged(embedded.part(self.part))
        ]
        return float(np.mean(np.concatenate(values)))


def _merged(embedded: Embedded) -> list[tuple[Any, Codes]]:
    """Return the samples and sub-classes of each class that was merged from several."""
    merged = []
    for code in np.unique(embedded.y):
        rows = np.flatnonzero(embedded.y == code)
        below = embedded.known_subclasses[rows]
        if len(np.unique(below)) > 1:
            merged.append((embedded.points[rows], below))
    if not merged:
        raise ValueError("No class of this data set has several sub-classes.")
    return merged


@registered(
    "measure",
    "intrinsic_dimension",
    "intrinsic dimension of a class or of all samples, estimated by geodesic entropic graphs",
    scale={"name": "dimension", "title": "intrinsic dimension", "better": None, "rate": False},
)
class IntrinsicDimension(Measure):
    """Costa and Hero's estimate of the intrinsic dimension; see `estimate_dimension`.

    Parameters
    ----------
    method : {"gmst", "knn"}, default="gmst"
        "gmst": geodesic minimal spanning tree. "knn": graph of nearest neighbours.
    of_class : str, optional
        Name of a class. Default: all samples.
    part : {"all", "test"}, default="all"
        Samples to use: all samples, or only the test samples.
    n_neighbors : int, optional
        Number of neighbours in the neighbourhood graph, or in the graph of nearest neighbours.
    gamma : float, default=1.0
        Power of the edge lengths.
    n_subsamples : int, default=5
        Number of subsamples of each size.
    n_bootstraps : int, default=5
        Number of repetitions of the estimate.
    random_state : int, optional
        Seed of the subsamples. Default: in a run, the seed of the split.

    References
    ----------
    .. [1] J. A. Costa, A. O. Hero, "Geodesic entropic graphs for dimension and entropy
       estimation in manifold learning", IEEE Trans. Signal Processing 52, 2004.
    """

    method: Literal["gmst", "knn"] = "gmst"
    of_class: str | None = None
    part: Part = "all"
    n_neighbors: Annotated[int, Ge(1)] | None = None
    gamma: Annotated[float, Gt(0)] = 1.0
    n_subsamples: Annotated[int, Ge(1)] = 5
    n_bootstraps: Annotated[int, Ge(1)] = 5
    random_state: int | None = None

    def score(self, embedded: Embedded) -> float:
        chosen = embedded.part(self.part)
        points = chosen.points.toarray() if is_sparse(chosen.points) else chosen.points
        if self.of_class is not None:
            points = points[chosen.y == chosen.code_of(self.of_class)]
        from ddr_cli.evaluation.intrinsic_dimension import estimate_dimension

        return estimate_dimension(
            np.asarray(points),
            graph=self.method,
            n_neighbors=self.n_neighbors,
            gamma=self.gamma,
            n_subsamples=self.n_subsamples,
            n_bootstraps=self.n_bootstraps,
            random_state=self.random_state,
        ).dimension

    _traits = EvaluatorTraits(version=2, grids={"method": ("gmst", "knn")})
