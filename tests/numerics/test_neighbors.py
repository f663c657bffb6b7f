"""Neighbour search equals its O(n^2) definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ddr_cli.numerics.neighbors import kneighbors, nearest_among, nearest_members, neighbor_ranks


def by_definition(X, k, queries=None):
    """Sort all samples by (distance, index); a sample of X is not its own neighbour.

    Distances tie if they differ by at most 2^-36 of the mean distance from the mean.
    """
    X = np.asarray(X, dtype=float)
    asked = X if queries is None else np.asarray(queries, dtype=float)
    equal = 2.0**-36 * np.linalg.norm(X - X.mean(axis=0), axis=1).mean()
    indices, distances = [], []
    for i, point in enumerate(asked):
        distance = np.sqrt(((X - point) ** 2).sum(axis=1))
        order, ties = [], []
        for j in np.argsort(distance):
            if ties and distance[j] > distance[ties[-1]] + equal:
                order, ties = order + sorted(ties), []
            ties.append(j)
        order = [j for j in order + sorted(ties) if queries is not None or j != i]
        indices.append(order[:k])
        distances.append(distance[order[:k]])
    return np.array(indices), np.array(distances)


def assert_same(found, expected):
    np.testing.assert_array_equal(found.indices, expected[0])
    np.testing.assert_allclose(found.distances, expected[1], rtol=1e-14, atol=0)


# Small integers give many equal distances and exact duplicates.
TIES = np.random.default_rng(0).integers(0, 4, (150, 3))


@pytest.mark.parametrize(
    "convert", [np.asarray, np.float32, sp.csr_array, sp.csc_array, sp.coo_array]
)
@pytest.mark.parametrize("k", [1, 4, 149])
def test_every_kind_of_matrix_gives_the_definition_with_its_ties(convert, k):
    assert_same(kneighbors(convert(TIES), k), by_definition(TIES, k))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_queries_may_be_points_of_the_data_and_then_find_themselves_first(convert):
    asked = np.vstack([TIES[:40], TIES[:40] + 0.25])
    found = kneighbors(convert(TIES), 5, queries=convert(asked))
    assert_same(found, by_definition(TIES, 5, asked))
    assert (found.distances[:40, 0] == 0).all()


@settings(max_examples=60, deadline=None)
@given(
    arrays(np.int64, st.tuples(st.integers(2, 25), st.integers(1, 3)), elements=st.integers(0, 2))
)
def test_any_integer_data(X):
    k = max(1, len(X) // 2)
    assert_same(kneighbors(X, k), by_definition(X, k))


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("k", [1, 5, 80])
def test_members_are_the_nearest_by_ascending_index(monkeypatch, convert, k):
    monkeypatch.setattr("ddr_cli.numerics.neighbors._CHUNK", 150 * 7)
    X = convert(TIES)
    np.testing.assert_array_equal(nearest_members(X, k), np.sort(kneighbors(X, k).indices))


GRID = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), axis=-1).reshape(-1, 3)


def rotated(points, seed):
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    return points @ turn / 3


@pytest.mark.parametrize("k", [1, 3, 7, 60, 124])
def test_rounding_decides_no_tie(k):
    expected = kneighbors(GRID, k).indices
    queries = kneighbors(GRID[:80], min(k, 80), queries=GRID[80:]).indices
    for seed in range(3):
        points = rotated(GRID, seed)
        np.testing.assert_array_equal(kneighbors(points, k).indices, expected)
        np.testing.assert_array_equal(nearest_members(points, k), np.sort(expected))
        every = np.tile(np.arange(125), (125, 1))
        found = nearest_among(points, np.arange(125), every, k)
        np.testing.assert_array_equal(found.indices, expected)
        found = kneighbors(points[:80], min(k, 80), queries=points[80:])
        np.testing.assert_array_equal(found.indices, queries)


def test_copies_have_distance_zero_after_a_rotation_too():
    points = np.vstack([GRID, GRID])
    turned = rotated(points, 0) + np.random.default_rng(1).normal(size=points.shape) * 1e-16
    found = kneighbors(turned, 2)
    assert (found.distances[:, 0] == 0).all()
    assert (found.distances[:, 1] > 0).all()


def test_a_long_chain_of_ties_is_one_distance():
    # Points so close together that each is tied with the next: the order is that of the index.
    close = np.arange(300) * 1e-13
    points = np.concatenate([close[::-1], [-1.0, 3.0]])[:, None]
    for k in (1, 4, 200):
        found = kneighbors(points, k, queries=np.array([[0.0]]))
        assert found.indices[0].tolist() == list(range(k))
    assert nearest_members(points, 4)[10].tolist() == [0, 1, 2, 3]


def test_ranks_are_places_in_the_order_of_the_neighbours():
    for points in (GRID, rotated(GRID, 0), sp.csr_array(GRID)):
        order = kneighbors(points, 124).indices
        for rows, rank in neighbor_ranks(points):
            found = np.take_along_axis(rank, order[rows], axis=1)
            np.testing.assert_array_equal(found, np.tile(np.arange(1, 125), (len(rank), 1)))


def test_no_point_is_its_own_neighbour_among_identical_points():
    found = kneighbors(np.ones((6, 2)), 5)
    for i, row in enumerate(found.indices):
        assert sorted(row) == [j for j in range(6) if j != i]
    assert (found.distances == 0).all()


@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_distances_are_those_of_the_differences_even_far_from_the_origin(offset):
    # Around 1e7, the expansion |x|^2 - 2xy + |y|^2 loses every digit of these distances.
    X = offset + np.random.default_rng(1).integers(0, 100, (300, 5)) / 1024
    assert_same(kneighbors(X, 7), by_definition(X, 7))


@pytest.mark.parametrize("scale", [1, 1 / 3])
def test_the_first_k_equal_a_search_for_k_bit_for_bit(scale):
    X = np.random.default_rng(2).integers(0, 30, (700, 11)) * scale
    wide = kneighbors(X, 12)
    for k in (1, 5, 12):
        narrow = kneighbors(X, k)
        np.testing.assert_array_equal(wide.first(k).indices, narrow.indices)
        assert (wide.first(k).distances == narrow.distances).all()


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_size_of_the_blocks_changes_nothing(monkeypatch, convert):
    X = convert(np.random.default_rng(3).integers(0, 5, (250, 4)))
    whole = kneighbors(X, 6)
    monkeypatch.setattr("ddr_cli.numerics.neighbors._CHUNK", 96 * 7)
    monkeypatch.setattr("ddr_cli.numerics.neighbors._TILE", 20)
    monkeypatch.setattr("ddr_cli.numerics.neighbors._PAIRS", 13)
    pieces = kneighbors(X, 6)
    np.testing.assert_array_equal(whole.indices, pieces.indices)
    assert (whole.distances == pieces.distances).all()


@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_neighbours_are_exact_beyond_single_precision(scale):
    # Steps of 1e-5 next to one far sample: in single precision, nearly all distances are equal.
    X = scale * np.append(np.random.default_rng(0).permutation(400) * 1e-5, 50.0)[:, None]
    assert_same(kneighbors(X, 3), by_definition(X, 3))
    assert_same(kneighbors(X, 3, queries=1e6 * X[:5]), by_definition(X, 3, 1e6 * X[:5]))


def test_unsorted_repeated_sparse_entries_are_summed():
    X = sp.csr_array((np.ones(4), [1, 1, 0, 1], [0, 2, 3, 4]), shape=(3, 2))
    assert_same(kneighbors(X, 2), by_definition(X.toarray(), 2))


@pytest.mark.parametrize(
    ("k", "queries", "message"),
    [
        (0, None, "n_neighbors=0 .*at least 1"),
        (5, None, "n_neighbors=5 .*at most 4 .*n_samples = 5"),
        (6, np.zeros((1, 2)), "n_neighbors=6 .*at most 5 .*n_samples = 5"),
    ],
)
def test_too_many_neighbours_are_refused(k, queries, message):
    with pytest.raises(ValueError, match=message):
        kneighbors(np.zeros((5, 2)), k, queries=queries)


def test_more_neighbours_than_searched_are_refused():
    with pytest.raises(ValueError, match=r"n_neighbors=3, .*only 2"):
        kneighbors(TIES, 2).first(3)


def test_overflowing_distances_are_refused():
    with pytest.raises(ValueError, match="overflow"), np.errstate(over="ignore"):
        kneighbors(np.array([[1e200], [-1e200], [0.0]]), 1)
