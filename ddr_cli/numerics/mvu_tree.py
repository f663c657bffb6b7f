r"""Maximum variance unfolding in the coordinates of a spanning tree of bars.

The shortest spanning tree has a bar :math:`u_e = (y_i - y_j) / d_e` for every node but the first.
Of their Gram matrix every diagonal entry is 1, and every other bar is a short sum of them whose
coefficients are at most 1: nothing is lost to cancellation, however far the nodes are from one
another and however short some bars.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

from ddr_cli.numerics.mvu_framework import CsrArray, Floats, Framework

_NOTHING = 1e-12  # a coefficient below this is the rounding of a sum along a path that cancels


@dataclass(frozen=True, eq=False)
class TreeProgramme:
    r"""Maximise <C, K> s.t. :math:`b_e^T K b_e = 1`, K N = 0, K positive semidefinite.

    Parameters
    ----------
    bars : csr_array of shape (n_bars, r)
        The vectors :math:`b_e`, r being one less than the number of nodes.
    objective : ndarray of shape (r, r)
        C: the moment of inertia, squeezed.
    known : ndarray of shape (r, q)
        Orthonormal columns N; q may be 0.
    placement : ndarray of shape (n_nodes, r)
        What takes a factor of K to the scaled coordinates of the nodes.
    """

    bars: CsrArray
    objective: Floats
    known: Floats
    placement: Floats

    def squeeze(self, matrix: Floats) -> Floats:
        """Return the symmetric matrix without rows and columns along `known`."""
        N = self.known
        if N.shape[1]:
            matrix = matrix - N @ (N.T @ matrix)
            matrix = matrix - (matrix @ N) @ N.T
        return np.asarray((matrix + matrix.T) / 2)

    def laplacian(self, weights: Floats) -> Floats:
        r"""Return :math:`L_w = \sum_e w_e b_e b_e^T`, squeezed."""
        B = self.bars
        return self.squeeze((B.T @ sp.diags_array(weights) @ B).toarray())

    def apply_laplacian(self, weights: Floats, columns: Floats) -> Floats:
        """Return the product of `laplacian` with columns that are orthogonal to `known`."""
        moved = self.bars.T @ (weights[:, None] * (self.bars @ columns))
        return np.asarray(moved - self.known @ (self.known.T @ moved))

    def between_bars(self, matrix: Floats) -> Floats:
        """Return B M B' for a symmetric M."""
        half = np.ascontiguousarray((self.bars @ matrix).T)
        return np.asarray(self.bars @ half)

    def lengths(self, gram: Floats) -> Floats:
        r"""Return :math:`b_e^T K b_e`."""
        products = self.bars.multiply(self.bars @ gram)
        return np.asarray(products @ np.ones(products.shape[1]), dtype=np.float64)


def tree_programme(framework: Framework) -> TreeProgramme:
    """Return the framework's programme in the coordinates of its shortest spanning tree."""
    n, m = framework.n_nodes, framework.n_bars
    i, j, d = framework.heads, framework.tails, framework.lengths
    paths = _paths(n, sp.csr_array((d, (i, j)), shape=(n, n)))
    bar = np.arange(m)
    differences = sp.csr_array(
        (np.concatenate([1 / d, -1 / d]), (np.tile(bar, 2), np.concatenate([i, j]))), shape=(m, n)
    )
    bars = differences @ paths
    bars[np.abs(bars) < _NOTHING] = 0.0
    # The moment of inertia about the centre of mass, which `known` holds as the root of the masses.
    placement = np.sqrt(framework.mass)[:, None] * paths
    centre = np.sqrt(framework.mass / framework.mass.sum())
    placement -= np.outer(centre, centre @ placement)
    left, sizes, _ = np.linalg.svd(placement.T @ framework.known, full_matrices=False)
    known = left[:, sizes > 1e-9 * float(np.linalg.norm(placement))]
    programme = TreeProgramme(sp.csr_array(bars), np.empty((0, 0)), known, placement)
    objective = programme.squeeze(placement.T @ placement)
    return TreeProgramme(programme.bars, objective, known, placement)


def _paths(n: int, graph: CsrArray) -> Floats:
    """Return for each node the lengths of the tree's bars from the first node to it."""
    tree = minimum_spanning_tree(graph)
    order, parent = breadth_first_order(tree, 0, directed=False)
    step = sp.csr_array(tree + tree.T)
    paths = np.zeros((n, n - 1))
    for column, node in enumerate(order[1:]):
        paths[node] = paths[parent[node]]
        paths[node, column] = step[node, parent[node]]
    return paths
