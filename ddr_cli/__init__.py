"""Reproduce and extend benchmarks of supervised dimensionality reduction."""

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ddr_cli.api import Results, compare, join_suite, leaderboard, run
    from ddr_cli.data import load_dataset, make_dataset
else:
    __getattr__, __dir__ = lazy_names(
        __name__,
        {
            "api": ["Results", "compare", "join_suite", "leaderboard", "run"],
            "data": ["load_dataset", "make_dataset"],
        },
    )

__all__ = [
    "Results",
    "__version__",
    "compare",
    "join_suite",
    "leaderboard",
    "load_dataset",
    "make_dataset",
    "run",
]
