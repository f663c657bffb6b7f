"""Measures equal their definitions, computed pair by pair."""

import numpy as np
import pytest
import scipy.sparse as sp

from ddr_cli.evaluation.evaluators import CLASSIFIERS, MEASURES, get_evaluator_traits
from ddr_cli.evaluation.intrinsic_dimension import estimate_dimension
from ddr_cli.evaluation.measures import (
    Embedded,
    IntrinsicDimension,
    SameClass,
    Separability,
    SubclassAccuracy,
    SubclassSilhouette,
    Topology,
)
from ddr_cli.evaluation.metrics import LABEL_METRICS, get_scale, measured

RNG = np.random.default_rng(0)
ORIGINAL = RNG.normal(size=(60, 5))
Y = np.repeat([0, 1, 2], 20)
ORIGINAL[Y == 1, 0] += 3
EMBEDDED = Embedded(ORIGINAL[:, :2].copy(), ORIGINAL, Y, 40, ("a", "b", "c"))


def order(points):
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    return np.argsort(distance, axis=1, kind="stable")


@pytest.mark.parametrize("part", ["all", "test"])
@pytest.mark.parametrize("k", [1, 4])
def test_same_class_is_the_share_with_one_of_their_class_near(k, part):
    rows = slice(None) if part == "all" else slice(40, None)
    near = order(EMBEDDED.points[rows])[:, :k]
    wanted = np.mean(
        [any(Y[rows][j] == label for j in row) for row, label in zip(near, Y[rows], strict=True)]
    )
    assert SameClass(k, part).score(EMBEDDED) == wanted


@pytest.mark.parametrize("k", [1, 6])
def test_topology_is_the_share_that_keeps_its_nearest(k):
    before, after = order(ORIGINAL)[:, 0], order(EMBEDDED.points)[:, :k]
    assert Topology(k).score(EMBEDDED) == np.mean(
        [b in row for b, row in zip(before, after, strict=True)]
    )


@pytest.mark.parametrize("measure", [SameClass, Topology])
def test_many_settings_at_once_are_the_same_numbers(measure):
    settings = [{"n_neighbors": k, "part": part} for k in (1, 3, 10) for part in ("all", "test")]
    together = measure.score_many(EMBEDDED, settings)
    assert together == [measure(**setting).score(EMBEDDED) for setting in settings]
    assert measure.score_many(EMBEDDED, []) == []


def test_sparse_points_give_the_same_number():
    sparse = Embedded(sp.csr_array(ORIGINAL), sp.csr_array(ORIGINAL), Y, 40, ("a", "b", "c"))
    dense = Embedded(ORIGINAL, ORIGINAL, Y, 40, ("a", "b", "c"))
    for measure in (SameClass(3), Topology(1), Separability(3)):
        assert measure.score(sparse) == measure.score(dense)


def test_separability_is_what_is_kept_of_the_accuracy():
    def accuracy(points):
        near = order(points)[:, :1]
        return np.mean(Y[near[:, 0]] == Y)

    wanted = accuracy(EMBEDDED.points) / accuracy(ORIGINAL)
    assert Separability(1).score(EMBEDDED) == pytest.approx(wanted, rel=1e-12)
    unchanged = Embedded(ORIGINAL, ORIGINAL, Y, 60, ("a", "b", "c"))
    assert Separability(9).score(unchanged) == 1


def test_subclasses_are_judged_within_their_merged_class_only():
    left, right = RNG.normal(size=(30, 2)), RNG.normal(loc=(12, 0), size=(30, 2))
    between = RNG.normal(loc=(6, 0), size=(30, 2))
    points = np.vstack([left, right, between])
    merged = np.repeat([0, 0, 1], 30)
    below = np.repeat([0, 1, 2], 30)
    kept = Embedded(points, points, merged, 90, ("ends", "middle"), below)
    assert SubclassAccuracy(3).score(kept) == 1
    assert SubclassSilhouette().score(kept) > 0.7
    folded = Embedded(np.abs(points - [6, 0]), points, merged, 90, ("ends", "middle"), below)
    assert SubclassAccuracy(3).score(folded) < 0.75
    assert SubclassSilhouette().score(folded) < 0.1


@pytest.mark.parametrize("measure", [SubclassAccuracy(), SubclassSilhouette()])
def test_without_merged_classes_there_are_no_subclasses(measure):
    with pytest.raises(ValueError, match="no merged classes"):
        measure.score(EMBEDDED)
    alike = Embedded(ORIGINAL, ORIGINAL, Y, 60, ("a", "b", "c"), Y)
    with pytest.raises(ValueError, match="several sub-classes"):
        measure.score(alike)


def test_dimension_of_a_class():
    points = np.hstack([RNG.random((120, 1)), np.zeros((120, 3))])
    points = np.vstack([points, RNG.random((120, 4)) + 5])
    embedded = Embedded(points, points, np.repeat([0, 1], 120), 240, ("line", "cube"))
    measure = IntrinsicDimension(of_class="line", random_state=3)
    assert measure.score(embedded) == estimate_dimension(points[:120], random_state=3).dimension
    assert abs(measure.score(embedded) - 1) < 0.5
    with pytest.raises(ValueError, match="Did you mean 'line'"):
        IntrinsicDimension(of_class="lime").score(embedded)
    for wrong in ({"method": "mst"}, {"gamma": 0.0}, {"n_bootstraps": 0}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}=.* is not valid"):
            measure.score_many(embedded, [wrong])


def test_a_split_without_test_points_has_no_test_part():
    with pytest.raises(ValueError, match="use 'part: all'"):
        SameClass(part="test").score(Embedded(ORIGINAL, ORIGINAL, Y, 60, ("a", "b", "c")))


def test_names_of_measures_and_their_scales_are_nobody_elses():
    assert not set(MEASURES.names()) & set(CLASSIFIERS.names())
    assert not set(measured()) & set(LABEL_METRICS)
    for name in MEASURES.names():
        factory = MEASURES.load(name)
        assert get_scale(factory.scale.name) == factory.scale
        assert get_evaluator_traits(factory()).version >= 1
    assert get_scale("somebody_elses").better == "higher"
