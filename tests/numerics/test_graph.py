"""Neighbour graphs against their definition."""

from __future__ import annotations

import numpy as np
import pytest

from ddr_cli.numerics.neighbors import (
    kneighbors,
    knn_affinity,
    knn_graph,
    knn_kernel,
    mean_squared_distance,
)

X = np.random.default_rng(0).standard_normal((80, 3))
SQUARED = ((X[:, None] - X[None]) ** 2).sum(axis=2)
K = 5


def is_neighbour():
    """Return whether j is among the K nearest of i."""
    order = np.argsort(SQUARED + np.diag(np.full(len(X), np.inf)), axis=1)[:, :K]
    near = np.zeros((len(X), len(X)), dtype=bool)
    np.put_along_axis(near, order, True, axis=1)
    return near


@pytest.mark.parametrize("kind", ["union", "mutual"])
@pytest.mark.parametrize(("weights", "epsilon"), [("binary", 1.0), ("heat", 0.7)])
def test_graph_is_the_definition(kind, weights, epsilon):
    near = is_neighbour()
    edges = near | near.T if kind == "union" else near & near.T
    expected = edges * (1.0 if weights == "binary" else np.exp(-SQUARED / epsilon))
    graph = knn_graph(kneighbors(X, 9), K, kind=kind, weights=weights, epsilon=epsilon)
    np.testing.assert_allclose(graph.toarray(), expected, rtol=1e-12)
    assert (graph != graph.T).nnz == 0


def test_affinity_of_queries_points_from_them_to_the_data():
    queries = X[:7] + 0.01
    affinity = knn_affinity(kneighbors(X, K, queries=queries), K, len(X))
    assert affinity.shape == (7, len(X))
    assert (affinity.sum(axis=1) == K).all()
    assert affinity[0, 0] == 1


@pytest.mark.parametrize("k", [3, K])
def test_making_a_graph_leaves_the_neighbours_as_they_are(k):
    neighbors = kneighbors(X, K)
    before = neighbors.indices.copy()
    knn_graph(neighbors, k)
    knn_kernel(neighbors, k, len(X))
    np.testing.assert_array_equal(neighbors.indices, before)


def test_weights_that_underflow_are_no_edges():
    far = np.array([[0.0], [1.0], [1000.0]])
    graph = knn_graph(kneighbors(far, 1), 1, weights="heat", epsilon=1.0)
    assert graph.nnz == 2


def test_duplicates_alone_are_connected_when_the_width_is_zero():
    points = np.array([[0.0], [0.0], [3.0]])
    graph = knn_graph(kneighbors(points, 2), 2, weights="heat", epsilon=0.0)
    assert graph.toarray().tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0]]


def test_kernel_of_a_point_beyond_all_heat_is_its_nearest_neighbour():
    neighbors = kneighbors(X, K, queries=np.array([[0.0, 0.0, 0.0], [1e6, 0.0, 0.0]]))
    kernel = knn_kernel(neighbors, K, len(X), weights="heat", epsilon=1.0)
    assert kernel[[0]].nnz == K
    assert kernel[[1]].nonzero()[1].tolist() == [np.argmax(X[:, 0])]


def test_mean_squared_distance():
    nearest = np.sort(SQUARED, axis=1)[:, 1 : K + 1]
    assert mean_squared_distance(kneighbors(X, 8), K) == pytest.approx(nearest.mean())
