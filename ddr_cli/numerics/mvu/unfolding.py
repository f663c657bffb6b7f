r"""Maximum variance unfolding: keeps local distances and maximises the variance.

.. math:: \max \mathrm{tr} K \quad\text{s.t.}\quad K \succeq 0,\; 1^T K 1 = 0,\;
          K_{ii} + K_{jj} - 2 K_{ij} = \|x_i - x_j\|^2 \text{ for all edges } ij

K. Q. Weinberger and L. K. Saul, "Unsupervised Learning of Image Manifolds by Semidefinite
Programming", CVPR 2004.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.numerics.mvu.framework import Framework, dual_bound, on_smallest_face
from ddr_cli.numerics.mvu.interior import solve_interior
from ddr_cli.numerics.mvu.low_rank import share_of_dense, solve_low_rank
from ddr_cli.numerics.mvu.reference import solve_cvxpy
from ddr_cli.numerics.neighbor_graphs import shortest_bridges
from ddr_cli.numerics.neighbors import Floats, Indices, levels

Solver = Literal["auto", "interior", "low_rank", "cvxpy"]

# With more bars than this, "auto" tries "low_rank" first if one of its sparse factorisations takes
# less than the fraction `_SPARSE` of the work of a dense one, because it needs about ten times as
# many. The fits in all published tables have fewer bars, or a fraction of at least 0.06 (1100
# images), so "auto" solves them with "interior".
MANY_BARS = 1_300
_SPARSE = 0.02

# With 5000 bars, "interior" takes two minutes and 1.2 GB on one core. Time grows with the cube of
# the number of bars, memory with its square.
MOST_BARS = 10_000

_SHARE = 0.1  # the interior-point method iterates to this fraction of the tolerance
_MARGIN = 0.95  # fraction of the tolerance for the low-rank method; the rest is for later rounding

# If the lengths leave almost no freedom, the weights that prove an optimum can grow without limit,
# unless the bars are compliant. The next compliance is tried if the gap or the strain is too large.
_COMPLIANCES = (0.0, 1e-12, 1e-10, 1e-8)


@dataclass(frozen=True, eq=False)
class Unfolding:
    """The positions of n points, and their accuracy."""

    # Centred coordinates along the principal axes, in units of the data. Only as many are kept as
    # are needed to keep the distances within the tolerance.
    embedding: Floats
    eigenvalues: Floats  # of K, descending
    bound: float  # no feasible K has a larger trace
    gap: float  # difference of trace and bound, relative to the bound
    strain: float  # largest relative error of a distance that must be kept
    solver: str  # the solver that found the solution
    n_iter: int
    bridges: NDArray[np.intp]  # the pairs that were joined because the graph had several components


def unfold(
    points: Floats,
    graph: Any,
    *,
    solver: Solver = "auto",
    tol: float = 1e-3,
    low_rank: bool = True,
) -> Unfolding:
    """Return the maximum variance unfolding of a symmetric graph of points.

    "auto" is "interior", our own solver, which is exact; or, unless `low_rank` is false, "low_rank"
    on large graphs of few dimensions; "cvxpy" is the slow reference. If the latter two do not reach
    `tol`, the largest accepted gap and strain, "interior" solves the problem again. A graph with
    several components is unbounded: `shortest_bridges` connect them.

    Equal points become one node, with their number as its mass: their distance of 0 would leave no
    strictly feasible K. Likewise, the consequences of cliques of neighbours are used directly, not
    left to the solver.
    """
    _, first, node, count = np.unique(
        levels(points), axis=0, return_index=True, return_inverse=True, return_counts=True
    )
    places = points[first]
    node = np.asarray(node, dtype=np.intp).ravel()
    if len(places) == 1:
        empty = np.empty((0, 2), dtype=np.intp)
        return Unfolding(np.empty((len(points), 0)), np.empty(0), 0.0, 0.0, 0.0, "none", 0, empty)
    heads, tails, n_bridges = _connected_edges(places, node, graph)
    lengths = np.linalg.norm(places[heads] - places[tails], axis=1)
    unit = float(np.sqrt(np.mean(lengths**2)))
    mass = count.astype(np.float64)
    centring = np.sqrt(mass / mass.sum())[:, None]
    framework = Framework(heads, tails, lengths / unit, mass, centring)

    Z, bound, name, n_iter = _solve(framework, places / unit, solver, tol, low_rank)
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
    """Return how many leading columns keep all lengths to within `tol`; the others are rounding."""
    squares = np.cumsum((framework.incidence @ Z) ** 2, axis=1)
    strains = np.abs(np.sqrt(squares) - 1.0).max(axis=0)
    return int(np.argmax(strains <= max(tol, strains[-1]))) + 1


def _connected_edges(places: Floats, node: Indices, graph: Any) -> tuple[Indices, Indices, int]:
    """Return the edges between distinct points, bridges last, and the number of bridges."""
    edges = sp.coo_array(sp.triu(sp.coo_array(graph)))
    pairs = np.sort(np.column_stack([node[edges.row], node[edges.col]]), axis=1)
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    heads, tails = pairs[:, 0], pairs[:, 1]
    n = len(places)
    joined = sp.csr_array((np.ones(len(heads)), (heads, tails)), shape=(n, n))
    n_parts, part = connected_components(joined, directed=False)
    if n_parts == 1:
        return heads, tails, 0
    more_heads, more_tails = shortest_bridges(places, np.asarray(part, dtype=np.intp))
    heads, tails = np.append(heads, more_heads), np.append(tails, more_tails)
    return heads, tails, n_parts - 1


def _solve(
    framework: Framework, places: Floats, solver: Solver, tol: float, low_rank: bool
) -> tuple[Floats, float, str, int]:
    """Return a factor Z of K, the bound, the solver that found it, and the number of iterations."""
    reduced = on_smallest_face(framework, places)
    many, too_many = reduced.n_bars > MANY_BARS, reduced.n_bars > MOST_BARS
    cheap = solver == "auto" and low_rank and many and share_of_dense(reduced) < _SPARSE
    if solver == "auto" and too_many and not cheap:
        raise ValueError(
            f"The graph has {reduced.n_bars} edges. A graph with more than {MOST_BARS} edges can "
            "take an hour and 5 GB. Lower n_neighbors, use fewer samples, or run anyway with "
            "solver='interior'."
        )
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("interior", {"compliance": compliance, "by_reach": by_reach, "tol": _SHARE * tol})
        for by_reach in (True, False)
        for compliance in _COMPLIANCES
    ]
    if solver == "cvxpy":
        attempts.insert(0, ("cvxpy", {}))
    elif solver == "low_rank" or cheap:
        attempts.insert(0, ("low_rank", {"places": places, "tol": _MARGIN * tol}))
        attempts = attempts[:1] if too_many else attempts
    misses = []
    for name, options in attempts:
        Z, bound, n_iter = _one_solver(reduced, name, options)
        gap, strain = abs(1.0 - float(np.sum(Z**2)) / bound), framework.strain(Z)
        if max(gap, strain) <= tol:
            return Z, bound, name, n_iter
        misses.append((max(gap, strain), gap, strain))
    _, gap, strain = min(misses)
    raise np.linalg.LinAlgError(
        f"The solver '{name}' found no solution within tol={tol:g} (duality gap {gap:.1e}, "
        f"distance error {strain:.1e}). Raise tol, or change n_neighbors."
    )


def _one_solver(
    framework: Framework, name: str, options: Mapping[str, Any]
) -> tuple[Floats, float, int]:
    if name == "low_rank":
        return solve_low_rank(framework, **options)
    if name == "interior":
        factor, weights, n_iter = solve_interior(framework, **options)
        # The slack matrix had a Cholesky factor at every step, so the weights are feasible.
        return factor, float(weights.sum()), n_iter
    gram, weights = solve_cvxpy(framework)
    values, vectors = np.linalg.eigh(gram)
    positive = values > 0
    factor = vectors[:, positive] * np.sqrt(values[positive])
    return factor, dual_bound(framework, weights), 0
