"""CCDR on subsamples: the second use of Eq. 20, for more points than an eigenproblem can take.

Each subsample is embedded on its own; all other points follow by Eq. 20 with
their labels. Two such embeddings of the same points differ by a rotation,
since eigenvectors of close eigenvalues mix. It is found by orthogonal
Procrustes on what every subsample places: the class centres, which alone
would leave the rotation undetermined when there are fewer of them than
dimensions, together with all n points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import orthogonal_procrustes
from sklearn.base import clone
from sklearn.utils import check_random_state

if TYPE_CHECKING:
    from ddr_cli.reducers.ccdr import CCDR

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SubsampleAverage:
    """Aligned fits on subsamples and their mean.

    Parameters
    ----------
    members : tuple of CCDR
        One fit per subsample.
    rotations : tuple of ndarray of shape (m, m)
        Each turns its member's coordinates into the first member's.
    embedding, class_centers, eigenvalues : ndarray
        Means over the members, after rotation (eigenvalues: as they are).
    """

    members: tuple[CCDR, ...]
    rotations: tuple[Floats, ...]
    embedding: Floats
    class_centers: Floats
    eigenvalues: Floats

    def average(self, place: Callable[[CCDR], Floats]) -> Floats:
        """Return the mean of what the members place, each in the common coordinates."""
        return _mean_rotated([place(member) for member in self.members], self.rotations)


def average_subsamples(
    template: CCDR, X: Any, y: NDArray[Any], code: NDArray[np.intp]
) -> SubsampleAverage:
    """Fit the template on stratified subsamples, extend each to all points, align and average.

    Parameters
    ----------
    template : CCDR
        Gives the parameters.
    X : array or CSR of shape (n, d)
    y : ndarray of shape (n,)
        Labels, -1 for unlabelled points (a stratum of their own).
    code : ndarray of shape (n,)
        `y` as class indices.

    Returns
    -------
    SubsampleAverage

    Raises
    ------
    ValueError
        If `subsample` asks for all points or more.
    """
    n = len(code)
    size = template.subsample
    share = size / n if isinstance(size, int) else size
    if share is None or share >= 1:
        raise ValueError(f"subsample={size} must be less than the number of points, {n}.")
    rng = check_random_state(template.random_state)
    members, placed = [], []
    for _ in range(template.n_subsamples):
        chosen = _draw(code, share, rng)
        member = clone(template).set_params(subsample=None)
        member.n_features_in_ = template.n_features_in_
        member.classes_ = template.classes_
        member._fit_graph(X[chosen], code[chosen], None)
        embedding = np.empty((n, template.n_components))
        embedding[chosen] = member.embedding_
        others = np.setdiff1d(np.arange(n), chosen)
        embedding[others] = member.extend(X[others], y[others])
        members.append(member)
        placed.append(embedding)

    def anchors(i: int) -> Floats:
        return np.vstack([members[i].class_centers_, placed[i]])

    rotations = tuple(
        np.asarray(orthogonal_procrustes(anchors(i), anchors(0))[0], dtype=np.float64)
        for i in range(len(members))
    )
    return SubsampleAverage(
        members=tuple(members),
        rotations=rotations,
        embedding=_mean_rotated(placed, rotations),
        class_centers=_mean_rotated([member.class_centers_ for member in members], rotations),
        eigenvalues=np.mean([member.eigenvalues_ for member in members], axis=0),
    )


def _draw(code: NDArray[np.intp], share: float, rng: np.random.RandomState) -> NDArray[np.intp]:
    """Return a random `share` of every class, at least one point of each, in ascending order."""
    chosen = []
    for label in np.unique(code):
        (members,) = np.nonzero(code == label)
        count = max(1, round(share * len(members)))
        chosen.append(rng.choice(members, count, replace=False))
    return np.sort(np.concatenate(chosen))


def _mean_rotated(parts: list[Floats], rotations: tuple[Floats, ...]) -> Floats:
    turned = [part @ turn for part, turn in zip(parts, rotations, strict=True)]
    return np.asarray(np.mean(turned, axis=0))
