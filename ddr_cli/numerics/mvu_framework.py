r"""Maximum variance unfolding as a problem about a framework of bars, and the dual bound on it.

Nodes carry masses :math:`m_i`, bars carry lengths :math:`d_e`; wanted is the placement of the
nodes that keeps every bar's length and has the largest moment of inertia. In the scaled
coordinates :math:`z_i = \sqrt{m_i}\, y_i` and with :math:`K = Z Z^T` that is the programme

.. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad b_e^T K b_e = 1,\; K N = 0,\; K \succeq 0,

:math:`b_e = (e_i / \sqrt{m_i} - e_j / \sqrt{m_j}) / d_e`, where the columns of N hold the centring
:math:`\sqrt m` and whatever else is known to vanish. Its dual has one number per bar,

.. math:: \min \textstyle\sum_e w_e \quad\text{s.t.}\quad
          \Pi (L_w - I) \Pi \succeq 0,\; L_w = \sum_e w_e b_e b_e^T,\; \Pi = I - N N^T,

so any weights whose :math:`\Pi L_w \Pi` is positive on the range of :math:`\Pi`, divided by its
smallest eigenvalue there, bound the optimum from above (Sun, Boyd, Xiao and Diaconis, "The
Fastest Mixing Markov Process on a Graph and a Connection to a Maximum Variance Unfolding
Problem", SIAM Review 48, 2006).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]
CsrArray = sp.csr_array[Any, tuple[int, int]]

_DENSE = 1500  # below this many nodes all eigenvalues cost less than a factorisation and a search


@dataclass(frozen=True, eq=False)
class Framework:
    """Nodes, bars and what is known to vanish.

    Parameters
    ----------
    heads, tails : ndarray of shape (n_bars,)
        The two nodes of each bar; the graph is connected.
    lengths : ndarray of shape (n_bars,)
        Lengths of the bars, above 0.
    mass : ndarray of shape (n_nodes,)
        Masses of the nodes, above 0.
    known : ndarray of shape (n_nodes, q)
        Orthonormal columns N: every feasible Gram matrix K in scaled coordinates has K N = 0.
    """

    heads: Indices
    tails: Indices
    lengths: Floats
    mass: Floats
    known: Floats

    @property
    def n_nodes(self) -> int:
        """How many nodes there are."""
        return len(self.mass)

    @property
    def n_bars(self) -> int:
        """How many bars there are."""
        return len(self.lengths)

    @property
    def rank(self) -> int:
        """The largest rank that a Gram matrix can have."""
        return self.n_nodes - int(self.known.shape[1])

    @cached_property
    def at_head(self) -> Floats:
        """The entry of each :math:`b_e` at the bar's head."""
        return np.asarray(1 / (self.lengths * np.sqrt(self.mass[self.heads])))

    @cached_property
    def at_tail(self) -> Floats:
        """The entry of each :math:`b_e` at the bar's tail, without its minus sign."""
        return np.asarray(1 / (self.lengths * np.sqrt(self.mass[self.tails])))

    @cached_property
    def incidence(self) -> CsrArray:
        """The vectors :math:`b_e` as rows of a sparse matrix of shape (n_bars, n_nodes)."""
        bars = np.arange(self.n_bars)
        entries = np.concatenate([self.at_head, -self.at_tail])
        places = (np.tile(bars, 2), np.concatenate([self.heads, self.tails]))
        return sp.csr_array((entries, places), shape=(self.n_bars, self.n_nodes))

    def project(self, columns: Floats) -> Floats:
        """Return the columns without their part along `known`."""
        return np.asarray(columns - self.known @ (self.known.T @ columns))

    def squeeze(self, matrix: Floats) -> Floats:
        r"""Return :math:`\Pi M \Pi` of a symmetric matrix."""
        return self.project(self.project(matrix).T)

    def laplacian(self, weights: Floats) -> CsrArray:
        """Return :math:`L_w`, sparse, of shape (n_nodes, n_nodes)."""
        B = self.incidence
        return sp.csr_array(B.T @ sp.diags_array(weights) @ B)

    def strain(self, Z: Floats) -> float:
        """Return the largest relative error of a length in the placement `Z` (scaled)."""
        lengths = np.linalg.norm(self.incidence @ Z, axis=1)
        return float(np.abs(lengths - 1).max(initial=0.0))


def dual_bound(framework: Framework, weights: Floats) -> tuple[float, Floats, Floats]:
    r"""Return an upper bound on the trace of every feasible Gram matrix, and what decides it.

    Parameters
    ----------
    framework : Framework
    weights : ndarray of shape (n_bars,)
        Any weights, feasible or not.

    Returns
    -------
    bound : float
        In squared units of the lengths; infinite if the weights prove nothing.
    values : ndarray of shape (k,)
        The smallest eigenvalues of :math:`\Pi L_w \Pi` on the range of :math:`\Pi`, ascending.
    vectors : ndarray of shape (n_nodes, k)
        Their eigenvectors.
    """
    k = min(4, framework.rank)
    L = framework.laplacian(weights)
    if framework.n_nodes <= _DENSE:
        N = framework.known
        above = 2.0 * float(abs(L).sum(axis=1).max()) + 1.0
        values, vectors = np.linalg.eigh(framework.squeeze(L.toarray()) + above * (N @ N.T))
        values, vectors = values[:k], vectors[:, :k]
    else:
        values, vectors = _smallest_but_centring(L, np.sqrt(framework.mass), k)
    bound = float(weights.sum() / values[0]) if values[0] > 0 else np.inf
    return bound, values, vectors


def symmetric_factor(L: CsrArray, shift: float) -> Any:
    """Return SuperLU's factors of the sparse symmetric L + `shift` I, its pivots on the diagonal.

    The matrix is positive definite where all pivots (the diagonal of ``.U``) are positive.
    """
    return splu(
        sp.csc_array(L + shift * sp.eye_array(L.shape[0])),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=0.0,
        options={"SymmetricMode": True},
    )


def _smallest_but_centring(L: CsrArray, root: Floats, k: int) -> tuple[Floats, Floats]:
    """Return the smallest eigenpairs of L apart from the known one, ``L root = 0``.

    On this larger space than the range of Pi the smallest eigenvalue can only be lower, so what it
    proves still holds. Shift-and-invert from a shift that the pivots prove to be below all
    eigenvalues: none can be missed.
    """
    shift = 0.1
    while (factor := symmetric_factor(L, shift)).U.diagonal().min() <= 0:
        shift *= 4.0
    inverse = LinearOperator(L.shape, matvec=factor.solve, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(L.shape[0])
    try:
        _, vectors = eigsh(L, k=k + 1, sigma=-shift, OPinv=inverse, v0=start, which="LM")
    except ArpackNoConvergence:  # of clustered eigenvalues far above the shift
        _, vectors = scipy.linalg.eigh(L.toarray(), subset_by_index=(0, k))
    centring = root / np.linalg.norm(root)
    basis, sizes, _ = np.linalg.svd(vectors - np.outer(centring, centring @ vectors), False)
    basis = basis[:, sizes > 0.5]
    values, turn = np.linalg.eigh(basis.T @ (L @ basis))
    return values[:k], (basis @ turn)[:, :k]
