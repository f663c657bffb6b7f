r"""Directions in which no isometric placement of a framework can extend.

Where the nodes of a clique are affinely dependent, :math:`\sum v_i x_i = 0` with
:math:`\sum v_i = 0`, their distances alone say that :math:`\sum v_i y_i = 0` in every placement
that keeps them: five points of space that are all neighbours are an example. Such a v is a null
vector of every feasible Gram matrix. Solvers that aren't told of it look for a strictly positive
one that doesn't exist, and their multipliers grow without limit (facial reduction: Krislock and
Wolkowicz, "Explicit Sensor Network Localization using Semidefinite Representations and Facial
Reductions", SIAM J. Optimization 20, 2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import scipy.linalg

from ddr_cli.numerics.mvu_framework import Floats, Framework, Indices

_FLAT = 1e-9  # relative size at which an extent of a clique counts as none
_MOST_CLIQUES = 100_000  # a denser graph keeps the dependencies found up to there


def on_smallest_face(framework: Framework, points: Floats) -> Framework:
    """Return the framework with what its cliques imply added to what is known.

    Parameters
    ----------
    framework : Framework
    points : ndarray of shape (n_nodes, n_features)
        A placement that has the framework's lengths.

    Returns
    -------
    Framework
        The same if there is nothing to gain; it has the same feasible Gram matrices.
    """
    implied = affine_dependencies(points, framework.heads, framework.tails)
    if not implied.shape[1]:
        return framework
    columns = np.hstack([framework.known, implied / np.sqrt(framework.mass)[:, None]])
    known, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return replace(framework, known=known[:, sizes > 1e-9 * sizes[0]])


def affine_dependencies(points: Floats, heads: Indices, tails: Indices) -> Floats:
    """Return the null vectors that the cliques of a framework imply.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, n_features)
        A placement that has the framework's lengths.
    heads, tails : ndarray of shape (n_bars,)
        The two nodes of each bar.

    Returns
    -------
    ndarray of shape (n_nodes, q)
        Orthonormal columns, each orthogonal to the vector of ones; q may be 0.
    """
    n = len(points)
    found = np.zeros((n, n))
    count = 0
    for clique in _cliques(n, heads, tails):
        members = points[clique]
        extents = members - members.mean(axis=0)
        # The null space of (1, x) over the members, by the singular vectors that x leaves over.
        left, sizes, _ = np.linalg.svd(extents, full_matrices=True)
        rank = int(np.sum(sizes > _FLAT * sizes[0]))
        if rank + 1 < len(clique):
            rest = left[:, rank:]
            null = rest @ scipy.linalg.null_space(rest.sum(axis=0)[None])
            found[np.ix_(clique, clique)] += null @ null.T
            count += 1
    if not count:
        return np.empty((n, 0))
    sizes, vectors = np.linalg.eigh(found)
    return np.asarray(vectors[:, sizes > 1e-6])


def _cliques(n: int, heads: Indices, tails: Indices) -> Iterator[list[int]]:
    """Yield the maximal cliques of three nodes or more (Bron and Kerbosch, with pivots)."""
    neighbors: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(heads.tolist(), tails.tolist(), strict=True):
        neighbors[i].add(j)
        neighbors[j].add(i)
    stack = [(list[int](), set(range(n)), set[int]())]
    left = _MOST_CLIQUES
    while stack and left:
        clique, candidates, done = stack.pop()
        if not candidates:
            if not done and len(clique) > 2:
                left -= 1
                yield sorted(clique)
            continue
        pivot = max(sorted(candidates | done), key=lambda v: len(neighbors[v] & candidates))
        for node in sorted(candidates - neighbors[pivot]):
            near = neighbors[node]
            stack.append(([*clique, node], candidates & near, done & near))
            candidates = candidates - {node}
            done = done | {node}
