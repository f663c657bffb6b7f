"""Laplacian eigenmaps equal the definition, and so does their extension to new samples."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris

from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import LaplacianEigenmaps

RNG = np.random.default_rng(0)
CLOUD = RNG.standard_normal((80, 4))
NEW = RNG.standard_normal((25, 4))
ROLL = np.asarray(swiss_roll(n_samples=400, random_state=0).X)
WEIGHTINGS = [("heat", "mean"), ("heat", 0.7), ("binary", "mean")]


def weight(gap, kind, epsilon):
    return 1.0 if kind == "binary" else np.exp(-(gap**2) / epsilon)


def definition(X, k, kind, epsilon):
    """Return W pair by pair, and the bandwidth of the kernel."""
    n = len(X)
    gaps = np.array([[np.linalg.norm(a - b) for b in X] for a in X])
    order = [np.argsort(np.where(np.arange(n) == i, np.inf, gaps[i])) for i in range(n)]
    if epsilon == "mean":
        epsilon = np.mean([gaps[i, order[i][:k]] ** 2 for i in range(n)])
    W = np.zeros((n, n))
    for i in range(n):
        for j in order[i][:k]:
            W[i, j] = W[j, i] = weight(gaps[i, j], kind, epsilon)
    return W, epsilon


@pytest.mark.parametrize(("kind", "epsilon"), WEIGHTINGS)
@pytest.mark.parametrize("k", [6, 10])
def test_it_is_the_definition(kind, epsilon, k):
    W, _ = definition(CLOUD, k, kind, epsilon)
    D = np.diag(W.sum(axis=1))
    values, vectors = scipy.linalg.eigh(D - W, D)
    model = LaplacianEigenmaps(3, n_neighbors=k, weights=kind, epsilon=epsilon).fit(CLOUD)
    Y = model.embedding_
    assert_allclose(model.affinity_.toarray(), W, atol=1e-12)
    assert_allclose(model.eigenvalues_, values[1:4], atol=1e-10)
    assert_allclose(Y.T @ D @ Y, np.eye(3), atol=1e-9)
    assert_allclose(Y, vectors[:, 1:4] * np.sign(np.sum(vectors[:, 1:4] * Y, axis=0)), atol=1e-7)


@pytest.mark.parametrize(("kind", "epsilon"), WEIGHTINGS)
def test_new_points_are_placed_by_the_eigenfunctions(kind, epsilon):
    model = LaplacianEigenmaps(3, n_neighbors=6, weights=kind, epsilon=epsilon).fit(CLOUD)
    W, width = definition(CLOUD, 6, kind, epsilon)
    degree = W.sum(axis=1)
    # This is the paper's formula, with the eigenvectors and eigenvalues of the normalised kernel.
    mu, V = np.linalg.eigh(W / np.sqrt(np.outer(degree, degree)))
    mu, V = mu[::-1][1:4], V[:, ::-1][:, 1:4]
    placed = model.transform(NEW)
    for x, got in zip(NEW, placed, strict=True):
        gaps = np.linalg.norm(CLOUD - x, axis=1)
        near = np.argsort(gaps)[:6]
        K = np.zeros(80)
        K[near] = [weight(gaps[j], kind, width) for j in near]
        normalised = K / np.sqrt(K.sum() * degree)
        expected = V.T @ normalised / mu / np.sqrt(K.sum())
        assert_allclose(np.abs(got), np.abs(expected), atol=1e-8)


def test_with_its_own_weights_a_training_point_is_placed_on_itself():
    model = LaplacianEigenmaps(4, n_neighbors=6).fit(CLOUD)
    W = model.affinity_.toarray()
    again = W @ model.embedding_ / W.sum(axis=1, keepdims=True) / (1 - model.eigenvalues_)
    assert_allclose(again, model.embedding_, atol=1e-8)
    assert_array_equal(model.transform(CLOUD), model.embedding_)


def test_new_points_of_a_roll_land_among_their_like():
    train, test = ROLL[::2], ROLL[1::2]
    model = LaplacianEigenmaps(2, n_neighbors=8).fit(train)
    scale = model.embedding_.std(axis=0)
    nearest = kneighbors(train, 1, queries=test).indices[:, 0]
    error = np.abs(model.transform(test) - model.embedding_[nearest]) / scale
    assert np.median(error, axis=0).max() < 0.1


@pytest.mark.parametrize("kind", ["binary", "heat"])
@pytest.mark.parametrize("sparse", [False, True])
def test_parts_are_connected_by_their_shortest_bridges(kind, sparse):
    far = CLOUD.copy()
    far[40:60, 0] += 60
    far[60:, 1] += 90
    X = sp.csr_array(far) if sparse else far
    model = LaplacianEigenmaps(4, n_neighbors=5, weights=kind)
    with pytest.warns(UserWarning, match="graph has 3 components"):
        model.fit(X)
    parts = np.repeat([0, 1, 2], [40, 20, 20])
    assert {tuple(sorted(parts[pair])) for pair in model.bridges_} == {(0, 1), (0, 2)}
    for a, b in model.bridges_:
        gaps = np.linalg.norm(far[parts == parts[a]][:, None] - far[parts == parts[b]], axis=2)
        assert_allclose(np.linalg.norm(far[a] - far[b]), gaps.min())
        edges = model.affinity_.toarray()
        edges[*model.bridges_.T] = edges[*model.bridges_[:, ::-1].T] = 0
        assert_allclose(model.affinity_[a, b], edges[edges > 0].mean())
    assert np.all(model.eigenvalues_ > 0)
    # Two dimensions separate the components, and the third varies inside one.
    one = model.embedding_[:40]
    assert np.ptp(one[:, 2]) > 0.2 * np.ptp(model.embedding_[:, 2])


# With two neighbours, the strays have none outside; with eight they have some, with weights near 0.
@pytest.mark.parametrize("k", [2, 8])
def test_strays_do_not_take_a_dimension(k):
    X = np.vstack([ROLL[:300], [[30.0, 0, 0], [30.1, 0, 0], [30, 0.1, 0]]])
    model = LaplacianEigenmaps(2, n_neighbors=k)
    with pytest.warns(UserWarning, match="edges that connect the graph were added"):
        model.fit(X)
    # The strays' indicator vector would map all other samples to one point.
    spread = np.std(model.embedding_[:300], axis=0)
    assert np.all(spread > 0.1 * np.abs(model.embedding_).max(axis=0))


def test_a_search_done_before_is_used():
    model = LaplacianEigenmaps(2, n_neighbors=6)
    expected = model.fit(CLOUD).transform(NEW)
    found, queried = kneighbors(CLOUD, 12), kneighbors(CLOUD, 9, queries=NEW)
    assert_array_equal(model.fit(CLOUD, neighbors=found).transform(NEW), expected)
    assert_array_equal(model.transform(NEW, neighbors=queried), expected)
    with pytest.raises(ValueError, match="80 samples, but X has 25"):
        model.fit(NEW, neighbors=found)


def test_sparse_points_are_placed_as_dense_ones():
    X = np.where(np.abs(CLOUD) > 0.5, CLOUD, 0.0)
    dense = LaplacianEigenmaps(2, n_neighbors=8).fit(X)
    sparse = LaplacianEigenmaps(2, n_neighbors=8).fit(sp.csr_array(X))
    assert_allclose(sparse.embedding_, dense.embedding_, atol=1e-10)
    assert_allclose(sparse.transform(sp.csr_array(NEW)), dense.transform(NEW), atol=1e-10)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LaplacianEigenmaps(n_neighbors=150), "n_neighbors=150"),
        (LaplacianEigenmaps(149, n_neighbors=9), "at most .* to embed new samples"),
        (LaplacianEigenmaps(n_neighbors=149), "at most 0 to embed new samples"),
        (LaplacianEigenmaps(weights="cosine"), "LaplacianEigenmaps: weights='cosine'"),
    ],
    ids=repr,
)
def test_what_cannot_be_done_is_said(model, message):
    X = load_iris().data + np.random.default_rng(1).normal(0, 1e-3, (150, 4))
    if model.n_neighbors == 149:
        model.set_params(weights="binary")
    with pytest.raises(ValueError, match=message):
        model.fit(X)
