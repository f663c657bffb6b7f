"""Graphs of neighbours and of classes equal their definitions, sample by sample."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist

from ddr_cli.numerics.neighbor_graphs import (
    between_class_graph,
    half_of_class,
    knn_affinity,
    knn_graph,
    knn_kernel,
    marginal_pairs,
    mean_squared_distance,
    shortest_bridges,
    symmetrized,
    within_class_graph,
)
from ddr_cli.numerics.neighbors import kneighbors

CODE = np.repeat([0, 1, 2], [9, 6, 7])


@pytest.fixture(params=["continuous", "grid"])
def points(request):
    rng = np.random.default_rng(0)
    if request.param == "grid":  # a grid has many equal distances
        return rng.integers(0, 3, (len(CODE), 3)).astype(float)
    return rng.standard_normal((len(CODE), 3))


def nearest_by_definition(X, candidates, i, k):
    distance = {j: np.sum((X[i] - X[j]) ** 2) for j in candidates}
    return sorted(candidates, key=lambda j: (distance[j], j))[:k]


def directed_by_definition(X, k_of, same):
    n = len(X)
    graph = np.zeros((n, n))
    for i in range(n):
        candidates = [j for j in range(n) if j != i and (CODE[j] == CODE[i]) == same]
        for j in nearest_by_definition(X, candidates, i, k_of(i)):
            graph[i, j] = 1
    return graph


def test_within_class(points):
    expected = directed_by_definition(points, lambda _: 3, same=True)
    np.testing.assert_array_equal(within_class_graph(points, CODE, 3).toarray(), expected)


def test_half_of_the_class(points):
    size = np.bincount(CODE)
    expected = directed_by_definition(points, lambda i: size[CODE[i]] // 2 + 2, same=True)
    np.testing.assert_array_equal(within_class_graph(points, CODE, "half").toarray(), expected)


@pytest.mark.parametrize(
    ("size", "k"), [(1, 0), (2, 1), (4, 3), (5, 4), (6, 5), (7, 5), (20, 12), (30, 17)]
)
def test_half_is_at_most_all_others(size, k):
    assert half_of_class(size) == k


def test_a_class_of_one_has_no_neighbour_inside():
    graph = within_class_graph(np.arange(4.0)[:, None], np.array([0, 1, 1, 1]), "half")
    assert graph.toarray().sum(axis=1).tolist() == [0, 2, 2, 2]


def test_between_classes(points):
    expected = directed_by_definition(points, lambda _: 4, same=False)
    np.testing.assert_array_equal(between_class_graph(points, CODE, 4).toarray(), expected)


def test_sparse_points_give_the_same_graphs(points):
    sparse = sp.csr_array(points)
    for graph in (within_class_graph, between_class_graph, marginal_pairs):
        assert (graph(sparse, CODE, 3) != graph(points, CODE, 3)).nnz == 0


@pytest.mark.parametrize("k", [1, 5, 30])
def test_marginal_pairs(points, k):
    n = len(points)
    expected = np.zeros((n, n))
    for c in range(3):
        pairs = [(i, j) for i in range(n) for j in range(n) if CODE[i] == c != CODE[j]]
        pairs.sort(key=lambda p: (np.sum((points[p[0]] - points[p[1]]) ** 2), min(p), max(p)))
        for i, j in pairs[:k]:
            expected[i, j] = expected[j, i] = 1
    np.testing.assert_array_equal(marginal_pairs(points, CODE, k).toarray(), expected)


def test_mutual_and_union(points):
    directed = between_class_graph(points, CODE, 4)
    A = directed.toarray() > 0
    np.testing.assert_array_equal(symmetrized(directed, "mutual").toarray(), A & A.T)
    np.testing.assert_array_equal(symmetrized(directed, "union").toarray(), A | A.T)


def test_the_closest_pair_of_two_classes_is_always_mutual(points):
    assert symmetrized(between_class_graph(points, CODE, 1), "mutual").nnz >= 2


@pytest.mark.parametrize(
    ("graph", "k", "most", "message"),
    [
        (within_class_graph, 6, 5, "n_neighbors_within=6, .* only 5 .* smallest class"),
        (between_class_graph, 14, 13, "n_neighbors_between=14, .* only 13 .* largest class"),
        (marginal_pairs, 97, 96, "n_neighbors_between=97, .* only 96 pairs"),
    ],
)
def test_too_few_points_are_all_taken(points, graph, k, most, message):
    with pytest.warns(UserWarning, match=message):
        taken = graph(points, CODE, k)
    # Larger classes have as many neighbours as requested.
    assert (taken - graph(points, CODE, most)).min() == 0


X = np.random.default_rng(0).standard_normal((80, 3))
SQUARED = ((X[:, None] - X[None]) ** 2).sum(axis=2)
K = 5


def is_neighbour():
    """Return whether j is among the K nearest of i."""
    order = np.argsort(SQUARED + np.diag(np.full(len(X), np.inf)), axis=1)[:, :K]
    near = np.zeros((len(X), len(X)), dtype=bool)
    np.put_along_axis(near, order, True, axis=1)
    return near


@pytest.mark.parametrize(("weights", "epsilon"), [("binary", 1.0), ("heat", 0.7)])
def test_graph_is_the_definition(weights, epsilon):
    near = is_neighbour()
    expected = (near | near.T) * (1.0 if weights == "binary" else np.exp(-SQUARED / epsilon))
    graph = knn_graph(kneighbors(X, 9), K, weights=weights, epsilon=epsilon)
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


def test_bridges_are_the_shortest_tree_between_parts():
    rng = np.random.default_rng(0)
    centres = np.array([[0.0, 0.0], [10.0, 0.0], [10.0, 10.0], [40.0, 10.0]])
    part = np.repeat(np.arange(4), 6)
    X = centres[part] + rng.uniform(-1, 1, (24, 2))
    heads, tails = shortest_bridges(X, part)
    distances = cdist(X, X)
    for a, b in [(0, 1), (1, 2), (2, 3)]:
        block = distances[np.ix_(part == a, part == b)]
        (bridge,) = np.flatnonzero((part[heads] == a) & (part[tails] == b))
        assert distances[heads[bridge], tails[bridge]] == block.min()
    assert len(heads) == 3
