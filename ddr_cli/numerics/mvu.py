r"""Maximum variance unfolding: the placement that keeps local distances and spreads most.

.. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad K \succeq 0,\; 1^T K 1 = 0,\;
          K_{ii} + K_{jj} - 2 K_{ij} = \|x_i - x_j\|^2 \text{ for all edges } ij

K. Q. Weinberger and L. K. Saul, "Unsupervised Learning of Image Manifolds by Semidefinite
Programming", CVPR 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ddr_cli.numerics.bridges import shortest_bridges
from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.mvu_cvxpy import solve_cvxpy
from ddr_cli.numerics.mvu_faces import on_smallest_face
from ddr_cli.numerics.mvu_framework import Floats, Framework, Indices, dual_bound
from ddr_cli.numerics.mvu_interior import solve_interior
from ddr_cli.numerics.mvu_lowrank import solve_lowrank

Solver = Literal["auto", "interior", "lowrank", "cvxpy"]

MOST_BARS = 6000  # the equations for that many weights take 0.3 GB three times

# Where the lengths leave next to no room the weights that prove a placement have no limit but
# what bars that give way set them; the next is tried where the gap or the strain says so.
_GIVES = (0.0, 1e-12, 1e-10, 1e-8)


@dataclass(frozen=True, eq=False)
class Unfolding:
    """The placement of n points, and how good it is.

    Parameters
    ----------
    embedding : ndarray of shape (n, rank)
        Coordinates along the principal axes, centred, in units of the data: ``embedding @
        embedding.T`` is K. The rank is the smallest that keeps the distances within the
        tolerance.
    eigenvalues : ndarray of shape (rank,)
        Of K, descending.
    bound : float
        No feasible K has a larger trace than this.
    gap : float
        Difference of trace and bound, relative to the bound.
    strain : float
        Largest relative error of a distance that is to be kept.
    solver : str
        Whose solution it is: ``"interior"``, ``"lowrank"`` or ``"cvxpy"``.
    n_iter : int
        Its iterations.
    bridges : ndarray of shape (n_parts - 1, 2)
        The pairs of points that were connected because the graph was in n_parts parts.
    """

    embedding: Floats
    eigenvalues: Floats
    bound: float
    gap: float
    strain: float
    solver: str
    n_iter: int
    bridges: NDArray[np.intp]


def unfold(
    points: Floats,
    graph: Any,
    *,
    solver: Solver = "auto",
    tol: float = 1e-3,
    connect: bool = True,
) -> Unfolding:
    """Return the maximum variance unfolding of a graph of points.

    Parameters
    ----------
    points : ndarray of shape (n, d)
    graph : sparse of shape (n, n)
        Symmetric; its non-zero entries are the edges.
    solver : {"auto", "interior", "lowrank", "cvxpy"}, default="auto"
        "interior" is exact; "lowrank" is for more edges than its memory allows (6000, where "auto"
        changes over), and proves itself where the data have many dimensions; "cvxpy" is the slow
        reference.
    tol : float, default=1e-3
        The largest gap, and the largest strain, that is accepted. A solution of "lowrank" or
        "cvxpy" that fails is solved again by "interior" if it is of a size for that.
    connect : bool, default=True
        Whether to connect a graph in several parts, which has no largest trace, by
        `shortest_bridges`.

    Returns
    -------
    Unfolding

    Raises
    ------
    ValueError
        If the problem is too large for `solver`, or the graph is in several parts and is not to
        be connected.
    numpy.linalg.LinAlgError
        If no solution is good enough.

    Notes
    -----
    Equal points are one node of the programme with their number as its mass: their distance 0
    would leave no room for a strictly feasible K. Likewise what cliques of neighbours imply is
    used, not left to the solver to find.
    """
    places, node, count = np.unique(points, axis=0, return_inverse=True, return_counts=True)
    node = np.asarray(node, dtype=np.intp).ravel()
    if len(places) == 1:
        empty = np.empty((0, 2), dtype=np.intp)
        return Unfolding(np.empty((len(points), 0)), np.empty(0), 0.0, 0.0, 0.0, "none", 0, empty)
    heads, tails, n_bridges = _connected_edges(places, node, graph, connect)
    lengths = np.linalg.norm(places[heads] - places[tails], axis=1)
    unit = float(np.sqrt(np.mean(lengths**2)))
    mass = count.astype(np.float64)
    centring = np.sqrt(mass / mass.sum())[:, None]
    framework = Framework(heads, tails, lengths / unit, mass, centring)

    Z, bound, name, n_iter = _solve(framework, places / unit, solver, tol)
    left, sizes, _ = np.linalg.svd(framework.project(Z), full_matrices=False)
    gap = abs(bound - float(np.sum(sizes**2))) / bound
    rank = _rank_within(framework, left * sizes, tol)
    sizes = sizes[:rank]
    axes = deterministic_signs((left[:, :rank] / np.sqrt(mass)[:, None])[node])
    first = np.zeros(len(places), dtype=np.intp)
    first[node[::-1]] = np.arange(len(points))[::-1]
    ends = np.column_stack([heads, tails])[len(heads) - n_bridges :]
    return Unfolding(
        embedding=axes * (sizes * unit),
        eigenvalues=(sizes * unit) ** 2,
        bound=bound * unit**2,
        gap=gap,
        strain=framework.strain(left[:, :rank] * sizes),
        solver=name,
        n_iter=n_iter,
        bridges=first[ends],
    )


def _rank_within(framework: Framework, Z: Floats, tol: float) -> int:
    """Return how many leading columns keep all lengths to within `tol`: the rest is rounding."""
    squares = np.cumsum((framework.incidence @ Z) ** 2, axis=1)
    strains = np.abs(np.sqrt(squares) - 1.0).max(axis=0)
    return int(np.argmax(strains <= max(tol, strains[-1]))) + 1


def _connected_edges(
    places: Floats, node: Indices, graph: Any, connect: bool
) -> tuple[Indices, Indices, int]:
    """Return the edges between distinct places, bridges last, and how many are bridges."""
    edges = sp.coo_array(sp.triu(sp.coo_array(graph)))
    pairs = np.sort(np.column_stack([node[edges.row], node[edges.col]]), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    heads, tails = pairs[:, 0], pairs[:, 1]
    n = len(places)
    joined = sp.csr_array((np.ones(len(heads)), (heads, tails)), shape=(n, n))
    n_parts, part = connected_components(joined, directed=False)
    if n_parts == 1:
        return heads, tails, 0
    if not connect:
        raise ValueError(
            f"The neighbour graph is in {n_parts} parts, which nothing keeps from flying apart. "
            f"Raise n_neighbors, or let the parts be connected."
        )
    more_heads, more_tails = shortest_bridges(places, np.asarray(part, dtype=np.intp))
    heads, tails = np.append(heads, more_heads), np.append(tails, more_tails)
    return heads, tails, n_parts - 1


def _solve(
    framework: Framework, places: Floats, solver: Solver, tol: float
) -> tuple[Floats, float, str, int]:
    """Return a factor Z of K, the bound, and who found it in how many iterations."""
    reduced = on_smallest_face(framework, places)
    feasible = reduced.n_bars <= MOST_BARS
    if solver == "auto":
        solver = "interior" if feasible else "lowrank"
    tried: list[tuple[Solver, float]] = [] if solver == "interior" else [(solver, 0.0)]
    if solver == "interior" or feasible:
        tried += [("interior", give) for give in _GIVES]
    misses = []
    for name, give in tried:
        Z, bound, n_iter = _one_solver(reduced, name, tol, give)
        gap, strain = abs(bound - float(np.sum(Z**2))) / bound, framework.strain(Z)
        if max(gap, strain) <= tol:
            return Z, bound, name, n_iter
        misses.append((max(gap, strain), gap, strain))
    _, gap, strain = min(misses)
    raise np.linalg.LinAlgError(
        f"The solver '{name}' found no unfolding within tol={tol:g}: the best has a duality gap of "
        f"{gap:.1e}, and the largest relative error of a distance is {strain:.1e}. Accept it by a "
        f"larger tol, or change n_neighbors."
    )


def _one_solver(
    framework: Framework, name: str, tol: float, give: float
) -> tuple[Floats, float, int]:
    if name == "lowrank":
        low = solve_lowrank(framework, tol=tol)
        return low.factor, low.bound, low.n_iter
    if name == "interior":
        point = solve_interior(framework, give=give)
        # Its slack was factorised at every step, so the weights are feasible as they are.
        return point.factor, float(point.weights.sum()), point.n_iter
    gram, weights = solve_cvxpy(framework)
    values, vectors = np.linalg.eigh(gram)
    positive = values > 0
    factor = vectors[:, positive] * np.sqrt(values[positive])
    return factor, dual_bound(framework, weights)[0], 0
