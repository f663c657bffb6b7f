"""The unsupervised embeddings, compared with each other and with scikit-learn's.

Each method's own test file tests its definition. This file tests cases in which two methods are
equal in theory but have different code.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import cdist
from sklearn import manifold
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.manifold import LocallyLinearEmbedding, SpectralEmbedding
from sklearn.metrics.pairwise import rbf_kernel

from ddr_cli.data.synthetic import swiss_roll
from ddr_cli.reducers import LLE, MDS, PCA, Isomap, KernelPCA, LaplacianEigenmaps, SupervisedLLE

IRIS = load_iris().data + np.random.default_rng(0).normal(0, 1e-3, (150, 4))
ROLL = np.asarray(swiss_roll(n_samples=360, random_state=0).X)
TRAIN, NEW = ROLL[:300], ROLL[300:]
WORKING = [
    LaplacianEigenmaps(n_neighbors=8),
    LaplacianEigenmaps(n_neighbors=8, weights="binary"),
    MDS(),
    Isomap(n_neighbors=8),
    LLE(n_neighbors=10),
    KernelPCA(kernel="rbf", gamma=0.01),
]


def turned(A, B):
    """Return `A` with the signs of its columns as in `B`."""
    return A * np.sign(np.sum(A * B, axis=0))


def assert_same(ours, theirs):
    """Assert that two models have the same embedding up to signs, and the same extension."""
    scale = np.abs(theirs.fit_transform(TRAIN)).max()
    signs = np.sign(np.sum(ours.fit_transform(TRAIN) * theirs.fit_transform(TRAIN), axis=0))
    for X in (TRAIN, NEW):
        assert_allclose(ours.transform(X) * signs, theirs.transform(X), atol=1e-8 * scale)


@pytest.mark.parametrize("model", WORKING, ids=repr)
def test_points_are_placed_one_by_one(model):
    fitted = clone(model).fit(TRAIN)
    together = fitted.transform(NEW[:6])
    alone = np.vstack([fitted.transform(x[None]) for x in NEW[:6]])
    assert_allclose(alone, together, atol=1e-9 * np.abs(together).max())


def test_euclidean_scaling_and_the_linear_kernel_are_principal_component_analysis():
    assert_same(MDS(3), PCA(3))
    assert_same(KernelPCA(3), PCA(3))


def test_with_all_points_as_neighbours_isomap_is_classical_scaling():
    """If all samples are neighbours, the geodesic distances are Euclidean."""
    ours, theirs = Isomap(3, n_neighbors=299).fit(TRAIN), MDS(3).fit(TRAIN)
    expected = turned(theirs.embedding_, ours.embedding_)
    assert_allclose(ours.embedding_, expected, atol=1e-8 * np.abs(expected).max())
    # A new sample has 299 of 300 as neighbours and reaches the farthest through another one.
    placed = turned(theirs.transform(NEW), ours.transform(NEW))
    assert_allclose(ours.transform(NEW), placed, atol=2e-3 * np.abs(placed).max())


def test_scaling_by_a_kernels_distances_is_its_kernel_pca():
    """The distances in feature space are |k_i - k_j|^2 = k_ii + k_jj - 2 k_ij."""

    def distances(A):
        return np.sqrt(np.maximum(2 - 2 * rbf_kernel(A, TRAIN, gamma=0.01), 0))

    given = distances(TRAIN)
    np.fill_diagonal(given, 0)
    scaled = MDS(3, metric="precomputed").fit(given)
    kernel = KernelPCA(3, kernel="rbf", gamma=0.01).fit(TRAIN)
    signs = np.sign(np.sum(scaled.embedding_ * kernel.embedding_, axis=0))
    assert_allclose(scaled.embedding_ * signs, kernel.embedding_, atol=1e-7)
    assert_allclose(scaled.transform(distances(NEW)) * signs, kernel.transform(NEW), atol=1e-7)


def test_lle_and_its_extension_are_scikit_learns():
    ours = LLE(3, n_neighbors=8, reg=1e-2).fit(TRAIN)
    theirs = LocallyLinearEmbedding(
        n_neighbors=8, n_components=3, reg=1e-2, eigen_solver="dense"
    ).fit(TRAIN)
    signs = np.sign(np.sum(ours.embedding_ * theirs.embedding_, axis=0))
    assert_allclose(ours.embedding_, theirs.embedding_ * signs, atol=1e-7)
    assert_allclose(ours.transform(NEW), theirs.transform(NEW) * signs, atol=1e-7)


def test_without_supervision_supervised_lle_is_lle():
    ours = LLE(2, n_neighbors=10).fit(TRAIN)
    theirs = SupervisedLLE(2, n_neighbors=10, alpha=0.0, reg=ours.reg)
    placed = theirs.fit_transform(TRAIN, np.arange(300) % 2)
    units = placed / np.linalg.norm(placed, axis=0)
    assert_allclose(turned(ours.embedding_, units), units, atol=1e-6)


@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_on_its_affinity_scikit_learns_spectral_embedding_agrees(weights):
    ours = LaplacianEigenmaps(3, n_neighbors=8, weights=weights).fit(TRAIN)
    theirs = SpectralEmbedding(3, affinity="precomputed", eigen_solver="arpack", random_state=0)
    # scikit-learn solves the same generalised eigenproblem, but scales the vectors differently.
    embedding = theirs.fit_transform(ours.affinity_.toarray())
    embedding /= np.linalg.norm(embedding, axis=0)
    units = ours.embedding_ / np.linalg.norm(ours.embedding_, axis=0)
    assert_allclose(turned(embedding, units), units, atol=1e-6)


def test_scaling_refuses_distances_that_are_none():
    zero = IRIS[:30].copy()
    zero[7] = 0
    with pytest.raises(ValueError, match="row 7 is zero"):
        MDS(metric="cosine").fit(zero)
    fitted = MDS(metric="cosine").fit(IRIS)
    with pytest.raises(ValueError, match="row 7 is zero"):
        fitted.transform(zero)
    distances = cdist(IRIS, IRIS)
    fitted = MDS(metric="precomputed").fit(distances)
    with pytest.raises(ValueError, match="negative"):
        fitted.transform(-distances)
    with pytest.raises(ValueError, match="negative"):
        MDS(metric="precomputed").fit(-distances)


def test_isomap_unrolls_what_scaling_leaves_rolled_up():
    """The distances along the sheet are those in the plane from which it was rolled."""
    roll = swiss_roll(n_samples=900, random_state=1).X
    angle = np.hypot(roll[:, 0], roll[:, 2])
    along = (angle * np.sqrt(1 + angle**2) + np.arcsinh(angle)) / 2

    def fidelity(model):
        placed = model.fit_transform(roll)
        flat = np.column_stack([along, roll[:, 1]])
        return np.corrcoef(cdist(flat, flat).ravel(), cdist(placed, placed).ravel())[0, 1]

    assert fidelity(Isomap(2, n_neighbors=8)) > 0.99
    assert fidelity(MDS(2)) < 0.7


def test_isomap_by_landmarks_is_isomap_where_the_geodesics_are_straight():
    """The distances to landmarks that span the samples determine the whole embedding."""
    some = Isomap(3, n_neighbors=299, n_landmarks=40, random_state=0).fit(TRAIN)
    assert some.landmarks_.shape == (40,)
    assert_allclose(cdist(some.embedding_, some.embedding_), cdist(TRAIN, TRAIN), atol=1e-8)
    assert_allclose(some.transform(TRAIN[:50]), some.embedding_[:50], atol=1e-6)
    assert_allclose(some.embedding_[some.landmarks_].mean(axis=0), 0, atol=1e-8)
    # On the roll, geodesics are curved, so the landmarks' plane only approximates that of all
    # samples.
    whole = Isomap(2, n_neighbors=8).fit(TRAIN)
    some = Isomap(2, n_neighbors=8, n_landmarks=100, random_state=0).fit(TRAIN)
    gaps = cdist(whole.embedding_, whole.embedding_), cdist(some.embedding_, some.embedding_)
    assert np.corrcoef(gaps[0].ravel(), gaps[1].ravel())[0, 1] > 0.99


def test_isomap_agrees_with_scikit_learn():
    ours, theirs = (
        Isomap(3, n_neighbors=8).fit(TRAIN),
        manifold.Isomap(n_components=3, n_neighbors=8),
    )
    expected = theirs.fit_transform(TRAIN)
    scale = np.abs(expected).max()
    signs = np.sign(np.sum(ours.embedding_ * expected, axis=0))
    assert_allclose(ours.embedding_ * signs, expected, atol=1e-6 * scale)
    assert_allclose(ours.transform(NEW) * signs, theirs.transform(NEW), atol=1e-6 * scale)


def test_isomap_keeps_duplicates_on_one_another():
    model = Isomap(2, n_neighbors=8).fit(np.vstack([TRAIN, TRAIN[:20]]))
    assert_allclose(model.embedding_[300:], model.embedding_[:20], atol=1e-8)
