r"""Maximum variance unfolding by a primal-dual interior-point method.

The method is that of Helmberg, Rendl, Vanderbei and Wolkowicz ("An Interior-Point Method for
Semidefinite Programming", SIAM J. Optimization 6, 1996) with Mehrotra's predictor and corrector. It
uses two properties of this problem. First, every constraint has rank one, so the matrix of the
equations for the weights is :math:`(B K B^T) \circ (B S^{-1} B^T)`; a general solver would
factorise a system whose order is the number of entries of K.

Second, K is the Gram matrix of the bars :math:`u_e = (y_i - y_j) / d_e` of the shortest spanning
tree, one for every node except the first: the coordinates of the nodes grow with the size of the
unrolled sheet, so the short bars would be lost in their rounding. Every diagonal entry of this K is
1, and every other bar is a short sum of tree bars with coefficients of at most 1: no digits are
lost to cancellation, however far apart the nodes and however short some bars are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.sparse.linalg import eigsh

from ddr_cli.numerics.eigen import extreme_eigenvalue
from ddr_cli.numerics.mvu.framework import Framework
from ddr_cli.numerics.neighbors import CsrArray, Floats
from ddr_cli.numerics.scatter import symmetric

_SHORT = 0.95  # fraction of the distance to the boundary that a step may go
_GOOD = 1e-3  # an iterate with an error below this is already usable
_PATIENCE = 6  # iterations without halving the error before a usable iterate is accepted
_MORE_PATIENCE = 30  # the same if none is usable yet: progress can be slow for many iterations
_NOTHING = 1e-12  # smaller coefficients are rounding: sums along a path that should cancel to 0
_DENSE = 150  # below this order, computing all eigenvalues is cheaper than iterating for one


def solve_interior(
    framework: Framework,
    *,
    compliance: float = 0.0,
    by_reach: bool = True,
    tol: float = 1e-6,
    max_iter: int = 100,
) -> tuple[Floats, Floats, int]:
    r"""Return a factor Z of the K with the largest trace, weights that prove it, and iterations.

    K = Z Z' is in scaled coordinates; the weights are feasible, so their sum bounds the trace.

    It stops when the relative gap between trace and bound, and the relative error of the squared
    lengths, are below `tol`. If the lengths leave almost no freedom (as for many clusters of points
    in few dimensions), rounding stops the progress earlier; the caller checks the best iterate.

    The relative error of a bar's squared length may be `compliance` times its weight: the problem
    is then :math:`\max \mathrm{tr} K - \|b^T K b - 1\|^2 / (2 g)`, which has a strictly feasible K
    and weights that stay finite even if the lengths leave no freedom.

    With `by_reach`, steps are centred more if a direct step would be shorter. This usually takes
    fewer steps, but ends too early on some graphs on which Mehrotra's rule, the alternative, does
    not.

    Time grows with the cube of the number of bars, memory with its square.
    """
    programme = TreeProgramme(framework)
    state = _Iteration(programme, compliance, by_reach=by_reach)
    best, best_error, best_at = (state.gram, state.weights), np.inf, 0
    mark, halved = np.inf, 0
    for n_iter in range(max_iter):
        error = state.error()
        if error < best_error:
            best, best_error, best_at = (state.gram, state.weights), error, n_iter
        if error < 0.5 * mark:
            mark, halved = error, n_iter
        patience = _PATIENCE if best_error < _GOOD else _MORE_PATIENCE
        if best_error < tol or n_iter - halved >= patience or not state.advance():
            break
    gram, weights = best
    sizes, axes = np.linalg.eigh(gram)
    positive = sizes > 0
    factor = programme.placement @ (axes[:, positive] * np.sqrt(sizes[positive]))
    return factor, weights, best_at


class _Iteration:
    """The primal K, the dual (w, S = L_w - C), and the step to the next iterate."""

    def __init__(self, programme: TreeProgramme, compliance: float, *, by_reach: bool) -> None:
        self.programme = programme
        self.compliance = compliance
        self.by_reach = by_reach
        N = programme.known
        r, m = programme.objective.shape[0], programme.bars.shape[0]
        # Along `known`, both K and S get fixed positive values, so that both have Cholesky factors.
        self.pin = N @ N.T
        self.size = float(r - N.shape[1])
        self.ridge = 1e-14
        uniform = programme.laplacian(np.ones(m)) + self.pin
        spread = extreme_eigenvalue(programme.objective, uniform, largest=True)
        self.weights: Floats = np.full(m, 2.0 * spread)
        self.slack = self._slack(self.weights)
        level = float(self.weights.sum() / np.trace(programme.objective))
        self.gram: Floats = (np.eye(r) - self.pin) * level

    def error(self) -> float:
        """Return the distance from optimality: the relative gap and error of the lengths."""
        bound = float(self.weights.sum())
        yielded = self.compliance * float(self.weights @ self.weights)
        trace = _inner(self.programme.objective, self.gram)
        gap = max(_inner(self.gram, self.slack), abs(bound + yielded - trace))
        return max(gap / bound, float(np.abs(self._misfit()).max()))

    def advance(self) -> bool:
        """Take one step; return False if rounding makes this impossible."""
        programme = self.programme
        hold = self.pin * float(np.trace(self.gram)) / self.size
        try:
            lower_slack = _cholesky(self.slack)
            lower_gram = _cholesky(self.gram + hold)
        except np.linalg.LinAlgError:
            return False
        identity = np.eye(len(self.gram))
        inverse = scipy.linalg.cho_solve((lower_slack, True), identity, check_finite=False)
        # Along `known`, S has an artificial value, so that part is removed from the inverse.
        inverse = programme.squeeze(inverse)
        matrix = programme.between_bars(self.gram)
        matrix *= programme.between_bars(inverse)
        matrix.flat[:: len(matrix) + 1] += self.compliance
        equations = _Equations(matrix, self.ridge)
        self.ridge = equations.ridge
        misfit = self._misfit()
        mu = _inner(self.gram, self.slack) / self.size

        def direction(target: Floats) -> tuple[Floats, Floats, Floats]:
            """Solve for the step that changes K S to (K + target) S, to first order."""
            change = equations.solve(programme.lengths(target) - misfit)
            moved = programme.apply_laplacian(change, inverse)
            return change, target - symmetric(self.gram @ moved), moved

        change, towards, moved = direction(-self.gram)
        slope = programme.laplacian(change)
        primal, dual = _reach(lower_gram, towards), _reach(lower_slack, slope)
        predicted = _inner(self.gram + primal * towards, self.slack + dual * slope)
        power = max(1.0, 3.0 * min(primal, dual) ** 2) if self.by_reach else 2.0
        centring = float(np.clip(predicted / self.size / mu, 1e-3, 1.0)) ** power

        target = centring * mu * inverse - self.gram - symmetric(towards @ moved)
        change, towards, _ = direction(target)
        slope = programme.laplacian(change)
        primal = _inside(self.gram + hold, towards, _reach(lower_gram, towards))
        dual = _inside(self.slack, slope, _reach(lower_slack, slope))
        if not max(primal, dual) > 0:
            return False
        self.gram = programme.squeeze(self.gram + primal * towards)
        self.weights = self.weights + dual * change
        self.slack = self._slack(self.weights)
        return True

    def _misfit(self) -> Floats:
        return 1.0 + self.compliance * self.weights - self.programme.lengths(self.gram)

    def _slack(self, weights: Floats) -> Floats:
        return self.programme.laplacian(weights) - self.programme.objective + self.pin


class _Equations:
    """The equations for the weights: scaled, with a ridge in case bars are redundant."""

    def __init__(self, matrix: Floats, ridge: float) -> None:
        self.scale = 1.0 / np.sqrt(matrix.diagonal())
        matrix *= self.scale[:, None]
        matrix *= self.scale
        self.matrix = matrix
        self.ridge = ridge
        while True:
            ridged = matrix.copy()
            ridged.flat[:: len(matrix) + 1] += self.ridge
            try:
                self.lower = scipy.linalg.cholesky(
                    ridged, lower=True, overwrite_a=True, check_finite=False
                )
                break
            except np.linalg.LinAlgError:
                self.ridge *= 10.0

    def solve(self, right: Floats) -> Floats:
        right = right * self.scale
        x = scipy.linalg.cho_solve((self.lower, True), right, check_finite=False)
        for _ in range(2):  # refinement removes the ridge's effect where x is determined
            rest = right - self.matrix @ x
            x = x + scipy.linalg.cho_solve((self.lower, True), rest, check_finite=False)
        return np.asarray(x * self.scale)


def _inner(A: Floats, B: Floats) -> float:
    return float(np.einsum("ij,ij->", A, B))


def _cholesky(A: Floats) -> Floats:
    return np.asarray(scipy.linalg.cholesky(A, lower=True, check_finite=False))


def _reach(lower: Floats, towards: Floats) -> float:
    """Return the step length, at most 1, that stays inside the cone."""
    half = scipy.linalg.solve_triangular(lower, towards, lower=True, check_finite=False)
    ratio = scipy.linalg.solve_triangular(lower, half.T, lower=True, check_finite=False)
    ratio = symmetric(ratio)
    n = len(ratio)
    if n < _DENSE:
        smallest = extreme_eigenvalue(ratio, largest=False)
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values = eigsh(ratio, k=1, which="SA", tol=1e-2, v0=start, return_eigenvectors=False)
        smallest = float(values[0])
    return 1.0 if smallest > -_SHORT else -_SHORT / smallest


def _inside(start: Floats, towards: Floats, length: float) -> float:
    """Return the step, shortened until its end is positive definite."""
    for _ in range(20):
        try:
            _cholesky(start + length * towards)
        except np.linalg.LinAlgError:
            length *= 0.8
        else:
            return length
    return 0.0


class TreeProgramme:
    r"""Maximise <C, K> s.t. :math:`b_e^T K b_e = 1`, K N = 0, K positive semidefinite.

    The framework's problem in the coordinates of its shortest spanning tree: the vectors
    :math:`b_e` are the rows of `bars`, with one column less than there are nodes; the objective C
    is the moment of inertia in these coordinates; the orthonormal columns of `known` are N; and
    `placement` maps a factor of K to the scaled coordinates of the nodes.
    """

    def __init__(self, framework: Framework) -> None:
        n, m = framework.n_nodes, framework.n_bars
        i, j, d = framework.heads, framework.tails, framework.lengths
        # SciPy 1.16 finds spanning trees only of graphs with 32-bit indices.
        ends = i.astype(np.int32), j.astype(np.int32)
        paths = _paths(n, sp.csr_array((d, ends), shape=(n, n)))
        entries = np.concatenate([1 / d, -1 / d])
        places = (np.tile(np.arange(m), 2), np.concatenate([i, j]))
        bars = sp.csr_array((entries, places), shape=(m, n)) @ paths
        bars[np.abs(bars) < _NOTHING] = 0.0
        # For small matrices, setting up a sparse product takes far longer than a whole dense
        # product.
        self.bars: Any = np.asarray(bars) if n < _DENSE else sp.csr_array(bars)
        # The objective is the moment of inertia about the centre of mass, so the component along
        # the square roots of the masses, which `known` contains, is removed.
        placement = np.sqrt(framework.mass)[:, None] * paths
        centre = np.sqrt(framework.mass / framework.mass.sum())
        placement -= np.outer(centre, centre @ placement)
        left, sizes, _ = np.linalg.svd(placement.T @ framework.known, full_matrices=False)
        self.known: Floats = left[:, sizes > 1e-9 * float(np.linalg.norm(placement))]
        self.placement: Floats = placement
        self.objective = self.squeeze(placement.T @ placement)

    def squeeze(self, matrix: Floats) -> Floats:
        """Return the symmetric matrix without rows and columns along `known`."""
        N = self.known
        if N.shape[1]:
            matrix = matrix - N @ (N.T @ matrix)
            matrix = matrix - (matrix @ N) @ N.T
        return symmetric(matrix)

    def laplacian(self, weights: Floats) -> Floats:
        r"""Return :math:`L_w = \sum_e w_e b_e b_e^T`, squeezed."""
        B = self.bars
        if isinstance(B, np.ndarray):
            return self.squeeze(B.T @ (weights[:, None] * B))
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
        if isinstance(self.bars, np.ndarray):
            return np.asarray(np.einsum("ij,ij->i", self.bars, self.bars @ gram))
        products = self.bars.multiply(self.bars @ gram)
        return np.asarray(products @ np.ones(products.shape[1]), dtype=np.float64)


def _paths(n: int, graph: CsrArray) -> Floats:
    """Return, for each node, the lengths of the tree's bars on the path from the first node."""
    tree = minimum_spanning_tree(graph)
    order, parent = breadth_first_order(tree, 0, directed=False)
    step = sp.csr_array(tree + tree.T)
    paths = np.zeros((n, n - 1))
    for column, node in enumerate(order[1:]):
        paths[node] = paths[parent[node]]
        paths[node, column] = step[node, parent[node]]
    return paths
