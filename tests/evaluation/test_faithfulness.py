"""Measures of faithfulness equal brute force and known values."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.stats import spearmanr

from ddr_cli.evaluation.faithfulness import (
    CentreOrder,
    Continuity,
    SameClassShare,
    Trustworthiness,
)
from ddr_cli.evaluation.measures import Embedded


@pytest.fixture
def embedded():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 5)), np.arange(60) % 4
    X[:, 0] += 3 * y
    return Embedded(X[:, :2], X, y, 40, tuple("abcd"))


def ranks(X):
    distances = cdist(X, X)
    np.fill_diagonal(distances, -1)
    return distances.argsort(axis=1).argsort(axis=1)


def brute(before, after, k):
    n, total = len(before), 0
    first, second = ranks(before), ranks(after)
    for i in range(n):
        for j in range(n):
            if 1 <= second[i, j] <= k < first[i, j]:
                total += first[i, j] - k
    return 1 - 2 * total / (n * k * (2 * n - 3 * k - 1))


@pytest.mark.parametrize("part", ["all", "test"])
def test_both_directions_equal_the_definition(embedded, part):
    chosen = embedded.part(part)
    one = Trustworthiness(n_neighbors=3, part=part).score(embedded)
    other = Continuity(n_neighbors=3, part=part).score(embedded)
    assert one == pytest.approx(brute(chosen.original, chosen.points, 3))
    assert other == pytest.approx(brute(chosen.points, chosen.original, 3))
    assert one != pytest.approx(other)


def test_the_share_of_one_class_equals_a_loop(embedded):
    order = ranks(embedded.points)
    same = [
        np.mean([embedded.y[j] == embedded.y[i] for j in range(60) if 1 <= order[i, j] <= 4])
        for i in range(60)
    ]
    assert SameClassShare(n_neighbors=4).score(embedded) == pytest.approx(np.mean(same))


def test_the_order_of_centres_is_kept_by_a_scaled_copy(embedded):
    copy = Embedded(7 * embedded.original, embedded.original, embedded.y, 40, embedded.classes)
    assert CentreOrder().score(copy) == pytest.approx(1)
    means = [
        np.stack([X[embedded.y == c].mean(axis=0) for c in range(4)])
        for X in (embedded.original, embedded.points)
    ]
    pairs = np.triu_indices(4, 1)
    expected = spearmanr(*(cdist(m, m)[pairs] for m in means)).statistic
    assert CentreOrder().score(embedded) == pytest.approx(expected)


def test_an_undefined_measure_is_refused(embedded):
    with pytest.raises(ValueError, match="n_neighbors=10 must be below n_samples / 2 = "):
        Trustworthiness(n_neighbors=10, part="test").score(embedded)
    two = Embedded(embedded.points, embedded.original, embedded.y % 2, 40, ("a", "b"))
    with pytest.raises(ValueError, match="three classes"):
        CentreOrder().score(two)
