"""NMMP, LFDA, LPP, MFA and the kernel forms keep the contracts of scikit-learn and the engine."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics.pairwise import rbf_kernel

from ddr_cli.reducers import LFDA, LPP, MFA, NMMP, KernelLFDA, KernelMFA, discriminant

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]

LINEAR = [NMMP(), LFDA(), LFDA(reg=0.01), LPP(), LPP(weights="local_scaling"), MFA()]
KERNEL = [KernelLFDA(), KernelMFA()]
SUPERVISED = [NMMP(), LFDA(), MFA(), *KERNEL]
ALL = [*LINEAR, *KERNEL]


@pytest.fixture(scope="module")
def noisy():
    """Iris with noise that removes equal samples and distances, so that ties do not matter."""
    return X + np.random.default_rng(0).normal(0, 0.01, X.shape)


@pytest.mark.parametrize("estimator", LINEAR, ids=repr)
def test_linear_methods_project_centred_data(estimator):
    fitted = clone(estimator).fit(X, Y)
    assert fitted.components_.shape == (2, 4)
    assert_allclose(fitted.transform(X), (X - fitted.mean_) @ fitted.components_.T, atol=1e-12)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_sparse_data_give_the_same_embedding(estimator):
    # Multiples of 1/8 make dense and sparse products exact, so that the same neighbours tie.
    data = np.where(X < 1.5, 0.0, np.round(8 * X) / 8)
    dense = clone(estimator).fit(data, Y).transform(data)
    sparse = clone(estimator).fit(sp.csr_array(data), Y).transform(sp.csr_array(data))
    assert isinstance(sparse, np.ndarray)
    assert_allclose(sparse, dense, atol=1e-6 * np.abs(dense).max())


@pytest.mark.parametrize("estimator", LINEAR, ids=repr)
def test_a_constant_feature_and_a_copied_one_change_nothing(estimator, noisy):
    wider = np.column_stack([noisy, np.zeros(len(noisy)), noisy[:, 0]])
    # The copy stretches the first axis, as does a factor of sqrt(2).
    same = noisy * [np.sqrt(2), 1, 1, 1]
    expected = clone(estimator).fit(same, Y).transform(same)
    found = clone(estimator).fit(wider, Y).transform(wider)
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("estimator", SUPERVISED, ids=repr)
def test_one_class_is_an_error(estimator):
    with pytest.raises(ValueError, match="needs two classes"):
        clone(estimator).fit(X, np.zeros(150))


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_constant_features_are_an_error(estimator):
    constant = np.zeros((150, 3))
    with pytest.raises(ValueError, match=r"constant|the same point"):
        clone(estimator).fit(constant, Y)


@pytest.mark.parametrize("estimator", LINEAR, ids=repr)
def test_more_components_than_dimensions_are_an_error(estimator):
    with pytest.raises(ValueError, match=r"n_components=5, .* 4 dimensions"):
        clone(estimator).set_params(n_components=5).fit(X, Y)


@pytest.mark.parametrize(
    ("estimator", "most", "message"),
    [
        (NMMP(n_neighbors_within=12), {"n_neighbors_within": 9}, "only 9 .* smallest class"),
        (NMMP(n_neighbors_between=12), {"n_neighbors_between": 10}, "only 10 .* outside the"),
        (LFDA(n_neighbors=12), {"n_neighbors": 9}, "only 9 .* smallest class"),
        (KernelLFDA(n_neighbors=12), {"n_neighbors": 9}, "only 9 .* smallest class"),
        (MFA(n_neighbors_within=12), {"n_neighbors_within": 9}, "only 9 .* smallest class"),
        (MFA(n_neighbors_between=101), {"n_neighbors_between": 100}, "only 100 pairs"),
    ],
    ids=repr,
)
def test_where_there_are_fewer_neighbours_all_are_taken_with_a_warning(estimator, most, message):
    few = np.r_[0:10, 50:60]
    (parameter,) = most
    given = f"{parameter}={getattr(estimator, parameter)}"
    with pytest.warns(UserWarning, match=f"{given}, but .*{message}"):
        found = clone(estimator).fit_transform(X[few], Y[few])
    expected = clone(estimator).set_params(**most).fit_transform(X[few], Y[few])
    np.testing.assert_array_equal(found, expected)


def test_a_class_of_one_point_has_no_neighbours_of_its_own():
    y = np.append(Y[:-1], 9)
    with pytest.warns(UserWarning, match=r"n_neighbors=7, .* only 0 .* smallest class"):
        assert LFDA().fit_transform(X, y).shape == (len(X), 2)


def test_fewer_points_than_neighbours_are_an_error():
    few = np.r_[0:10, 50:60]
    with pytest.raises(ValueError, match=r"n_neighbors=20 .*n_samples = 20"):
        LPP(n_neighbors=20).fit(X[few])


@pytest.mark.parametrize("estimator", [LFDA(), MFA()], ids=repr)
def test_a_singular_within_class_scatter_is_said_and_a_ridge_keeps_all(estimator):
    # 30 samples span 29 dimensions, so three classes have a singular within-class scatter.
    rng = np.random.default_rng(3)
    wide, labels = rng.standard_normal((30, 50)), np.repeat([0, 1, 2], 10)
    with pytest.warns(UserWarning, match="scatter is singular: .* of 29"):
        embedding = clone(estimator).fit_transform(wide, labels)
    assert np.isfinite(embedding).all()
    clone(estimator).set_params(reg=1e-3, n_components=29).fit(wide, labels)


@pytest.mark.parametrize("estimator", [LFDA(), LFDA(reg=0.1), MFA(), *KERNEL], ids=repr)
def test_classes_of_equal_points_have_no_ratio(estimator):
    with pytest.raises(ValueError, match="all samples are identical"):
        clone(estimator).fit(np.repeat(X[::30], 30, axis=0), np.repeat(np.arange(5), 30))


def test_nmmp_parts_classes_of_equal_points():
    centres, labels = np.repeat(X[::30], 30, axis=0), np.repeat(np.arange(5), 30)
    fitted = NMMP(2).fit(centres, labels)
    assert fitted.trace_ratio_ == np.inf
    assert len(np.unique(np.round(fitted.transform(centres), 9), axis=0)) == 5


@pytest.mark.parametrize("kernel_form", KERNEL, ids=repr)
def test_a_precomputed_kernel_is_the_kernel(kernel_form, noisy):
    train, test = noisy[::2], noisy[1::2]
    expected = clone(kernel_form).set_params(gamma=0.3).fit(train, Y[::2])
    found = clone(kernel_form).set_params(kernel="precomputed")
    found.fit(rbf_kernel(train, gamma=0.3), Y[::2])
    assert_allclose(
        found.transform(rbf_kernel(test, train, gamma=0.3)), expected.transform(test), atol=1e-9
    )
    with pytest.raises(ValueError, match="must be square"):
        found.fit(rbf_kernel(test, train[:50]), Y[1::2])


@pytest.mark.parametrize("kernel_form", KERNEL, ids=repr)
def test_a_function_is_a_kernel(kernel_form, noisy):
    few = slice(None, None, 5)
    named = clone(kernel_form).set_params(kernel="poly", degree=2, gamma=1.0, coef0=1.0)
    called = clone(kernel_form).set_params(kernel=lambda a, b: (a @ b + 1) ** 2)
    expected = named.fit_transform(noisy[few], Y[few])
    found = called.fit_transform(noisy[few], Y[few])
    assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


def test_an_indefinite_kernel_is_said():
    with pytest.warns(UserWarning, match="negative eigenvalues"):
        KernelLFDA(kernel="sigmoid", gamma=0.03, coef0=-1.0).fit(X, Y)


def test_a_kernel_that_tells_no_points_apart_is_an_error():
    with pytest.raises(ValueError, match=r"kernel 'sigmoid' .* same point"):
        KernelLFDA(kernel="sigmoid", gamma=100.0).fit(X, Y)


@pytest.mark.parametrize("kernel_form", KERNEL, ids=repr)
def test_landmarks_that_span_the_points_give_the_exact_solution(kernel_form, noisy):
    for parameters in ({"kernel": "linear"}, {"kernel": "poly", "degree": 2, "gamma": 0.01}):
        exact = clone(kernel_form).set_params(**parameters).fit(noisy, Y)
        some = clone(exact).set_params(n_landmarks=60, random_state=3).fit(noisy, Y)
        assert some.dual_components_.shape == (2, 60)
        assert_allclose(some.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
        expected, found = exact.transform(noisy), some.transform(noisy)
        # With landmarks, the origin is the mean of the landmarks.
        expected, found = expected - expected.mean(axis=0), found - found.mean(axis=0)
        assert_allclose(
            found,
            expected * np.sign(np.sum(found * expected, axis=0)),
            atol=1e-5 * np.abs(expected).max(),
        )


@pytest.mark.parametrize("kernel_form", KERNEL, ids=repr)
def test_landmarks_of_a_precomputed_kernel_are_its_columns(kernel_form, noisy):
    model = clone(kernel_form).set_params(gamma=0.1, n_landmarks=40, random_state=0)
    placed = model.fit(noisy, Y).transform(noisy)
    K = rbf_kernel(noisy, gamma=0.1)
    again = clone(model).set_params(kernel="precomputed").fit(K, Y).transform(K)
    assert_allclose(again, placed, atol=1e-8 * np.abs(placed).max())
    with pytest.raises(ValueError, match=r"n_components=40, .* 39"):
        clone(model).set_params(n_components=40).fit(noisy, Y)


@pytest.mark.parametrize("kernel_form", KERNEL, ids=repr)
def test_independent_images_give_the_same_by_a_factor_as_by_eigenvectors(
    kernel_form, noisy, monkeypatch
):
    model = clone(kernel_form).set_params(gamma=3.0)
    factor = model.fit(noisy, Y).transform(noisy)
    kernel_pca = discriminant._independent_images

    def unused(*given):
        assert kernel_pca(*given) is not None  # otherwise both fits would use the same computation

    monkeypatch.setattr(discriminant, "_independent_images", unused)
    assert_allclose(model.fit(noisy, Y).transform(noisy), factor, atol=1e-8)
