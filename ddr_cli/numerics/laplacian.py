r"""The smooth coordinates of a weighted graph: solutions of ``L u = lambda D u``.

With :math:`D = \mathrm{diag}(G 1)` and :math:`L = D - G`, they minimise
:math:`\mathrm{tr}(Z L Z^T)` subject to :math:`Z D 1 = 0`, :math:`Z D Z^T = I`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from ddr_cli.numerics.eigen import deterministic_signs, top_eigenpairs

Floats = NDArray[np.float64]


def laplacian_eigenpairs(G: Any, m: int) -> tuple[Floats, Floats]:
    r"""Return the `m` smallest eigenvalues of ``L u = lambda D u``, without the constant vector.

    G has non-negative weights and no empty row. The values ascend in [0, 2]; of the vectors,
    ``U' D U = I`` and ``U' D 1 = 0``, with `deterministic_signs`.

    Solved as the largest eigenvalues :math:`1 - \lambda` of :math:`D^{-1/2} G D^{-1/2}`, which
    needs only products with a sparse matrix. The eigenvectors of :math:`\lambda = 0` are known in
    closed form (they are constant on the connected components), so they are written down and
    kept out of the iteration, instead of hoping that it returns the constant one first.
    """
    n = G.shape[0]
    if m > n - 1:
        raise ValueError(f"{m} dimensions are asked for, but the graph has {n - 1} to offer.")
    degree = np.asarray(G.sum(axis=1)).ravel()
    root = np.sqrt(degree)
    n_parts, part = connected_components(G, directed=False)

    flat = _contrasts(degree, part, n_parts)[:, :m]
    if flat.shape[1] == m:
        return np.zeros(m), flat
    scaling = sp.diags_array(1 / root)
    similarity = sp.csr_array(scaling @ G @ scaling)
    indicators = np.zeros((n, n_parts))
    indicators[np.arange(n), part] = root
    indicators /= np.linalg.norm(indicators, axis=0)
    values, vectors = top_eigenpairs(similarity, m - flat.shape[1], known=indicators, floor=-1.0)
    smooth = deterministic_signs(vectors / root[:, None])
    return np.concatenate([np.zeros(flat.shape[1]), 1 - values]), np.hstack([flat, smooth])


def _contrasts(degree: Floats, part: NDArray[Any], n_parts: int) -> Floats:
    """Return the D-orthonormal vectors that are constant on components, without the constant one.

    Heaviest component first, each column sets one component against all lighter ones: a basis
    that depends on neither the order of the nodes nor the eigen-solver.
    """
    mass = np.bincount(part, weights=degree, minlength=n_parts)
    order = np.argsort(-mass, kind="stable")
    lighter = np.cumsum(mass[order][::-1])[::-1]
    columns = np.zeros((n_parts, n_parts - 1))
    for j in range(n_parts - 1):
        own, rest = mass[order[j]], lighter[j + 1]
        columns[order[j], j] = np.sqrt(rest / (own * (own + rest)))
        columns[order[j + 1 :], j] = -np.sqrt(own / (rest * (own + rest)))
    return deterministic_signs(columns[part]) if n_parts > 1 else columns[part]
