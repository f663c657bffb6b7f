"""Local scaling against its definition."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose

from ddr_cli.numerics.kernels import (
    kernel_width,
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
    # Two groups so far apart that |x|^2 + |z|^2 - 2 x'z has no digit of a distance inside one.
    apart = np.vstack([points, points + 1e9])
    A, _ = affinity_by_definition(apart, 7)
    assert_allclose(local_scaling_form(apart, 7)[1], A.sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize("of", [local_scales, local_scaling_form])
def test_too_few_points(points, of):
    with pytest.raises(ValueError, match="n_neighbors=7"):
        of(points[:7], 7)


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_the_width_of_points_far_from_zero_keeps_its_digits(convert):
    X = np.random.default_rng(0).normal(size=(50, 4)) + 1e8
    assert kernel_width(convert(X), "scale") == pytest.approx(1 / (4 * X.var()), rel=1e-9)
