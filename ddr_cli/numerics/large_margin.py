r"""The convex programme of large margin nearest neighbour classification.

K. Q. Weinberger, J. Blitzer and L. K. Saul, "Distance Metric Learning for Large Margin Nearest
Neighbor Classification", NIPS 18, 2005.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from ddr_cli.numerics.metric_cone import Floats, Indices, PairForms

_BLOCK = 4_000_000  # numbers held at once while all triples are looked through
_KEPT = 1e-9  # a margin missed by less is kept, so that rounding makes no impostors


class LargeMargin:
    r"""The pull of the target neighbours and the push of the impostors.

    .. math:: f(M) = (1 - \mu) \sum_{ij} d_M(x_i, x_j)
        + \mu \sum_{ijl} [1 + d_M(x_i, x_j) - d_M(x_i, x_l)]_+

    over the target neighbours j of each point i, and all points l of other classes. It is convex
    in M, and piecewise linear.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The points.
    code : ndarray of shape (n,)
        Class of each point.
    targets : ndarray of shape (n, k)
        Target neighbours of each point.
    push : float
        The weight :math:`\mu`, between 0 and 1.
    """

    def __init__(
        self, X: Floats, code: NDArray[np.intp], targets: Indices, push: float = 0.5
    ) -> None:
        self.X, self.code, self.targets, self.push = X, code, targets, push

    def value(self, factor: Floats) -> float:
        """Return the objective of the metric ``factor @ factor.T``."""
        pull = missed = 0.0
        for _, own, margins in self._margins(factor):
            pull += float(own.sum())
            missed += float(np.maximum(margins, 0.0).sum())
        return (1 - self.push) * pull + self.push * missed

    def gradient(self, factor: Floats) -> Floats:
        """Return the gradient by the metric, where no margin is kept or missed by nothing.

        Parameters
        ----------
        factor : ndarray of shape (d, m)

        Returns
        -------
        ndarray of shape (d, d)
            Symmetric.
        """
        triples = Triples(self, self.impostors(factor))
        return triples.slope(np.full(len(triples), self.push))

    def impostors(self, factor: Floats) -> Indices:
        """Return the triples whose margin is missed, each as one number.

        Triple (i, j, l), where j is number t of the k targets of i, is ``(i k + t) n + l``.
        """
        k, found = self.targets.shape[1], [np.empty(0, dtype=np.intp)]
        for start, _, margins in self._margins(factor):
            found.append(np.flatnonzero(margins > _KEPT) + start * k * len(self.X))
        return np.concatenate(found)

    def _margins(self, factor: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """Yield blocks of points.

        Each is the first one's number, the distances of the targets, and by how much each triple
        misses its margin, which is minus infinity where l is of the same class.
        """
        mapped = self.X @ factor
        size = np.einsum("ij,ij->i", mapped, mapped)
        n, k = self.targets.shape
        step = max(1, _BLOCK // (n * k))
        for start in range(0, n, step):
            rows = slice(start, start + step)
            distances = size[rows, None] + size - 2 * (mapped[rows] @ mapped.T)
            own = np.take_along_axis(distances, self.targets[rows], axis=1)
            distances[self.code[rows, None] == self.code] = np.inf
            yield start, own, 1 + own[:, :, None] - distances[:, None, :]


class Triples:
    """Some of the triples of a problem, and what multipliers on them make of it.

    Parameters
    ----------
    problem : LargeMargin
    keys : ndarray of shape (p,)
        The triples, as `LargeMargin.impostors` numbers them.
    """

    def __init__(self, problem: LargeMargin, keys: Indices) -> None:
        n, k = problem.targets.shape
        self.keys, self.push = keys, problem.push
        pair, impostor = np.divmod(keys, n)
        starts = np.concatenate([np.repeat(np.arange(n), k), pair // k])
        ends = np.concatenate([problem.targets.ravel(), impostor])
        edges, number = np.unique(
            np.minimum(starts, ends) * n + np.maximum(starts, ends), return_inverse=True
        )
        self._forms = PairForms(problem.X, *np.divmod(edges, n))
        self._own, self._other = number[: n * k][pair], number[n * k :]
        self._pull = (1 - self.push) * np.bincount(number[: n * k], minlength=len(edges))

    def __len__(self) -> int:
        return len(self.keys)

    def slope(self, multipliers: Floats) -> Floats:
        r"""Return :math:`(1 - \mu) \sum C_{ij} + \sum \alpha_{ijl} (C_{ij} - C_{il})`.

        Where :math:`C_{ij} = (x_i - x_j)(x_i - x_j)^T`. With multipliers from 0 to :math:`\mu`
        the objective of any M is at least :math:`\sum \alpha + \mathrm{tr}(\mathrm{slope} M)`.
        """
        size = len(self._forms)
        own = np.bincount(self._own, multipliers, size)
        other = np.bincount(self._other, multipliers, size)
        return self._forms.scatter(np.asarray(self._pull + own - other))

    def pull_and_margins(self, factor: Floats) -> tuple[float, Floats]:
        """Return the weighted pull, and by how much each triple misses its margin."""
        distances = self._forms.distances(factor)
        return float(self._pull @ distances), 1 + distances[self._own] - distances[self._other]
