"""Maximum variance unfolding: the problem, our solver and a reference solver for tests."""

from ddr_cli.numerics.mvu.unfolding import Solver as Solver
from ddr_cli.numerics.mvu.unfolding import Unfolding as Unfolding
from ddr_cli.numerics.mvu.unfolding import unfold as unfold
