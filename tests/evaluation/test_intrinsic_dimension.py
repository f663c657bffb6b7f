"""Intrinsic dimension on manifolds of known dimension, and the neighbour graph behind it."""

import numpy as np
import pytest
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist

from ddr_cli.evaluation.intrinsic_dimension import estimate_dimension, geodesic_distances

QUICK = {"n_subsamples": 1, "n_bootstraps": 3}


def swiss_roll(generator, n):
    angle = 1.5 * np.pi * (1 + 2 * generator.random(n))
    return np.column_stack([angle * np.cos(angle), 21 * generator.random(n), angle * np.sin(angle)])


def sphere(generator, n):
    points = generator.standard_normal((n, 4))
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def gaussian(generator, n):
    basis = np.linalg.qr(generator.standard_normal((10, 10)))[0][:3]
    return generator.standard_normal((n, 3)) @ basis


MANIFOLDS = [(swiss_roll, 2), (sphere, 3), (gaussian, 3)]


@pytest.mark.parametrize("graph", ["gmst", "knn"])
@pytest.mark.parametrize(("manifold", "truth"), MANIFOLDS)
def test_known_dimension_over_20_seeds(manifold, truth, graph):
    estimates = [
        estimate_dimension(
            manifold(np.random.default_rng(seed), 500),
            graph=graph,
            sizes=[250, 490],
            n_subsamples=8,
            n_bootstraps=1,
            random_state=seed,
        ).dimension
        for seed in range(20)
    ]
    np.testing.assert_allclose(estimates, truth, atol=0.5)
    assert np.median(estimates) == pytest.approx(truth, abs=0.2)


@pytest.mark.parametrize(("manifold", "truth"), MANIFOLDS)
def test_known_dimension_with_the_defaults(manifold, truth):
    found = estimate_dimension(manifold(np.random.default_rng(5), 400), random_state=5)
    assert found.dimension == pytest.approx(truth, abs=0.5)


def test_tells_a_line_from_a_full_space():
    generator = np.random.default_rng(0)
    line = generator.random((300, 1)) @ generator.standard_normal((1, 6))
    full = generator.random((300, 6))
    assert estimate_dimension(line, random_state=0, **QUICK).dimension == pytest.approx(1, abs=0.1)
    assert estimate_dimension(full, random_state=0, **QUICK).dimension > 4


@pytest.mark.parametrize("gamma", [0.5, 1.0, 2.0])
def test_power_of_the_edges_cancels(gamma):
    X = sphere(np.random.default_rng(1), 300)
    found = estimate_dimension(X, gamma=gamma, random_state=0)
    assert found.dimension == pytest.approx(3, abs=0.5)


@pytest.mark.parametrize("graph", ["gmst", "knn"])
def test_scale_rotation_and_row_order_change_nothing(graph):
    generator = np.random.default_rng(2)
    X = gaussian(generator, 150)
    plain = estimate_dimension(X, graph=graph, random_state=0, **QUICK)
    shuffled = estimate_dimension(
        X[generator.permutation(150)], graph=graph, random_state=0, **QUICK
    )
    larger = estimate_dimension(1024 * X, graph=graph, random_state=0, **QUICK)
    np.testing.assert_array_equal(shuffled.dimensions, plain.dimensions)
    np.testing.assert_allclose(larger.dimensions, plain.dimensions, rtol=1e-9)
    np.testing.assert_allclose(larger.log_lengths, plain.log_lengths + np.log(1024))


def test_length_is_the_trees_and_the_slope_gives_the_dimension():
    X = sphere(np.random.default_rng(3), 80)
    found = estimate_dimension(
        X, gamma=1.5, sizes=[40, 80], n_subsamples=1, n_bootstraps=2, random_state=0
    )
    geodesics = geodesic_distances(X, 8)
    tree = minimum_spanning_tree(geodesics).data
    np.testing.assert_allclose(found.log_lengths[:, 1], np.log(np.sum(tree**1.5)))
    slopes = np.diff(found.log_lengths, axis=1)[:, 0] / np.log(2)
    np.testing.assert_allclose(found.dimensions, 1.5 / (1 - slopes))
    assert found.dimension == pytest.approx(np.median(found.dimensions))


def test_length_of_the_neighbour_graph():
    X = sphere(np.random.default_rng(3), 60)
    found = estimate_dimension(
        X, graph="knn", n_neighbors=4, sizes=[30, 60], n_bootstraps=1, random_state=0
    )
    nearest = np.sort(cdist(X, X), axis=1)[:, 1:5]
    assert found.log_lengths[0, 1] == pytest.approx(np.log(nearest.sum()))


def test_geodesics_go_around():
    angle = np.linspace(0, 1.5 * np.pi, 200)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    distances = geodesic_distances(circle, 2)
    assert distances[0, -1] == pytest.approx(1.5 * np.pi, rel=1e-3)
    np.testing.assert_allclose(distances, distances.T)


def test_distant_clusters_have_a_tree_each():
    generator = np.random.default_rng(4)
    cluster = generator.random((150, 2))
    X = np.vstack([cluster, cluster + np.array([1000, 0]), 3 * cluster + np.array([0, 2500])])
    distances = geodesic_distances(X, 8)
    assert np.isinf(distances[:150, 150:]).all()
    assert np.isfinite(distances[:150, :150]).all()
    found = estimate_dimension(X, sizes=[225, 450], random_state=0)
    assert found.components == 3
    assert found.dimension == pytest.approx(2, abs=0.4)
    alone = minimum_spanning_tree(distances[:150, :150]).sum()
    np.testing.assert_allclose(found.log_lengths[:, 1], np.log(5 * alone))


def test_duplicates_do_not_count():
    X = sphere(np.random.default_rng(6), 100)
    once = estimate_dimension(X, random_state=0, **QUICK)
    twice = estimate_dimension(np.vstack([X, X]), random_state=0, **QUICK)
    np.testing.assert_array_equal(once.dimensions, twice.dimensions)


def test_seed_decides_the_subsamples():
    X = sphere(np.random.default_rng(7), 100)
    first, again, other = (
        estimate_dimension(X, random_state=seed, **QUICK).dimensions for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_neighbors": 30}, "between 1 and 29"),
        ({"graph": "knn", "n_neighbors": 15}, "between 1 and 14"),
    ],
)
def test_too_many_neighbors_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        estimate_dimension(sphere(np.random.default_rng(0), 30), **options)


def test_too_few_distinct_points_are_refused():
    with pytest.raises(ValueError, match="needs 20 distinct samples"):
        estimate_dimension(np.zeros((50, 3)))


def test_landsat_classes_lie_near_the_papers_table(data_mirror):
    rows = np.loadtxt(data_mirror / "landsat" / "sat.trn")
    printed = {1: 13, 2: 7, 3: 13, 4: 10, 5: 6, 7: 13}
    found = {
        label: estimate_dimension(
            rows[rows[:, -1] == label, :-1], random_state=0, **QUICK
        ).dimension
        for label in printed
    }
    for label, dimension in printed.items():
        assert found[label] == pytest.approx(dimension, abs=3)
    # As printed in the paper, cotton and stubble have the lowest dimensions.
    assert max(found[2], found[5]) < min(found[1], found[3], found[4], found[7])
