"""The mathematics that methods share: neighbour graphs, eigen-solvers, convex optimisation."""
