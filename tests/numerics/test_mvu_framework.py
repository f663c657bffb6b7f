"""Parts of maximum variance unfolding: the dual bound, implied dependencies, connecting edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ddr_cli.numerics.mvu import unfold
from ddr_cli.numerics.mvu.framework import Framework, affine_dependencies, dual_bound
from ddr_cli.numerics.mvu.interior import solve_interior
from ddr_cli.numerics.neighbor_graphs import knn_graph
from ddr_cli.numerics.neighbors import kneighbors


def framework_of(X, k, mass=None):
    upper = sp.triu(knn_graph(kneighbors(X, k), k)).tocoo()
    i, j = upper.row.astype(np.intp), upper.col.astype(np.intp)
    mass = np.ones(len(X)) if mass is None else mass
    root = np.sqrt(mass / mass.sum())[:, None]
    return Framework(i, j, np.linalg.norm(X[i] - X[j], axis=1), mass, root)


def test_any_weights_bound_the_trace_of_any_placement():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    mass = rng.uniform(0.5, 3.0, 30)
    framework = framework_of(X, 4, mass)
    inertia = mass @ np.sum((X - mass @ X / mass.sum()) ** 2, axis=1)
    factor, proof, _ = solve_interior(framework)
    largest = float(np.sum(factor**2))
    assert inertia < largest
    for weights in (proof, np.ones(framework.n_bars), rng.uniform(size=framework.n_bars)):
        assert dual_bound(framework, weights) > (1 - 1e-6) * largest
    assert dual_bound(framework, proof) == pytest.approx(largest, rel=1e-5)
    assert dual_bound(framework, -np.ones(framework.n_bars)) == np.inf


def test_dependencies_are_null_vectors_of_every_isometric_placement():
    X = np.random.default_rng(0).standard_normal((40, 2))
    graph = knn_graph(kneighbors(X, 8), 8)
    i, j = sp.triu(graph).tocoo().coords
    N = affine_dependencies(X, np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp))
    assert N.shape[1] > 10
    np.testing.assert_allclose(N.T @ N, np.eye(N.shape[1]), atol=1e-9)
    np.testing.assert_allclose(N.T @ np.column_stack([np.ones(40), X]), 0, atol=1e-8)
    unfolded = unfold(X, graph).embedding
    np.testing.assert_allclose(N.T @ unfolded, 0, atol=2e-3 * np.abs(unfolded).max())


def test_points_in_general_position_have_no_dependencies():
    X = np.random.default_rng(0).standard_normal((40, 20))
    i, j = sp.triu(knn_graph(kneighbors(X, 8), 8)).tocoo().coords
    N = affine_dependencies(X, np.asarray(i, dtype=np.intp), np.asarray(j, dtype=np.intp))
    assert N.shape == (40, 0)


def test_parts_of_a_graph_are_kept_at_the_distance_of_their_nearest_points():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((15, 3)), rng.standard_normal((15, 3)) + 50])
    graph = knn_graph(kneighbors(X, 3), 3)
    found = unfold(X, graph)
    assert found.gap < 1e-3
    ((i, j),) = found.bridges
    gaps = cdist(X[:15], X[15:])
    assert np.linalg.norm(X[i] - X[j]) == gaps.min()
    placed = np.linalg.norm(found.embedding[i] - found.embedding[j])
    assert placed == pytest.approx(gaps.min(), rel=1e-3)
