"""What a measure is given, and what all measures share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from ddr_cli.core.parameters import check_parameters
from ddr_cli.evaluation.knn import elect
from ddr_cli.evaluation.metrics import Scale
from ddr_cli.numerics.neighbors import kneighbors

Part = Literal["all", "test"]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Embedded:
    """An embedding with all that is known of its points, the training part first.

    Parameters
    ----------
    points : array or sparse of shape (n, m)
        The embedding.
    original : array or sparse of shape (n, d)
        The points as the reducer got them, after preprocessing.
    y : ndarray of shape (n,)
        Class of each point, an index into `classes`; test points have theirs too.
    n_train : int
        How many of them are training points.
    classes : tuple of str
        The classes' names.
    subclasses : ndarray of shape (n,), optional
        The class of each point before classes were merged.
    """

    points: Any
    original: Any
    y: Codes
    n_train: int
    classes: tuple[str, ...]
    subclasses: Codes | None = None

    def part(self, which: Part) -> Embedded:
        """Return all of it, or the test points alone (none of them then is a training point)."""
        if which == "all":
            return self
        rows = slice(self.n_train, None)
        if len(self.y) == self.n_train:
            raise ValueError("There are no test points; use part: all.")
        below = None if self.subclasses is None else self.subclasses[rows]
        return Embedded(
            self.points[rows], self.original[rows], self.y[rows], 0, self.classes, below
        )

    @cached_property
    def known_subclasses(self) -> Codes:
        """The sub-classes.

        Raises
        ------
        ValueError
            If no classes were merged.
        """
        if self.subclasses is None:
            raise ValueError("This data set has no merged classes, hence no sub-classes.")
        return self.subclasses


class Measure(BaseEstimator, ABC):
    """A number that says what an embedding is like."""

    scale: ClassVar[Scale]

    @abstractmethod
    def score(self, embedded: Embedded) -> float:
        """Return the number for one embedding.

        Raises
        ------
        ValueError
            If a parameter is out of range, or the embedding lacks what is needed.
        """

    @classmethod
    def score_many(cls, embedded: Embedded, settings: Sequence[Mapping[str, Any]]) -> list[float]:
        """Return the number for each of several settings of the parameters."""
        scores = []
        for setting in settings:
            measure = cls(**setting)
            check_parameters(measure)
            scores.append(measure.score(embedded))
        return scores


def leave_one_out_accuracy(X: Any, y: Codes, k: int) -> float:
    """Return the share of points whose k nearest others vote for their class; nearest wins ties.

    Raises
    ------
    ValueError
        If there are no more than `k` points.
    """
    _, code = np.unique(y, return_inverse=True)
    votes = code[kneighbors(X, k).indices]
    return float(np.mean(elect(votes, int(code.max()) + 1) == code))


def is_sparse(X: Any) -> bool:
    """Tell whether points are stored sparse."""
    return bool(sp.issparse(X))
