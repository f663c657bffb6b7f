"""Units of features and ties must not change results."""

import warnings

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.numerics.scatter import data_span
from ddr_cli.reducers import (
    LDA,
    LFDA,
    LMNN,
    LPP,
    MCML,
    MDS,
    NMMP,
    REDUCERS,
    ForestEmbedding,
    KernelPCA,
    LaplacianRLS,
)
from ddr_cli.reducers.discriminant import discriminant_directions
from ddr_cli.reducers.lfda import local_scatter

CANCER, CANCER_Y = load_breast_cancer(return_X_y=True)
STANDARD = (CANCER - CANCER.mean(axis=0)) / CANCER.std(axis=0)
RATIOS = [1e2, 1e4, 1e8]


def units(ratio):
    """Return alternating factors of the features, with the given ratio."""
    return np.where(np.arange(30) % 2, np.sqrt(ratio), 1 / np.sqrt(ratio))


@pytest.mark.parametrize("ratio", RATIOS)
def test_lda_has_the_same_ratio_and_scores_in_any_units(ratio):
    plain = LDA(1).fit(STANDARD, CANCER_Y)
    scaled = LDA(1).fit(STANDARD * units(ratio), CANCER_Y)
    assert scaled.n_dimensions_ == plain.n_dimensions_ == 30
    assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, rtol=1e-6)
    found, expected = scaled.transform(STANDARD * units(ratio)), plain.transform(STANDARD)
    assert_allclose(np.abs(found), np.abs(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("ratio", RATIOS)
def test_lfda_with_the_same_affinities_has_the_same_ratios_in_any_units(ratio):
    S_w, S_b = local_scatter(STANDARD, CANCER_Y, 7)
    expected, _ = discriminant_directions(S_b, S_w, 5, 0.0)
    scale = np.outer(units(ratio), units(ratio))
    found, _ = discriminant_directions(S_b * scale, S_w * scale, 5, 0.0)
    assert_allclose(found, expected, rtol=1e-6)
    # LFDA reaches the maximum for the affinities of the scaled data, computed in the original
    # units.
    X = STANDARD * units(ratio)
    S_w, S_b = local_scatter(X, CANCER_Y, 7)
    best, _ = discriminant_directions(S_b / scale, S_w / scale, 2, 0.0)
    assert_allclose(LFDA(2).fit(X, CANCER_Y).eigenvalues_, best, rtol=1e-5)


@pytest.mark.parametrize("ratio", RATIOS)
def test_lpp_with_the_same_graph_has_the_same_eigenvalues_in_any_units(ratio):
    neighbors = kneighbors(STANDARD, 5)
    plain = LPP(5, n_neighbors=5, weights="binary").fit(STANDARD, neighbors=neighbors)
    X = STANDARD * units(ratio)
    scaled = LPP(5, n_neighbors=5, weights="binary").fit(X, neighbors=neighbors)
    assert_allclose(scaled.eigenvalues_, plain.eigenvalues_, rtol=1e-6)


@pytest.mark.parametrize("ratio", RATIOS)
def test_mcml_has_the_same_objective_and_distances_in_any_units(ratio):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scale = units(ratio)[: X.shape[1]]
    plain, scaled = MCML("full").fit(X, y), MCML("full").fit(X * scale, y)
    assert_allclose(scaled.objective_, plain.objective_, rtol=1e-6)
    assert scaled.duality_gap_ <= 1e-4 * scaled.objective_
    distances = [
        np.linalg.norm(z - z[0], axis=1) for z in (plain.transform(X), scaled.transform(X * scale))
    ]
    assert_allclose(distances[1], distances[0], rtol=1e-4)


def test_lpp_on_raw_measurements_has_the_exact_eigenvalues():
    model = LPP(25).fit(CANCER)
    assert_allclose(model.eigenvalues_[:2], [6.5527e-5, 2.27364e-3], rtol=1e-4)
    assert model.components_.shape == (25, 30)


def test_nmmp_on_raw_measurements_attains_the_largest_quotient():
    model = NMMP(1).fit(CANCER, CANCER_Y)
    assert_allclose(model.trace_ratio_, 0.0938102, rtol=1e-5)
    score = cross_val_score(make_pipeline(NMMP(1), KNeighborsClassifier(1)), CANCER, CANCER_Y, cv=5)
    assert score.mean() > 0.75


def test_nmmp_s_directions_that_nothing_separates_are_those_of_sparse_points_too():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 50)), np.repeat([0, 1], 10)
    model = NMMP(8, n_neighbors_within=1, n_neighbors_between=1)
    spans = []
    for points in (X, sp.csr_array(X)):
        with pytest.warns(UserWarning, match="eigenvalues 8 and 9 are equal"):
            spans.append(model.fit(points, y).components_.T)
        assert model.trace_ratio_ == np.inf
    assert scipy.linalg.subspace_angles(*spans).max() < 1e-5


@pytest.mark.parametrize("factor", [1e6, 1e7])
def test_a_ridge_leaves_no_direction_out(factor):
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    X[:, 0] *= factor
    model = LaplacianRLS("auto", alpha=1 / X.var(axis=0).sum()).fit(X, y)
    assert model.score(X, y) > 0.97


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
@pytest.mark.parametrize("factor", [2.0**-100, 2.0**100])
def test_a_ridge_is_in_units_of_the_data(make, alpha, factor):
    # Three pixels of the digits are always 0, so these null directions have no scale.
    X, y = load_digits(return_X_y=True)
    X, y = X[::3], y[::3]
    plain = LaplacianRLS(alpha=alpha).fit_transform(make(X), y)
    scaled = LaplacianRLS(alpha=alpha).fit_transform(make(X * factor), y)
    assert_allclose(scaled, plain, atol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_ridge_that_leaves_only_rounding_is_warned_of(kernel):
    X, y = load_wine(return_X_y=True)
    with pytest.warns(UserWarning, match=r"constant .* lower alpha"):
        LaplacianRLS(alpha=1e20, kernel=kernel).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LaplacianRLS(kernel=kernel).fit(X * 1e-12, y)


@pytest.mark.parametrize("factor", [1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("load", [load_iris, load_digits])
def test_a_feature_that_tells_the_classes_separates_them_in_any_unit(load, factor):
    X, y = load(return_X_y=True)
    model = LDA(1).fit(np.column_stack([X, factor * y]), y)
    assert model.eigenvalues_[0] > LDA(1).fit(X, y).eigenvalues_[0]


def test_lmnn_s_and_mcml_s_few_dimensions_are_those_of_largest_variance():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for method in (LMNN, MCML):
        whole = method("full").fit(X, y).transform(X)
        left, size, _ = np.linalg.svd(whole - whole.mean(axis=0), full_matrices=False)
        few = method(2).fit(X, y).transform(X)
        assert_allclose(np.abs(few), np.abs(left[:, :2] * size[:2]), atol=1e-6)
        # With directions="metric", the components stay eigenvectors of M.
        own = method(2, directions="metric").fit(X, y)
        assert_allclose(own.components_[0] @ own.components_[1], 0, atol=1e-8)
        assert_allclose((own.components_**2).sum(axis=1), own.eigenvalues_[:2], rtol=1e-8)


def test_points_that_are_all_as_far_from_each_other_have_all_their_dimensions():
    for m in (1, 3, 42):
        Z = MDS(m, metric="precomputed").fit_transform(1 - np.eye(43))
        assert Z.shape == (43, m)
        assert_allclose(np.linalg.norm(Z, axis=0), np.sqrt(0.5), rtol=1e-9)


def test_a_kernel_that_sees_no_two_points_alike_has_all_its_dimensions():
    Z = KernelPCA(10, kernel="rbf", gamma=1.0).fit_transform(load_digits().data[:500])
    assert Z.shape == (500, 10)
    assert_allclose(Z.T @ Z, np.eye(10), atol=1e-6)


def test_a_span_keeps_features_in_small_units():
    assert data_span(STANDARD * units(1e8)).rank == 30


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", ["lda", "olda", "save", "lsda", "nmmp", "mfa", "nca", "mcml"])
@pytest.mark.parametrize("deviation", [1e-3, 1e-5])
def test_a_small_feature_counts_next_to_a_time_stamp(make, name, deviation):
    rng = np.random.default_rng(0)
    n = 300 if name in ("nca", "mcml") else 2000
    y = rng.integers(0, 3, n)
    informative = deviation * (y + 0.1 * rng.normal(size=n))
    time_stamp = 1.6e9 + 3e7 * rng.random(n)
    X = make(np.column_stack([time_stamp, informative, rng.normal(size=n)]))
    half = n // 2
    embedding = REDUCERS.load(name)(n_components=1).fit(X[:half], y[:half]).transform(X)
    neighbours = KNeighborsClassifier(5).fit(embedding[:half], y[:half])
    assert neighbours.score(embedding[half:], y[half:]) > 0.99


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("sign", [-1, 1])
def test_a_forest_s_trees_see_a_minute_of_unix_time(make, sign):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    time_stamp = sign * (1.7e9 + 20 * (y + rng.random(300)))
    X = np.column_stack([time_stamp, rng.normal(size=(300, 3))])
    model = ForestEmbedding(2, n_estimators=20, random_state=0).fit(make(X[:150]), y[:150])
    embedding = model.transform(make(X))
    neighbours = KNeighborsClassifier(5).fit(embedding[:150], y[:150])
    assert neighbours.score(embedding[150:], y[150:]) > 0.95
    # A new sample may have a zero where no training sample has one.
    X[-1, 0] = 0.0
    assert_allclose(model.transform(make(X[-1:])), model.transform(X[-1:]))


@pytest.mark.parametrize(
    "name",
    ["kernel_pca", "kernel_lfda", "kernel_mfa", "kernel_approximation_lda", "laplacian_rls"],
)
def test_a_kernel_of_distances_keeps_its_digits_far_from_zero(name):
    y = load_iris().target
    X = load_iris().data + np.random.default_rng(0).normal(0, 0.01, (150, 4))  # noise removes ties
    far = X + 2.0**30
    model = REDUCERS.load(name)(kernel="rbf")
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    expected = model.fit(far - 2.0**30, y).transform(far - 2.0**30)
    found = model.fit(far, y).transform(far)
    assert_allclose(pdist(found), pdist(expected), atol=1e-4 * pdist(expected).max())
