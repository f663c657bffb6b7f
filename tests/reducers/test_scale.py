"""The scale of an embedding does not depend on the number of samples."""

import warnings

import numpy as np
import pytest
import scipy.linalg
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ddr_cli.evaluation.linear import LinearClassifier
from ddr_cli.reducers import LDA, LFDA, LSDA, MFA, REDUCERS, KernelLFDA, KernelMFA, get_traits

OURS = [name for name in REDUCERS.names() if get_traits(REDUCERS.load(name)()).library is None]
COPIES = 4
# Their papers or scikit-learn define each dimension to have unit length over all samples.
UNIT_LENGTH = {"ccdr", "laplacian_eigenmaps", "lle"}
# These weigh a sum over samples or pairs, in which copies have distance 0, against a penalty, a
# margin or the unit of a softmax. In forest_diffusion, trees grown without a sample contain its
# copies.
LEARNT = {"forest_diffusion", "lmnn", "logistic_projection", "nca"}
NEIGHBORS = ("n_neighbors", "n_neighbors_within")


def samples(n=60, d=6):
    rng, y = np.random.default_rng(0), np.arange(n) % 3
    return rng.normal(size=(n, d)) + 3 * np.eye(3, d)[y], y


def spread(name, copies):
    """Return the standard deviation of an embedding with copies of each sample and neighbour."""
    X, y = samples()
    model = REDUCERS.load(name)()
    known = model.get_params()
    options = {"random_state": 0, "n_estimators": 20, "reg": 1e-2}
    model.set_params(**{key: value for key, value in options.items() if key in known})
    for key in NEIGHBORS:
        if isinstance(known.get(key), int):
            model.set_params(**{key: copies * (known[key] + 1) - 1})
    if "n_neighbors_between" in known:
        # Two samples have copies**2 pairs of copies. MFA counts pairs, NMMP neighbours of a sample.
        pairs = copies**2 if "mfa" in name else copies
        model.set_params(n_neighbors_between=pairs * known["n_neighbors_between"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X, y = np.tile(X, (copies, 1)), np.tile(y, copies)
        # LLE's eigenvectors are arbitrary for equal samples.
        X += (name == "lle") * np.random.default_rng(1).normal(0, 1e-3, X.shape)
        embedded = model.fit_transform(X, y)
    return float(np.linalg.norm(np.std(np.asarray(embedded), axis=0)))


@pytest.mark.parametrize("name", OURS)
def test_copies_of_the_samples_leave_the_scale(name):
    ratio = spread(name, COPIES) / spread(name, 1)
    if name in UNIT_LENGTH:
        assert ratio < 0.6
    elif name in LEARNT:
        assert abs(np.log(ratio)) > 0.1
    else:
        assert_allclose(ratio, 1, rtol=0.1)


@pytest.mark.parametrize(
    "model", [LDA(), LFDA(), MFA(), LSDA(), KernelLFDA(reg=1e-9), KernelMFA(reg=1e-9)], ids=repr
)
def test_the_first_direction_has_within_class_variance_one(model):
    X, y = samples()
    if "kernel" in model.get_params():
        model.set_params(kernel="linear")
    first = model.fit_transform(X, y)[:, 0]
    assert_allclose(np.mean([first[y == k].var() for k in range(3)]), 1, rtol=1e-6)


def test_neighbours_and_least_squares_predict_as_with_a_summed_scatter():
    X, y = load_iris(return_X_y=True)
    centred = X - X.mean(axis=0)
    inside = X - np.array([X[y == k].mean(axis=0) for k in range(3)])[y]
    within = inside.T @ inside
    _, A = scipy.linalg.eigh(centred.T @ centred - within, within)
    before = centred @ A[:, :-3:-1]
    after = LDA(2).fit_transform(X, y)
    for classifier in (KNeighborsClassifier(5), LinearClassifier()):
        expected = classifier.fit(before[::2], y[::2]).predict(before[1::2])
        assert_array_equal(classifier.fit(after[::2], y[::2]).predict(after[1::2]), expected)


@pytest.mark.parametrize(("model", "least"), [(LDA(2), 0.62), (MFA(2), 0.55)], ids=repr)
def test_a_regularised_classifier_can_use_the_embedding(model, least):
    X, y = load_digits(return_X_y=True)
    logistic = make_pipeline(model, LogisticRegression(max_iter=1000))
    folds = StratifiedKFold(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert cross_val_score(logistic, X, y, cv=folds).mean() > least
