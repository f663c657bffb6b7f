"""CCDR averaged over subsamples."""

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes
from sklearn.datasets import load_digits

from ddr_cli.reducers import CCDR, get_traits

X, Y = load_digits(return_X_y=True)
X, Y = X[:600], Y[:600]


def separation(embedding):
    """Return the fraction of the variance that is between classes."""
    means = np.array([embedding[label == Y].mean(axis=0) for label in Y])
    return ((means - embedding.mean(axis=0)) ** 2).sum() / (
        (embedding - embedding.mean(axis=0)) ** 2
    ).sum()


@pytest.mark.parametrize("subsample", [300, 0.5])
def test_the_average_of_halves_is_close_to_the_whole(subsample):
    whole = CCDR(5).fit(X, Y).embedding_
    halves = CCDR(5, subsample=subsample, random_state=0).fit(X, Y)
    assert halves.embedding_.shape == whole.shape
    assert [len(member.embedding_) for member in halves.members_] == pytest.approx([300] * 5, abs=5)
    turn, _ = orthogonal_procrustes(halves.embedding_, whole)
    aligned = halves.embedding_ @ turn
    correlation = [np.corrcoef(aligned[:, j], whole[:, j])[0, 1] for j in range(5)]
    assert min(correlation) > 0.9
    assert separation(halves.embedding_) > 0.9 * separation(whole)


def test_one_subsample_needs_no_alignment():
    model = CCDR(3, subsample=0.5, n_subsamples=1, random_state=3).fit(X, Y)
    (member,) = model.members_
    np.testing.assert_allclose(model.transform(X[:40]), member.transform(X[:40]), atol=1e-12)
    np.testing.assert_allclose(
        model.extend(X[:40], Y[:40]), member.extend(X[:40], Y[:40]), atol=1e-12
    )
    np.testing.assert_allclose(model.class_centers_, member.class_centers_, atol=1e-12)


def test_alignment_holds_with_fewer_classes_than_dimensions():
    two = (Y < 5).astype(int)
    model = CCDR(6, subsample=0.6, n_subsamples=4, random_state=0).fit(X, two)
    parts = [member.extend(X, two) for member in model.members_]
    turned = [part @ turn for part, turn in zip(parts, model.rotations_, strict=True)]

    def spread(embeddings):
        return np.mean(np.var(embeddings, axis=0)) / np.mean(np.var(embeddings[0], axis=0))

    assert spread(turned) < 0.7 * spread(parts)
    for turn in model.rotations_:
        np.testing.assert_allclose(turn @ turn.T, np.eye(6), atol=1e-12)


def test_every_class_is_in_every_subsample_and_unlabelled_points_too():
    labels = Y.copy()
    labels[:300] = -1
    labels[300] = 77
    with pytest.warns(UserWarning, match="unlabelled samples") as caught:
        model = CCDR(3, subsample=0.3, random_state=0).fit(X, labels)
    assert len(caught) == 1
    for member in model.members_:
        np.testing.assert_array_equal(member.classes_, [*range(10), 77])
        assert np.isfinite(member.class_centers_).all()
        assert 150 < len(member.embedding_) < 210
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(X)).all()


def test_random_state_decides():
    first, again, other = (
        CCDR(3, subsample=0.5, random_state=seed).fit_transform(X, Y) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 1e-6


def test_subsamples_share_no_neighbours_and_are_not_nested():
    traits = get_traits(CCDR(subsample=0.5))
    assert not traits.nested
    assert not traits.neighbors


def test_a_subsample_of_everything_is_refused():
    with pytest.raises(ValueError, match="number of samples, 600"):
        CCDR(subsample=600).fit(X, Y)


@pytest.mark.parametrize("options", [{"n_components": 4}, {"n_neighbors": 6}], ids=str)
def test_a_subsample_that_is_too_small_is_named_as_the_reason(options):
    few = np.r_[np.flatnonzero(Y == 0)[:5], np.flatnonzero(Y == 1)[:2]]
    with pytest.raises(ValueError, match=r"subsample=0.6 draws \d of 7 samples: .* larger sub"):
        CCDR(subsample=0.6, **options).fit(X[few], Y[few])
