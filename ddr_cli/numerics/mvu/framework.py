r"""Maximum variance unfolding as a problem of nodes and bars, and its dual bound.

Nodes have masses :math:`m_i`, and bars have lengths :math:`d_e`; the problem is to find positions
of the nodes that keep every bar's length and have the largest moment of inertia. In the scaled
coordinates :math:`z_i = \sqrt{m_i}\, y_i` and with :math:`K = Z Z^T`, this is the problem

.. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad b_e^T K b_e = 1,\; K N = 0,\; K \succeq 0,

:math:`b_e = (e_i / \sqrt{m_i} - e_j / \sqrt{m_j}) / d_e`, where the columns of N contain the
centring :math:`\sqrt m` and all other known null vectors. Its dual has one number per bar,

.. math:: \min \textstyle\sum_e w_e \quad\text{s.t.}\quad
          \Pi (L_w - I) \Pi \succeq 0,\; L_w = \sum_e w_e b_e b_e^T,\; \Pi = I - N N^T,

so any weights whose :math:`\Pi L_w \Pi` is positive on the range of :math:`\Pi`, divided by its
smallest eigenvalue there, bound the optimum from above (Sun, Boyd, Xiao and Diaconis, "The
Fastest Mixing Markov Process on a Graph and a Connection to a Maximum Variance Unfolding
Problem", SIAM Review 48, 2006).

Other known null vectors: if the nodes of a clique are affinely dependent, :math:`\sum v_i x_i = 0`
with :math:`\sum v_i = 0`, their distances imply that :math:`\sum v_i y_i = 0` for all positions
with these distances; an example are five points in space that are all neighbours. Such a v is a
null vector of every feasible Gram matrix. A solver without this information searches for a strictly
positive K that doesn't exist, and its multipliers grow without limit (facial reduction: Krislock
and Wolkowicz, "Explicit Sensor Network Localization using Semidefinite Representations and Facial
Reductions", SIAM J. Optimization 20, 2010).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from ddr_cli.numerics.neighbors import CsrArray, Floats, Indices

_FLAT = 1e-9  # relative size below which a clique's extent in a direction counts as 0
_MOST_CLIQUES = 100_000  # of more cliques than this, only the first ones found are used


@dataclass(frozen=True, eq=False)
class Framework:
    """Nodes, bars between `heads` and `tails` that connect all nodes, and the known null vectors.

    Every feasible Gram matrix K in scaled coordinates has K N = 0 for the orthonormal columns N of
    `known`, of shape (n_nodes, q).
    """

    heads: Indices
    tails: Indices
    lengths: Floats
    mass: Floats
    known: Floats

    @property
    def n_nodes(self) -> int:
        """The number of nodes."""
        return len(self.mass)

    @property
    def n_bars(self) -> int:
        """The number of bars."""
        return len(self.lengths)

    @cached_property
    def incidence(self) -> CsrArray:
        """The vectors :math:`b_e` as rows of a sparse matrix of shape (n_bars, n_nodes)."""
        bars = np.arange(self.n_bars)
        at_head = 1 / (self.lengths * np.sqrt(self.mass[self.heads]))
        at_tail = 1 / (self.lengths * np.sqrt(self.mass[self.tails]))
        entries = np.concatenate([at_head, -at_tail])
        places = (np.tile(bars, 2), np.concatenate([self.heads, self.tails]))
        return sp.csr_array((entries, places), shape=(self.n_bars, self.n_nodes))

    def project(self, columns: Floats) -> Floats:
        """Return the columns without their component along `known`."""
        return np.asarray(columns - self.known @ (self.known.T @ columns))

    def squeeze(self, matrix: Floats) -> Floats:
        r"""Return :math:`\Pi M \Pi` of a symmetric matrix."""
        return self.project(self.project(matrix).T)

    def laplacian(self, weights: Floats) -> CsrArray:
        """Return :math:`L_w`, sparse, of shape (n_nodes, n_nodes)."""
        B = self.incidence
        return sp.csr_array(B.T @ sp.diags_array(weights) @ B)

    def strain(self, Z: Floats) -> float:
        """Return the largest relative error of a length for the positions `Z` (scaled)."""
        lengths = np.linalg.norm(self.incidence @ Z, axis=1)
        return float(np.abs(lengths - 1).max(initial=0.0))


def dual_bound(framework: Framework, weights: Floats) -> float:
    """Return an upper bound on the trace of every feasible Gram matrix, from any weights.

    It is in squared units of the lengths, and infinite if the weights prove nothing.
    """
    L = framework.laplacian(weights)
    N = framework.known
    above = 2.0 * float(abs(L).sum(axis=1).max()) + 1.0
    values = np.linalg.eigvalsh(framework.squeeze(L.toarray()) + above * (N @ N.T))
    return float(weights.sum() / values[0]) if values[0] > 0 else np.inf


def on_smallest_face(framework: Framework, points: Floats) -> Framework:
    """Return the framework of the positions `points`, with the null vectors that its cliques imply.

    It has the same feasible Gram matrices.
    """
    implied = affine_dependencies(points, framework.heads, framework.tails)
    if not implied.shape[1]:
        return framework
    columns = np.hstack([framework.known, implied / np.sqrt(framework.mass)[:, None]])
    known, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return replace(framework, known=known[:, sizes > 1e-9 * sizes[0]])


def affine_dependencies(points: Floats, heads: Indices, tails: Indices) -> Floats:
    """Return the null vectors that a framework's cliques imply: orthonormal columns, or none.

    Each is orthogonal to the vector of ones. The points satisfy all lengths.
    """
    n = len(points)
    nulls = np.zeros((n, n))
    count = 0
    for clique in _cliques(n, heads, tails):
        members = points[clique]
        extents = members - members.mean(axis=0)
        # The null space of (1, x) over the members consists of the left singular vectors of x
        # beyond its rank that are orthogonal to the vector of ones.
        more_points = len(clique) > extents.shape[1]
        left, sizes, _ = np.linalg.svd(extents, full_matrices=more_points)
        rank = int(np.sum(sizes > _FLAT * sizes[0]))
        if rank + 1 < len(clique):
            rest = left[:, rank:]
            null = rest @ scipy.linalg.null_space(rest.sum(axis=0)[None])
            nulls[np.ix_(clique, clique)] += null @ null.T
            count += 1
    if not count:
        return np.empty((n, 0))
    sizes, vectors = np.linalg.eigh(nulls)
    return np.asarray(vectors[:, sizes > 1e-6])


def _cliques(n: int, heads: Indices, tails: Indices) -> Iterator[list[int]]:
    """Yield the maximal cliques of three nodes or more (Bron and Kerbosch, with pivots)."""
    neighbors: list[set[int]] = [set() for _ in range(n)]
    for i, j in zip(heads.tolist(), tails.tolist(), strict=True):
        neighbors[i].add(j)
        neighbors[j].add(i)
    stack = [(list[int](), set(range(n)), set[int]())]
    remaining = _MOST_CLIQUES
    while stack and remaining:
        clique, candidates, done = stack.pop()
        if not candidates:
            if not done and len(clique) > 2:
                remaining -= 1
                yield sorted(clique)
            continue
        pivot = max(sorted(candidates | done), key=lambda v: len(neighbors[v] & candidates))
        for node in sorted(candidates - neighbors[pivot]):
            near = neighbors[node]
            stack.append(([*clique, node], candidates & near, done & near))
            candidates = candidates - {node}
            done = done | {node}
