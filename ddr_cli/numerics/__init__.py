"""The mathematics that methods share: neighbour graphs, eigen-solvers, convex optimisation."""

from ddr_cli.numerics.trace_ratio import trace_ratio as trace_ratio
