"""Local scaling equals its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose
from scipy.stats import ortho_group

from ddr_cli.numerics.kernels import (
    kernel_gamma,
    kernel_matrix,
    local_scales,
    local_scaling_form,
)


def affinity_by_definition(X, k):
    n = len(X)
    squared = np.array([[np.sum((x - z) ** 2) for z in X] for x in X])
    sigma = [np.sqrt(np.sort(np.delete(squared[i], i))[k - 1]) for i in range(n)]
    return np.exp(-squared / np.outer(sigma, sigma)), np.array(sigma)


@pytest.fixture
def points():
    return np.random.default_rng(0).standard_normal((25, 3))


def test_the_scale_is_the_distance_to_the_kth_nearest(points):
    assert_allclose(local_scales(points, 7), affinity_by_definition(points, 7)[1], rtol=1e-12)


@pytest.mark.parametrize(("block", "rows"), [(2**21, 128), (2**21, 7), (60, 7), (1, 1)])
def test_the_forms_are_the_sums_over_pairs(points, block, rows, monkeypatch):
    monkeypatch.setattr("ddr_cli.numerics.kernels._BLOCK", block)
    monkeypatch.setattr("ddr_cli.numerics.kernels._ROWS", rows)
    A, _ = affinity_by_definition(points, 7)
    laplacian, degree = local_scaling_form(points, 7)
    difference = points[:, None] - points[None]
    expected = np.einsum("ij,ijk,ijl->kl", A, difference, difference) / 2
    assert_allclose(laplacian, expected, rtol=1e-10)
    assert_allclose(degree, A.sum(axis=1), rtol=1e-10)


def test_points_with_many_duplicates_take_the_nearest_other_point(points):
    stacked = np.vstack([points, np.repeat(points[:1], 9, axis=0)])
    scales = local_scales(stacked, 7)
    distance = np.linalg.norm(points[1:] - points[0], axis=1).min()
    assert_allclose(scales[[0, *range(25, 34)]], distance, rtol=1e-12)
    laplacian, degree = local_scaling_form(stacked, 7)
    assert np.isfinite(laplacian).all()
    assert np.isfinite(degree).all()


def test_equal_points_have_some_scale():
    X = np.full((9, 2), 1 / 3)
    scales = local_scales(X, 7)
    assert np.all(scales > 0)
    assert_allclose(local_scaling_form(X, 7)[0], 0, atol=1e-15)


def test_distances_that_drown_in_the_rounding_of_a_product_are_taken_from_differences(points):
    # The two groups are so far apart that |x|^2 + |z|^2 - 2 x'z loses every digit of the distances
    # inside a group.
    apart = np.vstack([points, points + 1e7])
    A, _ = affinity_by_definition(apart, 7)
    assert_allclose(local_scaling_form(apart, 7)[1], A.sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("of", [local_scales, local_scaling_form])
def test_too_few_points(points, of):
    with pytest.raises(ValueError, match="n_neighbors=7"):
        of(points[:7], 7)


X = np.random.default_rng(0).gamma(2.0, size=(50, 4)) * [1.0, 0.1, 2.0, 5.0]
UNITS = {
    "rbf": X.var(axis=0).sum(),
    "laplacian": X.std(axis=0).sum(),
    "chi2": (X.var(axis=0) / X.mean(axis=0)).sum(),
    "poly": np.mean(np.sum(X**2, axis=1)),
    "sigmoid": np.mean(np.sum(X**2, axis=1)),
}


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("kernel", UNITS)
def test_the_default_gamma_is_in_the_kernel_s_unit(kernel, convert):
    assert kernel_gamma(convert(X), 0.3, kernel) == 0.3
    gamma = kernel_gamma(convert(X), "scale", kernel)
    assert gamma == pytest.approx(1 / UNITS[kernel], rel=1e-12)
    for scale in (1e-6, 1e6):
        own = {"gamma": kernel_gamma(convert(X * scale), "scale", kernel), "degree": 2, "coef0": 1}
        assert_allclose(
            kernel_matrix(X * scale, X * scale, kernel, **own),
            kernel_matrix(X, X, kernel, **{**own, "gamma": gamma}),
        )


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_default_gamma_is_the_same_about_any_origin_and_in_any_axes(convert):
    gamma = kernel_gamma(convert(X), "scale", "rbf")
    moved = [X + 1e8, X + 2e3 * np.eye(4)[1], X @ ortho_group.rvs(4, random_state=0)]
    moved.append(np.column_stack([X, np.full(50, 7.0)]))
    for points in moved:
        assert kernel_gamma(convert(points), "scale", "rbf") == pytest.approx(gamma, rel=1e-6)
    assert kernel_gamma(convert(np.full((5, 2), 3.0)), "scale", "rbf") == 1
