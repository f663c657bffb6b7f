"""Classical multidimensional scaling and Gower's formula equal their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_iris

from ddr_cli.numerics.eigen import deterministic_signs
from ddr_cli.reducers import MDS, PCA

IRIS = load_iris().data
TRAIN, NEW = IRIS[::2] + np.random.default_rng(0).normal(0, 0.01, (75, 4)), IRIS[1::2]
DIGITS = load_digits().data
METRICS = ["euclidean", "cityblock", "chebyshev", "cosine"]


@pytest.mark.parametrize("metric", METRICS)
def test_it_is_torgerson_s_definition(metric):
    squared = cdist(TRAIN, TRAIN, metric) ** 2
    J = np.eye(75) - 1 / 75
    values, vectors = np.linalg.eigh(-J @ squared @ J / 2)
    values, vectors = values[::-1][:3], vectors[:, ::-1][:, :3]
    model = MDS(3, metric).fit(TRAIN)
    assert_allclose(model.eigenvalues_, values, rtol=1e-9)
    assert_allclose(
        model.embedding_, deterministic_signs(vectors) * np.sqrt(values), atol=1e-7 * values[0]
    )


@pytest.mark.parametrize("metric", METRICS)
def test_a_new_point_is_the_last_coordinate_of_a_bordered_problem(metric):
    """Gower's argument: with all dimensions, the distances from the centre are exact."""
    model = MDS(3, metric).fit(TRAIN)
    Y = model.embedding_
    to_train = cdist(NEW, TRAIN, metric) ** 2
    squared = cdist(TRAIN, TRAIN, metric) ** 2
    # The inner products with the new sample follow from the law of cosines at the centroid.
    own = to_train.mean(axis=1) - squared.mean() / 2
    others = squared.mean(axis=1) - squared.mean() / 2
    inner = (own[:, None] + others - to_train) / 2
    expected = inner @ Y @ np.linalg.inv(Y.T @ Y)
    assert_allclose(model.transform(NEW), expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize(("X", "new"), [(TRAIN, NEW), (DIGITS[:900], DIGITS[900:])])
def test_euclidean_scaling_is_principal_component_analysis(X, new):
    ours, theirs = MDS(3).fit(X), PCA(3).fit(X)
    components = theirs.transform(X)
    turn = np.sign(np.sum(ours.embedding_ * components, axis=0))
    assert_allclose(ours.embedding_, components * turn, atol=1e-7 * np.abs(components).max())
    assert_allclose(
        ours.transform(new), theirs.transform(new) * turn, atol=1e-7 * np.abs(components).max()
    )


def test_all_dimensions_keep_all_distances_of_new_points_too():
    model = MDS(4).fit(TRAIN)
    both = np.vstack([model.embedding_, model.transform(NEW)])
    assert_allclose(cdist(both, both), cdist(*[np.vstack([TRAIN, NEW])] * 2), atol=1e-8)


@pytest.mark.parametrize("metric", METRICS)
def test_a_training_point_is_placed_where_it_is(metric):
    model = MDS(2, metric).fit(TRAIN)
    assert_allclose(model.transform(TRAIN), model.embedding_, atol=1e-9)


@pytest.mark.parametrize("metric", METRICS)
def test_given_distances_are_as_good_as_points(metric):
    by_points = MDS(3, metric).fit(TRAIN)
    given = MDS(3, "precomputed").fit(cdist(TRAIN, TRAIN, metric))
    assert_allclose(given.embedding_, by_points.embedding_, atol=1e-9)
    assert_allclose(given.transform(cdist(NEW, TRAIN, metric)), by_points.transform(NEW), atol=1e-9)


@pytest.mark.parametrize("n_points", [12, 500])
def test_dimensions_without_extent_are_zero(n_points):
    plane = np.random.default_rng(0).random((n_points, 2)) @ np.ones((2, 9))
    plane[:, 0] += np.arange(n_points)
    model = MDS(11).fit(plane)
    assert np.all(model.eigenvalues_[:2] > 0)
    np.testing.assert_array_equal(model.embedding_[:, 2:], 0)
    np.testing.assert_array_equal(model.transform(plane + 1)[:, 2:], 0)
    assert_allclose(cdist(model.embedding_, model.embedding_), cdist(plane, plane), atol=1e-6)


@pytest.mark.parametrize(
    ("model", "X", "message"),
    [
        (MDS(75), TRAIN, "below n_samples = 75"),
        (MDS(70, "cityblock"), TRAIN, r"distances yield only \d+ dimensions"),
        (MDS(metric="precomputed"), TRAIN, r"square, .*\(75, 4\)"),
        (MDS(metric="precomputed"), np.tri(9, k=-1), "must be symmetric"),
        (MDS(metric="precomputed"), np.ones((9, 9)), "must be 0"),
        (MDS(metric="hamming"), TRAIN, "MDS: metric='hamming'"),
    ],
    ids=["width", "negative", "square", "symmetric", "diagonal", "metric"],
)
def test_what_cannot_be_done_is_said(model, X, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)
