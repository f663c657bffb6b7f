"""Preprocessing steps: what each computes on the training set, and what it refuses."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import parametrize_with_checks

from ddr_cli.core.parameters import parameter_model
from ddr_cli.evaluation.evaluators import PREPROCESSORS
from ddr_cli.evaluation.preprocess import fit_step


def make_step(name, **parameters):
    return PREPROCESSORS.load(name)(**parameters)


@parametrize_with_checks(
    [
        make_step("pca"),
        make_step("pca", n_components=0.9, whiten=True),
        make_step("svd", n_components=1),
        make_step("standardize"),
        make_step("rescale"),
        make_step("rescale", by="all"),
        make_step("unit_length"),
        make_step("tfidf"),
        make_step("impute"),
        make_step("one_hot"),
        make_step("variance_threshold"),
        make_step("log1p"),
    ]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.fixture
def parts():
    generator = np.random.default_rng(0)
    X = generator.standard_normal((60, 5)) * [1, 2, 3, 4, 5] + 7
    return X[:40], X[40:]


@pytest.fixture
def counts():
    return sp.csr_array(np.random.default_rng(1).poisson(0.7, size=(30, 12)).astype(float))


@pytest.mark.parametrize("name", PREPROCESSORS.names())
def test_is_fitted_on_the_training_part_alone(name, parts):
    train, test = (np.abs(part) for part in parts)
    step = make_step(name, **({"n_components": 2} if name == "svd" else {})).fit(train)
    together = step.transform(np.vstack([test, 100 * test]))
    first = step.transform(test)
    together, first = (part.toarray() if sp.issparse(part) else part for part in (together, first))
    np.testing.assert_allclose(together[: len(test)], first)
    assert clone(step).get_params() == step.get_params()


@pytest.mark.parametrize("name", PREPROCESSORS.names())
def test_every_step_states_its_version_and_its_parameters(name):
    factory = PREPROCESSORS.load(name)
    assert isinstance(factory.version, int)
    assert factory.version >= 1
    parameter_model(factory)()


NAN = np.nan
MIXED = np.array([[1, 0, 2], [NAN, 1, 3], [3, 1, NAN], [8, NAN, 3]])


@pytest.mark.parametrize(
    ("strategy", "first", "last"), [("mean", 4, 8 / 3), ("median", 3, 3), ("most_frequent", 1, 3)]
)
def test_impute_fills_codes_with_the_most_frequent_one(strategy, first, last):
    step = make_step("impute", strategy=strategy)
    filled = step.fit_transform(MIXED, categorical=(1,))
    np.testing.assert_allclose(filled, [[1, 0, 2], [first, 1, 3], [3, 1, last], [8, 1, 3]])
    np.testing.assert_allclose(step.transform([[NAN, NAN, 0]]), [[first, 1, 0]])


def test_one_hot_knows_the_values_of_the_training_part_alone():
    step = make_step("one_hot")
    after = step.fit_transform(MIXED[:, :2], categorical=(1,))
    np.testing.assert_array_equal(after, [[1, 0, 0, 1], [0, 1, 0, NAN], [0, 1, 0, 3], [0, 0, 1, 8]])
    np.testing.assert_array_equal(step.transform([[5.0, 7.0]]), [[0, 0, 0, 5]])


def test_steps_after_one_hot_are_told_of_no_codes():
    impute, one_hot = make_step("impute"), make_step("one_hot")
    after, categorical = fit_step(impute, MIXED, None, (1,))
    assert categorical == (1,)
    after, categorical = fit_step(one_hot, after, None, categorical)
    assert (after.shape, tuple(categorical)) == ((4, 4), ())


def test_low_variance_and_log1p(counts):
    dropped = make_step("variance_threshold", threshold=1).fit([[0, 0, 5], [0, 1, 9]])
    assert dropped.transform([[1, 2, 3]]).tolist() == [[3]]
    np.testing.assert_allclose(
        make_step("log1p").fit_transform(counts).toarray(), np.log1p(counts.toarray())
    )
    with pytest.raises(ValueError, match="Negative values"):
        make_step("log1p").fit([[1.0]]).transform([[-2.0]])


def test_full_pca_keeps_all_but_the_null_space(parts):
    train, _ = parts
    wide = train @ np.random.default_rng(2).standard_normal((5, 30)) + 1
    assert make_step("pca").fit_transform(wide).shape == (40, 5)
    # 12 points in general position span 11 directions about their mean
    few = np.random.default_rng(3).standard_normal((12, 30))
    projected = make_step("pca").fit_transform(few)
    assert projected.shape == (12, 11)
    gaps = np.linalg.norm(few[:, None] - few, axis=2)
    np.testing.assert_allclose(np.linalg.norm(projected[:, None] - projected, axis=2), gaps)


def test_full_whitened_pca_has_unit_variances(parts):
    wide = np.column_stack([parts[0], parts[0].sum(axis=1)])
    projected = make_step("pca", whiten=True).fit_transform(wide)
    np.testing.assert_allclose(np.cov(projected.T), np.eye(5), atol=1e-9)


def test_pca_fraction_is_the_smallest_number_that_explains_it(parts):
    ratios = np.cumsum(PCA().fit(parts[0]).explained_variance_ratio_)
    step = make_step("pca", n_components=0.8).fit(parts[0])
    assert step.transform(parts[0]).shape[1] == np.searchsorted(ratios, 0.8) + 1


def test_sparse_pca_equals_dense(counts):
    dense = make_step("pca", n_components=3).fit(counts.toarray())
    sparse = make_step("pca", n_components=3).fit(counts)
    np.testing.assert_allclose(
        sparse.transform(counts), dense.transform(counts.toarray()), atol=1e-10
    )


def test_sparse_pca_does_not_eat_the_memory():
    huge = sp.csr_array((20_000, 100_000))
    with pytest.raises(ValueError, match="use 'svd'"):
        make_step("pca", n_components=2).fit(huge)


def test_svd_is_the_uncentred_projection_and_repeats_exactly(counts):
    projected = make_step("svd", n_components=3).fit_transform(counts)
    values = np.linalg.svd(counts.toarray(), compute_uv=False)
    np.testing.assert_allclose(np.linalg.norm(projected, axis=0), values[:3])
    again = make_step("svd", n_components=3).fit_transform(counts)
    np.testing.assert_array_equal(again, projected)


def test_standardize(parts):
    train, test = parts
    train = np.column_stack([train, np.full(40, 3.0)])
    test = np.column_stack([test, np.full(20, 4.0)])
    step = make_step("standardize").fit(train)
    scaled = step.transform(train)
    np.testing.assert_allclose(scaled.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scaled.std(axis=0), [1, 1, 1, 1, 1, 0], atol=1e-12)
    np.testing.assert_allclose(step.transform(test)[:, -1], 1)


def test_standardize_keeps_sparse_data_sparse(counts):
    scaled = make_step("standardize").fit_transform(counts)
    assert sp.issparse(scaled)
    assert scaled.nnz == counts.nnz
    np.testing.assert_allclose(scaled.toarray().std(axis=0), 1)


def test_rescale_uses_the_training_range():
    train, test = np.array([[0.0, 5.0, 2.0], [10.0, 5.0, 4.0]]), np.array([[20.0, 6.0, 3.0]])
    by_feature = make_step("rescale").fit(train)
    np.testing.assert_allclose(by_feature.transform(train), [[0, 0, 0], [1, 0, 1]])
    np.testing.assert_allclose(by_feature.transform(test), [[2, 1, 0.5]])
    at_once = make_step("rescale", by="all").fit(train)
    np.testing.assert_allclose(at_once.transform(test), [[2, 0.6, 0.3]])
    small = make_step("rescale").fit(train / 100)
    np.testing.assert_allclose(small.transform(test / 100), [[2, 0.01, 0.5]])


def test_singular_vectors_are_those_of_the_decomposition():
    # The spectrum is flat; a random projection would be wrong in the second digit.
    points = np.random.default_rng(0).standard_normal((120, 80))
    found = make_step("svd", n_components=5).fit_transform(points)
    wanted = np.linalg.svd(points, compute_uv=False)[:5]
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), wanted, rtol=1e-10)


@pytest.mark.parametrize("container", [np.asarray, sp.csr_array])
def test_unit_length(container):
    scaled = make_step("unit_length").fit_transform(container([[3.0, 4.0], [0.0, 0.0]]))
    scaled = scaled.toarray() if sp.issparse(scaled) else scaled
    np.testing.assert_allclose(scaled, [[0.6, 0.8], [0, 0]])


@pytest.mark.parametrize("norm", ["none", "l2"])
def test_tfidf_formula(counts, norm):
    train, test = counts[:20], counts[20:].toarray()
    documents = np.count_nonzero(train.toarray(), axis=0)
    expected = test * (np.log((1 + 20) / (1 + documents)) + 1)
    if norm == "l2":
        expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    found = make_step("tfidf", norm=norm).fit(train).transform(sp.csr_array(test))
    np.testing.assert_allclose(found.toarray(), expected)


def test_tfidf_of_a_word_that_no_training_document_holds_is_finite():
    step = make_step("tfidf").fit(sp.csr_array(np.array([[1.0, 0.0], [2.0, 0.0]])))
    weights = step.transform(sp.csr_array(np.array([[0.0, 1.0]]))).toarray()
    np.testing.assert_allclose(weights, [[0, np.log(3) + 1]])


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("pca", {"n_components": 1.5}, "n_components=1.5"),
        ("pca", {"n_components": 0}, "n_components=0"),
        ("pca", {"n_components": 6}, "n_components=6 .*n_samples=40"),
        ("svd", {"n_components": 5}, "n_components=5 must be below"),
        ("tfidf", {}, "Negative values .* in Tfidf"),
    ],
)
def test_impossible_parameters_are_refused(parts, name, parameters, message):
    with pytest.raises(ValueError, match=message):
        make_step(name, **parameters).fit(parts[0] - 7)
