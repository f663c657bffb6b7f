"""CCDR equals the paper's formulas, computed with dense matrices."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn.datasets import load_digits

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import CCDR

BETAS = [0.02, 0.5, 5.0]


def blobs(n=180, n_classes=3, d=5, spread=1.5, seed=0):
    """Return overlapping Gaussian classes with a connected neighbour graph."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    return spread * rng.standard_normal((n_classes, d))[y] + rng.standard_normal((n, d)), y


def hide(y, share=1 / 3, seed=0):
    """Return the labels with a fraction of them replaced by -1."""
    hidden = y.copy()
    hidden[np.random.default_rng(seed).random(len(y)) < share] = -1
    return hidden


def definition(X, y, beta, k, weights):
    """Return W, L and D of sections III and IV, by loops over samples."""
    n, classes = len(X), np.unique(y[y != -1])
    squared = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    near = np.array(
        [[j for j in np.argsort(row, kind="stable") if j != i][:k] for i, row in enumerate(squared)]
    )
    epsilon = np.mean([squared[i, j] for i in range(n) for j in near[i]])
    W = np.zeros((n, n))
    for i in range(n):
        for j in near[i]:
            W[i, j] = W[j, i] = 1 if weights == "binary" else np.exp(-squared[i, j] / epsilon)
    C = np.array([[float(label == c) for label in y] for c in classes])
    G = np.block([[np.zeros((len(classes), len(classes))), C], [C.T, beta * W]])
    D = np.diag(G.sum(axis=1))
    return W, D - G, D


def solution(model):
    return np.vstack([model.class_centers_, model.embedding_])


@pytest.mark.parametrize("weights", ["binary", "heat"])
@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("n", [150, 600])
def test_equals_the_definition_with_a_third_of_the_points_unlabelled(weights, beta, n):
    X, y = blobs(n)
    y = hide(y)
    model = CCDR(6, beta=beta, n_neighbors=5, weights=weights).fit(X, y)
    W, L, D = definition(X, y, beta, 5, weights)
    values, vectors = scipy.linalg.eigh(L, D)
    U = solution(model)

    np.testing.assert_allclose(model.affinity_.toarray(), W, rtol=1e-12)
    np.testing.assert_allclose(model.eigenvalues_, values[1:7], atol=1e-10)
    residual = L @ U - D @ U * model.eigenvalues_
    assert np.linalg.norm(residual, axis=0).max() < 1e-8
    np.testing.assert_allclose(U.T @ D @ U, np.eye(6), atol=1e-9)
    np.testing.assert_allclose(U.T @ D @ np.ones(len(U)), 0, atol=1e-8)
    angles = scipy.linalg.subspace_angles(np.sqrt(D) @ U, np.sqrt(D) @ vectors[:, 1:7])
    assert angles.max() < 1e-6


@pytest.mark.parametrize("weights", ["binary", "heat"])
@pytest.mark.parametrize("beta", [0.0, *BETAS])
def test_equation_20_at_a_training_point_is_its_own_embedding(weights, beta):
    X, y = blobs()
    y = y if beta == 0 else hide(y)
    model = CCDR(2, beta=beta, weights=weights).fit(X, y)
    np.testing.assert_allclose(model.place(model.affinity_, y), model.embedding_, atol=1e-12)


@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_new_points_follow_equation_20_with_and_without_their_label(weights):
    X, y = blobs()
    new, labels = X[:20] + 0.1, hide(y[:20])
    model = CCDR(3, beta=0.7, n_neighbors=4, weights=weights).fit(X, y)
    for given, found in [
        (np.full(20, -1), model.transform(new)),
        (labels, model.extend(new, labels)),
    ]:
        for i in range(20):
            squared = ((X - new[i]) ** 2).sum(axis=1)
            near = np.argsort(squared)[:4]
            kernel = np.ones(4) if weights == "binary" else np.exp(-squared[near] / model.epsilon_)
            z = model.class_centers_[given[i]] if given[i] != -1 else 0
            top = z + 0.7 * kernel @ model.embedding_[near]
            bottom = (given[i] != -1) + 0.7 * kernel.sum()
            np.testing.assert_allclose(found[i], top / bottom / (1 - model.eigenvalues_))


def test_sample_order_and_class_names_change_nothing_but_signs():
    X, y = blobs()
    order = np.random.default_rng(1).permutation(len(X))
    names = np.array(["zebra", "ant", "cow"])
    plain = CCDR(4).fit(X, y)
    other = CCDR(4).fit(X[order], names[y[order]])
    np.testing.assert_allclose(other.eigenvalues_, plain.eigenvalues_, atol=1e-11)
    np.testing.assert_allclose(np.abs(other.embedding_), np.abs(plain.embedding_[order]), atol=1e-8)
    centres = plain.class_centers_[[1, 2, 0]]  # ant, cow, zebra
    np.testing.assert_allclose(np.abs(other.class_centers_), np.abs(centres), atol=1e-8)


@pytest.mark.parametrize(
    "rename",
    [
        lambda y: y.astype(np.int8),
        lambda y: y.astype(float),
        lambda y: np.array(["a", "b", "c", "-1"])[y],
        lambda y: [["a", "b", "c", -1][label] for label in y],
        lambda y: np.array(["a", "b", "c", -1], dtype=object)[y],
    ],
    ids=["int8", "float", "text", "list", "object"],
)
def test_labels_of_any_type_with_some_unlabelled(rename):
    X, y = blobs()
    y = hide(y)
    expected = CCDR().fit(X, y)
    found = CCDR().fit(X, rename(y))
    assert len(found.classes_) == 3
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)


@pytest.mark.parametrize("convert", [np.float32, np.int32, sp.csr_array, sp.csc_matrix])
def test_the_kind_of_matrix_changes_nothing(convert):
    X, y = load_digits(return_X_y=True)
    X, y = X[:400], y[:400]
    expected, found = CCDR(3).fit(X, y), CCDR(3).fit(convert(X), y)
    single = convert is np.float32
    dtype, rounding = (np.float32, 1e-5) if single else (np.float64, 0)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_.astype(dtype))
    placed = found.transform(convert(X[:9]))
    np.testing.assert_allclose(placed, expected.transform(X[:9]), rtol=rounding)


def test_given_neighbours_spare_the_search_and_change_no_bit():
    X, y = blobs()
    new = X[:30] + 0.2
    plain = CCDR(3, n_neighbors=4).fit(X, y)
    shared = CCDR(3, n_neighbors=4).fit(X, y, neighbors=kneighbors(X, 11))
    np.testing.assert_array_equal(shared.embedding_, plain.embedding_)
    wide = kneighbors(X, 9, queries=new)
    np.testing.assert_array_equal(shared.transform(new, neighbors=wide), plain.transform(new))
    labels = y[:30]
    np.testing.assert_array_equal(
        shared.extend(new, labels, neighbors=wide), plain.extend(new, labels)
    )


def test_duplicated_points_are_embedded_like_any_others():
    X, y = blobs(60)
    model = CCDR(2, n_neighbors=3, weights="heat").fit(np.repeat(X, 5, axis=0), np.repeat(y, 5))
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X)).all()


def test_identical_points_have_no_distances_and_still_an_embedding():
    model = CCDR(1, n_neighbors=3, weights="heat").fit(np.ones((20, 2)), np.arange(20) % 2)
    assert np.isfinite(model.embedding_).all()


def test_beta_zero_puts_every_labelled_point_on_its_class_centre():
    X, y = blobs()
    y = hide(y)
    with pytest.warns(UserWarning, match="unlabelled samples"):
        model = CCDR(2, beta=0.0).fit(X, y)
    labelled = y != -1
    np.testing.assert_allclose(model.embedding_[labelled], model.class_centers_[y[labelled]])
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X[:5])).all()


def test_points_far_from_all_heat_are_placed_like_their_nearest_neighbour():
    X, y = blobs()
    model = CCDR(2, weights="heat").fit(X, y)
    far = 1e4 * np.ones((1, 5))
    nearest = kneighbors(X, 1, queries=far).indices[0, 0]
    expected = model.embedding_[nearest] / (1 - model.eigenvalues_)
    np.testing.assert_allclose(model.transform(far)[0], expected)
    np.testing.assert_allclose(
        model.extend(far, [2])[0], model.class_centers_[2] / (1 - model.eigenvalues_)
    )


@pytest.mark.parametrize(
    ("model", "n", "message"),
    [
        (CCDR(n_neighbors=12), 12, "at most 11"),
        (CCDR(n_components=14), 12, "at most 3 to embed"),
        (CCDR(n_components=3, beta=0.0), 12, "at most 2 to embed"),
        (CCDR(n_components=13), 12, "to embed new samples"),
    ],
)
def test_too_few_points_are_one_clear_error(model, n, message):
    X, y = blobs(n)
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_a_class_label_is_needed():
    X, _ = blobs()
    with pytest.raises(ValueError, match="All labels are -1"):
        CCDR().fit(X, np.full(len(X), -1))


def test_labels_and_neighbours_of_new_points_are_checked():
    X, y = blobs()
    model = CCDR().fit(X, y)
    with pytest.raises(ValueError, match=r"\[7\] are not among .*\[0, 1, 2\]"):
        model.extend(X[:2], [0, 7])
    with pytest.raises(ValueError, match="180 samples, but X has 2"):
        model.transform(X[:2], neighbors=kneighbors(X, 5))
    with pytest.raises(ValueError, match="179 samples, but X has 180"):
        CCDR().fit(X, y, neighbors=kneighbors(X[:-1], 5))
