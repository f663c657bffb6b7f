"""Maximum variance unfolding: the programme, our solver and the reference it is held to."""

from ddr_cli.numerics.mvu.unfolding import Solver, Unfolding, unfold

__all__ = ["Solver", "Unfolding", "unfold"]
