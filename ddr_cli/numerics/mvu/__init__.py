"""Maximum variance unfolding: the programme and its two solvers."""

from ddr_cli.numerics.mvu.unfolding import Solver, Unfolding, unfold

__all__ = ["Solver", "Unfolding", "unfold"]
