"""PCA, LDA and no reduction."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from sklearn import decomposition
from sklearn.datasets import load_digits, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from ddr_cli.reducers import LDA, PCA, Identity

IRIS, IRIS_Y = load_iris(return_X_y=True)
DIGITS, DIGITS_Y = load_digits(return_X_y=True)


@pytest.mark.parametrize(("X", "y", "m"), [(IRIS, IRIS_Y, 2), (DIGITS[:, 2:8], DIGITS_Y, 5)])
def test_lda_has_scikit_learns_directions_and_lengths(X, y, m):
    ours = LDA(m).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen", n_components=m).fit(X, y)
    expected = np.abs(theirs.scalings_[:, :m].T)
    np.testing.assert_allclose(np.abs(ours.components_), expected, atol=1e-6 * expected.max())


def test_lda_solves_its_eigenproblem():
    model = LDA(2).fit(IRIS, IRIS_Y)
    A = model.components_
    within = np.zeros((4, 4))
    for c in range(3):
        members = IRIS[c == IRIS_Y]
        within += (members - members.mean(axis=0)).T @ (members - members.mean(axis=0))
    total = (IRIS - IRIS.mean(axis=0)).T @ (IRIS - IRIS.mean(axis=0))
    np.testing.assert_allclose(A @ within @ A.T, 150 * np.eye(2), atol=1e-8)
    np.testing.assert_allclose(
        (total - within) @ A.T, within @ A.T * model.eigenvalues_, rtol=1e-8, atol=1e-8
    )


def test_lda_with_fewer_points_than_features_reduces_by_pca_first():
    rng = np.random.default_rng(0)
    y = np.arange(40) % 4
    X = rng.standard_normal((4, 300))[y] + 0.5 * rng.standard_normal((40, 300))
    model = LDA(3, max_condition=1e10).fit(X, y)
    # 40 samples in 4 classes have a within-class scatter of rank 36.
    assert model.n_dimensions_ == 36
    principal = decomposition.PCA(36).fit(X)
    reduced = LDA(3).fit(principal.transform(X), y)
    expected = reduced.components_ @ principal.components_
    assert scipy.linalg.subspace_angles(model.components_.T, expected.T).max() < 1e-6


def test_lda_ignores_constant_and_repeated_features():
    X = np.column_stack([IRIS, np.ones(150), IRIS[:, 0]])
    ours = LDA(2).fit(X, IRIS_Y)
    plain = LDA(2).fit(IRIS, IRIS_Y)
    np.testing.assert_allclose(ours.eigenvalues_, plain.eigenvalues_, rtol=1e-9)
    np.testing.assert_allclose(np.abs(ours.transform(X)), np.abs(plain.transform(IRIS)), atol=1e-8)


def test_lda_finds_all_dimensions_of_a_singular_scatter_by_default():
    # Five samples in four classes have a within-class scatter of rank 1.
    X, y = np.random.default_rng(0).normal(size=(5, 3)), [0, 0, 1, 2, 3]
    model = LDA().fit(X, y)
    assert len(model.components_) == model.n_dimensions_ == 1
    with pytest.raises(ValueError, match=r"n_components=2, but .* nonsingular on only 1 principal"):
        LDA(2).fit(X, y)


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (LDA(1), IRIS, np.zeros(150), "y has only one class"),
        (LDA(1), np.repeat(np.eye(2), 5, axis=0), np.repeat([0, 1], 5), "identical"),
        (LDA(1), IRIS, IRIS[:, 0], "continuous"),
    ],
)
def test_lda_says_why_it_cannot(model, X, y, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X, y)


def test_minus_one_is_a_class_for_lda():
    assert LDA(2).fit(IRIS, IRIS_Y - 1).classes_.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("n_components", [3, 0.95])
def test_pca_is_scikit_learns(n_components):
    ours = PCA(n_components).fit(DIGITS)
    theirs = decomposition.PCA(n_components, svd_solver="full").fit(DIGITS)
    np.testing.assert_allclose(ours.components_, theirs.components_)
    np.testing.assert_allclose(ours.transform(DIGITS), theirs.transform(DIGITS), atol=1e-10)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)


@pytest.mark.parametrize("n_components", [4, 0.9, "full"])
def test_pca_of_sparse_data_is_that_of_dense_data(n_components):
    dense = PCA(n_components).fit(DIGITS)
    sparse = PCA(n_components).fit(sp.csr_array(DIGITS))
    np.testing.assert_allclose(
        np.abs(sparse.transform(sp.csr_array(DIGITS))), np.abs(dense.transform(DIGITS)), atol=1e-6
    )


def test_pca_of_wide_sparse_data_forms_no_covariance_matrix():
    X = sp.random_array((60, 3000), density=0.02, rng=np.random.default_rng(0), format="csr")
    np.testing.assert_allclose(
        np.abs(PCA(5).fit_transform(X)), np.abs(PCA(5).fit_transform(X.toarray())), atol=1e-8
    )


@pytest.mark.parametrize(("X", "rank"), [(DIGITS, 61), (DIGITS[:20], 19), (IRIS, 4)])
def test_full_pca_keeps_the_rank_and_all_distances(X, rank):
    embedding = PCA("full").fit_transform(X)
    assert embedding.shape == (len(X), rank)
    before = np.linalg.norm(X[:9, None] - X[None, :9], axis=2)
    after = np.linalg.norm(embedding[:9, None] - embedding[None, :9], axis=2)
    np.testing.assert_allclose(after, before, atol=1e-10)


def test_pca_of_too_many_dimensions_says_how_many_there_are():
    with pytest.raises(ValueError, match="is above 4, the smaller"):
        PCA(5).fit(IRIS)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_identity_passes_the_data_through(convert):
    X = convert(IRIS)
    assert (Identity().fit_transform(X) != X).sum() == 0


def test_lda_on_fewer_points_than_features_keeps_what_is_well_conditioned():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 80)) * np.geomspace(10, 0.1, 80), np.repeat(np.arange(4), 10)
    X += 3 * rng.normal(size=(4, 80))[y]
    usable, literal = LDA(3).fit(X, y), LDA(3, max_condition=1e10).fit(X, y)
    assert usable.n_dimensions_ < literal.n_dimensions_ == 40 - 4
    axes = PCA("full").fit(X).components_
    means = np.stack([X[y == c].mean(axis=0) for c in range(4)])
    within = (X - means[y]) @ axes.T
    spread = [np.linalg.cond(np.corrcoef(within[:, :r], rowvar=False)) for r in range(2, 37)]
    kept = usable.n_dimensions_ - 2
    assert spread[kept] <= 1e3 < spread[kept + 1]


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_whitened_pca_has_scikit_learns_scores_of_unit_variance(make):
    X = make(np.column_stack([DIGITS[:200, 2:8], DIGITS[:200, 2]]))  # the last component is 0
    found = PCA(7, whiten=True).fit_transform(X)
    expected = decomposition.PCA(6, whiten=True, svd_solver="full").fit_transform(DIGITS[:200, 2:8])
    assert (found[:, 6] == 0).all()
    np.testing.assert_allclose(found[:, :6].std(axis=0, ddof=1), 1)
    first = PCA(6, whiten=True).fit_transform(DIGITS[:200, 2:8])
    np.testing.assert_allclose(np.abs(first), np.abs(expected), atol=1e-8)
