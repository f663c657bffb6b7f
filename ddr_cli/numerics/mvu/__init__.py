"""Maximum variance unfolding: the problem, our solver and a reference solver for tests."""

from ddr_cli.numerics.mvu.unfolding import Solver, Unfolding, unfold

__all__ = ["Solver", "Unfolding", "unfold"]
