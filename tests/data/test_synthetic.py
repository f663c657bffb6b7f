"""The same seed gives the same arrays, and each data set looks as in its figure."""

import numpy as np
import pytest

from ddr_cli.core.parameters import parameter_model
from ddr_cli.data.formats import GENERATORS
from ddr_cli.data.synthetic import (
    digits,
    four_class_manifold,
    iris,
    lfda_mixed,
    lfda_multimodal,
    lfda_simple,
    pca_example,
    rings,
    swiss_roll,
)

EMBEDDED = ("balance", "breast_cancer", "digits", "iris", "wine")
RANDOM = [name for name in GENERATORS.names() if name not in EMBEDDED]


@pytest.mark.parametrize("name", RANDOM)
def test_same_seed_same_data_and_size_as_asked(name):
    make = GENERATORS.load(name)
    one, again, other = make(random_state=3), make(random_state=3), make(random_state=4)
    np.testing.assert_array_equal(one.X, again.X)
    np.testing.assert_array_equal(one.labels, again.labels)
    assert not np.array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert make(n_samples=47).X.shape == (47, one.X.shape[1])
    assert len(one.feature_names) == one.X.shape[1]


@pytest.mark.parametrize("name", RANDOM)
def test_classes_have_equal_shares_up_to_one(name):
    raw = GENERATORS.load(name)(n_samples=50)
    parts = raw.labels if raw.subclasses is None else raw.subclasses
    counts = np.unique(parts, return_counts=True)[1]
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("name", RANDOM)
def test_options_out_of_range_are_refused(name):
    with pytest.raises(ValueError, match="n_samples"):
        parameter_model(GENERATORS.load(name))(n_samples=0)


def spread_and_gap(X, y, direction):
    """Return the variance along a direction, and the class gap in within-class deviations."""
    z = X @ direction
    parts = [z[y == label] for label in np.unique(y)]
    return float(z.var()), float(abs(parts[0].mean() - parts[1].mean()) / parts[0].std())


@pytest.mark.parametrize("angle", [0.0, 30.0, 120.0])
def test_pca_example_differs_along_the_minor_axis_only(angle):
    raw = pca_example(n_samples=2000, angle=angle)
    turn = np.deg2rad(angle)
    major, minor = np.array([[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]])
    wide, no_gap = spread_and_gap(raw.X, raw.labels, major)
    narrow, gap = spread_and_gap(raw.X, raw.labels, minor)
    assert wide > 4 * narrow
    assert no_gap < 0.2
    assert gap > 5
    first = np.linalg.svd(raw.X - raw.X.mean(axis=0))[2][0]
    assert abs(first @ major) > 0.99


def test_rings_lie_in_a_plane_of_little_variance():
    raw = rings(n_samples=3000)
    radius = np.hypot(raw.X[:, 0], raw.X[:, 1])
    for number, name in enumerate(["inner", "middle", "outer"], start=1):
        own = radius[raw.labels == name]
        assert own.mean() == pytest.approx(number, abs=0.02)
        assert own.std() == pytest.approx(0.1, rel=0.1)
    variances = raw.X.var(axis=0)
    assert raw.X.shape[1] == 10
    assert variances[2:].min() > 5 * variances[:2].max()
    means = np.array([raw.X[raw.labels == name, :2].mean(axis=0) for name in np.unique(raw.labels)])
    assert np.abs(means).max() < 0.2


def test_lfda_simple_separates_along_the_first_axis():
    raw = lfda_simple()
    assert raw.subclasses is None
    assert spread_and_gap(raw.X, raw.labels, np.array([1.0, 0]))[1] > 6


def test_lfda_mixed_has_both_classes_in_each_cluster():
    raw = lfda_mixed()
    assert spread_and_gap(raw.X, raw.labels, np.array([0, 1.0]))[1] > 8
    assert spread_and_gap(raw.X, raw.labels, np.array([1.0, 0]))[1] < 0.2
    left = raw.X[:, 0] < 0
    assert {tuple(np.unique(raw.labels[side])) for side in (left, ~left)} == {("A", "B")}
    assert np.unique(raw.subclasses).tolist() == ["A1", "A2", "B1", "B2"]


def test_lfda_multimodal_has_one_class_on_both_sides():
    raw = lfda_multimodal()
    means = {name: raw.X[raw.subclasses == name, 0].mean() for name in ("A1", "A2", "B")}
    assert means["A1"] < -5 < means["B"] < 5 < means["A2"]
    assert spread_and_gap(raw.X, raw.labels, np.array([1.0, 0]))[1] < 0.1


def test_swiss_roll_is_the_spiral_uniform_in_arc_length():
    raw = swiss_roll(n_samples=4000, n_classes=5)
    x, across, z = raw.X.T
    t = np.hypot(x, z)
    np.testing.assert_allclose(
        np.column_stack([x, z]), np.column_stack([t * np.cos(t), t * np.sin(t)]), atol=1e-9
    )
    assert across.min() >= 0
    assert across.max() <= 21
    arc = 0.5 * (t * np.sqrt(1 + t**2) + np.arcsinh(t))
    assert 1.5 * np.pi <= t.min() <= t.max() <= 4.5 * np.pi
    share = (arc - arc.min()) / (arc.max() - arc.min())
    np.testing.assert_allclose(np.quantile(share, [0.25, 0.5, 0.75]), [0.25, 0.5, 0.75], atol=0.02)
    assert np.all(np.diff(raw.labels[np.argsort(arc)]) >= 0)
    assert np.unique(raw.labels).tolist() == [1, 2, 3, 4, 5]


def test_noise_moves_points_by_its_standard_deviation():
    for make in (swiss_roll, four_class_manifold):
        moved = make(n_samples=2000, noise=0.5).X - make(n_samples=2000).X
        assert moved.std() == pytest.approx(0.5, rel=0.05)


def test_four_class_manifold_has_four_patches():
    raw = four_class_manifold(n_samples=2000)
    t = np.hypot(raw.X[:, 0], raw.X[:, 2])
    inner = np.char.startswith(raw.labels, "inner")
    assert t[inner].max() <= t[~inner].min()
    upper = np.char.endswith(raw.labels, "upper")
    assert raw.X[~upper, 1].max() <= raw.X[upper, 1].min()
    assert len(np.unique(raw.labels)) == 4


def test_iris_sources_differ_in_two_flowers():
    uci, fisher = iris(), iris(source="fisher")
    assert np.flatnonzero((uci.X != fisher.X).any(axis=1)).tolist() == [34, 37]
    assert fisher.X[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert fisher.X[37].tolist() == [4.9, 3.6, 1.4, 0.1]


def test_digits_are_images():
    raw = digits()
    assert raw.X.shape == (1797, 64)
    assert raw.image_shape == (8, 8)
    assert np.unique(raw.labels).tolist() == list(range(10))
    assert (raw.X.min(), raw.X.max()) == (0, 16)
