r"""Maximum variance unfolding by a factor with few columns: Newton's method with stiffening bars.

The unknown is the factor Z itself, with r columns (Burer and Monteiro, "A Nonlinear Programming
Algorithm for Solving Semidefinite Programs via Low-Rank Factorization", Mathematical Programming
95, 2003; Kulis, Surendran and Platt, "Fast Low-Rank Semidefinite Programming for Embedding and
Clustering", AISTATS 2007). Bars are compliant: the relative error of a bar's squared length is
:math:`g` times its weight, so Z is stationary if

.. math:: (L_w - I) Z = 0, \qquad |b_e^T Z|^2 - 1 = g w_e .

Newton's method for Z and w together, with the weights eliminated, has the sparse matrix :math:`(L_w
- I) \otimes I_r + 2 J^T J / g`, where J contains the derivatives of half the squared lengths. The
matrix has a block for every node and every bar and is cheap to factorise, while the matrix of the
interior-point method is dense. Its pivots show whether it is positive definite; if it is not, all
its weights are raised, which prevents large rotations of the bars in one step. The compliance g
decreases from step to step.

The result is verified: the weights bound the optimum (`framework.dual_bound`), and a solution that
is not within the tolerance of the bound is discarded. If a stationary Z has too few columns, the
weights' matrix is too small in some directions; these become additional columns.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from ddr_cli.numerics.mvu.framework import Framework, dual_bound
from ddr_cli.numerics.neighbors import Floats

_RANK = 6  # number of columns at first
_MOST_RANK = 30
_SOFT, _STIFF = 0.1, 1e-11  # first and last compliance, in units of 1 / (initial weight)
_NARROW = 1e-6  # below this compliance, a stationary Z with wrong lengths gets more columns
_STEPS, _MORE_STEPS = 8, 60  # steps at each compliance, and at one that may be the last
_TURN = 1.0  # largest change of a bar in a step, relative to its length
_MOST_FACTORS = 2_000


def solve_low_rank(framework: Framework, places: Floats, tol: float) -> tuple[Floats, float, int]:
    r"""Return a factor Z of K, an upper bound on the optimum, and the number of iterations.

    `places` are positions to start from. Trace and bound differ by at most `tol`, relatively, and
    the lengths are within `tol`; if this is not reached, the returned gap shows it.

    Because bars are compliant, the trace usually exceeds the bound: Z is shrunk by a third of the
    difference, so that the remaining difference and the error of the lengths are each within `tol`.
    """
    state = _Newton(framework, _start(framework, places))
    soft = 1.0 / state.size
    compliance, n_iter = _SOFT * soft, 0
    best: tuple[float, Floats, float] = (np.inf, state.Z, np.inf)
    while compliance > _STIFF * soft and state.factors < _MOST_FACTORS:
        steps = 4 * _STEPS if n_iter == 0 else _STEPS
        taken = state.advance(compliance, steps)
        n_iter += taken
        if state.error() < tol:
            n_iter += state.advance(compliance, _MORE_STEPS, to_the_end=True)
            bound = dual_bound(framework, state.weights)
            over = max(0.0, float(np.vdot(state.Z, state.Z)) / bound - 1.0)
            Z = state.Z * (1.0 - over / 3.0)
            gap = abs(float(np.vdot(Z, Z)) / bound - 1.0)
            error = max(gap, framework.strain(Z))
            if error < best[0]:
                best = error, Z, bound
            if error < tol:
                break
            if state.widen():
                continue
        elif taken < steps and compliance < _NARROW * soft and framework.strain(state.Z) > tol:
            state.widen()  # Z is stationary, but its lengths are wrong
        compliance /= np.sqrt(10.0)
    return best[1], best[2], n_iter


def share_of_dense(framework: Framework) -> float:
    """Return a factorisation's work, relative to the interior-point method's dense matrix.

    It is small for the graph of a curve or a sheet, and large if the points fill many dimensions.
    """
    below = np.diff(_graph_lu(framework).L.indptr).astype(np.float64)
    return float(_RANK**3 * (below @ below) / (framework.n_bars**3 / 3.0))


def _start(framework: Framework, places: Floats) -> Floats:
    """Return the leading principal coordinates of the positions, with a small perturbation."""
    Z = framework.project(places * np.sqrt(framework.mass)[:, None])
    left, sizes, _ = np.linalg.svd(Z, full_matrices=False)
    aside = 0.01 * np.random.default_rng(0).standard_normal((framework.n_nodes, _RANK))
    rank = min(_RANK, len(sizes))
    aside[:, :rank] += left[:, :rank] * sizes[:rank]
    return _centred(framework, aside)


def _centred(framework: Framework, Z: Floats) -> Floats:
    centre = np.sqrt(framework.mass / framework.mass.sum())
    return np.asarray(Z - np.outer(centre, centre @ Z))


class _Newton:
    """Positions and weights, and the next steps at a given compliance."""

    def __init__(self, framework: Framework, Z: Floats) -> None:
        self.framework = framework
        self.Z = Z
        self.bars = framework.incidence
        self.nodes = sp.csr_array(self.bars.T)
        self.size = float(np.vdot(Z, Z)) / framework.n_bars
        self.weights: Floats = np.full(framework.n_bars, self.size)
        self.shift = self.size
        self.factors = 0
        self.matrix = _Blocks(framework, Z.shape[1])

    def error(self) -> float:
        """Return the tolerance that is reached if the sum of the weights is a bound."""
        over = float(np.vdot(self.Z, self.Z)) / float(self.weights.sum()) - 1.0
        return abs(over) / 3.0 + self.framework.strain(self.Z)

    def advance(self, compliance: float, steps: int, *, to_the_end: bool = False) -> int:
        """Take this many steps, fewer if converged; return how many."""
        for step in range(steps):
            moved = self._step(compliance)
            if moved is None:
                return step
            unrest, misfit = moved
            near = (1e-4, 1e-5) if to_the_end else (3e-2, 0.1 * np.sqrt(compliance))
            if unrest < near[0] and misfit < near[1] and self.shift < self.size:
                return step + 1
        return steps

    def _step(self, compliance: float) -> tuple[float, float] | None:
        """Take one step; return the distance from stationarity after it, None if no step exists."""
        U = self.bars @ self.Z
        pull = (_squares(U) - 1.0) / compliance
        slope = self.nodes @ (pull[:, None] * U) - self.Z
        raised = False
        while self.factors < _MOST_FACTORS and self.shift < 1e12 * self.size:
            self.factors += 1
            towards = self.matrix.solve(U, self.weights + self.shift, compliance, -slope)
            if towards is not None:
                towards = _centred(self.framework, towards)
                V = self.bars @ towards
                turn = float(np.sqrt(_squares(V).max()))
                if turn < 4 * _TURN:
                    break
            self.shift *= 10.0
            raised = True
        else:
            return None
        length = min(1.0, _TURN / turn) if turn > 0 else 1.0
        self.Z = self.Z + length * towards
        weights = pull + 2.0 * np.einsum("ij,ij->i", U, V) / compliance
        self.weights = self.weights + length * (weights - self.weights)
        if not raised:
            self.shift = max(self.shift / 3.0, 1e-8 * self.size)
        U = self.bars @ self.Z
        rest = self.nodes @ (self.weights[:, None] * U) - self.Z
        unrest = float(np.linalg.norm(rest) / np.linalg.norm(self.Z))
        return unrest, float(np.abs(_squares(U) - 1.0 - compliance * self.weights).max())

    def widen(self) -> bool:
        """Add columns along which L_w - I is negative; False if there are none or too many."""
        L = self.framework.laplacian(self.weights).toarray()
        N = self.framework.known
        above = 2.0 * float(np.abs(L).sum(axis=1).max()) + 1.0
        values, vectors = scipy.linalg.eigh(
            self.framework.squeeze(L) + above * (N @ N.T),
            subset_by_index=[0, min(_RANK, len(L)) - 1],
        )
        more = vectors[:, values < 1.0 - 1e-6]
        if not more.shape[1] or self.Z.shape[1] + more.shape[1] > _MOST_RANK:
            return False
        self.Z = np.hstack([self.Z, 0.1 * more])
        self.matrix = _Blocks(self.framework, self.Z.shape[1])
        self.shift = max(self.shift, 1e-2 * self.size)
        return True


class _Blocks:
    """The Newton matrix: r x r blocks where the graph has a node or a bar, filled in once a step.

    The order of the nodes has little fill-in and is computed once.
    """

    def __init__(self, framework: Framework, rank: int) -> None:
        n, B = framework.n_nodes, framework.incidence
        i, j = framework.heads, framework.tails
        self.rank = rank
        order = _graph_lu(framework).perm_c
        nodes = np.concatenate([order, order[i], order[j]])
        others = np.concatenate([order, order[j], order[i]])
        axes = np.arange(rank)
        rows, columns = np.broadcast_arrays(
            nodes[:, None, None] * rank + axes[:, None], others[:, None, None] * rank + axes
        )
        entries = np.arange(rows.size, dtype=np.float64)
        shape = (n * rank, n * rank)
        self.matrix = sp.coo_array((entries, (rows.ravel(), columns.ravel())), shape=shape).tocsc()
        self.entries = self.matrix.data.astype(np.intp)
        self.places = (order[:, None] * rank + axes).ravel()
        self.at_nodes = sp.csr_array(B.T.multiply(B.T))
        mass = np.sqrt(framework.mass)
        self.between = -1.0 / (framework.lengths**2 * mass[i] * mass[j])

    def solve(self, U: Floats, weights: Floats, compliance: float, right: Floats) -> Floats | None:
        """Return the solution; None if the matrix is not positive apart from translations."""
        r = self.rank
        blocks = (2.0 / compliance) * U[:, :, None] * U[:, None, :]
        blocks[:, np.arange(r), np.arange(r)] += weights[:, None]
        blocks = blocks.reshape(len(U), r * r)
        diagonal = self.at_nodes @ blocks
        diagonal[:, :: r + 1] -= 1.0
        across = (self.between[:, None] * blocks).ravel()
        self.matrix.data = np.concatenate([diagonal.ravel(), across, across])[self.entries]
        try:
            factors = _symmetric_lu(self.matrix, "NATURAL")
        except RuntimeError:  # singular
            return None
        # If no rows were exchanged, there are as many negative pivots as negative eigenvalues. Of
        # these, r are expected: a translation along an axis, which is removed from the step, has
        # the eigenvalue -1.
        if (factors.U.diagonal() < 0).sum() > r or (factors.perm_r != factors.perm_c).any():
            return None
        solution = np.empty(right.size)
        solution[self.places] = right.ravel()
        return np.asarray(factors.solve(solution)[self.places].reshape(right.shape))


def _graph_lu(framework: Framework) -> SuperLU:
    ones = np.ones(framework.n_bars)
    graph = framework.laplacian(ones) + sp.eye_array(framework.n_nodes)
    return _symmetric_lu(sp.csc_array(graph), "MMD_AT_PLUS_A")


def _symmetric_lu(matrix: Any, order: Literal["NATURAL", "MMD_AT_PLUS_A"]) -> SuperLU:
    options = {"SymmetricMode": True}
    return splu(matrix, permc_spec=order, diag_pivot_thresh=0.0, options=options)


def _squares(rows: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", rows, rows))
