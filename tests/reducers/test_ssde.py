"""Supervised semidefinite embedding."""

from importlib import import_module

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris

from ddr_cli.data import Sources, load_dataset
from ddr_cli.evaluation.knn import KNNClassifier
from ddr_cli.evaluation.splits import make_split
from ddr_cli.numerics.neighbor_graphs import knn_graph
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import SSDE, get_traits
from ddr_cli.reducers.slle import SupervisedLLE

IRIS, IRIS_Y = load_iris(return_X_y=True)


def three_classes(sizes=(7, 5, 6), d=4, seed=0):
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return 2.0 * rng.standard_normal((len(sizes), d))[y] + rng.standard_normal((len(y), d)), y


def edges_within(X, y, k):
    for c in np.unique(y):
        members = np.flatnonzero(y == c)
        near = min(k, len(members) - 1)
        edges = sp.triu(knn_graph(kneighbors(X[members], near), near)).tocoo()
        yield from zip(members[edges.row], members[edges.col], strict=True)


def one_programme(X, y, k, scale):
    """Solve the whole programme at once, with the bounds on the centres."""
    cp = import_module("cvxpy")
    n = len(X)
    K = cp.Variable((n, n), PSD=True)
    constraints = [cp.sum(K) == 0]
    for i, j in edges_within(X, y, k):
        constraints.append(K[i, i] + K[j, j] - 2 * K[i, j] == float(np.sum((X[i] - X[j]) ** 2)))
    mean = np.array([(y == c) / np.sum(y == c) for c in np.unique(y)])
    for a in range(len(mean)):
        for b in range(a):
            apart = mean[a] - mean[b]
            allowed = scale * float(np.sum((apart @ X) ** 2))
            constraints.append(cp.sum(cp.multiply(np.outer(apart, apart), K)) <= allowed)
    problem = cp.Problem(cp.Maximize(cp.trace(K)), constraints)
    problem.solve(solver="CLARABEL")
    return problem.value, K.value, mean


@pytest.mark.parametrize("scale", [1.0, 16.0])
def test_the_parts_together_are_the_one_programme(scale):
    X, y = three_classes()
    value, K, mean = one_programme(X, y, 3, scale)
    model = SSDE(n_components=17, n_neighbors=3, centroid_scale=scale).fit(X, y)
    ours = model.embedding_ @ model.embedding_.T
    assert model.trace_ == pytest.approx(value, rel=1e-3)
    size = np.abs(K).max()
    np.testing.assert_allclose(mean @ ours @ mean.T, mean @ K @ mean.T, atol=1e-3 * size)
    for c in range(3):
        own = np.flatnonzero(y == c)
        centring = np.eye(len(own)) - 1 / len(own)
        blocks = [centring @ M[np.ix_(own, own)] @ centring for M in (ours, K)]
        np.testing.assert_allclose(blocks[0], blocks[1], atol=1e-3 * size)


def test_centres_are_the_scaled_class_means():
    X, y = three_classes()
    model = SSDE(n_components=17, centroid_scale=9.0).fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    centers = np.array([model.embedding_[y == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(centers, model.class_centers_, atol=1e-9)
    for a in range(3):
        for b in range(a):
            apart = np.linalg.norm(centers[a] - centers[b])
            assert apart == pytest.approx(3.0 * np.linalg.norm(means[a] - means[b]))
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-9)


def test_distances_within_classes_are_kept():
    model = SSDE(n_components=149).fit(IRIS, IRIS_Y)
    errors = []
    for i, j in edges_within(IRIS, IRIS_Y, 4):
        kept = np.linalg.norm(IRIS[i] - IRIS[j])
        placed = np.linalg.norm(model.embedding_[i] - model.embedding_[j])
        errors.append(abs(placed - kept) / kept if kept else placed)
    assert max(errors) < 1e-3
    assert model.constraint_error_ == pytest.approx(max(errors), rel=1e-6)
    assert model.optimality_gap_ < 1e-3


def test_columns_are_the_eigenvectors_of_one_matrix():
    model = SSDE(n_components=6).fit(IRIS, IRIS_Y)
    square = model.embedding_.T @ model.embedding_
    np.testing.assert_allclose(square, np.diag(model.eigenvalues_), atol=1e-8 * model.trace_)
    assert np.all(np.diff(model.eigenvalues_) < 0)
    assert get_traits(model).nested
    narrow = SSDE(n_components=3).fit(IRIS, IRIS_Y)
    np.testing.assert_array_equal(narrow.embedding_, model.embedding_[:, :3])
    np.testing.assert_allclose(
        narrow.transform(IRIS[:5] + 0.1), model.transform(IRIS[:5] + 0.1)[:, :3], atol=1e-6
    )


def test_classes_of_one_point_or_of_equal_points_have_no_extent():
    X = np.vstack([IRIS[:10], IRIS[60:61], np.repeat(IRIS[120:121], 4, axis=0)])
    y = np.repeat([0, 1, 2], [10, 1, 4])
    model = SSDE(n_components=12).fit(X, y)
    np.testing.assert_array_equal(model.embedding_[11:], model.embedding_[[11] * 4])
    np.testing.assert_allclose(model.embedding_[10], model.class_centers_[1], atol=1e-12)
    same = SSDE(n_components=2).fit(np.ones((6, 3)), [0, 0, 0, 1, 1, 1])
    assert (same.trace_, same.optimality_gap_) == (0.0, 0.0)
    np.testing.assert_array_equal(same.embedding_, 0)


def test_classes_in_parts_are_connected_with_one_warning():
    X = np.vstack([IRIS[:10], IRIS[:10] + 100, IRIS[50:70]])
    y = np.repeat([0, 1], 20)
    with pytest.warns(UserWarning, match="In 1 of 2 classes, the graph is not connected") as caught:
        model = SSDE().fit(X, y)
    assert len(caught) == 1
    assert model.optimality_gap_ < 1e-3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SSDE(n_components=0), "SSDE: n_components=0"),
        (SSDE(centroid_scale=0.0), "SSDE: centroid_scale=0.0"),
        (SSDE(n_components=150), "below n_samples = 150"),
    ],
    ids=repr,
)
def test_what_cannot_be_done_is_said(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(IRIS, IRIS_Y)


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="needs two classes"):
        SSDE().fit(IRIS, np.zeros(150))


def test_images_of_characters_are_classified_better_than_after_slle(data_mirror, tmp_path):
    sources = Sources(data_dirs=(data_mirror,), cache_dir=tmp_path, offline=True)
    data = load_dataset("binary_alphadigits", sources=sources)
    letters = (data.y >= 10) & (data.y < 22)  # the letters A to L
    X, y = np.asarray(data.X)[letters], data.y[letters]
    split = make_split("fraction", y, dataset=data.name, train=0.8)
    train, test, y_train, y_test = X[split.train], X[split.test], y[split.train], y[split.test]

    def precision(model):
        embedded = model.fit_transform(train, y_train)
        return np.mean(
            KNNClassifier(3).fit(embedded, y_train).predict(model.transform(test)) == y_test
        )

    ssde = SSDE(n_components=10)
    reached = precision(ssde)
    assert ssde.constraint_error_ < 1e-3
    assert reached > 0.85
    assert reached > precision(SupervisedLLE(n_components=10, n_neighbors=4, alpha=0.1)) + 0.2
