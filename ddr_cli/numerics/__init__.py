"""The mathematics that methods share: neighbour graphs, scatter matrices, eigen-solvers.

Names are imported on first use, so that importing this package loads no scipy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

if TYPE_CHECKING:
    from ddr_cli.numerics.class_neighbors import (
        between_class_graph,
        marginal_pairs,
        symmetrized,
        within_class_graph,
    )
    from ddr_cli.numerics.eigen import (
        deterministic_signs,
        generalized_eigenpairs,
        top_eigenpairs,
    )
    from ddr_cli.numerics.graph_embedding import Span, data_span, laplacian_form
    from ddr_cli.numerics.laplacian import laplacian_eigenpairs
    from ddr_cli.numerics.local_scaling import local_scales, local_scaling_forms
    from ddr_cli.numerics.neighbors import Neighbors, kneighbors, knn_affinity, knn_graph
    from ddr_cli.numerics.ratio_of_traces import trace_ratio
    from ddr_cli.numerics.scatter import scatter_matrices
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "class_neighbors": [
                "between_class_graph",
                "marginal_pairs",
                "symmetrized",
                "within_class_graph",
            ],
            "eigen": ["deterministic_signs", "generalized_eigenpairs", "top_eigenpairs"],
            "graph_embedding": ["Span", "data_span", "laplacian_form"],
            "laplacian": ["laplacian_eigenpairs"],
            "local_scaling": ["local_scales", "local_scaling_forms"],
            "neighbors": ["Neighbors", "kneighbors", "knn_affinity", "knn_graph"],
            "ratio_of_traces": ["trace_ratio"],
            "scatter": ["scatter_matrices"],
        },
    )

__all__ = [
    "Neighbors",
    "Span",
    "between_class_graph",
    "data_span",
    "deterministic_signs",
    "generalized_eigenpairs",
    "kneighbors",
    "knn_affinity",
    "knn_graph",
    "laplacian_eigenpairs",
    "laplacian_form",
    "local_scales",
    "local_scaling_forms",
    "marginal_pairs",
    "scatter_matrices",
    "symmetrized",
    "top_eigenpairs",
    "trace_ratio",
    "within_class_graph",
]
