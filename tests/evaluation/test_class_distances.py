"""Measures of distances between classes, on class positions whose distances are known."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import pdist

from ddr_cli.data import load_dataset
from ddr_cli.engine import read_trials, run_spec
from ddr_cli.evaluation.class_distances import ClassDistance, ClassGap, ClassOrder
from ddr_cli.evaluation.measures import Embedded
from ddr_cli.reducers import DiscriminativeProjections
from ddr_cli.spec import make_spec

PLACES = np.array([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0], [6.0, 0.0]])
"""Distances 1, 3, 6, 2, 5, 3: their median is 3."""
ASIDE = np.array([0.0, 1.0])
NAMES = ("1", "2", "3", "4")


def embedded(places=PLACES, prototypes=None):
    """Return each class as two samples on both sides of its position, the second a test sample."""
    points = np.vstack([places - ASIDE, places + ASIDE])
    codes = np.tile(np.arange(len(places)), 2)
    return Embedded(points, points, codes, len(places), NAMES, prototypes=prototypes)


@pytest.mark.parametrize(
    ("classes", "expected"), [("1, 2", 1 / 3), ("2,1,3", 1.0), ("1, 4", 2.0), (None, 2.0)]
)
def test_the_farthest_two_of_some_classes(classes, expected):
    assert ClassDistance(classes=classes).score(embedded()) == pytest.approx(expected)


def test_the_nearest_two_and_the_order():
    assert ClassGap().score(embedded()) == pytest.approx(1 / 3)
    # One of ten comparisons fails: class 3 should be closer to 4 than to 1, but is equally far.
    assert ClassOrder().score(embedded()) == pytest.approx(0.9)
    exchanged = embedded(PLACES[[0, 2, 1, 3]])
    assert ClassOrder().score(exchanged) == pytest.approx(0.5)


def test_test_points_alone_and_sparse_points():
    both = embedded()
    sparse = Embedded(sp.csr_array(both.points), both.original, both.y, 4, NAMES)
    for measure in (ClassDistance(classes="1, 2", part="test"), ClassGap(part="test")):
        assert measure.score(both) == measure.score(sparse) == pytest.approx(1 / 3)


def test_places_of_the_labels_are_the_methods_own():
    moved = PLACES[[1, 0, 2, 3]] * [2.0, 1.0]
    assert ClassDistance(classes="1, 3", of="labels").score(embedded(prototypes=moved)) == (
        pytest.approx(4 / 6)
    )
    with pytest.raises(ValueError, match="a method that embeds labels"):
        ClassOrder(of="labels").score(embedded())


def test_undefined_distances_raise():
    with pytest.raises(ValueError, match=r"no class '5'.*1, 2, 3, 4"):
        ClassDistance(classes="1, 5").score(embedded())
    with pytest.raises(ValueError, match="two different classes"):
        ClassDistance(classes="1").score(embedded())
    with pytest.raises(ValueError, match="at least three"):
        ClassOrder().score(Embedded(PLACES, PLACES, np.array([0, 0, 1, 1]), 4, ("a", "b")))
    with pytest.raises(ValueError, match="median distance"):
        ClassGap().score(embedded(np.zeros((4, 2))))


def test_in_a_run_the_labels_lie_where_the_reducer_puts_them(tmp_path):
    measured = {"name": "class_distance", "classes": "versicolor, virginica"}
    spec = make_spec(
        name="places",
        dataset="iris",
        reducers=[{"name": "discriminative_projections", "n_components": 2}],
        measures=[measured, measured | {"of": "labels"}],
        split={"kind": "whole", "repeats": 1},
    )
    outcome = run_spec(spec, out=tmp_path)
    assert (outcome.done, outcome.failed) == (2, 0)
    found = read_trials(outcome.folder).set_index("classifier.of")["class_distance"]
    data = load_dataset("iris")
    own = DiscriminativeProjections(2).fit(data.X, data.y).label_components_
    expected = np.linalg.norm(own[1] - own[2]) / np.median(pdist(own))
    assert found["labels"] == pytest.approx(expected)
    assert found["points"] != pytest.approx(expected)
