"""Disconnected graphs: components without labels, and classes without a path between them."""

import warnings

import numpy as np
import pytest

from ddr_cli.reducers import CCDR

RNG = np.random.default_rng(0)
MAIN, LABELS = RNG.standard_normal((90, 3)), np.arange(90) % 3
STRAY = RNG.standard_normal((12, 3)) + np.array([50, 0, 0])
X = np.vstack([STRAY[:6], MAIN, STRAY[6:]])
Y = np.concatenate([np.full(6, -1), LABELS, np.full(6, -1)])


@pytest.fixture
def model():
    with pytest.warns(UserWarning, match="12 unlabelled samples") as caught:
        model = CCDR(4, n_neighbors=3).fit(X, Y)
    assert len(caught) == 1
    return model


def test_strays_stay_out_of_the_eigenproblem(model):
    alone = CCDR(4, n_neighbors=3).fit(MAIN, LABELS)
    np.testing.assert_array_equal(model.connected_, Y != -1)
    np.testing.assert_allclose(model.eigenvalues_, alone.eigenvalues_, atol=1e-12)
    np.testing.assert_allclose(model.embedding_[6:96], alone.embedding_, atol=1e-10)


def test_strays_are_placed_as_new_points_would_be(model):
    alone = CCDR(4, n_neighbors=3).fit(MAIN, LABELS)
    expected = alone.transform(STRAY)
    np.testing.assert_allclose(model.embedding_[~model.connected_], expected, atol=1e-9)
    np.testing.assert_allclose(model.transform(STRAY), expected, atol=1e-9)


def test_without_strays_nothing_is_said():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CCDR(4, n_neighbors=3).fit(MAIN, LABELS)


def test_one_label_makes_a_component_part_of_the_problem():
    labels = Y.copy()
    labels[0] = 1
    model = CCDR(3, n_neighbors=8).fit(X, labels)
    assert model.connected_.all()


def test_classes_without_a_path_between_them_differ_in_the_first_dimensions():
    far = np.vstack([MAIN, MAIN[:30] + 1000, MAIN[:60] - 1000])
    labels = np.repeat(["big", "small", "medium"], [90, 30, 60])
    model = CCDR(3, n_neighbors=6).fit(far, labels)
    np.testing.assert_array_equal(model.eigenvalues_[:2], 0)
    assert model.eigenvalues_[2] > 1e-6
    points = model.embedding_[:, :2]
    for label, centre in zip(model.classes_, model.class_centers_, strict=True):
        np.testing.assert_array_equal(
            points[labels == label], np.tile(centre[:2], (sum(labels == label), 1))
        )
    assert len(np.unique(points, axis=0)) == 3
    # The first dimension separates the heaviest component, and the second separates the other two.
    assert points[labels == "small"][0, 0] == points[labels == "medium"][0, 0]
    assert points[labels == "big"][0, 1] == 0


def test_heat_that_underflows_makes_no_edge():
    lonely = np.vstack([MAIN, [[40.0, 0.0, 0.0]]])
    with pytest.warns(UserWarning, match="1 unlabelled samples"):
        model = CCDR(2, weights="heat", epsilon=0.5).fit(lonely, np.append(LABELS, -1))
    assert np.isfinite(model.embedding_).all()
