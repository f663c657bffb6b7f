"""Reproduce and extend benchmarks of supervised dimensionality reduction."""

from typing import TYPE_CHECKING

from ddr_cli.core.lazy import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from ddr_cli.api import Results as Results
    from ddr_cli.api import compare as compare
    from ddr_cli.api import join_suite as join_suite
    from ddr_cli.api import leaderboard as leaderboard
    from ddr_cli.api import run as run
    from ddr_cli.data import load_dataset as load_dataset
    from ddr_cli.data import make_dataset as make_dataset
else:
    __getattr__, __dir__ = lazy_names(__name__, __file__)
