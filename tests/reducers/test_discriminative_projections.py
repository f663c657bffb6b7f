"""Discriminative Projections equal the paper's cost, computed sample by sample."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris, load_wine

from ddr_cli.data import Sources, load_dataset
from ddr_cli.evaluation.linear import LinearClassifier
from ddr_cli.evaluation.splits import make_split
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import DiscriminativeProjections

# Noise removes ties between distances, so that the graph does not depend on the sample order.
X = load_iris().data + np.random.default_rng(0).normal(0, 0.01, (150, 4))
Y = load_iris().target
WINE = load_wine().data / load_wine().data.std(axis=0)
SOME = np.where(np.random.default_rng(1).random(150) < 0.4, Y, -1)
VALUES = np.where(SOME == -1, -1.0, 1 + SOME + 0.1 * np.arange(150) / 150)


def weights(X, k, kind="heat", epsilon="mean"):
    n = len(X)
    squared = np.array([[np.sum((a - b) ** 2) for b in X] for a in X])
    near = [np.argsort(np.where(np.arange(n) == i, np.inf, squared[i]))[:k] for i in range(n)]
    if epsilon == "mean":
        epsilon = np.mean([squared[i, near[i]] for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            W[i, j] = W[j, i] = 1 if kind == "binary" else np.exp(-squared[i, j] / epsilon)
    return W


def smoothness(X, W, labels):
    """Return L of the proof of Theorem 1 as a matrix on (f; g), one outer product per pair."""
    p = X.shape[1]
    C = np.zeros((p + labels, p + labels))
    for i in range(len(X)):
        for j in range(i):
            if W[i, j]:
                C[:p, :p] += W[i, j] * np.outer(X[i] - X[j], X[i] - X[j])
    return C


def discrete(X, y, W, mu):
    """Return M + L and N + L of the proof of Theorem 1 as matrices on (f; g)."""
    classes = np.unique(y[y != -1])
    one_hot = np.eye(len(classes))
    M = np.zeros((X.shape[1] + len(classes),) * 2)
    N = np.zeros_like(M)
    for x, label in zip(X, y, strict=True):
        for k, s in zip(classes, one_hot, strict=True):
            gap = np.concatenate([x, -s])  # gamma' gap = f'x - g's
            if label != -1:
                N += np.outer(gap, gap)
            if label == k:
                M += np.outer(gap, gap)
    C = mu * smoothness(X, W, len(classes))
    return M + C, N + C


def continuous(X, y, W, mu):
    """Return the cost and the constraint of section 3.2 as matrices on (f; g)."""
    p = X.shape[1]
    cost, constraint = mu * smoothness(X, W, 1), np.zeros((p + 1, p + 1))
    for x, value, degree in zip(X, y, W.sum(axis=1), strict=True):
        constraint[:p, :p] += degree * np.outer(x, x)
        if value != -1:
            gap = np.append(x, -value)
            cost += np.outer(gap, gap)
            constraint[p, p] += value**2
    return cost, constraint


def joint(fitted):
    return np.vstack([fitted.components_.T, fitted.label_components_])


def angle(A, B):
    return scipy.linalg.subspace_angles(A, B).max()


@pytest.mark.parametrize("data", [X, WINE[:150]], ids=["iris", "wine"])
@pytest.mark.parametrize("labels", ["discrete", "continuous"])
@pytest.mark.parametrize(
    ("y", "mu", "kind", "epsilon"),
    [
        ("all", "auto", "heat", "mean"),
        ("some", "auto", "heat", 0.5),
        ("some", 0.03, "binary", "mean"),
    ],
)
def test_it_is_the_paper_s_definition(data, labels, y, mu, kind, epsilon):
    values = {"discrete": {"all": Y, "some": SOME}, "continuous": {"all": Y + 0.5, "some": VALUES}}
    y = values[labels][y]
    W = weights(data, 7, kind, epsilon)
    share = {"discrete": 1, "continuous": 0.1}[labels] * np.sum(y != -1) / W.sum()
    forms = {"discrete": discrete, "continuous": continuous}[labels]
    left, right = forms(data, y, W, share if mu == "auto" else mu)
    expected, vectors = scipy.linalg.eigh(left, right)
    options = {"mu": mu, "n_neighbors": 7, "labels": labels, "weights": kind, "epsilon": epsilon}
    for m in (1, 2, 4):
        fitted = DiscriminativeProjections(m, **options).fit(data, y)
        gamma = joint(fitted)
        assert_allclose(fitted.mu_, share if mu == "auto" else mu)
        assert_allclose(fitted.eigenvalues_, expected[:m], rtol=1e-6)
        n_labelled = np.sum(y != -1)
        assert_allclose(gamma.T @ right @ gamma, n_labelled * np.eye(m), atol=1e-7 * n_labelled)
        cost = np.trace(gamma.T @ left @ gamma)
        assert_allclose(cost, n_labelled * expected[:m].sum(), rtol=1e-6)
        assert angle(gamma, vectors[:, :m]) < 1e-6
        assert_allclose(fitted.transform(data), data @ fitted.components_.T)


def test_the_first_direction_has_the_smallest_cost():
    W = weights(X, 10)
    left, right = discrete(X, SOME, W, np.sum(SOME != -1) / W.sum())
    own, others = left, right - left  # M + L over N - M, the C(f, g) of section 2.2

    def cost(gamma):
        return (gamma @ own @ gamma) / (gamma @ others @ gamma)

    best = joint(DiscriminativeProjections(1).fit(X, SOME)).ravel()
    rng = np.random.default_rng(0)
    nearby = [best + 0.02 * np.abs(best).max() * rng.standard_normal(7) for _ in range(100)]
    assert min(cost(gamma) for gamma in nearby) > cost(best)


@pytest.mark.parametrize(("labels", "y"), [("discrete", SOME), ("continuous", VALUES)])
def test_the_order_of_the_points_changes_nothing(labels, y):
    order = np.random.default_rng(2).permutation(150)
    model = DiscriminativeProjections(4, labels=labels)
    expected = model.fit_transform(X, y)
    prototypes = model.label_components_
    assert_allclose(model.fit_transform(X[order], y[order]), expected[order], atol=1e-8)
    assert_allclose(model.label_components_, prototypes, atol=1e-8)


def test_the_names_of_the_classes_change_nothing_but_the_order_of_the_prototypes():
    named = np.array(["virginica", "setosa", "versicolor", "-1"])[SOME]
    model = DiscriminativeProjections(4)
    expected = model.fit_transform(X, SOME)
    prototypes = model.label_components_
    assert_allclose(model.fit_transform(X, named), expected, atol=1e-10)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert_allclose(model.label_components_, prototypes[[1, 2, 0]], atol=1e-10)


def test_unlabelled_points_count_in_the_graph_only():
    model = DiscriminativeProjections(2, mu=0.0, n_neighbors=5)
    without = joint(model.fit(X[SOME != -1], SOME[SOME != -1]))
    with_them = joint(model.fit(X, SOME))
    assert angle(without, with_them) < 1e-7
    assert angle(with_them, joint(model.set_params(mu=1.0).fit(X, SOME))) > 0.05


@pytest.mark.parametrize("labels", ["discrete", "continuous"])
def test_unit_length_is_that_of_both_maps_together(labels):
    plain = DiscriminativeProjections(3, labels=labels).fit(X, Y + 1)
    unit = DiscriminativeProjections(3, labels=labels, normalize="unit_length").fit(X, Y + 1)
    assert_allclose(joint(unit), joint(plain) / np.linalg.norm(joint(plain), axis=0))


def test_more_dimensions_than_classes_keep_the_geometry():
    model = DiscriminativeProjections(13).fit(WINE, load_wine().target)
    assert np.all(model.eigenvalues_[:2] < 1 / 3)
    assert np.all((model.eigenvalues_[2:] > 1 / 3) & (model.eigenvalues_[2:] <= 1))
    nearest = np.linalg.norm(
        model.transform(WINE)[:, None, :2] - model.label_components_[:, :2], axis=2
    ).argmin(axis=1)
    assert np.mean(nearest == load_wine().target) > 0.97


def one_hot(n=120):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, n)
    codes = [np.where(rng.random(n) < 0.2, rng.integers(0, 4, n), 2 * y + k % 2) for k in range(6)]
    return np.hstack([np.eye(4)[code] for code in codes]), y


def test_one_hot_features_give_no_constant_direction():
    points, y = one_hot()
    y[60:] = -1
    # The features of a group add up to 1, so f'x = g's = 1 is possible: 0/0 in the quotient.
    flat = np.concatenate([np.eye(6)[0].repeat(4), np.ones(2)])
    model = DiscriminativeProjections(8, n_neighbors=8).fit(points, y)
    embedding = model.transform(points)
    assert np.all(embedding.std(axis=0) > 0.1 * np.abs(embedding).max(axis=0))
    assert_allclose(flat @ joint(model), 0, atol=1e-10)
    W = weights_with_ties(points, 8)
    left, right = discrete(points, y, W, model.mu_)
    assert_allclose(left @ joint(model), right @ joint(model) * model.eigenvalues_, atol=1e-8)


def weights_with_ties(points, k):
    squared = ((points[:, None] - points) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    near = np.argsort(squared, axis=1, kind="stable")[:, :k]
    own = np.take_along_axis(squared, near, axis=1)
    W = np.zeros_like(squared)
    np.put_along_axis(W, near, np.exp(-own / own.mean()), axis=1)
    return np.maximum(W, W.T)


@pytest.mark.parametrize("labels", ["discrete", "continuous"])
def test_features_that_say_nothing_new_change_nothing(labels):
    found = kneighbors(X, 10)
    model = DiscriminativeProjections(4, labels=labels)
    expected = model.fit_transform(X, Y + 1, neighbors=found)
    doubled = np.hstack([X, X[:, :2] + X[:, 2:], np.zeros((150, 1))])
    embedding = model.fit_transform(doubled, Y + 1, neighbors=found)
    assert_allclose(abs(embedding), abs(expected), atol=1e-8)


@pytest.mark.parametrize("labels", ["discrete", "continuous"])
@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_units_of_the_features_change_nothing(labels, factor):
    model = DiscriminativeProjections(4, labels=labels)
    expected = model.fit_transform(X, Y + 1)
    assert_allclose(model.fit_transform(factor * X, Y + 1), expected, atol=1e-9)


@pytest.mark.parametrize("labels", ["discrete", "continuous"])
def test_sparse_points_give_what_dense_ones_give(labels):
    rng = np.random.default_rng(0)
    points = sp.random_array((60, 200), density=0.1, rng=rng, format="csr")
    y = rng.integers(0, 3, 60) + 1.0
    model = DiscriminativeProjections(5, labels=labels, n_neighbors=5)
    expected = model.fit_transform(points.toarray(), y)
    assert_allclose(model.fit_transform(points, y), expected, atol=1e-7)


def test_a_rank_limits_the_space_of_the_maps():
    y = load_wine().target
    axes = np.linalg.svd(WINE, full_matrices=False)[2][:5]
    found = kneighbors(WINE, 10)
    limited = DiscriminativeProjections(4, rank=5)
    expected = DiscriminativeProjections(4).fit_transform(WINE @ axes.T, y, neighbors=found)
    embedding = limited.fit_transform(WINE, y, neighbors=found)
    assert_allclose(abs(embedding), abs(expected), atol=1e-8)
    assert limited.rank_ == 5
    assert DiscriminativeProjections(4, rank="full").fit(WINE, y).rank_ == 13


def test_continuous_labels_put_like_next_to_like():
    model = DiscriminativeProjections(1, labels="continuous").fit(X, Y + 1.0)
    means = [model.transform(X[label == Y]).mean() for label in range(3)]
    assert means == sorted(means) or means == sorted(means, reverse=True)
    assert abs(means[0] - means[2]) > abs(means[0] - means[1])


def test_unlabelled_values_can_be_marked_by_nan():
    expected = DiscriminativeProjections(2, labels="continuous").fit_transform(X, VALUES)
    marked = np.where(VALUES == -1, np.nan, VALUES)
    model = DiscriminativeProjections(2, labels="continuous", unlabelled="nan")
    assert_allclose(model.fit_transform(X, marked), expected)


def test_a_value_of_minus_one_among_negative_ones_is_asked_about():
    model = DiscriminativeProjections(2, labels="continuous")
    with pytest.warns(UserWarning, match="set unlabelled='nan'"):
        model.fit(X, Y - 2.0)


def test_a_width_at_which_no_two_points_are_connected_leaves_the_labels():
    model = DiscriminativeProjections(2, epsilon=1e-9).fit(X, Y)
    assert model.mu_ == 0
    expected = DiscriminativeProjections(2, mu=0.0).fit(X, Y)
    assert angle(joint(model), joint(expected)) < 1e-7


@pytest.mark.parametrize(
    ("parameters", "points", "y", "message"),
    [
        ({"mu": -1.0}, X, Y, "DiscriminativeProjections: mu=-1.0"),
        ({"labels": "ordinal"}, X, Y, "labels='ordinal'"),
        ({"rank": 0}, X, Y, "rank=0"),
        ({}, X, np.zeros(150, int), "at least two different labels"),
        ({}, X, np.full(150, -1), "All labels are -1"),
        ({"labels": "continuous"}, X, np.full(150, 2.5), "two different labels"),
        ({"labels": "continuous"}, X, np.full(150, -1), "All labels are -1"),
        ({"labels": "continuous"}, X, Y + np.nan, "Input y contains NaN"),
        ({"n_components": 8}, X, Y, "n_components=8, .* 7"),
        ({}, X[:10], Y[::15], "n_neighbors=10 .*n_samples = 10"),
        ({}, np.ones((150, 4)), Y, "All features are constant"),
        ({}, np.zeros((150, 4)), Y, "All features are constant"),
        ({}, np.where(X > 7, np.nan, X), Y, "Input X contains NaN"),
    ],
    ids=lambda value: str(value)[:40] if isinstance(value, (dict, str)) else "",
)
def test_what_is_wrong_is_said(parameters, points, y, message):
    with pytest.raises(ValueError, match=message):
        DiscriminativeProjections(**parameters).fit(points, y)


def test_mushrooms_in_thirty_dimensions_and_in_one(data_mirror):
    data = load_dataset("mushroom", sources=Sources((data_mirror,), data_mirror, offline=True))
    split = make_split("labelled", data.y, train=500, dataset="mushroom")
    y = np.full(len(data.y), -1)
    y[split.train] = data.y[split.train]
    embedding = DiscriminativeProjections(30).fit_transform(data.X, y)
    for m in (1, 30):
        part = embedding[:, :m]
        model = LinearClassifier().fit(part[split.train], y[split.train])
        assert model.score(part[split.test], data.y[split.test]) > 0.99


def test_label_values_are_the_numbers_that_labels_stand_for():
    X, y = load_iris(return_X_y=True)
    as_numbers = DiscriminativeProjections(2, labels="continuous", unlabelled="nan")
    by_values = DiscriminativeProjections(2, labels="continuous", label_values=[1, 2, 5])
    numbers = as_numbers.fit_transform(X, np.array([1.0, 2.0, 5.0])[y])
    np.testing.assert_allclose(by_values.fit_transform(X, y), numbers, atol=1e-12)
    for wrong in ([1, 2], [1, 2, 2]):
        model = DiscriminativeProjections(2, labels="continuous", label_values=wrong)
        with pytest.raises(ValueError, match="3 different numbers"):
            model.fit(X, y)
