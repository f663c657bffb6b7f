"""The paper's main result on the real Landsat data, with the predefined split."""

import numpy as np
import pytest

from ddr_cli.numerics.neighbors import kneighbors
from ddr_cli.reducers import CCDR


@pytest.fixture(scope="module")
def landsat(data_mirror):
    train, test = (np.loadtxt(data_mirror / "landsat" / name) for name in ("sat.trn", "sat.tst"))
    return train[:, :36], train[:, 36].astype(int), test[:, :36], test[:, 36].astype(int)


@pytest.fixture(scope="module")
def joint(landsat):
    X_train, y_train, X_test, _ = landsat
    X = np.vstack([X_train, X_test])
    return X, np.concatenate([y_train, np.full(len(X_test), -1)]), kneighbors(X, 4)


def vote(train, labels, test, k=3):
    """Return the majority label of the k nearest; in a tie, the label of the nearest."""
    found = labels[kneighbors(train, k, queries=test).indices]
    counts = (found[:, :, None] == found[:, None, :]).sum(axis=2)
    return found[np.arange(len(found)), counts.argmax(axis=1)]


def least_squares(train, labels, test):
    classes = np.unique(labels)
    target = (labels[:, None] == classes).astype(float)
    weights, *_ = np.linalg.lstsq(np.column_stack([train, np.ones(len(train))]), target)
    return classes[np.argmax(np.column_stack([test, np.ones(len(test))]) @ weights, axis=1)]


def test_error_rates_of_the_paper(landsat, joint):
    _, y_train, _, y_test = landsat
    X, y, neighbors = joint
    embedding = CCDR(14, beta=0.5, n_neighbors=4).fit_transform(X, y, neighbors=neighbors)
    train, test = embedding[: len(y_train)], embedding[len(y_train) :]
    assert np.mean(vote(train, y_train, test) != y_test) <= 0.084
    assert np.mean(least_squares(train, y_train, test) != y_test) <= 0.095


def test_out_of_sample_error_of_the_linear_classifier_is_far_below_the_raw_one(landsat):
    X_train, y_train, X_test, y_test = landsat
    model = CCDR(14, beta=0.5, n_neighbors=4).fit(X_train, y_train)
    placed = least_squares(model.embedding_, y_train, model.transform(X_test))
    raw = least_squares(X_train, y_train, X_test)
    assert np.mean(placed != y_test) <= 0.11 < 0.2 < np.mean(raw != y_test)


@pytest.mark.parametrize("weights", ["binary", "heat"])
@pytest.mark.parametrize("beta", [0.01, 10.0])
def test_eigenproblem_is_solved_at_both_ends_of_the_sweep(joint, weights, beta):
    X, y, neighbors = joint
    model = CCDR(20, beta=beta, weights=weights).fit(X, y, neighbors=neighbors)
    # Eq. 18 and Eq. 19 are the rows of L u = lambda D u.
    np.testing.assert_allclose(model.place(model.affinity_, y), model.embedding_, atol=1e-9)
    for label, centre in zip(model.classes_, model.class_centers_, strict=True):
        mean = model.embedding_[y == label].mean(axis=0)
        np.testing.assert_allclose(mean / (1 - model.eigenvalues_), centre, atol=1e-9)
    assert (np.diff(model.eigenvalues_) >= 0).all()
