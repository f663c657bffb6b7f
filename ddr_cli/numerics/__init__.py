"""The mathematics that methods share: neighbour graphs, scatter matrices, eigen-solvers.

Names are imported on first use, so that importing this package loads no scipy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ddr_cli.numerics.eigen import (
        deterministic_signs,
        generalized_eigenpairs,
        top_eigenpairs,
    )
    from ddr_cli.numerics.laplacian import laplacian_eigenpairs
    from ddr_cli.numerics.neighbors import Neighbors, kneighbors, knn_affinity, knn_graph
    from ddr_cli.numerics.scatter import scatter_matrices

__all__ = [
    "Neighbors",
    "deterministic_signs",
    "generalized_eigenpairs",
    "kneighbors",
    "knn_affinity",
    "knn_graph",
    "laplacian_eigenpairs",
    "scatter_matrices",
    "top_eigenpairs",
]

_HOME = {
    "Neighbors": "neighbors",
    "deterministic_signs": "eigen",
    "generalized_eigenpairs": "eigen",
    "kneighbors": "neighbors",
    "knn_affinity": "neighbors",
    "knn_graph": "neighbors",
    "laplacian_eigenpairs": "laplacian",
    "scatter_matrices": "scatter",
    "top_eigenpairs": "eigen",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
