"""Scatter matrices against their sums over points."""

from __future__ import annotations

import numpy as np

from ddr_cli.numerics.scatter import scatter_matrices


def test_scatter_is_the_definition_and_adds_up():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 3)), rng.choice(["a", "b", "c"], 40)
    within, between = np.zeros((3, 3)), np.zeros((3, 3))
    for x, label in zip(X, y, strict=True):
        mean = X[y == label].mean(axis=0)
        within += np.outer(x - mean, x - mean)
        between += np.outer(mean - X.mean(axis=0), mean - X.mean(axis=0))
    found = scatter_matrices(X, y)
    np.testing.assert_allclose(found[0], within, atol=1e-12)
    np.testing.assert_allclose(found[1], between, atol=1e-12)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(sum(found), centred.T @ centred, atol=1e-12)
